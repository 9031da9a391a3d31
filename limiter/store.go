package limiter

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"runtime/debug"
	"unsafe"
)

// This file keeps the buckets of all clients: what a map of buckets by name would do, for millions of clients, faster and
// in less memory. It relies on nothing but the arithmetic in bucket.go.

// A Store keeps a bucket for each client, all under one policy. A client is known by its name, at most MaxName bytes of
// any kind; one not seen before has a full bucket. A Store is not safe for concurrent use.
//
// A client is a record in the arena, and a slot of the index tells where. Neither holds a Go pointer, so there is nothing
// in them for the garbage collector to look through.
type Store struct {
	// Monotonic promises that no call comes at an earlier time than one before it. A bucket that is full again is then
	// as good as none, and before the store grows, such clients are forgotten.
	Monotonic bool

	policy Policy
	seed   maphash.Seed // of this store alone, so that nobody can choose names that collide

	// index is an open-addressing table with linear probing, a power of two of slots. A slot is 0 if free, or else the
	// upper bits of a name's hash above the place of its record. The uppermost bits of the hash are the slot's home: it
	// stands there or behind, with no free slot between. So a slot can be moved without a look at its record, and the
	// index grows in one pass through memory.
	index []uint64
	shift uint // 64 less the number of bits of a home
	used  int  // slots, and so clients

	arena []region
	spare []*memory // for regions to come

	sought [MaxSeek]uint64 // for each call of the last Seek, a slot that may be its client's, or 0
	name   []byte          // of the client of Take or TopUp
	warmth uint64          // what warm read, kept so that it has to read it
}

// MaxName is the most bytes that a client's name may have.
const MaxName = 1<<16 - 1

// A record is the client's bucket, the length of the name as a word, and the name, filled up to a whole word.
const (
	word   = 8 // bytes
	sizeAt = 2 * word
	nameAt = 3 * word
)

// A region holds records, one behind the other.
type region struct {
	*memory
	used int // bytes
}

// The word more than a region has is for a look at the end of a name.
type memory [regionBytes + word]byte

const (
	regionBytes = 1 << 17 // more than the largest record
	maxSpare    = 64      // regions made at a time; at first as many as there are
)

// A place is where a record starts, in words from the start of the arena, which can so have 512 GiB. None starts at 0.
const (
	placeBits   = 36
	placeMask   = 1<<placeBits - 1
	regionWords = regionBytes / word
)

const (
	minIndex  = 1 << 10 // slots
	warmIndex = 1 << 13 // slots from which on warming pays: a smaller store stays in the nearest caches by itself
	hugeIndex = 1 << 18 // slots from which on larger pages pay: 2 MiB
)

// A Call is what finding a client's bucket takes.
type Call struct {
	Hash uint64 // maphash.Bytes of the client's name with Store.Seed
	Now  int64  // ms; a new client's bucket is full at this time
	At   uint32 // where the name starts in the text that holds it
	Size uint16 // its length, in bytes
	Kind uint8  // free for the caller
}

// MaxSeek is how many calls Seek takes.
const MaxSeek = 64

// NewStore returns a store of no clients.
func NewStore(p Policy) *Store {
	s := &Store{seed: maphash.MakeSeed()}
	s.Reset(p)
	return s
}

// Reset sets the policy and forgets all clients.
func (s *Store) Reset(p Policy) {
	s.policy = p
	s.used = 0
	if len(s.arena) == 1 && len(s.index) == minIndex {
		clear(s.index)
		s.arena[0].used = word
		return
	}
	large := len(s.arena)+len(s.spare) > 2*maxSpare
	s.setIndex(make([]uint64, minIndex))
	s.arena = []region{{new(memory), word}}
	s.spare = nil
	if large {
		go debug.FreeOSMemory() // beside what follows, which may need it
	}
}

// Policy is the policy of every bucket.
func (s *Store) Policy() Policy { return s.policy }

// Seed is for the hashes of calls.
func (s *Store) Seed() maphash.Seed { return s.seed }

// Take is Policy.Take on the bucket of a client. It panics if the name is longer than MaxName.
func (s *Store) Take(client []byte, now, cost, maxWait int64) (b Bucket, o Outcome) {
	bucket := s.find(client, now)
	*bucket, o = s.policy.Take(*bucket, now, cost, maxWait)
	return *bucket, o
}

// TopUp is Policy.TopUp on the bucket of a client. It panics if the name is longer than MaxName.
func (s *Store) TopUp(client []byte, now int64) Bucket {
	bucket := s.find(client, now)
	*bucket = s.policy.TopUp(*bucket, now)
	return *bucket
}

func (s *Store) find(client []byte, now int64) *Bucket {
	if len(client) > MaxName {
		panic("limiter: a client's name has more than MaxName bytes")
	}
	s.name = append(append(s.name[:0], client...), make([]byte, word)...)
	call := [1]Call{{Hash: maphash.Bytes(s.seed, client), Now: now, Size: uint16(len(client))}}
	s.Seek(call[:])
	return s.Bucket(s.name, &call[0], 0)
}

// Seek looks for the clients of at most MaxSeek calls, whose buckets are then had from Bucket.
//
// To find one client, its slot has to come from memory and then its record. Here all slots are read in one loop and all
// records in the next, so that memory works on many at a time.
func (s *Store) Seek(calls []Call) {
	if s.used+len(calls) > s.room() {
		s.makeRoom(len(calls), calls[0].Now)
	}
	s.probe(calls, s.sought[:len(calls)])
	if len(s.index) >= warmIndex {
		s.warm(s.sought[:len(calls)])
	}
}

// Bucket is the bucket of the call that was number i of the last Seek, full if the client is new. It is good until the
// next Seek or Reset. The call's name lies in text, which goes on for 8 bytes at least behind it.
func (s *Store) Bucket(text []byte, c *Call, i int) *Bucket {
	place := s.sought[i%MaxSeek] & placeMask
	m, at := s.record(place)
	if place == 0 || !m.isNamed(at, text, c) {
		m, at = s.record(s.findOrAdd(text, c))
	}
	return m.bucket(at)
}

// probe finds for each call the first slot with the upper bits of its hash, or a free one.
func (s *Store) probe(calls []Call, slots []uint64) {
	for i := range slots {
		hash := calls[i].Hash
		at := s.home(hash)
		slot := s.index[at]
		for (slot^hash)>>placeBits != 0 && slot != 0 {
			at = s.next(at)
			slot = s.index[at]
		}
		slots[i] = slot
	}
}

// warm reads the records of slots, and does nothing with them.
func (s *Store) warm(slots []uint64) {
	for _, slot := range slots {
		m, at := s.record(slot & placeMask)
		s.warmth ^= m.word(at) ^ m.word(at+nameAt)
	}
}

// findOrAdd finds the record of a call, however many others have the same upper bits of the hash, or makes one.
func (s *Store) findOrAdd(text []byte, c *Call) (place uint64) {
	slot := s.home(c.Hash)
	for ; s.index[slot] != 0; slot = s.next(slot) {
		if (s.index[slot]^c.Hash)>>placeBits == 0 {
			place = s.index[slot] & placeMask
			if m, at := s.record(place); m.isNamed(at, text, c) {
				return place
			}
		}
	}
	place = s.allocate(recordBytes(int(c.Size)))
	m, at := s.record(place)
	*m.bucket(at) = s.policy.Full(c.Now)
	m.setSize(at, uint64(c.Size))
	copy(m[at+nameAt:], text[c.At:][:c.Size])
	s.index[slot] = c.Hash&^placeMask | place
	s.used++
	return place
}

// home is where a slot or a hash belongs in the index.
func (s *Store) home(slot uint64) int { return int(slot&^placeMask>>(s.shift&63)) & (len(s.index) - 1) }

func (s *Store) next(slot int) int { return (slot + 1) & (len(s.index) - 1) }

func (s *Store) record(place uint64) (m *memory, at uint64) {
	return s.arena[place/regionWords].memory, place % regionWords * word
}

// word is the word that starts at a byte, which is in bounds: the mask only says so to the compiler.
func (m *memory) word(at uint64) uint64 {
	at &= regionBytes - 1
	return binary.LittleEndian.Uint64(m[at : at+word])
}

// bucket is the bucket of the record at a byte, a multiple of 8 as large memory itself is.
func (m *memory) bucket(at uint64) *Bucket { return (*Bucket)(unsafe.Pointer(&m[at&(regionBytes-1)])) }

func (m *memory) size(at uint64) uint64          { return m.word(at + sizeAt) }
func (m *memory) setSize(at uint64, size uint64) { binary.LittleEndian.PutUint64(m[at+sizeAt:], size) }

// isNamed reports whether the record at a byte has the name of a call. It compares words, the last of which overlaps the
// one before, and up to three of them without a branch.
func (m *memory) isNamed(at uint64, text []byte, c *Call) bool {
	size, from := uint64(c.Size), uint64(c.At)
	if m.size(at) != size {
		return false
	}
	at += nameAt
	if size < word {
		return (m.word(at)^textWord(text, from))<<(64-8*size) == 0
	}
	last := size - word
	second := min(word, last)
	differ := (m.word(at) ^ textWord(text, from)) |
		(m.word(at+second) ^ textWord(text, from+second)) |
		(m.word(at+last) ^ textWord(text, from+last))
	for i := uint64(2 * word); i < last; i += word {
		differ |= m.word(at+i) ^ textWord(text, from+i)
	}
	return differ == 0
}

func textWord(text []byte, at uint64) uint64 { return binary.LittleEndian.Uint64(text[at : at+word]) }

// recordBytes is the length of a record by that of the name.
func recordBytes(name int) int { return (nameAt + name + word - 1) / word * word }

// allocate takes memory from the last region, or from a new one.
func (s *Store) allocate(bytes int) (place uint64) {
	last := len(s.arena) - 1
	if s.arena[last].used+bytes > regionBytes {
		if len(s.spare) == 0 {
			s.makeSpare(min(len(s.arena), maxSpare))
		}
		s.arena = append(s.arena, region{memory: s.spare[len(s.spare)-1]})
		s.spare = s.spare[:len(s.spare)-1]
		last++
	}
	place = uint64(last)*regionWords + uint64(s.arena[last].used/word)
	s.arena[last].used += bytes
	return place
}

// makeSpare makes memory for n regions, to be taken in the order of addresses.
func (s *Store) makeSpare(n int) {
	memories := make([]memory, n)
	if n == maxSpare {
		adviseHuge(memories)
	}
	for i := range memories {
		s.spare = append(s.spare, &memories[n-1-i])
	}
}

// room is how many slots may be used: with more than half of them, probing takes long.
func (s *Store) room() int { return len(s.index) / 2 }

// makeRoom makes room for n more clients.
func (s *Store) makeRoom(n int, now int64) {
	if s.Monotonic {
		s.forgetFull(now)
		if s.used+n <= s.room()/2 {
			return
		}
	}
	old := s.index
	s.setIndex(make([]uint64, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			s.insert(slot)
		}
	}
}

func (s *Store) setIndex(index []uint64) {
	if len(index) >= hugeIndex {
		adviseHuge(index)
	}
	s.index = index
	s.shift = 64 - uint(bits.TrailingZeros(uint(len(index))))
}

// insert puts a slot into the index that is not there yet.
func (s *Store) insert(slot uint64) {
	at := s.home(slot)
	for s.index[at] != 0 {
		at = s.next(at)
	}
	s.index[at] = slot
}

// forgetFull forgets the clients whose buckets are full at now, and moves the records of the others together. A record
// stays or moves to the front, never over one that is still to be looked at.
func (s *Store) forgetFull(now int64) {
	clear(s.index)
	s.used = 0
	full := s.policy.Full(now)
	last := 0 // the region that is being filled
	for i := range s.arena {
		from, at, end := s.arena[i].memory, 0, s.arena[i].used
		if i == 0 {
			at, s.arena[0].used = word, word
		}
		for size := 0; at < end; at += size {
			name := int(from.size(uint64(at)))
			size = recordBytes(name)
			if s.policy.TopUp(*from.bucket(uint64(at)), now).Ticks == full.Ticks {
				continue
			}
			if s.arena[last].used+size > regionBytes {
				last++
				s.arena[last].used = 0
			}
			to := &s.arena[last]
			place := uint64(last)*regionWords + uint64(to.used/word)
			s.insert(maphash.Bytes(s.seed, from[at+nameAt:][:name])&^placeMask | place)
			copy(to.memory[to.used:], from[at:at+size])
			to.used += size
			s.used++
		}
	}
	for _, r := range s.arena[last+1:] {
		s.spare = append(s.spare, r.memory)
	}
	clear(s.arena[last+1:])
	s.arena = s.arena[:last+1]
}
