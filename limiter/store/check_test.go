// This file is the invariants of the index and of the arena, and a test that shows that a break of each is noticed. It
// computes home slots, sizes and hashes by itself, from what the comments of the program say.
package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
	"testing"
	"unsafe"

	"tokenbucket/limiter"
)

// Check returns the first fault that it finds in the index or the arena, or nil.
func (s *Store) Check() error {
	return s.CheckHashes(func(name []byte) uint64 { return maphash.Bytes(s.seed, name) })
}

// CheckHashes is Check where a test chose the hashes of the names.
func (s *Store) CheckHashes(hash func(name []byte) uint64) error {
	names, err := s.arena.names(s.full.Ticks)
	if err != nil {
		return err
	}
	slots := len(s.index)
	if slots < 1024 || bits.OnesCount(uint(slots)) != 1 || s.shift != uint(bits.LeadingZeros64(uint64(slots))+1) {
		return fmt.Errorf("%d slots with a shift of %d", slots, s.shift)
	}
	used := 0
	for at, slot := range s.index {
		if slot == 0 {
			continue
		}
		used++
		offset := slot % (1 << 36)
		name, ok := names[offset]
		if !ok {
			return fmt.Errorf("slot %d: no record at offset %d, or one that has another slot", at, offset)
		}
		delete(names, offset)
		if got, want := slot>>36, hash(name)>>36; got != want {
			return fmt.Errorf("slot %d: upper bits of the hash of %.60q: got %#x, want %#x", at, name, got, want)
		}
		for probe := int(slot >> s.shift); probe != at; probe = (probe + 1) % slots {
			if s.index[probe] == 0 {
				return fmt.Errorf("slot %d: slot %d before it in the probe run is free", at, probe)
			}
		}
	}
	for offset, name := range names {
		return fmt.Errorf("no slot for the record of %.60q at offset %d", name, offset)
	}
	if used != s.used || used > slots/2 {
		return fmt.Errorf("used slots: got %d of %d, want %d and at most half", used, slots, s.used)
	}
	return nil
}

// names returns the names of all records by their offsets, or the first fault that it finds in the arena.
func (a *arena) names(maxTicks int64) (map[uint64][]byte, error) {
	names, offsets := make(map[uint64][]byte), make(map[string]uint64)
	seen := make(map[*byte]bool)
	used := 0
	for i, c := range a.chunks {
		if seen[unsafe.SliceData(c)] {
			return nil, fmt.Errorf("chunk %d is there twice", i)
		}
		seen[unsafe.SliceData(c)] = true
		at, least, most := 0, 24, cap(c)-slackBytes // the shortest record
		if i > a.last {
			least, most = 0, 0
		}
		if len(c) < least || len(c) > most {
			return nil, fmt.Errorf("chunk %d: bytes used: got %d, want %d to %d", i, len(c), least, most)
		}
		for size := 0; at < len(c); at += size {
			length := 0
			if at+18 <= len(c) {
				length = int(c[at+16]) + int(c[at+17])<<8
			}
			size = (18 + length + 7) / 8 * 8
			if at+size > len(c) {
				return nil, fmt.Errorf("chunk %d: the record at byte %d ends after the %d bytes used", i, at, len(c))
			}
			if i > 0 && at == 0 && len(a.chunks[i-1])+size <= cap(a.chunks[i-1])-slackBytes {
				return nil, fmt.Errorf("chunk %d: its first record has room in the chunk before", i)
			}
			offset, name := uint64(i)*chunkWords+uint64(at/8), c[at+18:][:length]
			if offset == 0 {
				if length != 0 {
					return nil, fmt.Errorf("name in the record at offset 0, which is nobody's: got %.60q, want none", name)
				}
				continue
			}
			if other, ok := offsets[string(name)]; ok {
				return nil, fmt.Errorf("two records of %.60q, at offsets %d and %d", name, other, offset)
			}
			names[offset], offsets[string(name)] = name, offset
			used += size
			if ticks := int64(binary.NativeEndian.Uint64(c[at:])); ticks > maxTicks {
				return nil, fmt.Errorf("ticks of %.60q: got %d, want at most %d", name, ticks, maxTicks)
			}
		}
	}
	if a.last >= len(a.chunks) {
		return nil, fmt.Errorf("the chunk being filled: got %d of %d", a.last, len(a.chunks))
	}
	if a.used != used {
		return nil, fmt.Errorf("bytes of all records: got %d, want %d", a.used, used)
	}
	return names, nil
}

// TestCheck: Check finds no fault in a store of several chunks, and one when any invariant is broken.
func TestCheck(t *testing.T) {
	const (
		length  = 64_000 // a record has 64,024 bytes
		clients = (firstBytes+chunkBytes)/64_024 + 8
	)
	text := bytes.Repeat([]byte("x"), length)
	build := func() *Store {
		s := New(limiter.Bucket{Ticks: 180_000, Last: math.MinInt64})
		for i := range clients {
			binary.NativeEndian.PutUint16(text, uint16(i))
			s.Find(text, []Key{s.Hasher().Key(text, 0, length)})
		}
		return s
	}
	// last returns the last slot of a probe run. The slot after it is free.
	last := func(s *Store) int {
		for at := range s.index {
			if s.index[at] != 0 && s.index[s.next(at)] == 0 {
				return at
			}
		}
		panic("no free slot")
	}
	// lone returns a free slot after a free slot.
	lone := func(s *Store) int {
		for at := range s.index {
			if s.index[at] == 0 && s.index[s.next(at)] == 0 {
				return s.next(at)
			}
		}
		panic("no two free slots")
	}
	add := func(s *Store, ticks int64, name string) {
		offset := s.arena.add(limiter.Bucket{Ticks: ticks}, []byte(name))
		s.insert(maphash.String(s.seed, name)&^offsetMask | offset)
		s.used++
	}
	grow := func(s *Store, i, n int) { s.arena.chunks[i] = s.arena.chunks[i][:len(s.arena.chunks[i])+n] }
	if err := build().Check(); err != nil {
		t.Fatalf("a store of %d clients\ngot:  %v\nwant: no fault", clients, err)
	}
	for _, c := range []struct {
		what   string
		damage func(s *Store)
		want   string
	}{
		{"an index too short", func(s *Store) { s.index = s.index[:512] }, "slots with a shift"},
		{"an index of no power of two", func(s *Store) { s.index = append(s.index, 0) }, "slots with a shift"},
		{"a wrong shift", func(s *Store) { s.shift++ }, "slots with a shift"},
		{"an entry with no offset", func(s *Store) { s.index[last(s)] &^= offsetMask }, "no record at offset 0"},
		{"an entry with an offset within a record", func(s *Store) { s.index[last(s)]++ }, "no record at offset"},
		{"an entry with an offset after all chunks", func(s *Store) { s.index[last(s)] |= offsetMask }, "no record at offset"},
		{"two entries for a record", func(s *Store) { s.index[s.next(last(s))] = s.index[last(s)] }, "another slot"},
		{"an entry with other bits of the hash", func(s *Store) { s.index[last(s)] ^= 1 << offsetBits }, "upper bits"},
		{"an entry outside its probe run", func(s *Store) {
			from, to := last(s), lone(s)
			s.index[to], s.index[from] = s.index[from], 0
		}, "is free"},
		{"a record without an entry", func(s *Store) { s.index[last(s)] = 0; s.used-- }, "no slot for the record"},
		{"a client not counted", func(s *Store) { s.used-- }, "used slots"},
		{"a client counted twice", func(s *Store) { s.used++ }, "used slots"},
		{"more than half of the slots used", func(s *Store) {
			for i := range 513 - clients {
				add(s, 0, fmt.Sprint(i))
			}
		}, "at most half"},
		{"ticks above the full bucket's", func(s *Store) { add(s, 180_001, "rich") }, "ticks of"},
		{"a name twice", func(s *Store) { add(s, 0, "twin"); add(s, 0, "twin") }, "two records of"},
		{"a longer name", func(s *Store) {
			s.arena.chunks[2] = s.arena.chunks[2][:64_024] // one record
			s.arena.chunks[2][17] = 0xff
		}, "ends after"},
		{"a word used after the last record", func(s *Store) { grow(s, 2, 8) }, "ends after"},
		{"no record in a chunk", func(s *Store) { s.arena.chunks[1] = s.arena.chunks[1][:0] }, "bytes used: got"},
		{"no record at offset 0", func(s *Store) { s.arena.chunks[0] = s.arena.chunks[0][:0] }, "bytes used: got"},
		{"a name at offset 0", func(s *Store) { s.arena.chunks[0][16] = 1 }, "at offset 0"},
		{"a record after the last chunk", func(s *Store) { s.arena.last-- }, "bytes used: got"},
		{"a last chunk that is not there", func(s *Store) { s.arena.last++ }, "being filled"},
		{"a chunk begun too early", func(s *Store) {
			s.arena.last++
			s.arena.chunks = append(s.arena.chunks, make(chunk, 24, chunkBytes))
		}, "has room"},
		{"a word not counted", func(s *Store) { s.arena.used -= 8 }, "bytes of all records"},
		{"a word counted twice", func(s *Store) { s.arena.used += 8 }, "bytes of all records"},
		{"a chunk twice", func(s *Store) { s.arena.chunks = append(s.arena.chunks, s.arena.chunks[1]) }, "chunk 3 is there twice"},
	} {
		s := build()
		c.damage(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot:  %v\nwant: ...%s...", c.what, err, c.want)
		}
	}
}
