// These tests drive the interpreter with strings and buffers where a golden file can't: at a terminal, on the real clock,
// with both streams in one, and in how much it writes and holds.
package interp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// runText runs a script and gives both outputs, as under 2>&1.
func runText(t *testing.T, in io.Reader, opt Options) string {
	t.Helper()
	var both bytes.Buffer
	if _, err := Run(in, &both, &both, opt); err != nil {
		t.Fatalf("Run: %v", err)
	}
	return both.String()
}

// lineReader gives a line a read, as a terminal does.
type lineReader struct{ lines []string }

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.lines[0])
	r.lines = r.lines[1:]
	return n, nil
}

func TestTerminal(t *testing.T) {
	for _, c := range []struct {
		what string
		in   []string
		want string // what the program adds to what the person typed
	}{
		{"Ctrl-D at once", nil, "> \n"},
		{"an answer, an error, nothing", []string{"STATUS a\n", "oops\n", "NOW 5\n", "NOW\n"},
			"> 10.000\n> " + `stdin:2: unknown command "oops": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT` + "\n> > 5\n> \n"},
		{"QUIT leaves the cursor on a fresh line by itself", []string{"QUIT\n", "NOW\n"}, "> "},
		{"Ctrl-D within a line hands it over, twice ends it", []string{"NO", "W"}, "> \n0\n"},
	} {
		got := runText(t, &lineReader{c.in}, Options{Terminal: true})
		if want := banner + c.want; got != want {
			t.Errorf("%s: %q\nwanted: %q\ncame:   %q", c.what, c.in, want, got)
		}
	}
	if strings.Count(banner, "\n") != 1 || len(banner) > 80 {
		t.Errorf("the banner is not one line of a screen: %q", banner)
	}
}

// TestLiveClock: with a clock of its own the interpreter asks it once for each command, and NOW can't set it.
func TestLiveClock(t *testing.T) {
	ms := int64(1_000_000)
	clock := func() int64 { ms += 1000; return ms }
	in := "LIMIT 1 60\nNOW\nREQUEST a\nREQUEST a\nNOW 1 x\nRESERVE a 0\nRESERVE a 9000\nRESERVE a 9000 1\nNOW\n"
	want := "1001000\n" + // the first reading
		"200 X-RateLimit-Remaining: 0\n" + // 1002000
		"200 X-RateLimit-Remaining: 0\n" + // 1003000, one second and so one token later
		"stdin:5: with -live there is no \"NOW 1 x\": want NOW alone, the clock is the real one\n" +
		"200 Send-At: 1004000\n" +
		"200 Send-At: 1005000\n" +
		"200 Send-At: 1006000\n" +
		"1007000\n"
	if got := runText(t, strings.NewReader(in), Options{Clock: clock}); got != want {
		t.Errorf("%s\nwanted:\n%s\ncame:\n%s", in, want, got)
	}
}

// TestForgetting: where NOW sets the clock no client is forgotten, since the clock may be set back; with a clock that
// can't be, those whose buckets are full again are, and memory is bounded.
func TestForgetting(t *testing.T) {
	var in strings.Builder
	in.WriteString("LIMIT 1 60\nREQUEST a\nNOW 1000000\n")
	for i := range 5000 {
		fmt.Fprintf(&in, "STATUS c%d\n", i)
	}
	in.WriteString("NOW 0\nSTATUS a\n")
	want := "200 X-RateLimit-Remaining: 0\n" + strings.Repeat("1.000\n", 5000) + "0.000\n"
	if got := runText(t, strings.NewReader(in.String()), Options{}); got != want {
		t.Errorf("a was forgotten: ...%q", got[len(got)-12:])
	}

	const clients = 300_000
	in.Reset()
	for i := range clients {
		fmt.Fprintf(&in, "REQUEST c%d\n", i)
	}
	ms := int64(0)
	clock := func() int64 { ms += 1000; return ms }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Run(strings.NewReader(in.String()), io.Discard, io.Discard, Options{Clock: clock}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 30*clients { // they are 48 bytes each, and more with the index
		t.Errorf("%d clients seen once took %d bytes", clients, used)
	}
}

// TestOrder: answers stand before the message of a later bad line, and after that of an earlier one.
func TestOrder(t *testing.T) {
	var in, want strings.Builder
	for i := 1; i < 30_000; i++ {
		if i%3 == 0 {
			fmt.Fprintln(&in, "bad", i)
			fmt.Fprintf(&want, "stdin:%d: unknown command \"bad\": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT\n", i)
		} else {
			fmt.Fprintf(&in, "STATUS c%d\n", i)
			fmt.Fprintln(&want, "10.000")
		}
	}
	if got := runText(t, strings.NewReader(in.String()), Options{}); got != want.String() {
		t.Error("answers and messages came in another order")
	}
}

// TestBlockEnds: a last line without an ending, and empty lines, are as good where a block of input just ends, and a byte
// before or after.
func TestBlockEnds(t *testing.T) {
	const line = "STATUS a\n"
	for size := blockBytes - 20; size <= blockBytes+20; size++ {
		lines := (size - 100) / len(line)
		start := strings.Repeat(line, lines)
		pad := size - len(start)
		for _, rest := range []string{
			"STATUS " + strings.Repeat("b", pad-len("STATUS ")),
			"#" + strings.Repeat("-", pad-len("#\n")) + "\n\n\n\n" + line,
		} {
			want := strings.Repeat("10.000\n", lines+1)
			if got := runText(t, strings.NewReader(start+rest), Options{}); got != want {
				t.Errorf("%d bytes: wanted %d bytes, came %d", size, len(want), len(got))
			}
		}
	}
}

// countWriter counts what it is given, and how often, and how often that is nothing.
type countWriter struct{ writes, bytes, empty int }

func (w *countWriter) Write(p []byte) (int, error) {
	w.writes++
	if len(p) == 0 {
		w.empty++
	}
	w.bytes += len(p)
	return len(p), nil
}

// TestLargeWrites: a long script is answered in large blocks, and nothing is written where there is nothing to say.
func TestLargeWrites(t *testing.T) {
	var out, errs countWriter
	if _, err := Run(strings.NewReader(strings.Repeat("REQUEST a\n", 1e6)), &out, &errs, Options{}); err != nil {
		t.Fatal(err)
	}
	if errs.writes > 0 || out.empty > 0 || out.bytes < 1e7 || out.bytes/out.writes < writeSize/2 {
		t.Errorf("answers: %d bytes in %d writes, %d of them empty; %d messages", out.bytes, out.writes, out.empty, errs.writes)
	}
}

// fullWriter has room for so many bytes.
type fullWriter struct{ room int }

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	if w.room -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

var errFull = errors.New("full")

// TestLongScriptFails: a write that fails ends a long script too, though more input could be read for ever.
func TestLongScriptFails(t *testing.T) {
	const answers = 10*len("200 X-RateLimit-Remaining: 9\n") + 299_990*len("429 Retry-After: 1\n")
	for _, room := range []int{1_000_000, answers - 1} { // the last write comes when all input at hand is answered
		more, end := io.Pipe()
		defer end.Close()
		in := io.MultiReader(strings.NewReader(strings.Repeat("REQUEST a\n", 300_000)), more)
		if _, err := Run(in, &fullWriter{room}, io.Discard, Options{}); err != errFull {
			t.Errorf("room for %d bytes\nwanted: %v\ncame:   %v", room, errFull, err)
		}
	}
}

// endless gives n bytes of the letter a.
type endless struct{ n int }

func (r *endless) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.n)
	for i := range p[:n] {
		p[i] = 'a'
	}
	r.n -= n
	return n, nil
}

// TestLongLine: a line of any length is one message and takes no memory to skip.
func TestLongLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(strings.NewReader("NOW\n"), &endless{400_000_000}, strings.NewReader("\nNOW\n"))
	got := runText(t, in, Options{})
	runtime.ReadMemStats(&after)
	want := "0\nstdin:2: line too long, \"" + strings.Repeat("a", maxQuoted) + "\"...: want at most 65536 bytes\n0\n"
	if got != want {
		t.Errorf("wanted: %q\ncame:   %q", want, got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<22 {
		t.Errorf("400 MB in one line took %d bytes of memory", used)
	}
}

// TestQuit: nothing after QUIT is acted on, not even to find fault with it.
func TestQuit(t *testing.T) {
	in := "NOW\nQUIT\nNOW\noops\n" + strings.Repeat("a", 2*maxLine)
	if got := runText(t, strings.NewReader(in), Options{}); got != "0\n" {
		t.Errorf("wanted: %q\ncame:   %q", "0\n", got)
	}
}

func TestHelpFits(t *testing.T) {
	for _, line := range strings.Split(Help(), "\n") {
		if len(line) > 79 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
