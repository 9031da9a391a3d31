package store

import (
	"encoding/binary"
	"iter"
	"slices"
	"unsafe"

	"tokenbucket/limiter"
)

// This file is the layout of records in memory, and the only unsafe code of the store but for huge pages.

// A record is the client's bucket, the length of the name and the name, filled up to a whole word:
//
//	0   ticks
//	8   time of the last refill, in ms
//	16  length of the name, in bytes
//	18  the name
const (
	lengthAt  = 16
	nameAt    = lengthAt + 2
	wordBytes = 8

	emptyBytes = (nameAt + wordBytes - 1) &^ (wordBytes - 1) // of a record with an empty name
)

// recordBytes returns the size of a record by the length of its name.
func recordBytes(name int) int { return (nameAt + name + wordBytes - 1) &^ (wordBytes - 1) }

// A chunk holds records, one after the other, up to its length.
type chunk []byte

const (
	firstBytes = 1 << 17 // of the first chunk: many scripts need no more
	chunkBytes = 1 << 23 // of the others: large enough for huge pages
	chunkWords = chunkBytes / wordBytes
)

// What the layout relies on: the first chunk has room for the longest record; a bucket is the first two words of a
// record; and a cache line holds four keys.
const _ = uint(firstBytes - emptyBytes - (nameAt + MaxName + wordBytes - 1))

var (
	_ [lengthAt]byte = [unsafe.Sizeof(limiter.Bucket{})]byte{}
	_ [16]byte       = [unsafe.Sizeof(Key{})]byte{}
)

// An arena is the memory of all records. An offset is where a record starts, in words. The record at 0 is nobody's; it is
// there so that a free slot of the index leads to a record too.
type arena struct {
	chunks []chunk
	last   int // the chunk that is being filled; those behind it are empty
	used   int // bytes of all records
}

// reset drops all records, and all chunks but the first.
func (a *arena) reset() {
	if len(a.chunks) != 1 {
		a.chunks = []chunk{make(chunk, 0, firstBytes)}
	}
	a.chunks[0], a.last, a.used = a.chunks[0][:emptyBytes], 0, 0
}

// record returns the chunk of a record and the byte at which the record starts there.
func (a *arena) record(offset uint64) (c chunk, at int) {
	return a.chunks[offset/chunkWords], int(offset % chunkWords * wordBytes)
}

// bucket returns the bucket of the record at a byte, which is a multiple of 8, as the address of a chunk is.
func (c chunk) bucket(at int) *limiter.Bucket { return (*limiter.Bucket)(unsafe.Pointer(&c[at])) }

// name returns the name in the record at a byte.
func (c chunk) name(at int) []byte {
	return c[at+nameAt:][:binary.LittleEndian.Uint16(c[at+lengthAt:])]
}

// add adds a record and returns its offset.
func (a *arena) add(b limiter.Bucket, name []byte) (offset uint64) {
	if len(name) > MaxName {
		panic("store: name too long")
	}
	c, size := a.chunks[a.last], recordBytes(len(name))
	if len(c)+size > cap(c) {
		if a.last++; a.last == len(a.chunks) {
			fresh := make(chunk, chunkBytes)
			adviseHugePages(fresh)
			a.chunks = append(a.chunks, fresh[:0])
		}
		c = a.chunks[a.last]
	}
	at := len(c)
	c = c[:at+size]
	*c.bucket(at) = b
	binary.LittleEndian.PutUint16(c[at+lengthAt:], uint16(len(name)))
	copy(c[at+nameAt:], name)
	a.chunks[a.last] = c
	a.used += size
	return uint64(a.last)*chunkWords + uint64(at/wordBytes)
}

// records yields the chunk and the byte of each record of an arena's chunks. The record may be overwritten then.
func records(chunks []chunk) iter.Seq2[chunk, int] {
	return func(yield func(chunk, int) bool) {
		at := emptyBytes
		for _, c := range chunks {
			for next := 0; at < len(c); at = next {
				next = at + recordBytes(len(c.name(at)))
				if !yield(c, at) {
					return
				}
			}
			at = 0
		}
	}
}

// compact drops the records whose buckets are expendable, moves the others together and calls moved with the name and
// the new offset of each. A record stays or moves to the front, never over one that is still to be looked at. It keeps
// chunks for so many bytes of records.
func (a *arena) compact(bytes int, expendable func(limiter.Bucket) bool, moved func(name []byte, offset uint64)) {
	old := slices.Clone(a.chunks[:a.last+1])
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.chunks[0], a.last, a.used = a.chunks[0][:emptyBytes], 0, 0
	for c, at := range records(old) {
		if b := *c.bucket(at); !expendable(b) {
			offset := a.add(b, c.name(at))
			to, at := a.record(offset)
			moved(to.name(at), offset)
		}
	}
	if most := bytes/chunkBytes + 2; most < len(a.chunks) {
		a.chunks = slices.Clone(a.chunks[:most])
	}
}
