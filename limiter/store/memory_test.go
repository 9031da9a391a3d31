// These tests show what the store costs in memory: a client takes the size of its record, Reset frees the memory, and what
// is done most often allocates nothing.
package store_test

import (
	"fmt"
	"runtime"
	"testing"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

// heap returns the bytes in use on the heap once garbage is freed.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestResetFrees: a client takes 18 bytes and its name, in whole words, and Reset frees the memory, be it much of the index,
// of the arena or of both.
func TestResetFrees(t *testing.T) {
	for _, c := range []struct{ clients, length int }{{300_000, 22}, {300_000, 23}, {4_000, 8}, {400, 65_000}} {
		before := heap()
		s := store.New(full)
		slots, arena := s.Slots(), s.ArenaBytes()
		records := c.clients * ((18 + c.length + 7) / 8 * 8)
		var b batch
		for round := range 3 {
			for i := range c.clients {
				b.add(s.Hasher(), fmt.Appendf(nil, "%0*d", c.length, i))
				b.find(s)
			}
			if got, want := s.ArenaBytes(), arena+records; got != want {
				t.Fatalf("round %d: bytes of the arena for %d names of %d bytes\ngot:  %d\nwant: %d",
					round, c.clients, c.length, got, want)
			}
			if round == 1 {
				s.Forget(func(limiter.Bucket) bool { return true })
			}
			s.Reset(full)
			if s.Clients() != 0 || s.Slots() != slots || s.ArenaBytes() != arena {
				t.Fatalf("round %d: clients, slots and bytes of the arena after Reset of %d names of %d bytes\ngot:  %d, %d, %d\nwant: 0, %d, %d",
					round, c.clients, c.length, s.Clients(), s.Slots(), s.ArenaBytes(), slots, arena)
			}
			b = batch{}
			if left := heap() - before; left > 1<<20 {
				t.Fatalf("round %d: bytes in use after Reset of %d names of %d bytes\ngot:  %d\nwant: at most 1 MiB",
					round, c.clients, c.length, left)
			}
		}
		runtime.KeepAlive(s)
	}
}

// TestAllocatesNothing: in a small store Reset, and what is done between two of them, allocate nothing; nor does Find of
// known clients in a store of any size.
func TestAllocatesNothing(t *testing.T) {
	s := store.New(full)
	text := []byte("alice")
	keys := []store.Key{s.Hasher().Key(text, 0, 5)}
	if n := testing.AllocsPerRun(10_000, func() { s.Reset(full) }); n != 0 {
		t.Errorf("allocations of Reset\ngot:  %v\nwant: 0", n)
	}
	if n := testing.AllocsPerRun(10_000, func() {
		keys[0] = s.Hasher().Key(text, 0, 5)
		s.Find(text, keys)
		s.Find(text, keys)
		s.Reset(full)
	}); n != 0 {
		t.Errorf("allocations of Key, Find of a new and a known client, and Reset\ngot:  %v\nwant: 0", n)
	}

	for _, clients := range []int{store.MaxBatch, 100_000} {
		s := store.New(full)
		var b batch
		for i := range clients {
			if i == clients-store.MaxBatch {
				b = batch{}
			}
			b.add(s.Hasher(), fmt.Append(nil, "client", i))
			if i < clients-store.MaxBatch {
				b.find(s)
			}
		}
		s.Find(b.text, b.keys)
		if n := testing.AllocsPerRun(1000, func() { s.Find(b.text, b.keys) }); n != 0 {
			t.Errorf("allocations of Find among %d clients\ngot:  %v\nwant: 0", clients, n)
		}
		checkStore(t, "Find again and again", s, clients)
	}
}
