package store

// This file shows tests the size and the shape of a store, which no bucket depends on.

// KeyWithHash returns the key of the name text[start:end], with a hash that the test chooses.
func KeyWithHash(hash uint64, start, end int) Key {
	return Key{hash, uint32(start), uint32(end - start)}
}

// Slots returns the number of slots of the index.
func (s *Store) Slots() int { return len(s.index) }

// Chunks returns the number of chunks of the arena.
func (s *Store) Chunks() int { return len(s.arena.chunks) }

// ArenaBytes returns how many bytes of the arena are used.
func (s *Store) ArenaBytes() (used int) {
	for _, c := range s.arena.chunks {
		used += len(c)
	}
	return used
}

// Probes counts the slots that are looked at to find every client once, and those for the client that takes the most.
func (s *Store) Probes() (all, most int) {
	for at, slot := range s.index {
		if slot != 0 {
			probes := (at-s.home(slot))&(len(s.index)-1) + 1
			all += probes
			most = max(most, probes)
		}
	}
	return all, most
}
