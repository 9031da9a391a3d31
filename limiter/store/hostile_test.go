// These tests show that nobody can choose names that collide: each store has hashes of its own, and names that collide
// under a hash that is not keyed spread over the index as random names do.
package store_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"tokenbucket/limiter/store"
)

// TestHashIsKeyed: a name has one hash in a store, and another in each other store.
func TestHashIsKeyed(t *testing.T) {
	hashers := make([]store.Hasher, 3)
	for i := range hashers {
		hashers[i] = store.New(full).Hasher()
	}
	for i := range 10_000 {
		name := fmt.Append(nil, "client", i)
		seen := make(map[store.Key]int)
		for at, h := range hashers {
			key := h.Key(name, 0, len(name))
			if again := h.Key(name, 0, len(name)); again != key {
				t.Fatalf("store %d, key of %q again\ngot:  %v\nwant: %v", at, name, again, key)
			}
			if other, ok := seen[key]; ok { // by chance about once in 10¹⁴ tests
				t.Fatalf("stores %d and %d have the same hash of %q: %v", other, at, name, key)
			}
			seen[key] = at
		}
	}
}

// hostileBits is how many low bits of their FNV-1a hashes hostile names have in common.
const hostileBits = 20

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	suffixBytes = 4
)

// hostileNames returns names whose 64-bit FNV-1a hashes end in the same bits, all zero: a table with up to 2²⁰ home slots
// selected by the low bits of that hash would put them all into one. Those bits depend on nothing but the low bits before
// and the next byte, and each step can be undone. So hostileNames goes back from the wanted bits over all suffixes of four
// letters, notes for each state one suffix that leads from it to the wanted bits, and gives names of any kind the suffix
// that they need.
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
	suffixes := make([][suffixBytes]byte, 1<<hostileBits)
	for i := range nameLetters {
		s1 := uint32(nameLetters[i]) // 0 times inverse is 0
		for j := range nameLetters {
			s2 := s1*inverse ^ uint32(nameLetters[j])
			for k := range nameLetters {
				s3 := s2*inverse ^ uint32(nameLetters[k])
				for l := range nameLetters {
					s4 := s3*inverse ^ uint32(nameLetters[l])
					suffixes[s4&mask] = [suffixBytes]byte{nameLetters[l], nameLetters[k], nameLetters[j], nameLetters[i]}
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
		if suffix := suffixes[state&mask]; suffix[0] != 0 {
			names = append(names, append(name, suffix[:]...))
		}
	}
	return names
}

// randomNames returns names like the hostile ones with random suffixes.
func randomNames(count int) (names [][]byte) {
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

// TestHostileNames: names that collide under FNV-1a spread over the index as random names do. The evidence is a count: as
// many slots are looked at to find them.
func TestHostileNames(t *testing.T) {
	const clients = 100_000
	hostile := hostileNames(clients)
	seen := make(map[string]bool)
	for _, name := range hostile {
		h := fnv.New64a()
		h.Write(name)
		if h.Sum64()&(1<<hostileBits-1) != 0 || seen[string(name)] {
			t.Fatalf("%q is not hostile: its FNV-1a hash is %#x", name, h.Sum64())
		}
		seen[string(name)] = true
	}
	for _, c := range []struct {
		what  string
		names [][]byte
	}{{"hostile", hostile}, {"random", randomNames(clients)}} {
		s := store.New(full)
		var b batch
		for _, name := range c.names {
			b.add(s.Hasher(), name)
			b.find(s)
		}
		checkStore(t, c.what, s, clients)
		all, most := s.Probes()
		// With random home slots and slots/clients = n/m, linear probing looks at (1 + n/(n-m))/2 slots on average (Knuth,
		// volume 3, section 6.4). In an index by FNV-1a it would be (m+1)/2, 50,000.
		slots := s.Slots()
		want := int((clients + clients*int64(slots)/int64(slots-clients)) / 2) // the product needs more than 32 bits
		if all < want*97/100 || all > want*103/100 || most > 100 {
			t.Errorf("slots looked at to find %d %s names among %d slots, all and most\ngot:  %d, %d\nwant: %d within 3%%, at most 100",
				clients, c.what, slots, all, most, want)
		}
	}
}
