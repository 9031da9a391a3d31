// These tests hold the Store against a plain map of buckets: who is who, whatever the names and their hashes, what is
// forgotten and when, and what that costs in memory.
package limiter_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"tokenbucket/limiter"
)

var threeAt60 = limiter.Policy{Capacity: 3, PerMinute: 60}

// wantBucket holds a bucket of a client against the one that it should have.
func wantBucket(t *testing.T, what string, client []byte, got limiter.Bucket, ticks, last int64) {
	t.Helper()
	if want := (limiter.Bucket{Ticks: ticks, Last: last}); got != want {
		t.Fatalf("%s of %.60q (%d bytes)\ncame:   %+v\nwanted: %+v", what, client, len(client), got, want)
	}
}

// A batch is calls for Seek and the text that their names lie in.
type batch struct {
	text    []byte
	calls   []limiter.Call
	buckets [limiter.MaxSeek]*limiter.Bucket
}

// add adds a call with a hash of any kind: a store knows clients by their names, as long as each name has one hash.
func (b *batch) add(name []byte, hash uint64, now int64) {
	b.calls = append(b.calls, limiter.Call{Hash: hash, Now: now, At: uint32(len(b.text)), Size: uint16(len(name))})
	b.text = append(b.text, name...)
}

// find finds the buckets of the calls, and leaves the batch ready for others.
func (b *batch) find(s *limiter.Store) []*limiter.Bucket {
	n := len(b.calls)
	b.text = append(b.text, "\xff\x00behind"...)
	b.seek(s)
	b.text, b.calls = b.text[:0], b.calls[:0]
	return b.buckets[:n]
}

func (b *batch) seek(s *limiter.Store) {
	s.Seek(b.calls)
	for i := range b.calls {
		b.buckets[i] = s.Bucket(b.text, &b.calls[i], i)
	}
}

// plainBucket is the bucket that a plain map has for a client, full if it has none.
func plainBucket(plain map[string]limiter.Bucket, p limiter.Policy, name string, now int64) limiter.Bucket {
	if b, old := plain[name]; old {
		return b
	}
	return p.Full(now)
}

// hash is the hash that the store wants.
func hash(s *limiter.Store, name []byte) uint64 { return maphash.Bytes(s.Seed(), name) }

// heap is the memory in use on the heap once what is garbage is freed.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStoreNewClient: a client seen for the first time has a full bucket at that time, before time zero as well; and an
// answer of Take is that of Policy.Take on it.
func TestStoreNewClient(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	if s.Policy() != threeAt60 {
		t.Errorf("came:   %+v\nwanted: %+v", s.Policy(), threeAt60)
	}
	wantBucket(t, "TopUp", []byte("a"), s.TopUp([]byte("a"), 7000), 180_000, 7000)
	b, o := s.Take([]byte("b"), -5000, 2, 0)
	wantBucket(t, "Take", []byte("b"), b, 60_000, -5000)
	if want := granted(-5000); o != want {
		t.Errorf("a new client takes 2\ncame:   %+v\nwanted: %+v", o, want)
	}
	b, o = s.Take([]byte("b"), -5000, 2, 0)
	wantBucket(t, "Take", []byte("b"), b, 60_000, -5000)
	if want := retryAfter(1, 1000); o != want {
		t.Errorf("and takes 2 again\ncame:   %+v\nwanted: %+v", o, want)
	}
	b, o = s.Take([]byte("c"), 5, 4, 0) // refused, and known from then on
	wantBucket(t, "Take", []byte("c"), b, 180_000, 5)
	if o != refused {
		t.Errorf("a new client takes 4\ncame:   %+v\nwanted: %+v", o, refused)
	}
	wantBucket(t, "TopUp", []byte("c"), s.TopUp([]byte("c"), 0), 180_000, 5)
	wantBucket(t, "TopUp", []byte("a"), s.TopUp([]byte("a"), 0), 180_000, 7000)
}

// TestStoreReset: Reset sets the policy and forgets everyone, however many there were and however often it is done.
func TestStoreReset(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	a, b := []byte("a"), []byte("b")
	for i := range int64(70_000) { // more often than 16 bits can count
		p := limiter.Policy{Capacity: 1 + i%5, PerMinute: 60}
		s.Reset(p)
		if s.Policy() != p {
			t.Fatalf("Reset %d\ncame:   %+v\nwanted: %+v", i, s.Policy(), p)
		}
		if i%1000 != 999 {
			wantBucket(t, fmt.Sprint("TopUp after Reset ", i), a, s.TopUp(a, i), p.Capacity*60_000, i)
			after, _ := s.Take(a, i, 1, 0)
			wantBucket(t, fmt.Sprint("Take after Reset ", i), a, after, p.Capacity*60_000-60_000, i)
		}
		if i%3 == 0 { // seen now and then
			after, _ := s.Take(b, i, 1, 0)
			wantBucket(t, fmt.Sprint("Take after Reset ", i), b, after, p.Capacity*60_000-60_000, i)
		}
	}
	for round := range int64(3) {
		s.Reset(limiter.Policy{Capacity: 1 + round, PerMinute: 1})
		for i := range 50_000 {
			name := fmt.Append(nil, "client", i)
			after, _ := s.Take(name, round, 1, 0)
			wantBucket(t, fmt.Sprint("Take in round ", round), name, after, round*60_000, round)
		}
	}
}

// TestStoreNames: a name is any bytes, none, or 65,535 of them; it is known by all its bytes; and the store keeps its own
// copy of it.
func TestStoreNames(t *testing.T) {
	long := strings.Repeat("x", 65_534)
	names := []string{"", "\x00", "\x00\x00", "a", "A", "a\x00", "\x00a", "aa", " a", "a ", "\n", "\xff", "\xff\xfe", "é", "e\u0301",
		"0", "00", "+0", "#", "a\r", long, long + "x", long + "y", "y" + long, long[:65_533] + "\x00", long[:65_533]}
	for length := range 70 { // each a prefix of the next, two beside each that differ at an end, and one of zeros
		p := strings.Repeat("p", length)
		names = append(names, p+"p", p+"q", "q"+p, strings.Repeat("\x00", length+3))
	}
	// Names that differ in one bit, at each place of a word and more.
	for place := range 24 {
		for bit := range 8 {
			name := []byte("0123456789abcdefghijklmn")
			name[place] ^= 1 << bit
			names = append(names, string(name))
		}
	}
	seen := make(map[string]bool)
	for _, name := range names {
		seen[name] = true
	}
	s := limiter.NewStore(limiter.Policy{Capacity: most, PerMinute: 0})
	buffer := make([]byte, 0, 1<<17)
	say := func(name string) []byte { // in the same memory each time, among other bytes
		buffer = append(append(append(buffer[:0], "REQUEST "...), name...), " 1\n"...)
		return buffer[len("REQUEST ") : len(buffer)-3]
	}
	cost := int64(0)
	costs := make(map[string]int64)
	for name := range seen { // each takes as much as no other
		cost++
		costs[name] = cost
		b, _ := s.Take(say(name), 0, cost, 0)
		wantBucket(t, "Take", []byte(name), b, brim-cost*60_000, 0)
	}
	for range 2 {
		for name, cost := range costs {
			wantBucket(t, "TopUp", []byte(name), s.TopUp(say(name), 0), brim-cost*60_000, 0)
			if !bytes.Equal(buffer, []byte("REQUEST "+name+" 1\n")) {
				t.Fatalf("the name was written to\ncame:   %.60q\nwanted: %.60q", buffer, "REQUEST "+name+" 1\n")
			}
		}
	}
}

// TestStoreKeepsManyApart: 200,000 clients of names of several kinds, called in any order at any time, each have the bucket
// that a plain map of buckets has for them.
func TestStoreKeepsManyApart(t *testing.T) {
	const clients, calls, seed = 200_000, 600_000, 1
	p := limiter.Policy{Capacity: 5, PerMinute: 7}
	s := limiter.NewStore(p)
	plain := make(map[string]limiter.Bucket)
	r := rand.New(rand.NewPCG(seed, 0))
	var buffer []byte
	name := func(i int) []byte {
		switch buffer = buffer[:0]; i % 4 {
		case 0:
			buffer = fmt.Append(buffer, "client", i)
		case 1:
			buffer = binary.LittleEndian.AppendUint64(buffer, uint64(i))
		case 2:
			buffer = binary.BigEndian.AppendUint32(buffer, uint32(i))
		case 3:
			buffer = fmt.Appendf(buffer, "10.0.%d.%d", i>>8, i&0xFF)
		}
		return buffer
	}
	now := int64(0)
	check := func(i, call int, what string, got limiter.Bucket, o, wantO limiter.Outcome) {
		if want := plain[string(name(i))]; got != want || o != wantO {
			t.Fatalf("seed %d, call %d: %s of %q at %d\ncame:   %+v, %+v\nwanted: %+v, %+v",
				seed, call, what, name(i), now, got, o, want, wantO)
		}
	}
	for call := range calls {
		i := r.IntN(clients)
		if call < clients {
			i = call // so that all of them are there
		}
		now += r.Int64N(5) - 1
		b, known := plain[string(name(i))]
		if !known {
			b = p.Full(now)
		}
		cost, maxWait := 1+r.Int64N(6), r.Int64N(4)*8000
		switch r.IntN(3) {
		case 0:
			plain[string(name(i))] = p.TopUp(b, now)
			check(i, call, "TopUp", s.TopUp(name(i), now), limiter.Outcome{}, limiter.Outcome{})
		default:
			after, wantO := p.Take(b, now, cost, maxWait)
			plain[string(name(i))] = after
			got, o := s.Take(name(i), now, cost, maxWait)
			check(i, call, fmt.Sprintf("Take of %d within %d", cost, maxWait), got, o, wantO)
		}
	}
	for i := range clients {
		if b, known := plain[string(name(i))]; known {
			check(i, calls, "TopUp at its own time", s.TopUp(name(i), b.Last), limiter.Outcome{}, limiter.Outcome{})
		}
	}
}

// TestStoreNameTooLong: a name of more than 65,535 bytes panics, and makes no client.
func TestStoreNameTooLong(t *testing.T) {
	if limiter.MaxName != 65_535 {
		t.Fatalf("MaxName\ncame:   %d\nwanted: 65535", limiter.MaxName)
	}
	s := limiter.NewStore(threeAt60)
	panics := func(what string, name []byte, call func(name []byte), want bool) {
		defer func() {
			if fault := recover(); (fault != nil) != want {
				t.Errorf("%s of %d bytes panics\ncame:   %v\nwanted: %t", what, len(name), fault, want)
			}
		}()
		call(name)
	}
	for _, size := range []int{65_535, 65_536, 65_537, 131_071, 131_072} {
		name := bytes.Repeat([]byte("x"), size)
		panics("Take", name, func(name []byte) { s.Take(name, 0, 1, 0) }, size > 65_535)
		panics("TopUp", name, func(name []byte) { s.TopUp(name, 0) }, size > 65_535)
	}
	if s.Clients() != 1 {
		t.Errorf("clients\ncame:   %d\nwanted: 1", s.Clients())
	}
}

// TestFindInOneBatch: calls of one client in a batch get one bucket, be the client old or new, and calls of different
// clients never do; that is so wherever in a batch the store has to make room, and however many regions are full.
func TestFindInOneBatch(t *testing.T) {
	for _, tail := range []string{"", strings.Repeat("x", 3000)} {
		for old := 440; old <= 520; old++ { // a new store has room for 512
			s := limiter.NewStore(limiter.Policy{Capacity: most, PerMinute: 0})
			var b batch
			for i := range old {
				s.Take(fmt.Append(nil, "client", i, tail), 0, int64(1+i), 0)
			}
			// The new are the next 22. Each is called up to three times in the batch, between calls of the old.
			var who []int
			for i := range limiter.MaxSeek {
				switch i % 3 {
				case 0:
					who = append(who, old+i/3)
				case 1:
					who = append(who, old-1-i)
				case 2:
					who = append(who, old+i/6)
				}
			}
			for _, i := range who {
				name := fmt.Append(nil, "client", i, tail)
				b.add(name, hash(s, name), 0)
			}
			first := make(map[int]*limiter.Bucket)
			owner := make(map[*limiter.Bucket]int)
			for at, bucket := range b.find(s) {
				i := who[at]
				if first[i] == nil {
					want := limiter.Bucket{Ticks: brim}
					if i < old {
						want.Ticks -= int64(1+i) * 60_000
					}
					if *bucket != want {
						t.Fatalf("%d old clients, call %d of client %d\ncame:   %+v\nwanted: %+v", old, at, i, *bucket, want)
					}
					first[i] = bucket
				} else if bucket != first[i] {
					t.Fatalf("%d old clients: client %d has two buckets in a batch", old, i)
				}
				if other, taken := owner[bucket]; taken && other != i {
					t.Fatalf("%d old clients: clients %d and %d have one bucket", old, i, other)
				}
				owner[bucket] = i
				bucket.Ticks-- // seen by the next call of the client, and after the batch
			}
			for i, bucket := range first {
				wantBucket(t, "TopUp after the batch", fmt.Append(nil, "client", i), s.TopUp(fmt.Append(nil, "client", i, tail), 0), bucket.Ticks, 0)
			}
			if want := old + 22; s.Clients() != want {
				t.Fatalf("%d old clients and 22 new\ncame:   %d\nwanted: %d", old, s.Clients(), want)
			}
		}
	}
}

// TestFindSameHash: clients whose names have the same hash, or the same upper 28 bits of it, are kept apart, also where
// they fill the end of the index and go on at its start, and as the index grows.
func TestFindSameHash(t *testing.T) {
	const clients = 1200
	for _, c := range []struct {
		what string
		hash func(i int) uint64
	}{
		{"0", func(int) uint64 { return 0 }},
		{"all ones", func(int) uint64 { return ^uint64(0) }},
		{"one of the middle", func(int) uint64 { return 0x8000_0010_0000_0000 }},
		{"0 or all ones", func(i int) uint64 { return -uint64(i % 2) }},
		{"all ones, and others just below", func(i int) uint64 { return ^(uint64(i%3) << 36) }},
		{"the upper 28 bits alone", func(i int) uint64 { return 0xABCDEF0<<36 | uint64(i)*0x9E37_79B9_7F4A_7C15>>28 }},
		{"the upper 28 bits, zeros", func(i int) uint64 { return uint64(i) }},
		{"the upper 28 bits, ones", func(i int) uint64 { return ^uint64(i) }},
		{"the home alone", func(i int) uint64 { return 0xFFF<<52 | uint64(i)<<36 }},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := limiter.NewStore(limiter.Policy{Capacity: most, PerMinute: 0})
			before := s.Slots()
			var b batch
			name := func(i int) []byte { return fmt.Append(nil, "client", i) }
			each := func(do func(i int, bucket *limiter.Bucket)) {
				for first := 0; first < clients; first += limiter.MaxSeek {
					for i := first; i < min(first+limiter.MaxSeek, clients); i++ {
						b.add(name(i), c.hash(i), 0)
					}
					for at, bucket := range b.find(s) {
						do(first+at, bucket)
					}
				}
			}
			each(func(i int, bucket *limiter.Bucket) {
				wantBucket(t, "new bucket", name(i), *bucket, brim, 0)
				bucket.Ticks -= int64(i)
			})
			for range 2 {
				each(func(i int, bucket *limiter.Bucket) {
					wantBucket(t, "bucket", name(i), *bucket, brim-int64(i), 0)
				})
			}
			if s.Clients() != clients || s.Slots() < 4*before {
				t.Errorf("clients and slots\ncame:   %d, %d\nwanted: %d, at least %d", s.Clients(), s.Slots(), clients, 4*before)
			}
		})
	}
}

// TestFindAlmostSameNames: clients with one hash for all, whose names differ in one bit, wherever it is, or are each the start
// of the next, are kept apart.
func TestFindAlmostSameNames(t *testing.T) {
	const seed = 6
	r := rand.New(rand.NewPCG(seed, 0))
	base := make([]byte, limiter.MaxName)
	for i := range base {
		base[i] = byte(r.Uint32())
	}
	var names [][]byte
	add := func(size int, places ...int) {
		names = append(names, base[:size])
		for _, place := range places {
			name := bytes.Clone(base[:size])
			name[place] ^= 1 << r.IntN(8)
			names = append(names, name)
		}
	}
	for size := range 42 {
		var places []int
		for place := range size {
			places = append(places, place)
		}
		add(size, places...)
	}
	add(200, 0, 7, 8, 15, 16, 100, 191, 192, 199)
	add(limiter.MaxName-1, 0, 65_533)
	add(limiter.MaxName, 0, 7, 8, 15, 16, 17, 32_768, 65_526, 65_527, 65_528, 65_534)

	s := limiter.NewStore(limiter.Policy{Capacity: most, PerMinute: 0})
	var b batch
	for round := range int64(2) {
		for i, name := range names {
			b.add(name, 1<<63, 0)
			bucket := b.find(s)[0]
			if want := brim - round*int64(i); bucket.Ticks != want {
				t.Fatalf("seed %d, round %d: name %d, %.60q (%d bytes)\ncame:   %d ticks\nwanted: %d", seed, round, i, name, len(name), bucket.Ticks, want)
			}
			bucket.Ticks = brim - int64(i)
		}
	}
	if s.Clients() != len(names) {
		t.Errorf("clients\ncame:   %d\nwanted: %d", s.Clients(), len(names))
	}
}

// TestFindWalk: 300,000 clients of names of all lengths, called at random in batches of 1 to 64 while the index grows and
// region after region of the arena fills, each have the bucket that a plain map of buckets has for them.
func TestFindWalk(t *testing.T) {
	const clients, calls, seed = 300_000, 900_000, 2
	r := rand.New(rand.NewPCG(seed, 0))
	names := make([]string, 0, clients)
	seen := make(map[string]bool)
	long := bytes.Repeat([]byte("long name "), 6554)[:limiter.MaxName]
	for len(names) < clients {
		var name []byte
		if len(names)%10_000 == 5000 { // these differ in one byte
			name = bytes.Clone(long)
			name[r.IntN(len(name))] ^= byte(1 + r.IntN(255))
		} else {
			name = make([]byte, r.IntN(201))
			for i := range name {
				name[i] = byte(r.IntN(4)) // so that many are alike at their start
			}
		}
		if !seen[string(name)] {
			seen[string(name)] = true
			names = append(names, string(name))
		}
	}

	p := limiter.Policy{Capacity: 5, PerMinute: 7}
	s := limiter.NewStore(p)
	plain := make(map[string]limiter.Bucket)
	var b batch
	var who []string
	now, before := int64(0), s.ArenaBytes()
	for call := 0; call < calls; {
		// The clients that may be called come to be more and more, so that old and new ones are mixed.
		known := min(clients, 1+call*2/3)
		who = who[:0]
		for range 1 + r.IntN(limiter.MaxSeek) {
			name := names[r.IntN(known)]
			if r.IntN(8) == 0 && len(who) > 0 {
				name = who[r.IntN(len(who))]
			}
			who = append(who, name)
			now += r.Int64N(5) - 1
			b.add([]byte(name), hash(s, []byte(name)), now)
		}
		times := b.calls
		for i, bucket := range b.find(s) {
			name, now := who[i], times[i].Now
			want := plainBucket(plain, p, name, now)
			if *bucket != want {
				t.Fatalf("seed %d, call %d: bucket of %.60q (%d bytes) at %d\ncame:   %+v\nwanted: %+v", seed, call, name, len(name), now, *bucket, want)
			}
			*bucket, _ = p.Take(*bucket, now, 1+r.Int64N(6), r.Int64N(4)*8000)
			plain[name] = *bucket
			call++
		}
		if s.Clients() != len(plain) {
			t.Fatalf("seed %d, call %d: clients\ncame:   %d\nwanted: %d", seed, call, s.Clients(), len(plain))
		}
	}
	for name, want := range plain {
		wantBucket(t, "TopUp at its own time", []byte(name), s.TopUp([]byte(name), want.Last), want.Ticks, want.Last)
	}
	if len(plain) < clients*8/10 || s.ArenaBytes() < 200*before {
		t.Errorf("the walk was too short: %d clients, %d bytes", len(plain), s.ArenaBytes())
	}
}

// notFull is the clients of a plain map whose buckets are not full at now.
func notFull(p limiter.Policy, plain map[string]limiter.Bucket, now int64) map[string]bool {
	are := make(map[string]bool)
	for name, b := range plain {
		if p.TopUp(b, now).Ticks < p.Capacity*limiter.TicksPerToken {
			are[name] = true
		}
	}
	return are
}

// TestMonotonicWalk: a store that forgets full buckets gives the bucket, and so the answer, that a plain map gives which
// never forgets. What it knows is exact: when it makes room, the clients whose buckets are not full stay, and only where
// they need more than half of the room does it grow.
func TestMonotonicWalk(t *testing.T) {
	const seed, calls = 3, 150_000
	for _, c := range []struct {
		policy  limiter.Policy
		clients int
		step    int64 // ms at most from one call to the next
		grows   bool
	}{
		{threeAt60, 20_000, 10, true},
		{limiter.Policy{Capacity: 1, PerMinute: 7}, 20_000, 40, true},
		{limiter.Policy{Capacity: 100, PerMinute: 6000}, 20_000, 1, true},
		{limiter.Policy{Capacity: 5, PerMinute: 60_000}, 20_000, 2, false},
		{limiter.Policy{Capacity: most, PerMinute: maxInt}, 20_000, 2, false},
		{limiter.Policy{Capacity: 0, PerMinute: 60}, 20_000, 2, false}, // all are full, always
		{limiter.Policy{Capacity: 5, PerMinute: 0}, 5_000, 1000, true}, // none ever is again
	} {
		t.Run(fmt.Sprint(c.policy), func(t *testing.T) {
			p, r := c.policy, rand.New(rand.NewPCG(seed, 0))
			s := limiter.NewStore(p)
			s.Monotonic = true
			plain, known := make(map[string]limiter.Bucket), make(map[string]bool)
			var b batch
			var who []string
			now, live, forgot, slots := int64(minInt), 0, 0, s.Slots()
			for call := 0; call < calls; {
				who = who[:0]
				if r.IntN(500) == 0 { // a pause
					now += r.Int64N(200_000)
				}
				for range 1 + r.IntN(limiter.MaxSeek) {
					now += max(0, r.Int64N(2*c.step+1)-c.step)
					i := r.IntN(c.clients)
					if r.IntN(4) == 0 {
						i %= 50 // some are known for long
					}
					name := fmt.Appendf(nil, "%0*d", 1+i%40, i)
					who = append(who, string(name))
					b.add(name, hash(s, name), now)
				}
				if s.Clients()+len(who) > s.Room() {
					before := len(known)
					known = notFull(p, plain, b.calls[0].Now)
					live = max(live, len(known))
					forgot += before - len(known)
					if len(known)+len(who) > s.Room()/2 {
						slots *= 2
					}
				}
				times := b.calls
				for i, bucket := range b.find(s) {
					name, now := who[i], times[i].Now
					want := plainBucket(plain, p, name, now)
					cost, maxWait := 1+r.Int64N(p.Capacity/2+1), int64(0)
					if r.IntN(4) == 0 {
						maxWait = r.Int64N(5000)
					}
					was := *bucket
					var o, wantO limiter.Outcome
					if r.IntN(5) > 0 {
						*bucket, o = p.Take(*bucket, now, cost, maxWait)
						want, wantO = p.Take(want, now, cost, maxWait)
					} else {
						*bucket, want = p.TopUp(*bucket, now), p.TopUp(want, now)
					}
					if *bucket != want || o != wantO {
						t.Fatalf("seed %d, call %d: %q at %d, from %+v\ncame:   %+v, %+v\nwanted: %+v, %+v", seed, call, name, now, was, *bucket, o, want, wantO)
					}
					plain[name], known[name] = want, true
					call++
				}
				if s.Clients() != len(known) || s.Slots() != slots {
					t.Fatalf("seed %d, call %d: clients and slots\ncame:   %d, %d\nwanted: %d, %d", seed, call, s.Clients(), s.Slots(), len(known), slots)
				}
			}
			// With more than live clients and a batch of them in half of the room, it does not grow.
			if bound := max(512, 4*(live+limiter.MaxSeek)); s.Clients() > bound {
				t.Errorf("clients\ncame:   %d\nwanted: at most %d", s.Clients(), bound)
			}
			if grew := slots > 1024; grew != c.grows || forgot == 0 {
				t.Errorf("the walk missed what it is for: %d slots, %d clients forgotten, %d live at most", slots, forgot, live)
			}
		})
	}
}

// TestMonotonicTenMillion: ten million clients seen once each at a clock that moves leave a store of the size of those
// whose buckets are not full, and an index that stops growing.
//
// A bucket of 1 at 60 a minute is full again 1000 ms after it was emptied, and 20 clients come each ms. So when the store
// makes room, at most live = 20 * 1000 are not full, and a batch of 64 comes beside them. The index grows only where these
// need more than half of its room, and then to twice that: the room stays below 4 * (live + 64) clients, the index at
// twice as many slots, and the arena at as many records.
func TestMonotonicTenMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const (
		clients = 10_000_000
		each    = 20 // ms
		live    = each * 1000
		bound   = 4 * (live + limiter.MaxSeek)
		record  = 48 // bytes: a bucket, a length and a name of 17 bytes, in words
		region  = 1 << 17
	)
	before := heap()
	s := limiter.NewStore(limiter.Policy{Capacity: 1, PerMinute: 60})
	s.Monotonic = true
	var b batch
	p := s.Policy()
	name := []byte("client-0000000000")
	largest, settled := 0, 0 // clients; slots once a tenth of them were there
	for i := 0; i < clients; {
		for range limiter.MaxSeek {
			for n, at := i, len(name)-1; n > 0; n, at = n/10, at-1 {
				name[at] = byte('0' + n%10)
			}
			b.add(name, hash(s, name), int64(i/each))
			i++
		}
		for at, bucket := range b.find(s) {
			now := int64((i - limiter.MaxSeek + at) / each)
			after, o := p.Take(*bucket, now, 1, 0)
			if o != granted(now) || after != (limiter.Bucket{Last: now}) {
				t.Fatalf("client %d at %d, from %+v\ncame:   %+v, %+v\nwanted: granted, an empty bucket", i-limiter.MaxSeek+at, now, *bucket, after, o)
			}
			*bucket = after
		}
		largest = max(largest, s.Clients())
		if settled == 0 && i >= clients/10 {
			settled = s.Slots()
		}
	}
	if largest >= bound || s.Slots() >= 2*bound || s.Slots() != settled {
		t.Errorf("clients, slots\ncame:   %d, %d\nwanted: less than %d, %d as a tenth of the clients left them", largest, s.Slots(), bound, settled)
	}
	if most := bound*record + region; s.ArenaBytes() > most {
		t.Errorf("bytes of the arena\ncame:   %d\nwanted: at most %d", s.ArenaBytes(), most)
	}
	b = batch{}
	if used := heap() - before; used > 32<<20 { // the index, the arena, and memory that is spare
		t.Errorf("bytes on the heap\ncame:   %d\nwanted: at most 32 MiB", used)
	}
	if s.Clients() < live {
		t.Errorf("clients\ncame:   %d\nwanted: at least the %d that are not full", s.Clients(), live)
	}
}

// TestMonotonicSlowGrowth: where the clients whose buckets are not full come to be more and more, slowly, while many others
// come and go, the memory of those that went is used again: the heap holds little more than the records and the index.
func TestMonotonicSlowGrowth(t *testing.T) {
	const clients = 5_000_000
	before := heap()
	s := limiter.NewStore(limiter.Policy{Capacity: 1, PerMinute: 60})
	s.Monotonic = true
	for i, now, ms := 0, int64(0), 0; i < clients; i++ {
		if ms++; ms > 1+i/100_000 { // clients a ms: 1 at the start, 50 at the end
			now, ms = now+1, 0
		}
		name := binary.LittleEndian.AppendUint64(nil, uint64(i))
		if _, o := s.Take(name, now, 1, 0); o != granted(now) {
			t.Fatalf("client %d at %d\ncame:   %+v\nwanted: granted", i, now, o)
		}
	}
	used, want := heap()-before, int64(s.ArenaBytes()+8*s.Slots()+24<<20) // 24 MiB: two lots of memory for regions to come
	if used > want {
		t.Errorf("bytes on the heap for %d clients, with %d bytes of the arena and %d slots\ncame:   %d\nwanted: at most %d",
			s.Clients(), s.ArenaBytes(), s.Slots(), used, want)
	}
}

// TestMonotonicLosesNobody: where no bucket gets full again, because the clock stands still or nothing flows in, a store
// that forgets full buckets grows as it must; and one without Monotonic forgets nobody, however full the buckets are.
func TestMonotonicLosesNobody(t *testing.T) {
	const clients = 100_000
	for _, c := range []struct {
		what      string
		policy    limiter.Policy
		monotonic bool
		step      int64 // ms from client to client
	}{
		{"the clock stands still", limiter.Policy{Capacity: most, PerMinute: maxInt}, true, 0},
		{"nothing flows in", limiter.Policy{Capacity: most, PerMinute: 0}, true, 1000},
		{"the clock may go back", limiter.Policy{Capacity: most, PerMinute: maxInt}, false, 1000},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := limiter.NewStore(c.policy)
			s.Monotonic = c.monotonic
			name := func(i int64) []byte { return fmt.Append(nil, "client", i) }
			for i := range int64(clients) {
				s.Take(name(i), i*c.step, 1+i, 0)
			}
			if s.Clients() != clients {
				t.Errorf("clients\ncame:   %d\nwanted: %d", s.Clients(), clients)
			}
			for i := range int64(clients) { // at a time that is past, there is no refill
				now := i * c.step
				if c.monotonic {
					now = clients * c.step
				}
				wantBucket(t, "TopUp", name(i), s.TopUp(name(i), now), brim-(1+i)*60_000, now)
			}
		})
	}
}

// TestResetFrees: a client takes 24 bytes and its name in whole words; and what Reset forgets is freed, be it much of the
// index, of the records or of both.
func TestResetFrees(t *testing.T) {
	for _, of := range []struct{ clients, size int }{{300_000, 24}, {4_000, 8}, {400, 65_000}} {
		before := heap()
		s := limiter.NewStore(threeAt60)
		slots, arena := s.Slots(), s.ArenaBytes()
		least := of.clients * (24 + (of.size+7)/8*8)
		for round := range 3 {
			for i := range of.clients {
				s.Take(fmt.Appendf(nil, "%0*d", of.size, i), 0, 1, 0)
			}
			if used, most := s.ArenaBytes(), least+least/50+arena; used < least || used > most {
				t.Fatalf("round %d: bytes with %d clients of %d bytes\ncame:   %d\nwanted: %d to %d",
					round, of.clients, of.size, used, least, most)
			}
			s.Reset(threeAt60)
			if s.Clients() != 0 || s.Slots() != slots || s.ArenaBytes() != arena {
				t.Fatalf("round %d: clients, slots and bytes of the arena after Reset\ncame:   %d, %d, %d\nwanted: 0, %d, %d",
					round, s.Clients(), s.Slots(), s.ArenaBytes(), slots, arena)
			}
			if left := heap() - before; left > 1<<20 {
				t.Fatalf("round %d: bytes in use after Reset\ncame:   %d\nwanted: at most 1 MiB", round, left)
			}
		}
		runtime.KeepAlive(s)
	}
}

// TestAllocatesNothing: in a small store ten thousand Resets in a row, and what is done between them, allocate nothing; nor
// do Seek and Bucket of known clients in a large one.
func TestAllocatesNothing(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	a := []byte("a")
	s.Take(a, 0, 1, 0)
	if n := testing.AllocsPerRun(10_000, func() { s.Reset(threeAt60) }); n != 0 {
		t.Errorf("allocations of Reset\ncame:   %v\nwanted: 0", n)
	}
	if n := testing.AllocsPerRun(10_000, func() { s.Take(a, 0, 1, 0); s.TopUp(a, 1); s.Reset(threeAt60) }); n != 0 {
		t.Errorf("allocations of Take, TopUp and Reset\ncame:   %v\nwanted: 0", n)
	}

	for _, clients := range []int{limiter.MaxSeek, 100_000} {
		s := limiter.NewStore(threeAt60)
		var b batch
		for i := range clients {
			name := fmt.Append(nil, "client", i)
			s.TopUp(name, 0)
			if i >= clients-limiter.MaxSeek {
				b.add(name, hash(s, name), 0)
			}
		}
		b.text = append(b.text, "\xff\x00behind"...)
		if n := testing.AllocsPerRun(1000, func() { b.seek(s) }); n != 0 {
			t.Errorf("allocations of Seek and Bucket among %d clients\ncame:   %v\nwanted: 0", clients, n)
		}
		if s.Clients() != clients {
			t.Errorf("clients\ncame:   %d\nwanted: %d", s.Clients(), clients)
		}
	}
}

// TestHashIsKeyed: each store has hashes of its own, so that nobody can know which names collide; and no answer depends on
// them: a script has the same answers in each.
func TestHashIsKeyed(t *testing.T) {
	const clients, calls, seed = 10_000, 200_000, 4
	p := limiter.Policy{Capacity: 5, PerMinute: 7}
	stores := []*limiter.Store{limiter.NewStore(p), limiter.NewStore(p), limiter.NewStore(p)}
	for i := range clients {
		name := fmt.Append(nil, "client", i)
		seen := make(map[uint64]int)
		for at, s := range stores {
			h := hash(s, name)
			if again := hash(s, name); again != h {
				t.Fatalf("store %d: %q has two hashes, %#x and %#x", at, name, h, again)
			}
			if other, taken := seen[h]; taken { // by chance about once in 10¹⁵ runs
				t.Fatalf("stores %d and %d: %q has the same hash, %#x", other, at, name, h)
			}
			seen[h] = at
		}
	}

	r := rand.New(rand.NewPCG(seed, 0))
	now := int64(0)
	for call := range calls {
		name := fmt.Append(nil, "client", r.IntN(clients))
		now += r.Int64N(5) - 1
		cost, maxWait := 1+r.Int64N(6), r.Int64N(4)*8000
		wantB, wantO := stores[0].Take(name, now, cost, maxWait)
		for at, s := range stores[1:] {
			if b, o := s.Take(name, now, cost, maxWait); b != wantB || o != wantO {
				t.Fatalf("seed %d, call %d: %q takes %d within %d at %d\nstore %d: %+v, %+v\nstore 0: %+v, %+v",
					seed, call, name, cost, maxWait, now, 1+at, b, o, wantB, wantO)
			}
		}
	}
	for at, s := range stores[1:] {
		if s.Clients() != stores[0].Clients() {
			t.Errorf("clients\nstore %d: %d\nstore 0: %d", 1+at, s.Clients(), stores[0].Clients())
		}
	}
}

// hostileBits is how many low bits of their FNV-1a hash hostile names have in common.
const hostileBits = 20

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	suffixBytes = 4
)

// hostileNames makes names whose 64-bit FNV-1a hashes end in the same bits, all zero: a table with an index of up to 2²⁰
// slots by that hash puts them all into one. The low bits of the hash depend on nothing but the low bits before and
// the next byte, and each step can be undone. So from the wanted bits it goes back over all endings of four letters, notes
// for each state one ending that leads from there to the wanted bits, and gives names of any kind the ending that they need.
func hostileNames(count int) (names [][]byte) {
	const (
		prime = 0x100000001b3
		basis = 0xcbf29ce484222325
		mask  = 1<<hostileBits - 1
	)
	inverse := uint32(1)
	for range 5 { // each round doubles the bits that are right
		inverse *= 2 - uint32(prime&mask)*inverse
	}
	endings := make([][suffixBytes]byte, 1<<hostileBits)
	for i := range nameLetters {
		s1 := uint32(nameLetters[i]) // 0 times inverse is 0
		for j := range nameLetters {
			s2 := s1*inverse ^ uint32(nameLetters[j])
			for k := range nameLetters {
				s3 := s2*inverse ^ uint32(nameLetters[k])
				for l := range nameLetters {
					s4 := s3*inverse ^ uint32(nameLetters[l])
					endings[s4&mask] = [suffixBytes]byte{nameLetters[l], nameLetters[k], nameLetters[j], nameLetters[i]}
				}
			}
		}
	}
	for i := 0; len(names) < count; i++ {
		name := fmt.Appendf(make([]byte, 0, 24), "10.0.0.client-%07d", i)
		state := uint32(basis & mask)
		for _, b := range name {
			state = (state ^ uint32(b)) * uint32(prime&mask)
		}
		if ending := endings[state&mask]; ending[0] != 0 {
			names = append(names, append(name, ending[:]...))
		}
	}
	return names
}

// harmlessNames makes names like the hostile ones with random endings.
func harmlessNames(count int) (names [][]byte) {
	r := rand.New(rand.NewPCG(5, 0))
	for i := range count {
		name := fmt.Appendf(make([]byte, 0, 24), "10.0.0.client-%07d", i)
		for range suffixBytes {
			name = append(name, nameLetters[r.IntN(len(nameLetters))])
		}
		names = append(names, name)
	}
	return names
}

// TestHostileNames: names that collide under FNV-1a spread over the index as random names do. That is counted: to find one
// of them, as many slots are looked at.
func TestHostileNames(t *testing.T) {
	const clients = 100_000
	hostile, harmless := hostileNames(clients), harmlessNames(clients)
	seen := make(map[string]bool)
	for _, name := range hostile {
		h := fnv.New64a()
		h.Write(name)
		if h.Sum64()&(1<<hostileBits-1) != 0 || seen[string(name)] {
			t.Fatalf("%q is not hostile: its FNV-1a hash is %#x", name, h.Sum64())
		}
		seen[string(name)] = true
	}
	count := func(names [][]byte) (all, most, slots int) {
		s := limiter.NewStore(threeAt60)
		for _, name := range names {
			s.TopUp(name, 0)
		}
		if s.Clients() != clients {
			t.Fatalf("clients\ncame:   %d\nwanted: %d", s.Clients(), clients)
		}
		all, most = s.Probes()
		return all, most, s.Slots()
	}
	all, most, slots := count(hostile)
	harmlessAll, harmlessMost, _ := count(harmless)
	t.Logf("slots looked at for each of %d names, in %d: %.3f of hostile, %.3f of random names; at most %d and %d",
		clients, slots, float64(all)/clients, float64(harmlessAll)/clients, most, harmlessMost)

	// With random homes and slots/clients = n/m, linear probing looks at (1 + n/(n-m))/2 slots on average (Knuth, volume 3,
	// section 6.4). In an index by FNV-1a it would be (m+1)/2, 50,000.
	expected := (clients + clients*slots/(slots-clients)) / 2
	for what, looked := range map[string]int{"hostile": all, "random": harmlessAll} {
		if looked < expected*97/100 || looked > expected*103/100 {
			t.Errorf("slots looked at for %d %s names in %d slots\ncame:   %d\nwanted: %d, within 3%%", clients, what, slots, looked, expected)
		}
	}
	if most > 100 {
		t.Errorf("slots looked at for one hostile name\ncame:   %d\nwanted: at most 100; random names take %d", most, harmlessMost)
	}
}
