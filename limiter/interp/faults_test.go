// These tests run the interpreter on readers and writers that fail: nothing may be lost without an error, nothing answered
// that was not read whole, and nothing written after what was lost. A standard error that fails costs no answer.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"tokenbucket/limiter/interp"
)

// TestWriterFails: when either writer takes no more after any byte, or takes fewer than it was given without an error, an
// error is returned, and what was written until then, and no more, is there. Where it is standard error, all answers are
// there none the less.
func TestWriterFails(t *testing.T) {
	t.Parallel()
	script := []byte(everyKind)
	whole := verify(t, script)
	for _, kind := range []brokenWriter{{}, {mends: true}, {short: true}, {short: true, mends: true}} {
		wantErr := errBroken
		if kind.short {
			wantErr = io.ErrShortWrite
		}
		for _, stream := range []struct {
			name        string
			text, other []byte
			run         func(in io.Reader, broken, other io.Writer) error
		}{
			{"standard output", whole.out, whole.errs, func(in io.Reader, broken, other io.Writer) error {
				_, err := interp.Run(in, broken, other, interp.Options{})
				return err
			}},
			{"standard error", whole.errs, whole.out, func(in io.Reader, broken, other io.Writer) error {
				_, err := interp.Run(in, other, broken, interp.Options{})
				return err
			}},
		} {
			for i := range 2 * (len(stream.text) + 1) {
				room, size := i/2, len(script)
				if i%2 == 1 {
					size = 9 // which makes more writes
				}
				w, other := kind, new(bytes.Buffer)
				w.room = room
				want := wantErr
				if room == len(stream.text) {
					want = nil
				}
				err := stream.run(inParts(script, size), &w, other)
				isAll := stream.name == "standard output" || bytes.Equal(other.Bytes(), stream.other)
				if err != want || !bytes.Equal(w.got, stream.text[:room]) || !bytes.HasPrefix(stream.other, other.Bytes()) || !isAll {
					t.Fatalf("%s in parts of %d bytes, room for %d on %s, short %v, mends %v: %s\ngot:  error %v, and on the other\n%s\nwant: error %v, and on the other some of\n%s\nor all of it if it is standard output",
						excerpt(script), size, room, stream.name, kind.short, kind.mends, difference(w.got, stream.text[:room]),
						err, excerpt(other.Bytes()), want, excerpt(stream.other))
				}
			}
		}
	}
}

// TestLongScriptFails: a write that fails ends a long script too, though more input could be read for ever.
func TestLongScriptFails(t *testing.T) {
	const answers = 10*len("200 X-RateLimit-Remaining: 9\n") + 299_990*len("429 Retry-After: 1\n")
	for _, room := range []int{1_000_000, answers - 1} { // the last write comes when all input at hand is answered
		more, end := io.Pipe()
		defer end.Close()
		in := io.MultiReader(strings.NewReader(strings.Repeat("REQUEST a\n", 300_000)), more)
		if _, err := interp.Run(in, &brokenWriter{room: room}, io.Discard, interp.Options{}); err != errBroken {
			t.Errorf("300,000 times REQUEST a, room for %d bytes\ngot:  error %v\nwant: error %v", room, err, errBroken)
		}
	}
}

// TestScannerEnds: the goroutine that reads a long script ends after a write that fails, once its read returns, and does not
// read on after QUIT.
func TestScannerEnds(t *testing.T) {
	long := strings.Repeat("REQUEST a\n", 1_000_000)
	more, end := io.Pipe()
	defer end.Close()
	for _, c := range []struct {
		what string
		in   io.Reader
		room int // on standard output
		want error
	}{
		{"a write that fails", strings.NewReader(long), 1_000_000, errBroken},
		{"QUIT", io.MultiReader(strings.NewReader(long+"QUIT\n"), more), 100_000_000, nil},
	} {
		before := runtime.NumGoroutine()
		if _, err := interp.Run(c.in, &brokenWriter{room: c.room}, io.Discard, interp.Options{}); err != c.want {
			t.Errorf("%s\ngot:  error %v\nwant: error %v", c.what, err, c.want)
		}
		for begin := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Since(begin) > time.Minute {
				t.Fatalf("%s: goroutines a minute after the run\ngot:  %d\nwant: %d", c.what, runtime.NumGoroutine(), before)
			}
		}
	}
}

// TestReaderFails: when the reader fails after any byte, alone or together with data, the complete lines before are
// answered, the line that was cut off is not run, and the error is returned.
func TestReaderFails(t *testing.T) {
	t.Parallel()
	script := []byte(everyKind)
	for read := range len(script) + 1 {
		text := script[:read]
		complete := text[:bytes.LastIndexByte(text, '\n')+1]
		fault := []error{errBroken, io.ErrUnexpectedEOF}[read%2]
		for _, size := range []int{max(read, 1), 3} {
			for _, withLast := range []bool{false, true} {
				in := inParts(text, size)
				in.end, in.withLast = fault, withLast
				r := new(result)
				r.run(in, interp.Options{})
				if r.err != fault {
					t.Fatalf("%q in parts of %d bytes, then or with the last bytes (%v) an error\ngot:  error %v\nwant: error %v",
						text, size, withLast, r.err, fault)
				}
				r.verify(t, fmt.Sprintf("%d bytes in parts of %d, then or with the last bytes (%v) an error", read, size, withLast), complete)
			}
		}
	}
}

// TestReaderFailsInLongLine: a reader that fails within a line at the limit of length, or beyond, returns its error, and the
// line is not run.
func TestReaderFailsInLongLine(t *testing.T) {
	for _, length := range []int{65_535, 65_536, 65_537, 65_538, 131_072, 300_000} {
		for _, withLast := range []bool{false, true} {
			in := inParts([]byte("NOW 7\nNOW\n"+"STATUS "+strings.Repeat("x", length-len("STATUS "))), 4096)
			in.end, in.withLast = errBroken, withLast
			r := new(result)
			if r.run(in, interp.Options{}); r.err != errBroken || string(r.out) != "7\n" {
				t.Errorf("a line of %d bytes, then or with the last bytes (%v) an error\ngot:  %q, error %v\nwant: %q, error %v",
					length, withLast, r.out, r.err, "7\n", errBroken)
			}
		}
	}
}

// TestFaultsAfterQuit: QUIT ends the run as the end of the input does, so what the reader would do later is no fault; but a
// QUIT that a fault cuts off is not run.
func TestFaultsAfterQuit(t *testing.T) {
	for _, c := range []struct {
		script   string
		end      error
		withLast bool
		want     error
	}{
		{"NOW\nQUIT\n", errBroken, false, nil},
		{"NOW\nQUIT\n", errBroken, true, nil},
		{"NOW\nQUIT\nNOW", errBroken, true, nil},
		{"NOW\nQUIT", errBroken, true, errBroken},
		{"NOW\nQUIT", errBroken, false, errBroken},
		{"NOW\nQUIT", io.EOF, true, nil},
	} {
		in := inParts([]byte(c.script), 100)
		in.end, in.withLast = c.end, c.withLast
		r := new(result)
		if r.run(in, interp.Options{}); string(r.both) != "0\n" || r.bad || r.err != c.want {
			t.Errorf("%q, then or with the last bytes (%v) error %v\ngot:  %q, %v, error %v\nwant: %q, false, error %v",
				c.script, c.withLast, c.end, r.both, r.bad, r.err, "0\n", c.want)
		}
	}
}

// TestEmptyReads: reads that return nothing change nothing, but a reader that returns nothing for ever is broken: the
// complete lines are answered, the one that is cut off is not, and io.ErrNoProgress is returned.
func TestEmptyReads(t *testing.T) {
	for _, c := range []struct {
		script string
		empty  int // reads before each byte
		want   string
	}{
		{"", 0, ""},
		{"NOW 5\nNOW\n", 0, "5\n"},
		{"NOW 5\nNOW\nNOW", 3, "5\n"},
		{"NOW 5\nNOW\nSTATUS a\nREQUEST a", 20, "5\n10.000\n"},
	} {
		parts := func(script string) (parts [][]byte) {
			for _, b := range []byte(script) {
				parts = append(append(parts, make([][]byte, c.empty)...), []byte{b})
			}
			return parts
		}
		r := new(result)
		r.run(&partsReader{parts: parts(c.script)}, interp.Options{})
		if string(r.both) != c.want || r.bad || r.err != io.ErrNoProgress {
			t.Errorf("%q, then nothing for ever\ngot:  %q, %v, error %v\nwant: %q, false, error %v",
				c.script, r.both, r.bad, r.err, c.want, io.ErrNoProgress)
		}
		script := c.script + "\nNOW\n"
		r = run(t, &partsReader{parts: parts(script), end: io.EOF}, interp.Options{})
		r.verify(t, fmt.Sprint(c.empty, " empty reads before each byte"), []byte(script))
	}
}

// TestSeveralFail: the error is that of the reader, or else that of standard output.
func TestSeveralFail(t *testing.T) {
	for _, c := range []struct {
		script string
		end    error
		want   error
	}{
		{"X", errBroken, errBroken},
		{"X\n", errBroken, errBroken},
		{"X\nNOW\n", io.EOF, io.ErrShortWrite},
		{"NOW\nX\n", io.EOF, io.ErrShortWrite},
	} {
		in := io.MultiReader(strings.NewReader(c.script), iotest.ErrReader(c.end))
		_, err := interp.Run(in, &brokenWriter{short: true}, &brokenWriter{}, interp.Options{})
		if err != c.want {
			t.Errorf("%q, then error %v, with both outputs failing\ngot:  error %v\nwant: error %v", c.script, c.end, err, c.want)
		}
	}
}
