package interp

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"

	"tokenbucket/limiter"
)

// This file reads the input and cuts it into blocks of whole lines. What a line means is found out in lines.go.

// maxLine is how many bytes a line may hold, without its ending and the byte-order mark.
const maxLine = 1 << 16

const byteOrderMark = "\ufeff"

// maxEmptyReads is how many reads in a row may bring nothing before the reader counts as broken.
const maxEmptyReads = 100

const (
	blockBytes = 2 * maxLine // of text: the longest line with its ending, or many short ones
	someCalls  = 1 << 13     // as many as the text holds if a line has 16 bytes; there is memory for them from the start
	maxOthers  = 1000        // this bounds the memory of a block whatever its text is
	word       = 8           // bytes that are looked at together
)

// A text is the text of a block, with a word more to look at than it has.
type text [blockBytes + word]byte

// A block is lines that have been understood.
type block struct {
	text   text
	calls  []limiter.Call // the lines that ask for a bucket: their kind is the verb, their names lie in text
	terms  []terms        // of those calls that have any, in order
	others []other        // the lines between them that do something else
	full   bool           // there was as much input at hand as the block can hold
	cut    bool           // the last line has no ending
	end    error          // why this is the last block: io.EOF, errQuit, or a read that failed
}

func newBlock() *block { return &block{calls: make([]limiter.Call, 0, someCalls)} }

// terms are what a call asks for, where that is not one token now.
type terms struct {
	cost    int64 // tokens
	maxWait int64 // ms
}

// An other is a line that is no call: a command, or a mistake.
type other struct {
	after   int   // so many calls of the block
	number  int64 // of the line
	now     int64 // what NOW had set, in ms
	command command
	mistake *mistake
}

var errQuit = errors.New("QUIT")

// fault is the read error that ended the input, if one did.
func (b *block) fault() error {
	if b.end == io.EOF || b.end == errQuit {
		return nil
	}
	return b.end
}

// A scanner reads the input block by block.
type scanner struct {
	in       io.Reader
	seed     maphash.Seed // for the names of clients
	live     bool         // NOW can't set the clock
	now      int64        // what NOW set, in ms
	number   int64        // how many lines have ended, and so the number of the last one
	skipping bool         // the line that has not ended is too long, and was reported
	rest     []byte       // what the last block had no use for, in its text
	end      error        // nothing is to be read any more
}

// next makes b the next block. It waits for more input only while no line has ended.
func (s *scanner) next(b *block) {
	b.calls, b.terms, b.others = b.calls[:0], b.terms[:0], b.others[:0]
	b.full, b.cut, b.end = false, false, nil
	number := s.number
	start, end := 0, copy(b.text[:], s.rest)
	for searched := 0; ; {
		if i := bytes.LastIndexByte(b.text[searched:end], '\n'); i >= 0 {
			start = s.lines(b, start, searched+i+1)
		}
		searched = end
		if s.end == errQuit {
			b.end = errQuit
			break
		}
		if len(b.others) == maxOthers {
			break // there may be more lines in the rest
		}
		if s.skips(b, start, end) {
			start = end
		}
		if start < end && s.end == io.EOF {
			b.cut = true
			b.text[end] = '\n'
			end++
			continue
		}
		if b.end = s.end; b.end != nil || s.number > number || len(b.others) > 0 {
			break
		}
		if start > 0 {
			start, end = 0, copy(b.text[:], b.text[start:end])
			searched = end
		}
		end += s.read(b.text[end : blockBytes-1]) // the last byte is for the ending of a line cut off
		b.full = end == blockBytes-1
	}
	s.rest = b.text[start:end]
}

// read reads something, or sets end.
func (s *scanner) read(p []byte) (n int) {
	for range maxEmptyReads {
		if n, s.end = s.in.Read(p); n > 0 || s.end != nil {
			return n
		}
	}
	s.end = io.ErrNoProgress
	return 0
}

// skips reports whether the line that begins with text[start:end] is to be skipped: it is too long whatever follows, which
// is said when it is first seen.
func (s *scanner) skips(b *block, start, end int) bool {
	line := withoutMark(b.text[start:end], s.number+1)
	if len(line) > maxLine+len("\r") && !s.skipping {
		s.skipping = true
		s.other(b, s.number+1, command{}, tooLong(line))
	}
	return s.skipping
}
