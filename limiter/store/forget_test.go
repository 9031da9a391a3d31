// These tests show that Forget forgets the clients whose buckets are expendable and nobody else, and that the memory of
// those who went is used again, so that a caller that forgets full buckets needs no more memory than the others take.
package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

// forgetFull does what a caller does whose clock never goes back: before the store grows for n more clients, it forgets
// those whose buckets are full at now. It reports whether it did.
func forgetFull(s *store.Store, n int, p limiter.Policy, now int64) bool {
	if !s.Crowded(n) {
		return false
	}
	s.Forget(func(b limiter.Bucket) bool { return p.Refill(b, now).Ticks == p.Full().Ticks })
	return true
}

// slotsAfter returns how many slots a store has after Forget left so many clients: twice as many if these, with one more
// batch, need more than half of the room, which is half of the slots.
func slotsAfter(slots, clients int) int {
	if clients+store.MaxBatch > slots/2/2 {
		return 2 * slots
	}
	return slots
}

// TestForget: each client is asked about once, with its bucket. The others keep theirs, whichever they are, and a client
// that was forgotten is new.
func TestForget(t *testing.T) {
	const clients, seed = 3000, 1
	xs := bytes.Repeat([]byte("x"), 12_007)
	name := func(i int) []byte { return append(strconv.AppendInt(nil, int64(i), 10), xs[:i*i%len(xs)]...) } // 18 MB: several chunks
	for _, c := range []struct {
		what string
		keep func(i int) bool
	}{
		{"none", func(int) bool { return false }},
		{"all", func(int) bool { return true }},
		{"the first", func(i int) bool { return i == 0 }},
		{"all but the first", func(i int) bool { return i > 0 }},
		{"the last", func(i int) bool { return i == clients-1 }},
		{"all but the last", func(i int) bool { return i < clients-1 }},
		{"the first half", func(i int) bool { return i < clients/2 }},
		{"the last half", func(i int) bool { return i >= clients/2 }},
		{"every second", func(i int) bool { return i%2 == 0 }},
		{"every 97th", func(i int) bool { return i%97 == 0 }},
		{"all but every 97th", func(i int) bool { return i%97 > 0 }},
		{"any half", func(i int) bool { return rand.New(rand.NewPCG(seed, uint64(i))).IntN(2) == 0 }},
	} {
		t.Run("keep "+c.what, func(t *testing.T) {
			s := store.New(full)
			s.Forget(func(limiter.Bucket) bool { t.Error("a store of no clients asks about one"); return true })
			checkStore(t, "Forget of nobody", s, 0)
			for round := range int64(2) { // the second in memory that was used before
				bucket := func(i int) limiter.Bucket { return limiter.Bucket{Ticks: -int64(i), Last: round} }
				for i := range clients {
					*find(s, name(i)) = bucket(i)
				}
				kept, slots := 0, s.Slots()
				asked := make(map[limiter.Bucket]int)
				s.Forget(func(b limiter.Bucket) bool {
					asked[b]++
					return !c.keep(-int(b.Ticks))
				})
				for i := range clients {
					if n := asked[bucket(i)]; n != 1 {
						t.Fatalf("round %d: times that Forget asked about client %d\ngot:  %d\nwant: 1", round, i, n)
					}
					if c.keep(i) {
						kept++
					}
				}
				checkStore(t, fmt.Sprintf("round %d, after Forget", round), s, kept)
				if want := slotsAfter(slots, kept); len(asked) != clients || s.Slots() != want {
					t.Fatalf("round %d: buckets asked about, slots\ngot:  %d, %d\nwant: %d, %d", round, len(asked), s.Slots(), clients, want)
				}
				for i := range clients {
					want := full
					if c.keep(i) {
						want = bucket(i)
					}
					checkBucket(t, fmt.Sprintf("round %d, client %d", round, i), name(i), *find(s, name(i)), want)
				}
				checkStore(t, fmt.Sprintf("round %d, all again", round), s, clients)
			}
		})
	}
}

// TestForgetGrows: Forget doubles the index exactly where the clients that stay, with one more batch, need more than half
// of the room, so that it isn't called again soon.
func TestForgetGrows(t *testing.T) {
	for clients := range 300 {
		s := store.New(full)
		for i := range clients {
			find(s, fmt.Append(nil, "client", i))
		}
		want := slotsAfter(s.Slots(), clients)
		s.Forget(func(limiter.Bucket) bool { return false })
		if got := s.Slots(); got != want {
			t.Errorf("slots after Forget left %d clients\ngot:  %d\nwant: %d", clients, got, want)
		}
		checkStore(t, "after Forget", s, clients)
	}
}

// TestForgetWalk: a store whose caller forgets full buckets answers each call as a plain map does that never forgets. The
// clients that it knows are exactly those that were not full when it forgot, and those called since.
func TestForgetWalk(t *testing.T) {
	const calls, seed = 150_000, 3
	for _, c := range []struct {
		policy  limiter.Policy
		clients int
		step    int64 // ms at most from one call to the next
		grows   bool
	}{
		{limiter.Policy{Capacity: 3, PerMinute: 60}, 20_000, 10, true},
		{limiter.Policy{Capacity: 1, PerMinute: 7}, 20_000, 40, true},
		{limiter.Policy{Capacity: 100, PerMinute: 6000}, 20_000, 1, true},
		{limiter.Policy{Capacity: 5, PerMinute: 60_000}, 20_000, 2, false},
		{limiter.Policy{Capacity: limiter.MaxCapacity, PerMinute: math.MaxInt64}, 20_000, 2, false},
		{limiter.Policy{Capacity: 0, PerMinute: 60}, 20_000, 2, false}, // all are always full
		{limiter.Policy{Capacity: 5, PerMinute: 0}, 5_000, 1000, true}, // none is full again
	} {
		t.Run(fmt.Sprint(c.policy), func(t *testing.T) {
			p, r := c.policy, rand.New(rand.NewPCG(seed, 0))
			s := store.New(p.Full())
			plain, known := make(map[string]limiter.Bucket), make(map[string]bool)
			var b batch
			var names []string
			var times []int64
			now, notFull, forgotten, slots := int64(math.MinInt64), 0, 0, s.Slots()
			for call := 0; call < calls; {
				names, times = names[:0], times[:0]
				if r.IntN(500) == 0 { // a pause
					now += r.Int64N(200_000)
				}
				for range 1 + r.IntN(store.MaxBatch) {
					now += max(0, r.Int64N(2*c.step+1)-c.step)
					i := r.IntN(c.clients)
					if r.IntN(4) == 0 {
						i %= 50 // some are known for long
					}
					name := fmt.Appendf(nil, "%0*d", 1+i%40, i)
					names, times = append(names, string(name)), append(times, now)
					b.add(s.Hasher(), name)
				}
				forgot := forgetFull(s, len(names), p, times[0])
				if forgot {
					before := len(known)
					clear(known)
					for name, b := range plain {
						if p.Refill(b, times[0]).Ticks < p.Full().Ticks {
							known[name] = true
						}
					}
					notFull = max(notFull, len(known))
					forgotten += before - len(known)
					slots = slotsAfter(slots, len(known))
					checkStore(t, fmt.Sprintf("seed %d, call %d, after Forget", seed, call), s, len(known))
				}
				for i, bucket := range b.find(s) {
					name, now := names[i], times[i]
					want, ok := plain[name]
					if !ok {
						want = p.Full()
					}
					cost, maxWait := 1+r.Int64N(p.Capacity/2+1), int64(0)
					if r.IntN(4) == 0 {
						maxWait = r.Int64N(5000)
					}
					before := *bucket
					var outcome, wantOutcome limiter.Outcome
					if r.IntN(5) > 0 {
						*bucket, outcome = p.Take(*bucket, now, cost, maxWait)
						want, wantOutcome = p.Take(want, now, cost, maxWait)
					} else {
						*bucket, want = p.Refill(*bucket, now), p.Refill(want, now)
					}
					if *bucket != want || outcome != wantOutcome {
						t.Fatalf("seed %d, call %d: %q at %d, from %+v\ngot:  %+v, %+v\nwant: %+v, %+v",
							seed, call, name, now, before, *bucket, outcome, want, wantOutcome)
					}
					plain[name], known[name] = want, true
					call++
				}
				if s.Clients() != len(known) || s.Slots() != slots {
					t.Fatalf("seed %d, call %d: clients and slots\ngot:  %d, %d\nwant: %d, %d",
						seed, call, s.Clients(), s.Slots(), len(known), slots)
				}
			}
			checkStore(t, "at the end", s, len(known))
			// It does not grow where those that are not full, and one more batch, need at most half of the room.
			if most := max(512, 4*(notFull+store.MaxBatch)); s.Clients() > most {
				t.Errorf("clients\ngot:  %d\nwant: at most %d", s.Clients(), most)
			}
			if grew := slots > 1024; grew != c.grows || forgotten == 0 {
				t.Errorf("the walk missed what it is for: %d slots, %d clients forgotten, at most %d not full", slots, forgotten, notFull)
			}
		})
	}
}

// TestForgetTenMillion: ten million clients seen once each, while the clock moves on, leave a store of the size of those
// whose buckets are not full, and an index that stops growing.
//
// A bucket of 1 at 60 a minute is full again 1000 ms after it was emptied, and 20 clients come each ms. So at most
// notFull = 20 * 1000 stay when the store forgets, and a batch of 64 comes beside them. The index grows only where these
// need more than half of its room, and then to twice that: the room stays below 4 * (notFull + 64) clients, the index at
// twice as many slots, and the arena at as many records.
func TestForgetTenMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const (
		clients     = 10_000_000
		perMs       = 20
		notFull     = perMs * 1000
		bound       = 4 * (notFull + store.MaxBatch)
		recordBytes = 40 // 18 and a name of 17 bytes, in words
	)
	p := limiter.Policy{Capacity: 1, PerMinute: 60}
	before := heap()
	s := store.New(p.Full())
	var b batch
	name := []byte("client-0000000000")
	largest, settled := 0, 0 // clients; slots once a tenth of them were there
	for i := 0; i < clients; {
		first := i
		for range store.MaxBatch {
			for n, at := i, len(name)-1; n > 0; n, at = n/10, at-1 {
				name[at] = byte('0' + n%10)
			}
			b.add(s.Hasher(), name)
			i++
		}
		forgetFull(s, store.MaxBatch, p, int64(first/perMs))
		for at, bucket := range b.find(s) {
			now := int64((first + at) / perMs)
			after, outcome := p.Take(*bucket, now, 1, 0)
			if want := (limiter.Bucket{Last: now}); !outcome.Granted || after != want {
				t.Fatalf("client %d at %d, from %+v\ngot:  %+v, %+v\nwant: granted, %+v", first+at, now, *bucket, outcome, after, want)
			}
			*bucket = after
		}
		largest = max(largest, s.Clients())
		if settled == 0 && i >= clients/10 {
			settled = s.Slots()
		}
	}
	if largest >= bound || s.Slots() >= 2*bound || s.Slots() != settled {
		t.Errorf("clients at most, slots\ngot:  %d, %d\nwant: less than %d, and %d as after a tenth of the clients", largest, s.Slots(), bound, settled)
	}
	if got, want := s.ArenaBytes(), bound*recordBytes; got > want {
		t.Errorf("bytes of the arena\ngot:  %d\nwant: at most %d", got, want)
	}
	b = batch{}
	if used := heap() - before; used > 32<<20 { // the index, the arena and spare chunks
		t.Errorf("bytes on the heap\ngot:  %d\nwant: at most 32 MiB", used)
	}
	if s.Clients() < notFull {
		t.Errorf("clients\ngot:  %d\nwant: at least the %d that are not full", s.Clients(), notFull)
	}
	checkStore(t, "at the end", s, s.Clients())
}

// TestForgetSlowGrowth: where more and more clients are not full, slowly, while many others come and go, the memory of
// those that went is used again: the heap holds little more than the records and the index.
func TestForgetSlowGrowth(t *testing.T) {
	const clients = 5_000_000
	p := limiter.Policy{Capacity: 1, PerMinute: 60}
	before := heap()
	s := store.New(p.Full())
	var b batch
	for i, now, calls := 0, int64(0), 0; i < clients; i++ {
		if calls++; calls > 1+i/100_000 { // calls each ms: 1 at the start, 50 at the end
			now, calls = now+1, 0
		}
		b.add(s.Hasher(), binary.LittleEndian.AppendUint64(nil, uint64(i)))
		forgetFull(s, 1, p, now)
		bucket := b.find(s)[0]
		if *bucket != p.Full() {
			t.Fatalf("new client %d\ngot:  %+v\nwant: %+v", i, *bucket, p.Full())
		}
		*bucket, _ = p.Take(*bucket, now, 1, 0)
	}
	const spare = 24 << 20 // at most 8 MiB are allocated at once
	if got, want := heap()-before, int64(s.ArenaBytes()+8*s.Slots()+spare); got > want {
		t.Errorf("bytes on the heap for %d clients, %d bytes of the arena and %d slots\ngot:  %d\nwant: at most %d",
			s.Clients(), s.ArenaBytes(), s.Slots(), got, want)
	}
	checkStore(t, "at the end", s, s.Clients())
}

// TestForgetNobody: where no bucket is expendable, a store whose caller forgets grows as it must and loses nobody.
func TestForgetNobody(t *testing.T) {
	const clients = 100_000
	s := store.New(full)
	var b batch
	for round := range 2 {
		for i := range int64(clients) {
			if s.Crowded(1) {
				s.Forget(func(limiter.Bucket) bool { return false })
				checkStore(t, "after Forget", s, int(i))
			}
			name := fmt.Append(nil, "client", i)
			b.add(s.Hasher(), name)
			bucket := b.find(s)[0]
			want := full
			if round > 0 {
				want.Ticks -= 1 + i
			}
			checkBucket(t, fmt.Sprint("round ", round), name, *bucket, want)
			bucket.Ticks = full.Ticks - 1 - i
		}
	}
	checkStore(t, "at the end", s, clients)
}
