// These are the helpers of the tests: a run and its result, the comparison with the reference, and a reader and a writer
// that behave as a test wants.
package interp_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tokenbucket/limiter/interp"
)

// TestMain lets garbage grow: each run allocates half a MB, and the tests make a hundred thousand runs. Benchmarks measure
// with the default.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	m.Run()
}

// A result is what a run wrote and returned. The outputs may be looked at during the run, by written.
type result struct {
	mutex sync.Mutex
	out   []byte // standard output
	errs  []byte // standard error
	both  []byte // both in the order of the writes, as under 2>&1
	bad   bool
	err   error
}

// run runs a script, which must not fail.
func run(t testing.TB, in io.Reader, opt interp.Options) *result {
	t.Helper()
	r := new(result)
	if r.run(in, opt); r.err != nil {
		t.Fatalf("a run that nothing should stop\ngot:  error %v\nwant: none", r.err)
	}
	return r
}

func (r *result) run(in io.Reader, opt interp.Options) {
	r.bad, r.err = interp.Run(in, r.writer(&r.out), r.writer(&r.errs), opt)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// writer returns a writer that appends to a stream, and to both.
func (r *result) writer(stream *[]byte) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		*stream = append(*stream, p...)
		r.both = append(r.both, p...)
		return len(p), nil
	})
}

// written returns how many bytes were written so far.
func (r *result) written() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.both)
}

// waitFor waits until n bytes are written, and gives up after a minute, which stands for ever.
func (r *result) waitFor(n int) bool {
	for begin := time.Now(); r.written() < n; time.Sleep(100 * time.Microsecond) {
		if time.Since(begin) > time.Minute {
			return false
		}
	}
	return true
}

// verify runs a script and compares the result with the reference.
func verify(t testing.TB, script []byte) *result {
	t.Helper()
	r := run(t, bytes.NewReader(script), interp.Options{})
	r.verify(t, "in one piece", script)
	return r
}

// verify compares a result, of a script that was run as how says, with the reference: the answers, one message for each
// invalid line, and the order of both.
func (r *result) verify(t testing.TB, how string, script []byte) {
	t.Helper()
	out, invalid := newRefWorld().run(script)
	if !bytes.Equal(r.out, out) {
		t.Fatalf("%s, %s: %s", excerpt(script), how, difference(r.out, out))
	}
	var both []byte
	var numbers, wantNumbers []int64
	for m := range bytes.Lines(r.errs) {
		number, text, _ := bytes.Cut(bytes.TrimPrefix(m, []byte("stdin:")), []byte(": "))
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || !bytes.HasPrefix(m, []byte("stdin:")) || len(text) < 2 || !bytes.HasSuffix(m, []byte("\n")) {
			t.Fatalf("%s, %s: a message\ngot:  %q\nwant: one that starts stdin:N: and ends in LF", excerpt(script), how, m)
		}
		numbers = append(numbers, n)
	}
	for _, line := range invalid {
		wantNumbers = append(wantNumbers, line.number)
	}
	if !slices.Equal(numbers, wantNumbers) {
		t.Fatalf("%s, %s: invalid lines, by the messages %s\ngot:  %s\nwant: %s",
			excerpt(script), how, excerpt(r.errs), excerpt(fmt.Append(nil, numbers)), excerpt(fmt.Append(nil, wantNumbers)))
	}
	done, i := 0, 0
	for m := range bytes.Lines(r.errs) {
		both = append(append(both, out[done:invalid[i].after]...), m...)
		done = invalid[i].after
		i++
	}
	if both = append(both, out[done:]...); !bytes.Equal(r.both, both) {
		t.Fatalf("%s, %s, both outputs in one: %s", excerpt(script), how, difference(r.both, both))
	}
	if want := len(invalid) > 0; r.bad != want {
		t.Fatalf("%s, %s: whether any line was invalid\ngot:  %v\nwant: %v", excerpt(script), how, r.bad, want)
	}
}

// difference shows the first line in which two outputs differ.
func difference(got, want []byte) string {
	g, w := bytes.SplitAfter(got, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	i := 0
	for i < len(g)-1 && i < len(w)-1 && bytes.Equal(g[i], w[i]) {
		i++
	}
	return fmt.Sprintf("line %d of the output\ngot:  %s\nwant: %s", i+1, excerpt(g[i]), excerpt(w[i]))
}

// excerpt quotes a text, without its middle if it is long.
func excerpt(text []byte) string {
	const most, side = 6000, 1000
	if len(text) <= most {
		return strconv.Quote(string(text))
	}
	return fmt.Sprintf("%q ... %d bytes ... %q", text[:side], len(text)-2*side, text[len(text)-side:])
}

// A partsReader returns its parts, one a read as far as they fit; an empty part is a read of no bytes. After them it
// returns end, or with the last of them if withLast is set. If end is nil, it returns no bytes for ever.
type partsReader struct {
	parts    [][]byte
	end      error
	withLast bool
	before   func(part int) // called before each read with the index of the next part, if it is not nil

	part  int
	empty int // reads of no bytes since the last part
}

func (r *partsReader) Read(p []byte) (n int, err error) {
	if r.before != nil {
		r.before(r.part)
	}
	if r.part < len(r.parts) {
		rest := &r.parts[r.part]
		n = copy(p, *rest)
		if *rest = (*rest)[n:]; len(*rest) > 0 {
			return n, nil
		}
		if r.part++; r.part < len(r.parts) || !r.withLast {
			return n, nil
		}
	}
	if r.empty++; r.end == nil && r.empty > 1_000_000 {
		return n, errors.New("a million reads of no bytes, and the interpreter goes on")
	}
	return n, r.end
}

// inParts returns a reader of a script in parts of a size.
func inParts(script []byte, size int) *partsReader {
	return &partsReader{parts: slices.Collect(slices.Chunk(script, size)), end: io.EOF}
}

// byLines returns a reader that returns a line a read, as a terminal does.
func byLines(script []byte) *partsReader {
	return &partsReader{parts: slices.Collect(bytes.Lines(script)), end: io.EOF}
}

var errBroken = errors.New("broken")

// A brokenWriter takes room bytes. The write that goes beyond them returns errBroken, or no error if short is set. Later
// writes fail too; or they succeed if mends is set, so that what is written after a gap shows.
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
