package store

import (
	"iter"
	"slices"
	"unsafe"

	"tokenbucket/limiter"
)

// This file is the layout of records in memory, and the only unsafe code of the store but for huge pages.

// A record is a client's bucket and name. In the arena it takes so many whole words as these need, and the next record
// begins there: what text has behind the name is not its own.
type record struct {
	bucket limiter.Bucket
	length uint16
	text   [MaxName]byte
}

func (r *record) name() []byte { return r.text[:r.length] }

const (
	wordBytes  = 8
	nameAt     = 18
	emptyBytes = 24 // of a record with an empty name
	slackBytes = 1 << 16
)

// recordBytes returns how many bytes a record takes by the length of its name.
func recordBytes(name int) int { return (nameAt + name + wordBytes - 1) &^ (wordBytes - 1) }

// A chunk holds records, one after the other, up to its length. At the end of its capacity is some slack, so that the last
// record lies within the chunk with all its text. It is never touched, and so takes no memory.
type chunk []byte

const (
	firstBytes = 3 << 16 // of the first chunk: many scripts need no more
	chunkBytes = 1 << 23 // of the others: large enough for huge pages
	chunkWords = chunkBytes / wordBytes
)

// What the layout relies on: where the name begins, that the first chunk has room for the longest record behind the empty
// one, that the slack does, and that a cache line holds four keys.
var (
	_ [nameAt]byte = [unsafe.Offsetof(record{}.text)]byte{}
	_ [16]byte     = [unsafe.Sizeof(Key{})]byte{}
)

const _ = uint(firstBytes-emptyBytes-(nameAt+MaxName+wordBytes-1)) + uint(slackBytes-(unsafe.Sizeof(record{})-emptyBytes))

// An arena is the memory of all records. An offset is where a record starts, in words. The record at 0 is nobody's; it is
// there so that a free slot of the index leads to a record too.
type arena struct {
	chunks []chunk
	last   int // the chunk that is being filled; those behind it are empty
	used   int // bytes of all records
}

// reset drops all records, and all chunks but the first so many.
func (a *arena) reset(chunks int) {
	a.chunks = slices.Delete(a.chunks, min(chunks, len(a.chunks)), len(a.chunks))
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.chunks[0], a.last, a.used = a.chunks[0][:emptyBytes], 0, 0
}

// record returns the record at an offset. Chunks and records begin at whole words.
func (a *arena) record(offset uint64) *record {
	return a.chunks[offset/chunkWords].record(int(offset % chunkWords * wordBytes))
}

// record returns the record that starts at a byte.
func (c chunk) record(at int) *record { return (*record)(unsafe.Pointer(&c[at])) }

// add adds a record and returns its offset.
func (a *arena) add(b limiter.Bucket, name []byte) (offset uint64) {
	if len(name) > MaxName {
		panic("store: name too long")
	}
	c, size := a.chunks[a.last], recordBytes(len(name))
	if len(c)+size > cap(c)-slackBytes {
		if a.last++; a.last == len(a.chunks) {
			fresh := make(chunk, chunkBytes)
			adviseHugePages(fresh)
			a.chunks = append(a.chunks, fresh[:0])
		}
		c = a.chunks[a.last]
	}
	at := len(c)
	a.chunks[a.last] = c[:at+size]
	r := a.chunks[a.last].record(at)
	r.bucket, r.length = b, uint16(len(name))
	copy(r.text[:], name)
	a.used += size
	return uint64(a.last)*chunkWords + uint64(at/wordBytes)
}

// records yields each record of an arena's chunks. It may be overwritten then.
func records(chunks []chunk) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		at := emptyBytes
		for _, c := range chunks {
			for next := 0; at < len(c); at = next {
				r := c.record(at)
				next = at + recordBytes(int(r.length))
				if !yield(r) {
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
	a.reset(bytes/chunkBytes + 2)
	for r := range records(old) {
		if b := r.bucket; !expendable(b) {
			offset := a.add(b, r.name())
			moved(a.record(offset).name(), offset)
		}
	}
}
