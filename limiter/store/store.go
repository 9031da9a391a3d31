// Package store keeps one bucket for each client, found by the client's name. It knows no policy and no clock.
//
// It does what a map[string]*limiter.Bucket does, for millions of clients, faster and in less memory. The index is a hash
// table of 8-byte slots; the arena, in arena.go, holds the records: bucket and name.
//
// The index is an open-addressing table with linear probing whose length is a power of two. A slot is 0 if it is free;
// otherwise its upper 28 bits are the upper bits of the hash of a name, and its lower 36 bits the offset of the record.
// The top bits of the hash select the home slot; an entry lies there or later in its probe run, never past a free slot.
// A find looks for the first slot in the probe run whose 28 bits match, the candidate, and compares the name in its
// record. If that is another name, which is rare, a second look reads every record in the run that matches. As home slots
// are in the order of the hashes, the table is doubled in one pass over consecutive memory, without a look at any record.
// At most half of the slots are used, so that a find looks at 1.5 slots on average, nearly always in one cache line. Each
// store has a random hash key, so that names cannot be chosen to collide.
//
// To find one client, the processor waits for memory twice: for the slot and then for the record. Find takes a batch of
// names, and reads all slots in one loop and all records in the next, so that it waits for many at a time (measured: 35
// percent less time with millions of clients). Neither slots nor records hold a Go pointer, so the garbage collector never
// reads them. On Linux, large indexes and arenas ask for huge pages: fewer misses in the address cache, and fewer page
// faults while they are filled (13 percent less time).
package store

import (
	"hash/maphash"
	"math/bits"
	"runtime/debug"

	"tokenbucket/limiter"
)

const (
	MaxName  = 1<<16 - 1 // the most bytes that a client's name may have
	MaxBatch = 64        // the most keys that Find takes
)

// A Store is a set of clients and their buckets. It is not safe for concurrent use.
type Store struct {
	full  limiter.Bucket // of a new client
	seed  maphash.Seed
	index []uint64 // slots
	shift uint     // 64 minus the number of bits that select a home slot
	used  int      // slots in use, and so clients
	arena arena

	mostClients, mostBytes int // more than that are a crowd

	candidates [MaxBatch]uint64          // of the keys of the last Find: a slot that may be the client's, or 0
	found      [MaxBatch]*limiter.Bucket // what the last Find returned
	prefetched byte                      // depends on what was prefetched, so that the compiler keeps the reads
}

const (
	offsetBits    = 36 // the arena is addressed in words: 512 GiB
	offsetMask    = 1<<offsetBits - 1
	minSlots      = 1 << 10
	prefetchSlots = 1 << 13 // from here on prefetching pays; a smaller store stays in the nearest caches by itself
	hugeSlots     = 1 << 18 // from here on huge pages pay: 2 MiB
)

// A Hasher makes the keys of one store. It may be used concurrently with the store and with itself.
type Hasher struct{ seed maphash.Seed }

// A Key is a client's name, hashed, and where the name lies in a text. It holds no pointer to the text, because keys
// are handed from core to core, and 16 bytes are quicker to hand over than 32.
type Key struct {
	hash           uint64
	offset, length uint32
}

// Name returns the name of the client; text is the text that the key was made from.
func (k Key) Name(text []byte) []byte { return text[k.offset:][:k.length] }

// Key returns the key of the name text[start:end], which starts within the first 4 GiB of the text.
func (h Hasher) Key(text []byte, start, end int) Key {
	return Key{maphash.Bytes(h.seed, text[start:end]), uint32(start), uint32(end - start)}
}

// New returns a store of no clients. The bucket of a client seen for the first time will be full.
func New(full limiter.Bucket) *Store {
	s := &Store{seed: maphash.MakeSeed(), arena: arena{chunks: []chunk{make(chunk, firstBytes)}}}
	s.Reset(full)
	return s
}

// Hasher returns the hasher of the store.
func (s *Store) Hasher() Hasher { return Hasher{s.seed} }

// Reset forgets all clients. The bucket of a client seen for the first time will be full.
func (s *Store) Reset(full limiter.Bucket) {
	s.full = full
	s.mostClients, s.mostBytes = minSlots/2, firstBytes-slackBytes
	s.resize(minSlots, nil)
	clear(s.found[:])
	large := len(s.arena.chunks) > 2
	s.arena.reset(1)
	if large {
		go debug.FreeOSMemory() // concurrently with what follows, which may need the memory
	}
}

// Find returns the buckets of the clients that keys name, in that order; a new client is added with a full bucket. There
// are at most MaxBatch keys, from the store's Hasher and text, and it panics if a new client's name is longer than
// MaxName. The result is valid until the next Find, Forget or Reset.
func (s *Store) Find(text []byte, keys []Key) []*limiter.Bucket {
	if s.used+len(keys) > len(s.index)/2 {
		s.resize(2*len(s.index), s.index)
	}
	candidates, found := s.candidates[:len(keys)], s.found[:len(keys)]
	s.probe(keys, candidates)
	for i, k := range keys {
		name := k.Name(text)
		r := s.arena.record(candidates[i] & offsetMask)
		if string(r.name()) != string(name) || candidates[i] == 0 {
			r = s.arena.record(s.findOrAdd(k.hash, name))
		}
		found[i] = &r.bucket
	}
	return found
}

// probe sets the candidate of each key: the first slot in its probe run with the same upper bits of the hash, or 0. Then it
// reads the candidates' records at both ends, so that they are in the cache when they are needed.
func (s *Store) probe(keys []Key, candidates []uint64) {
	for i := range candidates {
		hash := keys[i].hash
		at := s.home(hash)
		slot := s.index[at]
		for (slot^hash)>>offsetBits != 0 && slot != 0 {
			at = s.next(at)
			slot = s.index[at]
		}
		candidates[i] = slot
	}
	if len(s.index) < prefetchSlots {
		return
	}
	for i, slot := range candidates {
		r := s.arena.record(slot & offsetMask)
		s.prefetched ^= byte(r.bucket.Ticks) ^ r.text[min(keys[i].length, MaxName-1)]
	}
}

// findOrAdd returns the offset of the record of a client, however many slots match the hash, or adds one.
func (s *Store) findOrAdd(hash uint64, name []byte) (offset uint64) {
	for at := s.home(hash); s.index[at] != 0; at = s.next(at) {
		if (s.index[at]^hash)>>offsetBits == 0 {
			if offset = s.index[at] & offsetMask; string(s.arena.record(offset).name()) == string(name) {
				return offset
			}
		}
	}
	offset = s.arena.add(s.full, name)
	s.insert(hash&^offsetMask | offset)
	return offset
}

// home returns the home slot of a hash, or of the entry in a slot.
func (s *Store) home(hash uint64) int {
	return int(hash&^offsetMask>>(s.shift&63)) & (len(s.index) - 1)
}

func (s *Store) next(slot int) int { return (slot + 1) & (len(s.index) - 1) }

// Clients returns how many clients there are.
func (s *Store) Clients() int { return s.used }

// Crowded reports whether with n more clients it is time to Forget: since the last time the clients, or the bytes that they
// take, have become twice as many.
func (s *Store) Crowded(n int) bool { return s.used+n > s.mostClients || s.arena.used > s.mostBytes }

// Forget forgets the clients whose buckets are expendable, unless they are less than a quarter of all and take less than a
// quarter of the memory. Index and arena then take a small multiple of what the others need.
//
// The pass over all buckets that it begins with is over consecutive memory, and cheap; the rest costs more, and is done
// only if it pays.
func (s *Store) Forget(expendable func(limiter.Bucket) bool) {
	clients, bytes := 0, 0
	for r := range records(s.arena.chunks) {
		if !expendable(r.bucket) {
			clients++
			bytes += recordBytes(int(r.length))
		}
	}
	s.mostClients, s.mostBytes = 2*clients+minSlots/2, 2*bytes+firstBytes-slackBytes
	if 4*clients > 3*s.used && 4*bytes > 3*s.arena.used {
		return
	}
	s.resize(max(minSlots, 1<<bits.Len(uint(2*s.mostClients-1))), nil)
	s.arena.compact(s.mostBytes, expendable, func(name []byte, offset uint64) {
		s.insert(maphash.Bytes(s.seed, name)&^offsetMask | offset)
	})
}

// resize makes an index of so many slots with the entries of another.
func (s *Store) resize(slots int, entries []uint64) {
	if slots == len(s.index) {
		clear(s.index)
	} else {
		s.index = make([]uint64, slots)
	}
	if slots >= hugeSlots {
		adviseHugePages(s.index)
	}
	s.used = 0
	s.shift = 64 - uint(bits.TrailingZeros(uint(slots)))
	for _, entry := range entries {
		if entry != 0 {
			s.insert(entry)
		}
	}
}

// insert puts an entry that is not in the index into it.
func (s *Store) insert(entry uint64) {
	at := s.home(entry)
	for s.index[at] != 0 {
		at = s.next(at)
	}
	s.index[at] = entry
	s.used++
}
