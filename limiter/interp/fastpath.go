package interp

import (
	"encoding/binary"
	"math/bits"

	"tokenbucket/limiter/store"
)

// This file is the fast path for the three commonest forms of a line, which are nearly all of a long script:
//
//	REQUEST client
//	STATUS client
//	NOW ms
//
// with the verb in capitals, single blanks, and LF alone. What they cost is what a script costs.

// What the forms begin with, as little-endian words.
const (
	requestWord = 'R' | 'E'<<8 | 'Q'<<16 | 'U'<<24 | 'E'<<32 | 'S'<<40 | 'T'<<48 | ' '<<56
	statusWord  = 'S' | 'T'<<8 | 'A'<<16 | 'T'<<24 | 'U'<<32 | 'S'<<40 | ' '<<48
	nowWord     = 'N' | 'O'<<8 | 'W'<<16 | ' '<<24
)

// common parses the lines of text[at:stop] up to the first that has another form, as far as the block has room for
// commands, and returns where it stopped. The scanner's state is in local variables, for speed.
func (s *scanner) common(b *block, at, stop int) int {
	hasher, ms, number := s.hasher, s.now, s.number
	commands, keys := (*[maxCommands]command)(b.commands[:maxCommands]), (*[maxCommands]store.Key)(b.keys[:maxCommands])
	n, k := len(b.commands), len(b.keys)
	for at < stop && n < maxCommands {
		v, word, end := b.form(at)
		if v == blank || end-at > maxLine || v == now && s.live {
			break
		}
		if v == now {
			n, ok := digits(b.text[word:end])
			if !ok {
				break
			}
			ms = n
		} else {
			commands[n] = command{now: ms, verb: v}
			keys[k&(maxCommands-1)] = hasher.Key(b.text[:], word, end)
			n++
			k++
		}
		number++
		at = end + 1
	}
	b.commands, b.keys, s.now, s.number = commands[:n], keys[:k], ms, number
	return at
}

// form returns the verb of a line of one of the forms, and where the word that follows it starts and ends. The verb is blank
// if the line has another form.
func (b *block) form(at int) (v verb, word, end int) {
	switch w := b.word(at); {
	case w == requestWord:
		v, word = request, at+len("REQUEST ")
	case w&(1<<56-1) == statusWord:
		v, word = status, at+len("STATUS ")
	case w&(1<<32-1) == nowWord:
		v, word = now, at+len("NOW ")
	default:
		return blank, at, at
	}
	// The end is the first byte <= 0x20; the closing LF bounds the search.
	const each = 0x01_01_01_01_01_01_01_01
	for end = word; ; end += wordBytes {
		// The top bits of the bytes below 0x21. A borrow can set others too, but only above the first.
		w := b.word(end)
		if low := (w - 0x21*each) &^ w & (0x80 * each); low != 0 {
			end += bits.TrailingZeros64(low) / 8
			break
		}
	}
	if end == word || b.text[end] != '\n' {
		v = blank
	}
	return v, word, end
}

// word returns the 8 bytes at an offset that is in bounds; the mask tells the compiler so.
func (b *block) word(at int) uint64 {
	at &= textBytes - 1
	return binary.LittleEndian.Uint64(b.text[at : at+wordBytes])
}

// digits parses 1 to 18 digits, and nothing else.
func digits(word []byte) (n int64, ok bool) {
	for _, b := range word {
		if b -= '0'; b > 9 {
			return 0, false
		}
		n = 10*n + int64(b)
	}
	return n, len(word) <= 18
}
