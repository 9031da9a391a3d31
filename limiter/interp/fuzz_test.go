// FuzzInterpreter holds the whole interpreter against the reference, from bytes, however they come. The seeds are in
// testdata/fuzz/FuzzInterpreter.
package interp_test

import (
	"bytes"
	"strconv"
	"testing"
	"unicode/utf8"
)

func FuzzInterpreter(f *testing.F) {
	f.Add([]byte(everyKind), uint16(10))
	f.Fuzz(func(t *testing.T, script []byte, size uint16) {
		script = stretch(script)
		messages := verify(t, script)
		checkMessages(t, script, messages)
		want := interleaved(script, messages)
		if both := playBoth(t, chunks(script, 1+int(size))); !bytes.Equal(both, want) {
			t.Fatalf("%d bytes a read: %s\ninput: %s", 1+int(size), difference(both, want), clip(script))
		}
	})
}

// stretch makes 16,382 letters of each of the first bytes 0x0E, so that small inputs have lines at the limit of 65,536 bytes
// and beyond: STATUS, a blank, a letter and four of them are a line at the limit. Large inputs are slow to fuzz.
func stretch(script []byte) []byte {
	return bytes.Replace(script, []byte{0x0E}, bytes.Repeat([]byte("x"), 16_382), 12)
}

// checkMessages looks for what no terminal should get: bytes that are no UTF-8, controls but the LF that ends a message,
// what else does not print, and overlong messages.
func checkMessages(t *testing.T, script, messages []byte) {
	t.Helper()
	for m := range bytes.Lines(messages) {
		m = bytes.TrimSuffix(m, []byte("\n"))
		if !utf8.Valid(m) || len(m) > 1000 {
			t.Fatalf("a message\ncame:   %q\nwanted: valid UTF-8 of a sensible length\ninput: %s", m, clip(script))
		}
		for _, r := range string(m) {
			if r < 0x20 || 0x7F <= r && r < 0xA0 || !strconv.IsPrint(r) {
				t.Fatalf("a message\ncame:   %q, with %U\nwanted: what does not print escaped\ninput: %s", m, r, clip(script))
			}
		}
	}
}
