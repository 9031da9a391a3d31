// These tests compare the store with a plain map of buckets. Whatever the names, their hashes and their order, each client
// has a bucket of its own, which keeps what is written to it. Names that are not allowed panic and do no harm.
package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

// full is the bucket of a new client in most tests.
var full = limiter.Bucket{Ticks: 180_000, Last: math.MinInt64}

// A batch is keys for Find, and the text that their names lie in.
type batch struct {
	text []byte
	keys []store.Key
}

// add adds a name.
func (b *batch) add(h store.Hasher, name []byte) {
	b.text = append(b.text, name...)
	b.keys = append(b.keys, h.Key(b.text, len(b.text)-len(name), len(b.text)))
}

// addHash adds a name with a hash that the test chooses. A store works with any, as long as each name has only one.
func (b *batch) addHash(hash uint64, name []byte) {
	b.text = append(b.text, name...)
	b.keys = append(b.keys, store.KeyWithHash(hash, len(b.text)-len(name), len(b.text)))
}

// find finds the buckets and empties the batch. The text ends where the last name does, and lasts only until Find returns,
// since the next batch overwrites it.
func (b *batch) find(s *store.Store) []*limiter.Bucket {
	buckets := s.Find(slices.Clip(b.text), b.keys)
	b.text, b.keys = b.text[:0], b.keys[:0]
	return buckets
}

// find finds the bucket of one client.
func find(s *store.Store, name []byte) *limiter.Bucket {
	var b batch
	b.add(s.Hasher(), name)
	return b.find(s)[0]
}

// checkBucket compares the bucket of a client with the one that it should have.
func checkBucket(t *testing.T, what string, name []byte, got, want limiter.Bucket) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: bucket of %.60q (%d bytes)\ngot:  %+v\nwant: %+v", what, name, len(name), got, want)
	}
}

// checkStore checks the number of clients and the invariants of the store.
func checkStore(t *testing.T, what string, s *store.Store, clients int) {
	t.Helper()
	if got := s.Clients(); got != clients {
		t.Fatalf("%s: clients\ngot:  %d\nwant: %d", what, got, clients)
	}
	if err := s.Check(); err != nil {
		t.Fatalf("%s: Check\ngot:  %v\nwant: no fault", what, err)
	}
}

// TestNewClient: a new client has the full bucket, to the last bit, and later the one that was written.
func TestNewClient(t *testing.T) {
	buckets := []limiter.Bucket{full, {}, {Ticks: math.MaxInt64, Last: math.MinInt64}, {Ticks: math.MinInt64, Last: math.MaxInt64},
		{Ticks: 0x0123_4567_89AB_CDEF, Last: -0x0123_4567_89AB_CDEF}, {Ticks: -1, Last: -1}}
	s := store.New(buckets[0])
	for i, full := range buckets {
		if i > 0 {
			s.Reset(full)
		}
		a, b := []byte("a"), []byte("b")
		checkBucket(t, "new", a, *find(s, a), full)
		written := limiter.Bucket{Ticks: math.MinInt64, Last: ^full.Last}
		*find(s, a) = written
		checkBucket(t, "new", b, *find(s, b), full)
		checkBucket(t, "written", a, *find(s, a), written)
		checkStore(t, fmt.Sprintf("full bucket %+v", full), s, 2)
	}
}

// TestNoKeys: a batch may be empty, and then nothing happens.
func TestNoKeys(t *testing.T) {
	s := store.New(full)
	if got := s.Find(nil, nil); len(got) != 0 {
		t.Errorf("Find of no keys\ngot:  %d buckets\nwant: none", len(got))
	}
	checkStore(t, "no keys", s, 0)
}

// TestKeyName: a key names the bytes that it was made from, wherever they lie.
func TestKeyName(t *testing.T) {
	h := store.New(full).Hasher()
	text := bytes.Repeat([]byte("REQUEST alice 20\n"), 8192) // 136 KiB
	for _, c := range []struct{ start, end int }{
		{0, 0}, {0, 7}, {8, 13}, {15, 15}, {70_000, 70_017}, {1, 1 + store.MaxName}, {len(text), len(text)},
	} {
		if got, want := h.Key(text, c.start, c.end).Name(text), text[c.start:c.end]; !bytes.Equal(got, want) {
			t.Errorf("name of the key of text[%d:%d]\ngot:  %.60q\nwant: %.60q", c.start, c.end, got, want)
		}
	}
}

// TestReset: Reset forgets everyone and sets the full bucket, however many clients there were and however often it is
// called. A new client that gets the memory of an old one with another name has nothing of it. Hashes stay.
func TestReset(t *testing.T) {
	s := store.New(full)
	h := s.Hasher()
	names := [][]byte{bytes.Repeat([]byte{0xff}, 20), []byte("a"), {}, []byte("\x00\x00"), []byte("12345678")}
	var b batch
	for i := range int64(70_000) { // more often than 16 bits can count
		full := limiter.Bucket{Ticks: i % 5, Last: i}
		s.Reset(full)
		if s.Clients() != 0 {
			t.Fatalf("clients after Reset %d\ngot:  %d\nwant: 0", i, s.Clients())
		}
		first := i % int64(len(names)+1) // names rotate, so that their memory does
		for _, want := range []limiter.Bucket{full, {Ticks: -i, Last: -1}} {
			for _, name := range names[first:] {
				b.add(h, name)
				bucket := b.find(s)[0]
				checkBucket(t, fmt.Sprint("Reset ", i), name, *bucket, want)
				*bucket = limiter.Bucket{Ticks: -i, Last: -1}
			}
		}
	}
	for round := range int64(3) {
		full := limiter.Bucket{Ticks: 1, Last: round}
		s.Reset(full)
		for i := range 50_000 {
			name := fmt.Append(nil, "client", i)
			b.add(h, name)
			bucket := b.find(s)[0]
			checkBucket(t, fmt.Sprint("round ", round), name, *bucket, full)
			bucket.Ticks = 0
		}
		checkStore(t, fmt.Sprint("round ", round), s, 50_000)
	}
	if got := s.Hasher(); got != h {
		t.Errorf("Hasher after Reset\ngot:  %v\nwant: %v", got, h)
	}
}

// TestNames: a name is 0 to 65,535 bytes of any kind; all of them count; and Find leaves the text as it is.
func TestNames(t *testing.T) {
	if store.MaxName != 65_535 {
		t.Fatalf("MaxName\ngot:  %d\nwant: 65535", store.MaxName)
	}
	long := strings.Repeat("x", 65_534)
	names := []string{"", "\x00", "\x00\x00", "a", "A", "a\x00", "\x00a", "aa", " a", "a ", "\n", "\xff", "\xff\xfe", "é", "e\u0301",
		"0", "00", "+0", "#", "a\r", long, long + "x", long + "y", "y" + long, long[:65_533] + "\x00", long[:65_533]}
	for length := range 70 { // each a prefix of the next, two beside each that differ at an end, and one of zeros
		p := strings.Repeat("p", length)
		names = append(names, p+"p", p+"q", "q"+p, strings.Repeat("\x00", length+3))
	}
	for place := range 24 { // names that differ in one bit, at each place of three words
		for bit := range 8 {
			name := []byte("0123456789abcdefghijklmn")
			name[place] ^= 1 << bit
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)

	s := store.New(full)
	var text []byte
	for round := range 3 {
		for i, name := range names { // in the same memory each time, between other bytes
			text = append(append(append(text[:0], "REQUEST "...), name...), " 1\n"...)
			key := s.Hasher().Key(text, len("REQUEST "), len("REQUEST ")+len(name))
			bucket := s.Find(text, []store.Key{key})[0]
			want := full
			if round > 0 {
				want.Ticks -= int64(1 + i)
			}
			checkBucket(t, fmt.Sprint("round ", round), []byte(name), *bucket, want)
			bucket.Ticks = full.Ticks - int64(1+i)
			if want := "REQUEST " + name + " 1\n"; string(text) != want {
				t.Fatalf("text after Find\ngot:  %.60q\nwant: %.60q", text, want)
			}
		}
		checkStore(t, fmt.Sprint("round ", round), s, len(names))
	}
}

// TestWalk: 300,000 clients with names of every kind and length, at random in batches of 1 to 64 while the index grows and
// chunk after chunk fills, each have the bucket that a plain map has for them.
func TestWalk(t *testing.T) {
	const clients, calls, seed = 300_000, 900_000, 1
	r := rand.New(rand.NewPCG(seed, 0))
	names := make([]string, 0, clients)
	seen := make(map[string]bool)
	long := bytes.Repeat([]byte("long name "), 6554)[:store.MaxName]
	for i := 0; len(names) < clients; i++ {
		var name []byte
		switch {
		case i%10_000 == 5000: // these differ in one byte
			name = bytes.Clone(long)
			name[r.IntN(len(name))] ^= byte(1 + r.IntN(255))
		case i%8 == 0:
			name = fmt.Append(nil, "client", i)
		case i%8 == 1:
			name = binary.LittleEndian.AppendUint64(nil, uint64(i))
		case i%8 == 2:
			name = binary.BigEndian.AppendUint32(nil, uint32(i))
		case i%8 == 3:
			name = fmt.Appendf(nil, "10.0.%d.%d", i>>8, i&0xFF)
		default:
			name = make([]byte, r.IntN(201))
			for i := range name {
				name[i] = byte(r.IntN(4)) // so that many begin alike
			}
		}
		if !seen[string(name)] {
			seen[string(name)] = true
			names = append(names, string(name))
		}
	}

	s := store.New(full)
	plain := make(map[string]limiter.Bucket)
	var b batch
	var called []string
	slots := s.Slots()
	for call := 0; call < calls; {
		// More and more clients may be called, so that old and new ones are mixed.
		known := min(clients, 1+call*2/3)
		called = called[:0]
		for range 1 + r.IntN(store.MaxBatch) {
			name := names[r.IntN(known)]
			if r.IntN(8) == 0 && len(called) > 0 {
				name = called[r.IntN(len(called))]
			}
			called = append(called, name)
			b.add(s.Hasher(), []byte(name))
		}
		for i, bucket := range b.find(s) {
			want, ok := plain[called[i]]
			if !ok {
				want = full
			}
			if *bucket != want {
				checkBucket(t, fmt.Sprintf("seed %d, call %d", seed, call), []byte(called[i]), *bucket, want)
			}
			*bucket = limiter.Bucket{Ticks: full.Ticks - r.Int64N(math.MaxInt64), Last: int64(r.Uint64())}
			plain[called[i]] = *bucket
			call++
		}
		if s.Clients() != len(plain) {
			t.Fatalf("seed %d, call %d: clients\ngot:  %d\nwant: %d", seed, call, s.Clients(), len(plain))
		}
		if s.Slots() != slots {
			slots = s.Slots()
			checkStore(t, fmt.Sprintf("seed %d, call %d, grown to %d slots", seed, call, slots), s, len(plain))
		}
	}
	if len(plain) < clients*8/10 || s.ArenaBytes() < 16<<20 {
		t.Errorf("the walk was too short: %d clients, %d bytes of the arena", len(plain), s.ArenaBytes())
	}
	for _, name := range names {
		want, ok := plain[name]
		if !ok {
			want = full
		}
		b.add(s.Hasher(), []byte(name))
		checkBucket(t, "after the walk", []byte(name), *b.find(s)[0], want)
	}
	checkStore(t, "after the walk", s, clients)
}

// TestBatch: keys of one client in a batch get one bucket, be the client old or new, and keys of different clients never
// do. That is so whether the index grows or not, and where the batch fills a chunk. The index grows if it could become
// more than half full.
func TestBatch(t *testing.T) {
	for _, suffix := range []string{"", strings.Repeat("x", 3000)} {
		for old := 440; old <= 520; old++ {
			s := store.New(full)
			var b batch
			name := func(i int) []byte { return fmt.Append(nil, "client", i, suffix) }
			for i := range old {
				b.add(s.Hasher(), name(i))
				b.find(s)[0].Ticks -= int64(1 + i)
			}
			// The new ones are the next 22. Each has up to three keys in the batch, between those of the old.
			var called []int
			for i := range store.MaxBatch {
				called = append(called, []int{old + i/3, old - 1 - i, old + i/6}[i%3])
			}
			for _, i := range called {
				b.add(s.Hasher(), name(i))
			}
			slots := s.Slots()
			if old+len(called) > slots/2 {
				slots *= 2
			}
			buckets := make(map[int]*limiter.Bucket)
			clients := make(map[*limiter.Bucket]int)
			for at, bucket := range b.find(s) {
				i := called[at]
				what := fmt.Sprintf("%d old clients, key %d", old, at)
				if buckets[i] == nil {
					want := full
					if i < old {
						want.Ticks -= int64(1 + i)
					}
					checkBucket(t, what, name(i), *bucket, want)
					buckets[i] = bucket
				} else if bucket != buckets[i] {
					t.Fatalf("%s: client %d has two buckets", what, i)
				}
				if other, ok := clients[bucket]; ok && other != i {
					t.Fatalf("%s: clients %d and %d have one bucket", what, i, other)
				}
				clients[bucket] = i
				bucket.Ticks-- // what the next key of the client sees, and the next batch
			}
			for i, bucket := range buckets {
				want := *bucket
				b.add(s.Hasher(), name(i))
				checkBucket(t, fmt.Sprintf("%d old clients, after the batch", old), name(i), *b.find(s)[0], want)
			}
			checkStore(t, fmt.Sprintf("%d old clients", old), s, old+22)
			if s.Slots() != slots {
				t.Fatalf("%d old clients and a batch of %d: slots\ngot:  %d\nwant: %d", old, len(called), s.Slots(), slots)
			}
		}
	}
}

// TestEqualHashes: clients whose names have the same hash, or the same upper 28 bits of it, are kept apart, also where they
// fill the end of the index and go on at its start, and as the index grows.
func TestEqualHashes(t *testing.T) {
	const clients = 1200
	for _, c := range []struct {
		what string
		hash func(i int) uint64
	}{
		{"0", func(int) uint64 { return 0 }},
		{"all ones", func(int) uint64 { return ^uint64(0) }},
		{"one in the middle", func(int) uint64 { return 0x8000_0010_0000_0000 }},
		{"0 or all ones", func(i int) uint64 { return -uint64(i % 2) }},
		{"all ones, and others just below", func(i int) uint64 { return ^(uint64(i%3) << 36) }},
		{"the upper 28 bits alone", func(i int) uint64 { return 0xABCDEF0<<36 | uint64(i)*0x9E37_79B9_7F4A_7C15>>28 }},
		{"the upper 28 bits, zeros", func(i int) uint64 { return uint64(i) }},
		{"the upper 28 bits, ones", func(i int) uint64 { return ^uint64(i) }},
		{"the home slot alone", func(i int) uint64 { return 0xFFF<<52 | uint64(i)<<36 }},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := store.New(full)
			slots := s.Slots()
			hashes := make(map[string]uint64)
			var b batch
			for round := range 3 {
				for first := 0; first < clients; first += store.MaxBatch {
					for i := first; i < min(first+store.MaxBatch, clients); i++ {
						name := fmt.Append(nil, "client", i)
						hashes[string(name)] = c.hash(i)
						b.addHash(c.hash(i), name)
					}
					for at, bucket := range b.find(s) {
						i := int64(first + at)
						want := full
						if round > 0 {
							want.Ticks -= i
						}
						checkBucket(t, fmt.Sprint("round ", round), fmt.Append(nil, "client", i), *bucket, want)
						bucket.Ticks = full.Ticks - i
					}
				}
				if err := s.CheckHashes(func(name []byte) uint64 { return hashes[string(name)] }); err != nil {
					t.Fatalf("round %d: CheckHashes\ngot:  %v\nwant: no fault", round, err)
				}
			}
			if s.Clients() != clients || s.Slots() != 4*slots { // of slots a half is not enough for 1200, nor is that of twice as many
				t.Errorf("clients and slots\ngot:  %d, %d\nwant: %d, %d", s.Clients(), s.Slots(), clients, 4*slots)
			}
		})
	}
}

// TestOtherCandidate: where the candidate is another client, with a shorter or a longer name at the end of the arena or
// before, a new client is added all the same. The store is so large that it prefetches candidates.
func TestOtherCandidate(t *testing.T) {
	const clients, seed = 10_000, 7
	s := store.New(full)
	hashes := make(map[string]uint64)
	r := rand.New(rand.NewPCG(seed, 0))
	var b batch
	checkNew := func(hash uint64, name []byte) {
		hashes[string(name)] = hash
		b.addHash(hash, name)
		bucket := b.find(s)[0]
		checkBucket(t, fmt.Sprint(s.Clients(), " clients"), name, *bucket, full)
		bucket.Last = int64(len(name))
	}
	for i := range clients {
		checkNew(r.Uint64(), fmt.Append(nil, "client", i))
	}
	long := bytes.Repeat([]byte("x"), store.MaxName)
	for i, length := range []int{1, 30, 0, 1000, store.MaxName, 10, 11, store.MaxName - 1, 12} {
		hash := r.Uint64()
		checkNew(hash, fmt.Append(nil, "last", i)) // and then another at once, whose candidate it is
		checkNew(hash, long[:length])
		checkNew(hashes["client1"], fmt.Append(long[:length/2:length/2], i))
	}
	for name, hash := range hashes {
		b.addHash(hash, []byte(name))
		checkBucket(t, "again", []byte(name), *b.find(s)[0], limiter.Bucket{Ticks: full.Ticks, Last: int64(len(name))})
	}
	if s.Clients() != len(hashes) {
		t.Errorf("clients\ngot:  %d\nwant: %d", s.Clients(), len(hashes))
	}
	if err := s.CheckHashes(func(name []byte) uint64 { return hashes[string(name)] }); err != nil {
		t.Errorf("CheckHashes\ngot:  %v\nwant: no fault", err)
	}
}

// TestAlmostEqualNames: clients with one hash for all, whose names differ in one bit, wherever it is, or are each the start
// of the next, are kept apart.
func TestAlmostEqualNames(t *testing.T) {
	const seed, hash = 6, 1 << 63
	r := rand.New(rand.NewPCG(seed, 0))
	base := make([]byte, store.MaxName)
	for i := range base {
		base[i] = byte(r.Uint32())
	}
	var names [][]byte
	add := func(length int, places ...int) {
		names = append(names, base[:length])
		for _, place := range places {
			name := bytes.Clone(base[:length])
			name[place] ^= 1 << r.IntN(8)
			names = append(names, name)
		}
	}
	for length := range 42 {
		var places []int
		for place := range length {
			places = append(places, place)
		}
		add(length, places...)
	}
	add(200, 0, 7, 8, 15, 16, 100, 191, 192, 199)
	add(store.MaxName-1, 0, 65_533)
	add(store.MaxName, 0, 7, 8, 15, 16, 17, 32_768, 65_526, 65_527, 65_528, 65_534)

	s := store.New(full)
	var b batch
	for round := range 3 {
		i := 0
		for some := range slices.Chunk(names, 1+r.IntN(store.MaxBatch)) {
			for _, name := range some {
				b.addHash(hash, name)
			}
			for at, bucket := range b.find(s) {
				want := full
				if round > 0 {
					want.Ticks -= int64(i)
				}
				checkBucket(t, fmt.Sprintf("seed %d, round %d, name %d", seed, round, i), some[at], *bucket, want)
				bucket.Ticks = full.Ticks - int64(i)
				i++
			}
		}
		if s.Clients() != len(names) {
			t.Fatalf("seed %d, round %d: clients\ngot:  %d\nwant: %d", seed, round, s.Clients(), len(names))
		}
	}
	if err := s.CheckHashes(func([]byte) uint64 { return hash }); err != nil {
		t.Errorf("seed %d: CheckHashes\ngot:  %v\nwant: no fault", seed, err)
	}
}

// TestMisuse: a name too long, a text that is not the one of the keys and too many keys panic, and leave the store as it was.
func TestMisuse(t *testing.T) {
	s := store.New(full)
	names := [][]byte{{}, []byte("a"), []byte("12345678"), bytes.Repeat([]byte("x"), store.MaxName)}
	for i, name := range names {
		find(s, name).Ticks -= int64(i)
	}
	key := func(text []byte, start, end int) []store.Key { return []store.Key{s.Hasher().Key(text, start, end)} }
	long := func(length int) (text []byte, keys []store.Key) {
		text = bytes.Repeat([]byte("x"), length)
		return text, key(text, 0, length)
	}
	cut := func(text string, start, end, to int) ([]byte, []store.Key) {
		return []byte(text)[:to:to], key([]byte(text), start, end)
	}
	for _, c := range []struct {
		what string
		find func() (text []byte, keys []store.Key)
	}{
		{"a new name of 65,536 bytes", func() ([]byte, []store.Key) { return long(65_536) }},
		{"a new name of 65,537 bytes", func() ([]byte, []store.Key) { return long(65_537) }},
		{"a new name of 131,072 bytes", func() ([]byte, []store.Key) { return long(131_072) }},
		{"a new name of 9,000,000 bytes", func() ([]byte, []store.Key) { return long(9_000_000) }},
		{"a known name after the text", func() ([]byte, []store.Key) { return cut("say 12345678", 4, 12, 3) }},
		{"a known name that the text cuts", func() ([]byte, []store.Key) { return cut("say 12345678", 4, 12, 11) }},
		{"a new name that the text cuts", func() ([]byte, []store.Key) { return cut("say bobby", 4, 9, 8) }},
		{"65 keys", func() ([]byte, []store.Key) {
			text := []byte("bob")
			return text, slices.Repeat(key(text, 0, 3), 65)
		}},
	} {
		clients, slots, arena := s.Clients(), s.Slots(), s.ArenaBytes()
		text, keys := c.find()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s\ngot:  no panic\nwant: panic", c.what)
				}
			}()
			s.Find(text, keys)
		}()
		if s.Clients() != clients || s.Slots() != slots || s.ArenaBytes() != arena {
			t.Errorf("%s: clients, slots, bytes of the arena\ngot:  %d, %d, %d\nwant: %d, %d, %d",
				c.what, s.Clients(), s.Slots(), s.ArenaBytes(), clients, slots, arena)
		}
		if err := s.Check(); err != nil {
			t.Fatalf("%s: Check\ngot:  %v\nwant: no fault", c.what, err)
		}
		for i, name := range names {
			want := full
			want.Ticks -= int64(i)
			checkBucket(t, c.what, name, *find(s, name), want)
		}
	}
	checkBucket(t, "after all panics", []byte("bob"), *find(s, []byte("bob")), full)
	checkStore(t, "after all panics", s, len(names)+1)
}

// TestHasherConcurrently: one goroutine makes keys, the other finds their buckets and makes keys too. The race detector
// watches.
func TestHasherConcurrently(t *testing.T) {
	const clients, rounds = 10_000, 4
	s := store.New(full)
	var text []byte
	starts := []int{0}
	for i := range clients {
		text = fmt.Append(text, "client", i)
		starts = append(starts, len(text))
	}
	hashed := make(chan []store.Key, 2)
	go func(h store.Hasher) {
		defer close(hashed)
		for range rounds {
			for i := range clients {
				hashed <- []store.Key{h.Key(text, starts[i], starts[i+1])}
			}
		}
	}(s.Hasher())
	calls := 0
	for keys := range hashed {
		round, i := calls/clients, calls%clients
		if i == 0 && round == 2 {
			s.Forget(func(limiter.Bucket) bool { return false })
		}
		if i == 0 && round == 3 {
			s.Reset(full)
		}
		want := full
		if round == 1 || round == 2 {
			want.Ticks -= int64(i)
		}
		if again := s.Hasher().Key(text, starts[i], starts[i+1]); again != keys[0] {
			t.Fatalf("round %d: key of %q\ngot:  %v, %v\nwant: the same", round, keys[0].Name(text), keys[0], again)
		}
		bucket := s.Find(text, keys)[0]
		checkBucket(t, fmt.Sprint("round ", round), keys[0].Name(text), *bucket, want)
		bucket.Ticks = full.Ticks - int64(i)
		calls++
	}
	if calls != rounds*clients {
		t.Errorf("calls\ngot:  %d\nwant: %d", calls, rounds*clients)
	}
	checkStore(t, "at the end", s, clients)
}
