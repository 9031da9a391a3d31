// These tests check how the input is read: where it is cut into reads changes no byte of the outputs nor their order, no
// complete line waits for more input, and a line of any length needs little memory.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"tokenbucket/limiter/interp"
)

// TestReads reads scripts in parts of many sizes. The end of the input comes after the last part, or together with it.
func TestReads(t *testing.T) {
	t.Parallel()
	quits := strings.Replace(everyKind, "QUIT 1\n", "quit\n", 1)
	scripts := [][]byte{[]byte(everyKind), []byte(everyKind + "\n"), []byte(quits), longLines()}
	for _, n := range []int{65_536, 65_537, 65_538, 150_000} { // at the limit and beyond, behind a byte-order mark
		for _, before := range []string{"", "NOW\n", "NOW\nNOW\n"} {
			scripts = append(scripts, []byte(before+"\xEF\xBB\xBF"+strings.Repeat("a", n)+"\nNOW"))
		}
	}
	for i, script := range scripts {
		want := verify(t, script)
		check := func(how string, in io.Reader) {
			t.Helper()
			got := run(t, in, interp.Options{})
			if !bytes.Equal(got.out, want.out) || !bytes.Equal(got.both, want.both) || got.bad != want.bad {
				t.Fatalf("%s, %s, both outputs in one: %s\ninvalid lines\ngot:  %v\nwant: %v",
					excerpt(script), how, difference(got.both, want.both), got.bad, want.bad)
			}
		}
		withLast := func(size int) {
			in := inParts(script, size)
			in.withLast = true
			check(fmt.Sprint(size, " bytes a read, the end with the last"), in)
		}
		for _, size := range []int{1, 2, 3, 5, 7, 11, 13, 64, 1000, 65_535, 65_536, 65_537, interp.TextBytes - 1, interp.TextBytes} {
			check(fmt.Sprint(size, " bytes a read"), inParts(script, size))
			withLast(size)
		}
		if i == 0 {
			for size := range script {
				withLast(size + 1)
			}
		}
		check("half of what is asked for", iotest.HalfReader(bytes.NewReader(script)))
	}
}

// runCut runs a script that is read in two parts, cut at a byte. It checks that so many bytes of output are written
// before the second part is read.
func runCut(t *testing.T, script []byte, at, answered int, opt interp.Options) *result {
	t.Helper()
	r := new(result)
	in := &partsReader{parts: [][]byte{script[:at], script[at:]}, end: io.EOF}
	in.before = func(part int) {
		if part == 1 && !r.waitFor(answered) {
			t.Errorf("%s, cut at byte %d: outputs before the second read\ngot:  %d bytes\nwant: at least %d",
				excerpt(script), at, r.written(), answered)
		}
	}
	if r.run(in, opt); r.err != nil {
		t.Fatalf("%s, cut at byte %d\ngot:  error %v\nwant: none", excerpt(script), at, r.err)
	}
	return r
}

// TestCuts: cut in two anywhere, an input has the same outputs in the same order, and each complete line of the first part
// is answered before the second is read.
func TestCuts(t *testing.T) {
	t.Parallel()
	for _, script := range [][]byte{[]byte(everyKind), longLines()} {
		want := verify(t, script).both
		start := 0
		for line := range bytes.Lines(script) {
			answered := len(verify(t, script[:start]).both)
			for i := range line {
				// In long lines only places near their ends matter, and near where they become too long.
				if 3 < i && i < len(line)-3 && len(line) > 1000 && (i < 65_534 || 65_541 < i) {
					continue
				}
				got := runCut(t, script, start+i, answered, interp.Options{}).both
				if !bytes.Equal(got, want) {
					t.Fatalf("%s, cut at byte %d: %s", excerpt(script), start+i, difference(got, want))
				}
			}
			start += len(line)
		}
	}
}

// TestLongLine: a line of any length is one message, and needs no memory to be skipped.
func TestLongLine(t *testing.T) {
	parts := slices.Repeat([][]byte{bytes.Repeat([]byte("a"), 100_000)}, 4000)
	in := &partsReader{parts: slices.Concat([][]byte{[]byte("NOW\n")}, parts, [][]byte{[]byte("\nNOW\n")}), end: io.EOF}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, in, interp.Options{})
	runtime.ReadMemStats(&after)
	want := "0\nstdin:2: line too long, \"" + strings.Repeat("a", 40) + "\"...: want at most 65536 bytes\n0\n"
	if string(r.both) != want {
		t.Errorf("NOW, 400,000,000 letters a, NOW\ngot:  %s\nwant: %q", excerpt(r.both), want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<22 {
		t.Errorf("memory for a line of 400,000,000 bytes\ngot:  %d bytes\nwant: at most %d", used, 1<<22)
	}
}
