package interp

import (
	"bytes"
	"fmt"
	"io"

	"tokenbucket/limiter/store"
)

// This file turns bytes into blocks of commands: reads, the byte-order mark, the ends of lines, and lines too long.

const (
	byteOrderMark = "\ufeff"

	maxLine     = 1 << 16     // bytes that a line may hold, without its ending and the byte-order mark
	textBytes   = 2 * maxLine // the longest line with its ending, or many short ones
	maxCommands = 1 << 13     // one per 16 bytes of text; this bounds the memory of a block whatever its text is
	wordBytes   = 8
)

// A block is some lines of the script, parsed.
type block struct {
	text      [textBytes + wordBytes]byte // with padding, so that it can be read in whole words
	commands  []command
	keys      []store.Key // of the commands that name a client, in order; the names lie in text
	arguments []args      // of the commands; the first is the usual one
	messages  []byte      // about invalid lines, whose arguments say where theirs begins and ends
	full      bool        // there was as much input as the text can hold
	eof       bool        // the input has ended, perhaps within a line
	end       error       // why this is the last block: io.EOF, also after QUIT, or a read error
}

// A command is a line to be executed. Blank lines, comments and NOW with a time are none.
type command struct {
	now       int64 // ms; what NOW had set
	arguments int32 // index
	verb      verb
}

// newBlock allocates all that most scripts need at the start: slices that grow leave pages behind, and a page that a
// program touches for the first time costs as much as hundreds of commands.
func newBlock() *block {
	return &block{
		commands:  make([]command, 0, maxCommands),
		keys:      make([]store.Key, 0, maxCommands),
		arguments: []args{usual},
	}
}

// add adds a command, all but its key.
func (b *block) add(now int64, v verb, a args) {
	at := 0
	if a != usual {
		at = len(b.arguments)
		b.arguments = append(b.arguments, a)
	}
	b.commands = append(b.commands, command{now, int32(at), v})
}

// A scanner reads the script block by block.
type scanner struct {
	in       io.Reader
	hasher   store.Hasher
	live     bool   // NOW can't set the clock
	now      int64  // ms; what NOW set
	number   int64  // of the last line that has ended, counted from 1
	skipping bool   // the line that has not ended is too long, and was reported
	rest     []byte // what the last block had no room for, in its text
	quit     bool   // there was a QUIT
	err      error  // of the last read
}

// next makes b the next block. It waits for more input only while no line has ended, and reads no more after the last block.
func (s *scanner) next(b *block) {
	b.commands, b.keys, b.arguments, b.messages = b.commands[:0], b.keys[:0], b.arguments[:1], b.messages[:0]
	b.full, b.eof, b.end = false, false, nil
	number := s.number
	start, end := 0, copy(b.text[:], s.rest)
	for searched := 0; ; {
		if i := bytes.LastIndexByte(b.text[searched:end], '\n'); i >= 0 {
			start = s.lines(b, start, searched+i+1)
		}
		searched = end
		if s.quit {
			b.end = io.EOF
			break
		}
		if len(b.commands) == maxCommands {
			break // there may be more lines in the rest
		}
		if s.skips(b, b.text[start:end]) {
			start = end
		}
		if b.eof = s.err == io.EOF; b.eof && start < end {
			b.text[end] = '\n'
			s.lines(b, start, end+1)
		}
		if b.end = s.err; b.end != nil || s.number > number || len(b.commands) > 0 {
			break
		}
		if start > 0 {
			start, end = 0, copy(b.text[:], b.text[start:end])
			searched = end
		}
		end += s.read(b.text[end : textBytes-1]) // the last byte is for the ending of a line cut off
		b.full = end == textBytes-1
	}
	s.rest = b.text[start:end]
}

// read reads something, or sets err. A reader that returns nothing 100 times in a row counts as broken.
func (s *scanner) read(p []byte) (n int) {
	for range 100 {
		if n, s.err = s.in.Read(p); n > 0 || s.err != nil {
			return n
		}
	}
	s.err = io.ErrNoProgress
	return 0
}

// skips reports whether an unfinished line is to be skipped: it is too long whatever follows, which is reported when it
// is first seen.
func (s *scanner) skips(b *block, line []byte) bool {
	line = withoutMark(line, s.number+1)
	if len(line) > maxLine+len("\r") && !s.skipping {
		s.skipping = true
		s.reject(b, s.number+1, tooLong(line))
	}
	return s.skipping
}

// lines parses the whole lines of text[at:end], as far as the block has room for commands, and returns where it stopped.
func (s *scanner) lines(b *block, at, end int) int {
	if s.skipping {
		at += bytes.IndexByte(b.text[at:end], '\n') + 1
		s.number++
		s.skipping = false
	}
	for at < end && len(b.commands) < maxCommands && !s.quit {
		if at = s.common(b, at, end); at < end && len(b.commands) < maxCommands {
			length := bytes.IndexByte(b.text[at:end], '\n')
			s.line(b, at, at+length)
			at += length + 1
		}
	}
	return at
}

// line parses one line.
func (s *scanner) line(b *block, start, end int) {
	s.number++
	line := bytes.TrimSuffix(withoutMark(b.text[start:end], s.number), []byte("\r"))
	if len(line) > maxLine {
		s.reject(b, s.number, tooLong(line))
		return
	}
	st, err := parse(line)
	if st.verb == now && st.given > 0 && s.live {
		err = fmt.Errorf("with -live there is no %s: want NOW alone, the clock is the real one", quote(line))
	}
	switch {
	case err != nil:
		s.reject(b, s.number, err)
	case st.verb == now && st.given > 0:
		s.now = st.arguments[0]
	case st.verb == quit:
		s.quit = true
	case st.verb != blank:
		b.add(s.now, st.verb, st.arguments)
		if st.client != nil {
			at := cap(b.text[:]) - cap(st.client) // every part of the text reaches to its end
			b.keys = append(b.keys, s.hasher.Key(b.text[:], at, at+len(st.client)))
		}
	}
}

// reject adds the message about an invalid line.
func (s *scanner) reject(b *block, number int64, err error) {
	start := len(b.messages)
	b.messages = fmt.Appendf(b.messages, "stdin:%d: %v\n", number, err)
	b.add(s.now, invalid, args{int64(start), int64(len(b.messages))})
}

// withoutMark returns a line without the byte-order mark that the first line may begin with.
func withoutMark(line []byte, number int64) []byte {
	if number > 1 {
		return line
	}
	return bytes.TrimPrefix(line, []byte(byteOrderMark))
}

func tooLong(line []byte) error {
	return fmt.Errorf("line too long, %s: want at most %d bytes", quote(line), maxLine)
}
