package interp

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"tokenbucket/limiter"
)

// This file finds out what lines mean. It asks parse, except where a first look is enough: most lines of a long script
// have one of three shapes, and what is spent on each of them is what a script takes.

// What the shapes begin with, as a number: the first byte is the lowest.
const (
	wordRequest = 'R' | 'E'<<8 | 'Q'<<16 | 'U'<<24 | 'E'<<32 | 'S'<<40 | 'T'<<48 | ' '<<56
	wordStatus  = 'S' | 'T'<<8 | 'A'<<16 | 'T'<<24 | 'U'<<32 | 'S'<<40 | ' '<<48
	wordNow     = 'N' | 'O'<<8 | 'W'<<16 | ' '<<24
)

// lines takes in the whole lines of text[at:end], as far as the block has room for them, and returns where it stopped.
func (s *scanner) lines(b *block, at, end int) int {
	text := &b.text
	if s.skipping {
		at += bytes.IndexByte(text[at:end], '\n') + 1
		s.number++
		s.skipping = false
	}
	for at < end && len(b.others) < maxOthers && s.end != errQuit {
		at = s.shapes(b, at, end)
		if at < end {
			length := bytes.IndexByte(text[at:end], '\n')
			s.line(b, at, at+length)
			at += length + 1
		}
	}
	return at
}

// shapes takes in lines like REQUEST client, STATUS client and NOW ms, in capitals and with nothing more, up to the first
// that is not, and as long as there is memory for calls. The scanner's state is in variables here, for speed.
func (s *scanner) shapes(b *block, at, end int) int {
	text, seed, now, number := &b.text, s.seed, s.now, s.number
	calls, n := b.calls[:cap(b.calls)], len(b.calls)
	for at < end && n < len(calls) {
		kind, name := nothing, at
		switch w := text.word(at); {
		case w == wordRequest:
			kind, name = request, at+len("REQUEST ")
		case w&(1<<56-1) == wordStatus:
			kind, name = status, at+len("STATUS ")
		case w&(1<<32-1) == wordNow && !s.live:
			if ms, after, ok := text.digits(at + len("NOW ")); ok {
				now = ms
				number++
				at = after + 1
				continue
			}
		}
		if kind == nothing {
			break
		}
		after := text.wordEnd(name)
		if text[after] != '\n' || after == name || after-at > maxLine {
			break
		}
		c := &calls[n]
		n++
		c.Hash = maphash.Bytes(seed, text[name:after])
		c.Now = now
		c.At = uint32(name)
		c.Size = uint16(after - name)
		c.Kind = uint8(kind)
		number++
		at = after + 1
	}
	b.calls, s.now, s.number = calls[:n], now, number
	return at
}

// word is the 8 bytes at a place in the text, which is in bounds: the mask only says so to the compiler.
func (t *text) word(at int) uint64 {
	at &= blockBytes - 1
	return binary.LittleEndian.Uint64(t[at : at+word])
}

// wordEnd is where the first byte is that is a blank or some control character, an LF at the latest.
func (t *text) wordEnd(at int) int {
	const each = 0x01_01_01_01_01_01_01_01
	for {
		// The top bits of the bytes below 0x21. A borrow can set others too, but only above the first.
		w := t.word(at)
		if low := (w - 0x21*each) &^ w & (0x80 * each); low != 0 {
			return at + bits.TrailingZeros64(low)/8
		}
		at += word
	}
}

// digits is the number of 1 to 18 digits at a place in the text, and where the line ends behind it.
func (t *text) digits(at int) (n int64, end int, ok bool) {
	for end = at; end-at <= 18; end++ {
		d := t[end] - '0'
		if d > 9 {
			return n, end, t[end] == '\n' && end > at
		}
		n = 10*n + int64(d)
	}
	return 0, 0, false
}

// line takes in a line by parsing it.
func (s *scanner) line(b *block, start, end int) {
	s.number++
	line := bytes.TrimSuffix(withoutMark(b.text[start:end], s.number), []byte{'\r'})
	if len(line) > maxLine {
		s.other(b, s.number, command{}, tooLong(line))
		return
	}
	c, m := parse(line)
	switch {
	case c.verb == now && !c.bare && s.live:
		s.other(b, s.number, c, &mistake{"with -live there is no", line, "want NOW alone, the clock is the real one"})
	case m != nil:
		s.other(b, s.number, c, m)
	case c.verb == request || c.verb == reserve || c.verb == status:
		s.call(b, c)
	case c.verb == now && !c.bare:
		s.now = c.ms
	case c.verb == quit:
		s.end = errQuit
	case c.verb != nothing:
		s.other(b, s.number, c, nil)
	}
}

// withoutMark is a line without the byte-order mark that the first of all may begin with.
func withoutMark(line []byte, number int64) []byte {
	if number > 1 {
		return line
	}
	return bytes.TrimPrefix(line, []byte(byteOrderMark))
}

func tooLong(line []byte) *mistake {
	return &mistake{"line too long,", line, "want at most 65536 bytes"}
}

func (s *scanner) other(b *block, number int64, c command, m *mistake) {
	b.others = append(b.others, other{len(b.calls), number, s.now, c, m})
}

// call takes in a call of any shape.
func (s *scanner) call(b *block, c command) {
	kind := c.verb
	if kind == reserve || kind == request && c.cost != 1 {
		kind |= hasTerms
		b.terms = append(b.terms, terms{c.cost, c.maxWait})
	}
	b.calls = append(b.calls, limiter.Call{
		Hash: maphash.Bytes(s.seed, c.client),
		Now:  s.now,
		At:   uint32(cap(b.text[:]) - cap(c.client)), // every part of the text reaches to its end
		Size: uint16(len(c.client)),
		Kind: uint8(kind),
	})
}
