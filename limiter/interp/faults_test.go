// These tests run the interpreter on readers and writers that fail: nothing may be lost without an error, nothing be
// answered that was not read whole, and nothing be written after what was lost.
package interp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"tokenbucket/limiter/interp"
)

var errBroken = errors.New("broken")

// A brokenWriter has room for some bytes. The write that goes beyond takes these and returns an error, or none where it
// is short; later ones fail too, or succeed where it mends, so that what is written after a gap shows.
type brokenWriter struct {
	room   int
	short  bool
	mends  bool
	failed bool
	got    []byte
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.failed && w.mends {
		w.got = append(w.got, p...)
		return len(p), nil
	}
	n := min(len(p), w.room-len(w.got))
	w.got = append(w.got, p[:n]...)
	if n == len(p) {
		return n, nil
	}
	w.failed = true
	if w.short {
		return n, nil
	}
	return n, errBroken
}

// TestWriterFails: when either writer takes no more after any byte, or takes less than it was given without saying why, an
// error is returned, and what was written until then, and no more, is there.
func TestWriterFails(t *testing.T) {
	script := []byte(everyKind)
	messages := verify(t, script)
	answers, _ := reference(script)
	for _, kind := range []brokenWriter{{}, {mends: true}, {short: true}, {short: true, mends: true}} {
		want := errBroken
		if kind.short {
			want = io.ErrShortWrite
		}
		fails := func(what string, whole []byte, run func(w io.Writer, in io.Reader) error) {
			for room := range len(whole) {
				var in io.Reader = bytes.NewReader(script)
				if kind.mends {
					in = chunks(script, 9) // which makes more writes
				}
				w := kind
				w.room = room
				if err := run(&w, in); !errors.Is(err, want) {
					t.Fatalf("%s, room for %d bytes, short %v, mends %v\ncame:   error %v\nwanted: error %v\ninput: %s",
						what, room, kind.short, kind.mends, err, want, clip(script))
				}
				if !bytes.Equal(w.got, whole[:room]) {
					t.Fatalf("%s, room for %d bytes, short %v, mends %v: %s\ninput: %s",
						what, room, kind.short, kind.mends, difference(w.got, whole[:room]), clip(script))
				}
			}
			w := kind
			w.room = len(whole)
			if err := run(&w, bytes.NewReader(script)); err != nil {
				t.Fatalf("%s, with room for all\ncame:   error %v\nwanted: none", what, err)
			}
		}
		fails("answers", answers, func(w io.Writer, in io.Reader) error {
			var errs bytes.Buffer
			_, err := interp.Run(in, w, &errs, interp.Options{})
			if !bytes.HasPrefix(messages, errs.Bytes()) {
				t.Fatalf("beside a broken writer for answers\ncame:   %s\nwanted: the beginning of %s", clip(errs.Bytes()), clip(messages))
			}
			return err
		})
		fails("messages", messages, func(w io.Writer, in io.Reader) error {
			var out bytes.Buffer
			_, err := interp.Run(in, &out, w, interp.Options{})
			if !bytes.HasPrefix(answers, out.Bytes()) {
				t.Fatalf("beside a broken writer for messages\ncame:   %s\nwanted: the beginning of %s", clip(out.Bytes()), clip(answers))
			}
			return err
		})
	}
}

// TestReaderFails: when the reader fails after any byte, alone or together with data, the complete lines before are
// answered, the line that it cut off is not run, and the error is returned.
func TestReaderFails(t *testing.T) {
	for _, fault := range []error{errBroken, io.ErrUnexpectedEOF} {
		for read := range len(everyKind) + 1 {
			text := everyKind[:read]
			complete := text[:strings.LastIndexByte(text, '\n')+1]
			wantOut, wantBad := reference([]byte(complete))
			alone := io.MultiReader(strings.NewReader(text), iotest.ErrReader(fault))
			for name, in := range map[string]io.Reader{
				"alone":               alone,
				"with all the data":   &togetherReader{text, fault, len(text)},
				"with the last bytes": &togetherReader{text, fault, 3},
			} {
				var out, errs bytes.Buffer
				bad, err := interp.Run(in, &out, &errs, interp.Options{})
				if !errors.Is(err, fault) {
					t.Fatalf("%s\ncame:   error %v\nwanted: error %v\ninput: %s", name, err, fault, clip([]byte(text)))
				}
				if !bytes.Equal(out.Bytes(), wantOut) {
					t.Fatalf("%s: %s\ninput: %s", name, difference(out.Bytes(), wantOut), clip([]byte(text)))
				}
				if numbers := badNumbers(t, []byte(text), errs.Bytes()); !slices.Equal(numbers, wantBad) || bad != (len(wantBad) > 0) {
					t.Fatalf("%s: bad lines\ncame:   %v, %v\nwanted: %v\ninput: %s", name, numbers, bad, wantBad, clip([]byte(text)))
				}
			}
		}
	}
}

// A togetherReader gives a text, size bytes a read, and with the last of them an error.
type togetherReader struct {
	text string
	err  error
	size int
}

func (r *togetherReader) Read(p []byte) (int, error) {
	n := copy(p, r.text[:min(r.size, len(r.text))])
	if r.text = r.text[n:]; len(r.text) == 0 {
		return n, r.err
	}
	return n, nil
}

// TestReaderFailsInALongLine: a line that is too long already when the reader fails changes nothing of that.
func TestReaderFailsInALongLine(t *testing.T) {
	for _, length := range []int{65_535, 65_536, 65_537, 65_538, 131_072, 300_000} {
		for _, with := range []bool{false, true} {
			script := "NOW 7\nNOW\n" + "STATUS " + strings.Repeat("x", length-7)
			in := io.MultiReader(strings.NewReader(script), iotest.ErrReader(errBroken))
			if with {
				in = &togetherReader{script, errBroken, 4096}
			}
			var out, errs bytes.Buffer
			_, err := interp.Run(in, &out, &errs, interp.Options{})
			if !errors.Is(err, errBroken) || out.String() != "7\n" {
				t.Errorf("%d bytes, then an error\ncame:   %q, error %v\nwanted: %q, error %v", length, out.String(), err, "7\n", errBroken)
			}
		}
	}
}

// TestFaultsAfterQuit: QUIT ends the run as the end of the input does, so what the reader would do later is no fault;
// but a QUIT that a fault cuts off is not run.
func TestFaultsAfterQuit(t *testing.T) {
	for _, c := range []struct {
		in   io.Reader
		text string
		want error
	}{
		{io.MultiReader(strings.NewReader("NOW\nQUIT\n"), iotest.ErrReader(errBroken)), "NOW, QUIT, then an error", nil},
		{&togetherReader{"NOW\nQUIT\nNOW", errBroken, 100}, "NOW, QUIT and a cut line with an error", nil},
		{&togetherReader{"NOW\nQUIT", errBroken, 100}, "NOW and a cut QUIT with an error", errBroken},
		{&togetherReader{"NOW\nQUIT", io.EOF, 100}, "NOW and QUIT with the end of the input", nil},
	} {
		var out bytes.Buffer
		bad, err := interp.Run(c.in, &out, io.Discard, interp.Options{})
		if out.String() != "0\n" || bad || !errors.Is(err, c.want) {
			t.Errorf("%s\ncame:   %q, %v, error %v\nwanted: %q, false, error %v", c.text, out.String(), bad, err, "0\n", c.want)
		}
	}
}

// TestEndWithData: the end of the input together with data is no error, and the data is answered.
func TestEndWithData(t *testing.T) {
	script := []byte(everyKind)
	whole := interleaved(script, verify(t, script))
	for size := 1; size <= len(script); size++ {
		if both := playBoth(t, &togetherReader{everyKind, io.EOF, size}); !bytes.Equal(both, whole) {
			t.Fatalf("%d bytes a read: %s\ninput: %s", size, difference(both, whole), clip(script))
		}
	}
}

// A lazyReader brings nothing, and no error, some times before each read of a byte; when the text is used up, for ever.
type lazyReader struct {
	text  string
	lazy  int
	slept int
	empty int // reads that brought nothing since there is no more
}

func (r *lazyReader) Read(p []byte) (int, error) {
	if r.text == "" {
		if r.empty++; r.empty > 1_000_000 {
			return 0, errors.New("the interpreter never gives up")
		}
		return 0, nil
	}
	if r.slept < r.lazy {
		r.slept++
		return 0, nil
	}
	r.slept = 0
	p[0] = r.text[0]
	r.text = r.text[1:]
	return 1, nil
}

// TestEmptyReads: reads that bring nothing change nothing, but a reader that never brings anything again is broken: the
// complete lines are answered, the one that is cut off is not, and io.ErrNoProgress is returned.
func TestEmptyReads(t *testing.T) {
	for _, c := range []struct {
		text string
		lazy int
		want string
	}{
		{"", 0, ""},
		{"NOW 5\nNOW\n", 0, "5\n"},
		{"NOW 5\nNOW\nNOW", 3, "5\n"},
		{"NOW 5\nNOW\nSTATUS a\nREQUEST a", 20, "5\n10.000\n"},
	} {
		var out bytes.Buffer
		bad, err := interp.Run(&lazyReader{text: c.text, lazy: c.lazy}, &out, io.Discard, interp.Options{})
		if out.String() != c.want || bad || !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%q, then nothing for ever\ncame:   %q, %v, error %v\nwanted: %q, false, error %v",
				c.text, out.String(), bad, err, c.want, io.ErrNoProgress)
		}
		out.Reset()
		text := c.text + "\nNOW\n"
		_, err = interp.Run(&endingReader{lazyReader{text: text, lazy: c.lazy}}, &out, io.Discard, interp.Options{})
		if want, _ := reference([]byte(text)); out.String() != string(want) || err != nil {
			t.Errorf("%q, with %d empty reads before each byte\ncame:   %q, error %v\nwanted: %q", text, c.lazy, out.String(), err, want)
		}
	}
}

// An endingReader is a lazyReader that ends.
type endingReader struct{ lazyReader }

func (r *endingReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	return r.lazyReader.Read(p)
}

// TestReaderAndWriterFail: when both fail there is an error too.
func TestReaderAndWriterFail(t *testing.T) {
	in := io.MultiReader(strings.NewReader("NOW\n"), iotest.ErrReader(fmt.Errorf("read: %w", errBroken)))
	if _, err := interp.Run(in, &brokenWriter{}, io.Discard, interp.Options{}); !errors.Is(err, errBroken) {
		t.Errorf("came:   error %v\nwanted: error %v", err, errBroken)
	}
}
