// These tests show that Forget forgets the clients whose buckets are expendable and nobody else, and that the memory of
// those who went is used again, so that a caller that forgets full buckets needs no more memory than the others take.
package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
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

// limits are how large a store is and may become, computed from counts by what the comments of the program say.
type limits struct {
	clients, bytes         int // bytes of all records
	mostClients, mostBytes int // more than that are a crowd
	slots                  int
}

func newLimits() limits { return limits{mostClients: 512, mostBytes: 128 << 10, slots: 1024} }

// recordBytes returns the size of the record of a name: 18 bytes and the name, in words.
func recordBytes(name []byte) int { return (18 + len(name) + 7) / 8 * 8 }

// find is a Find of so many keys, before new clients are added.
func (l *limits) find(keys int) {
	if l.clients+keys > l.slots/2 {
		l.slots *= 2
	}
}

// add is a new client.
func (l *limits) add(name []byte) {
	l.clients++
	l.bytes += recordBytes(name)
}

// crowded is Crowded.
func (l *limits) crowded(n int) bool { return l.clients+n > l.mostClients || l.bytes > l.mostBytes }

// forget is a Forget where so many clients with so many bytes are not expendable. It reports whether the others are
// forgotten, which they are unless they are less than a quarter in both.
func (l *limits) forget(clients, bytes int) bool {
	l.mostClients, l.mostBytes = 2*clients+512, 2*bytes+128<<10
	if 4*(l.clients-clients) < l.clients && 4*(l.bytes-bytes) < l.bytes {
		return false
	}
	l.clients, l.bytes, l.slots = clients, bytes, 1024
	for l.slots < 2*l.mostClients {
		l.slots *= 2
	}
	return true
}

// check compares a store with its limits.
func (l *limits) check(t *testing.T, what string, s *store.Store) {
	t.Helper()
	checkStore(t, what, s, l.clients)
	if s.Slots() != l.slots {
		t.Fatalf("%s: slots for %d clients\ngot:  %d\nwant: %d", what, l.clients, s.Slots(), l.slots)
	}
	l.checkCrowded(t, what, s)
}

func (l *limits) checkCrowded(t *testing.T, what string, s *store.Store) {
	t.Helper()
	for _, n := range []int{0, 1, store.MaxBatch, l.mostClients - l.clients, l.mostClients - l.clients + 1} {
		if got, want := s.Crowded(n), l.crowded(n); got != want {
			t.Fatalf("%s: Crowded(%d) with %d clients and %d bytes\ngot:  %t\nwant: %t, as more than %d or %d are a crowd",
				what, n, l.clients, l.bytes, got, want, l.mostClients, l.mostBytes)
		}
	}
}

// checkForget compares a store after Forget with its limits. It is not crowded, and where clients were forgotten it keeps
// few chunks.
func (l *limits) checkForget(t *testing.T, what string, s *store.Store, forgets bool) {
	t.Helper()
	l.check(t, what, s)
	if s.Crowded(0) {
		t.Fatalf("%s: Crowded(0)\ngot:  true\nwant: false", what)
	}
	if most := l.mostBytes/(8<<20) + 2; forgets && s.Chunks() > most {
		t.Fatalf("%s: chunks for %d bytes\ngot:  %d\nwant: at most %d", what, l.bytes, s.Chunks(), most)
	}
}

// TestCrowded: a store is crowded by clients or by bytes. At first and after Reset it allows 512 clients and 128 KiB, and
// after Forget as much beside twice what is not expendable.
func TestCrowded(t *testing.T) {
	for _, length := range []int{8, 230, 238, 246, 5000} { // 512 records of 230 and 238 bytes take 124 and 128 KiB
		s := store.New(full)
		l := newLimits()
		for round := range 2 {
			bytes := 0 // of those that are not expendable
			for i := range 1500 {
				name := fmt.Appendf(nil, "%0*d", length, i)
				what := fmt.Sprintf("round %d, name %d of %d bytes", round, i, length)
				l.checkCrowded(t, what, s)
				bucket := find(s, name)
				l.add(name)
				if i < 500 {
					bucket.Ticks = 0
					bytes += recordBytes(name)
				}
				if i == 100 && round > 0 || i == 550 || i == 1000 || i == 1400 {
					l.find(0)
					l.forget(min(i+1, 500), bytes)
					s.Forget(func(b limiter.Bucket) bool { return b == full })
					l.checkCrowded(t, what+", after Forget", s)
				}
			}
			s.Reset(full)
			l = newLimits()
			l.check(t, "after Reset", s)
		}
	}
}

// TestForget: each client is asked about with its bucket, once to count, and once more where clients are forgotten. The
// others keep their buckets, whichever they are, and a client that was forgotten is new.
func TestForget(t *testing.T) {
	const clients, seed = 3000, 1
	xs := bytes.Repeat([]byte("x"), 12_007)
	name := func(i int) []byte { // 18 MB together, which take several chunks
		return append(strconv.AppendInt(nil, int64(i), 10), xs[:i*i%len(xs)]...)
	}
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
		{"all but every fourth", func(i int) bool { return i%4 > 0 }},
		{"all but every 97th", func(i int) bool { return i%97 > 0 }},
		{"all but the long", func(i int) bool { return i*i%len(xs) < 10_000 }}, // a sixth of the clients, a third of the bytes
		{"any half", func(i int) bool { return rand.New(rand.NewPCG(seed, uint64(i))).IntN(2) == 0 }},
	} {
		t.Run("keep "+c.what, func(t *testing.T) {
			s := store.New(full)
			l := newLimits()
			s.Forget(func(limiter.Bucket) bool { t.Error("a store of no clients asks about one"); return true })
			l.checkForget(t, "Forget of nobody", s, l.forget(0, 0))
			known := make(map[int]bool)
			findAll := func(check func(i int, b limiter.Bucket), round int64) {
				for i := range clients {
					l.find(1)
					if !known[i] {
						known[i] = true
						l.add(name(i))
					}
					bucket := find(s, name(i))
					check(i, *bucket)
					*bucket = limiter.Bucket{Ticks: -int64(i), Last: round}
				}
			}
			findAll(func(i int, b limiter.Bucket) { checkBucket(t, "at first", name(i), b, full) }, 0)
			for round := range int64(2) { // the second in memory that was used before
				bucket := func(i int) limiter.Bucket { return limiter.Bucket{Ticks: -int64(i), Last: round} }
				kept, bytes := 0, 0
				for i := range clients {
					if c.keep(i) {
						kept++
						bytes += recordBytes(name(i))
					}
				}
				forgets, times := l.forget(kept, bytes), 1
				if forgets {
					times = 2
				}
				asked := make(map[limiter.Bucket]int)
				s.Forget(func(b limiter.Bucket) bool {
					asked[b]++
					return !c.keep(-int(b.Ticks))
				})
				for i := range clients {
					if n := asked[bucket(i)]; n != times {
						t.Fatalf("round %d: times that Forget asked about client %d\ngot:  %d\nwant: %d", round, i, n, times)
					}
					known[i] = c.keep(i) || !forgets
				}
				if len(asked) != clients {
					t.Fatalf("round %d: buckets asked about\ngot:  %d\nwant: %d", round, len(asked), clients)
				}
				l.checkForget(t, fmt.Sprintf("round %d, after Forget", round), s, forgets)
				findAll(func(i int, b limiter.Bucket) {
					want := full
					if c.keep(i) || !forgets {
						want = bucket(i)
					}
					checkBucket(t, fmt.Sprintf("round %d, client %d", round, i), name(i), b, want)
				}, round+1)
				l.check(t, fmt.Sprintf("round %d, all again", round), s)
			}
		})
	}
}

// TestForgetQuarter: clients are forgotten where they are a quarter of all or take a quarter of the bytes, and not where
// they are one client or one word less.
func TestForgetQuarter(t *testing.T) {
	for _, c := range []struct {
		expendable, others  int
		length, otherLength int // of their names
		forgets             bool
	}{
		{99, 301, 6, 6, false},
		{100, 300, 6, 6, true},
		{99, 301, 6, 5000, false},
		{100, 300, 6, 5000, true},
		{1, 99, 766, 6, false}, // a record of 784 bytes beside 99 * 24 = 3 * 792
		{1, 99, 767, 6, true},  // of 792
		{1, 0, 6, 6, true},
		{0, 1, 6, 6, false},
	} {
		s := store.New(full)
		l := newLimits()
		bytes, asked := 0, 0
		for i := range c.expendable + c.others {
			l.find(1)
			name := fmt.Appendf(nil, "%0*d", c.length, i)
			if i >= c.expendable {
				name = fmt.Appendf(nil, "%0*d", c.otherLength, i)
				bytes += recordBytes(name)
			}
			l.add(name)
			find(s, name).Last = int64(i)
		}
		if got := l.forget(c.others, bytes); got != c.forgets {
			t.Fatalf("%+v: forgets, by the limits\ngot:  %t\nwant: %t", c, got, c.forgets)
		}
		s.Forget(func(b limiter.Bucket) bool {
			asked++
			return b.Last < int64(c.expendable)
		})
		l.checkForget(t, fmt.Sprintf("%+v", c), s, c.forgets)
		want := c.expendable + c.others
		if c.forgets {
			want *= 2
		}
		if asked != want {
			t.Errorf("%+v: buckets asked about\ngot:  %d\nwant: %d", c, asked, want)
		}
	}
}

// TestForgetSlots: Forget makes an index in which those that stay, and as many as may come before the store is crowded
// again, need at most half of the slots, and no larger one.
func TestForgetSlots(t *testing.T) {
	for clients := range 800 {
		s := store.New(full)
		l := newLimits()
		bytes := 0
		for i := range 2*clients + 3 {
			l.find(1)
			name := fmt.Append(nil, "client", i)
			l.add(name)
			if bucket := find(s, name); i < clients {
				bucket.Ticks = 0
				bytes += recordBytes(name)
			}
		}
		s.Forget(func(b limiter.Bucket) bool { return b == full })
		l.checkForget(t, fmt.Sprintf("%d of %d clients stay", clients, l.clients), s, l.forget(clients, bytes))
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
		forgets bool  // else too few are full for that
		grows   bool
	}{
		{limiter.Policy{Capacity: 3, PerMinute: 60}, 20_000, 10, true, true},
		{limiter.Policy{Capacity: 1, PerMinute: 7}, 20_000, 40, true, true},
		{limiter.Policy{Capacity: 100, PerMinute: 6000}, 20_000, 1, true, true},
		{limiter.Policy{Capacity: 5, PerMinute: 60_000}, 20_000, 2, true, false},
		{limiter.Policy{Capacity: limiter.MaxCapacity, PerMinute: math.MaxInt64}, 20_000, 2, true, false},
		{limiter.Policy{Capacity: 0, PerMinute: 60}, 20_000, 2, true, false},  // all are always full
		{limiter.Policy{Capacity: 5, PerMinute: 0}, 5_000, 1000, false, true}, // none is full again
	} {
		t.Run(fmt.Sprint(c.policy), func(t *testing.T) {
			p, r := c.policy, rand.New(rand.NewPCG(seed, 0))
			s := store.New(p.Full())
			plain, known := make(map[string]limiter.Bucket), make(map[string]bool)
			var b batch
			var names []string
			var times []int64
			l := newLimits()
			now, notFull, forgotten, slots := int64(math.MinInt64), 0, 0, 0 // at most
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
				crowded := l.crowded(len(names))
				if got := forgetFull(s, len(names), p, times[0]); got != crowded {
					t.Fatalf("seed %d, call %d: Crowded(%d) with %d clients\ngot:  %t\nwant: %t", seed, call, len(names), len(known), got, crowded)
				}
				if crowded {
					stay, bytes := make(map[string]bool), 0
					for name, b := range plain {
						if p.Refill(b, times[0]).Ticks < p.Full().Ticks {
							stay[name] = true
							bytes += recordBytes([]byte(name))
						}
					}
					notFull = max(notFull, len(stay))
					forgets := l.forget(len(stay), bytes)
					if forgets {
						forgotten += len(known) - len(stay)
						known = stay
					}
					l.checkForget(t, fmt.Sprintf("seed %d, call %d, after Forget", seed, call), s, forgets)
				}
				l.find(len(names))
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
					if !known[name] {
						l.add([]byte(name))
					}
					plain[name], known[name] = want, true
					call++
				}
				slots = max(slots, s.Slots())
				if s.Clients() != len(known) || s.Slots() != l.slots {
					t.Fatalf("seed %d, call %d: clients and slots\ngot:  %d, %d\nwant: %d, %d",
						seed, call, s.Clients(), s.Slots(), len(known), l.slots)
				}
			}
			l.check(t, "at the end", s)
			if most := 2*notFull + 512; s.Clients() > most {
				t.Errorf("clients\ngot:  %d\nwant: at most %d", s.Clients(), most)
			}
			if grew := slots > 2048; grew != c.grows || forgotten > 0 != c.forgets {
				t.Errorf("the walk missed what it is for: %d slots, %d clients forgotten, at most %d not full", slots, forgotten, notFull)
			}
		})
	}
}

// TestForgetTenMillion: ten million clients seen once each, while the clock moves on, leave a store of the size of those
// whose buckets are not full, and an index that stops growing.
//
// A bucket of 1 at 60 a minute is full again 1000 ms after it was emptied, and 20 clients come each ms. So at most
// notFull = 20 * 1000 stay when the store forgets, and it is crowded again by more than 2 * notFull + 512: there are never
// more clients, nor records in the arena, and the index has less than four times as many slots.
func TestForgetTenMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const (
		clients = 10_000_000
		perMs   = 20
		notFull = perMs * 1000
		bound   = 2*notFull + 512
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
	if largest > bound || s.Slots() >= 4*bound || s.Slots() != settled {
		t.Errorf("clients at most, slots\ngot:  %d, %d\nwant: at most %d, and %d as after a tenth of the clients",
			largest, s.Slots(), bound, settled)
	}
	if got, want := s.ArenaBytes(), 24+bound*recordBytes(name); got > want {
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

// TestForgetNobody: where no bucket is expendable, a store whose caller forgets grows as it must and loses nobody. Forget
// is called about once each time that the store doubles, and asks about each client once.
func TestForgetNobody(t *testing.T) {
	for _, c := range []struct{ clients, length int }{{100_000, 0}, {10_000, 3000}} { // crowded by clients, and by bytes
		s := store.New(full)
		l := newLimits()
		calls, asked, want := 0, 0, 0
		name := func(i int64) []byte { return fmt.Appendf(nil, "client%0*d", c.length, i) }
		for round := range 2 {
			for i := range int64(c.clients) {
				if s.Crowded(1) {
					calls++
					want += l.clients
					s.Forget(func(limiter.Bucket) bool { asked++; return false })
					l.checkForget(t, "after Forget", s, l.forget(l.clients, l.bytes))
				}
				l.find(1)
				bucket := find(s, name(i))
				if round == 0 {
					l.add(name(i))
					checkBucket(t, "new", name(i), *bucket, full)
					bucket.Ticks = full.Ticks - 1 - i
				} else {
					checkBucket(t, "again", name(i), *bucket, limiter.Bucket{Ticks: full.Ticks - 1 - i, Last: full.Last})
				}
			}
		}
		l.check(t, "at the end", s)
		// Between two calls the clients or the bytes double, so the counts of clients add up to less than twice the last.
		if most := bits.Len(uint(c.clients)); calls == 0 || calls > most || asked != want || asked > 2*c.clients {
			t.Errorf("%d clients with names of %d bytes: calls of Forget, clients asked about\ngot:  %d, %d\nwant: 1 to %d, %d and at most %d",
				c.clients, len(name(0)), calls, asked, most, want, 2*c.clients)
		}
	}
}

const maxHeap = 32 << 20 // bytes on the heap of a store of few clients: chunks of 8 MiB, some spare

// TestForgetBurst: after a burst of clients whose buckets are full again, one Forget gives their memory back, and so does a
// caller that forgets where it is crowded, while clients with long names come one at a time.
func TestForgetBurst(t *testing.T) {
	const clients, later, length = 200_000, 100_000, 20_000
	p := limiter.Policy{Capacity: 1, PerMinute: 60}
	burst := func() *store.Store {
		s := store.New(p.Full())
		for i := range clients {
			forgetFull(s, 1, p, 0)
			bucket := find(s, fmt.Append(nil, "client", i))
			*bucket, _ = p.Take(*bucket, 0, 1, 0)
		}
		if s.Clients() != clients || s.Slots() < 2*clients { // who are not full
			t.Fatalf("clients and slots after the burst\ngot:  %d, %d\nwant: %d, at least %d", s.Clients(), s.Slots(), clients, 2*clients)
		}
		return s
	}
	before := heap()
	s := burst()
	s.Forget(func(b limiter.Bucket) bool {
		return p.Refill(b, 1000) == limiter.Bucket{Ticks: p.Full().Ticks, Last: 1000}
	})
	checkStore(t, "after Forget of all", s, 0)
	if s.Slots() != 1024 || s.Chunks() > 2 {
		t.Errorf("slots and chunks after Forget of all\ngot:  %d, %d\nwant: 1024, at most 2", s.Slots(), s.Chunks())
	}
	if used := heap() - before; used > maxHeap {
		t.Errorf("bytes on the heap after Forget of all\ngot:  %d\nwant: at most %d", used, maxHeap)
	}

	s = burst()
	name := bytes.Repeat([]byte("x"), length)
	forgot := 0
	for i := range int64(later) {
		now := 1000 + 999*i // where only the bucket before is not full
		if forgetFull(s, 1, p, now) {
			forgot++
		}
		bucket := find(s, strconv.AppendInt(name[:length-10], i, 10))
		if want := p.Full(); *bucket != want {
			checkBucket(t, fmt.Sprint("client ", i), name, *bucket, want)
		}
		*bucket, _ = p.Take(*bucket, now, 1, 0)
		if forgot > 0 && s.Slots() > 4096 {
			t.Fatalf("slots after Forget, client %d\ngot:  %d\nwant: at most 4096", i, s.Slots())
		}
	}
	if forgot == 0 {
		t.Error("the store was never crowded")
	}
	if used := heap() - before; used > maxHeap {
		t.Errorf("bytes on the heap after %d long names\ngot:  %d\nwant: at most %d", later, used, maxHeap)
	}
	checkStore(t, "at the end", s, s.Clients())
}

// TestForgetLongNames: clients whose names are as long as can be, and whose buckets are always full, take no more memory
// however many there were.
func TestForgetLongNames(t *testing.T) {
	const clients, length = 20_000, 65_520
	before := heap()
	s := store.New(full)
	name := bytes.Repeat([]byte("x"), length)
	for i := range clients {
		if s.Crowded(1) {
			s.Forget(func(b limiter.Bucket) bool { return b == full })
		}
		binary.NativeEndian.PutUint32(name, uint32(i))
		if bucket := find(s, name); *bucket != full {
			checkBucket(t, fmt.Sprint("client ", i), name, *bucket, full)
		}
		if i%1000 == 999 {
			if used := heap() - before; used > maxHeap {
				t.Fatalf("bytes on the heap after %d clients\ngot:  %d\nwant: at most %d", i+1, used, maxHeap)
			}
		}
	}
	checkStore(t, "at the end", s, s.Clients())
}
