package limiter

// This file shows tests the size and the shape of a Store, which no answer depends on.

// Clients is the number of clients that the store knows.
func (s *Store) Clients() int { return s.used }

// Slots is the number of slots of the index.
func (s *Store) Slots() int { return len(s.index) }

// Room is how many clients the store takes before it makes room for more.
func (s *Store) Room() int { return s.room() }

// ArenaBytes is the memory that holds records, not counting what is spare.
func (s *Store) ArenaBytes() int { return len(s.arena) * regionBytes }

// Probes counts the slots that are looked at to find every client once, and those for the client that takes the most.
func (s *Store) Probes() (all, most int) {
	for at, slot := range s.index {
		if slot != 0 {
			looked := (at-s.home(slot))&(len(s.index)-1) + 1
			all += looked
			most = max(most, looked)
		}
	}
	return all, most
}
