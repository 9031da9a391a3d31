// These tests check where one block of lines ends and the next begins: by bytes, by commands, and in long scripts, on one
// processor and on two. No answer may depend on it.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tokenbucket/limiter/interp"
)

// TestTextEnds: a last line without an ending, and blank lines, are as good where the text of a block just ends, and a few
// bytes before or after.
func TestTextEnds(t *testing.T) {
	const line = "STATUS a\n"
	for size := interp.TextBytes - 20; size <= interp.TextBytes+20; size++ {
		lines := (size - 100) / len(line)
		start := strings.Repeat(line, lines)
		pad := size - len(start)
		for _, rest := range []string{
			"STATUS " + strings.Repeat("b", pad-len("STATUS ")),
			"#" + strings.Repeat("-", pad-len("#\n")) + "\n\n\n\n" + line,
		} {
			want := strings.Repeat("10.000\n", lines+1)
			if r := run(t, strings.NewReader(start+rest), interp.Options{}); string(r.both) != want {
				t.Errorf("%d times %q, then %q: %s", lines, line, rest, difference(r.both, []byte(want)))
			}
		}
	}
}

// fullBlocks are as many commands as a block has room for, and one fewer and one more.
var fullBlocks = []int{interp.MaxCommands - 1, interp.MaxCommands, interp.MaxCommands + 1}

// checkFull runs a script in two reads, cut at a byte, and in one that comes with the end of the input; and the same at a
// terminal. The complete lines of the first read must be answered before the second.
func checkFull(t *testing.T, script []byte, at int) {
	t.Helper()
	complete := bytes.LastIndexByte(script[:at], '\n') + 1
	answered := len(verify(t, script[:complete]).both)
	r := runCut(t, script, at, answered, interp.Options{})
	r.verify(t, fmt.Sprint("cut at byte ", at), script)
	want := r.both

	atOnce := func(opt interp.Options) *result {
		return run(t, &partsReader{parts: [][]byte{script}, end: io.EOF, withLast: true}, opt)
	}
	atOnce(interp.Options{}).verify(t, "with the end of the input", script)
	for how, r := range map[string]*result{
		"at a terminal": runCut(t, script, at, answered, interp.Options{Terminal: true}),
		"at a terminal, with the end of the input": atOnce(interp.Options{Terminal: true}),
	} {
		// The outputs have no blank line, so one that is there is where the end of the input begins a fresh line.
		got := append([]byte("\n"), withoutPrompts(t, r.both)...)
		if fresh := bytes.Count(got, []byte("\n\n")); fresh != 1 {
			t.Errorf("%s, %s: fresh lines\ngot:  %d\nwant: 1", excerpt(script), how, fresh)
		}
		if got = bytes.Replace(got, []byte("\n\n"), []byte("\n"), 1)[1:]; !bytes.Equal(got, want) {
			t.Errorf("%s, %s: %s", excerpt(script), how, difference(got, want))
		}
	}
}

// TestFullBlocks: a script of as many commands as a block has room for, of one fewer and of one more, is answered as any
// other, whatever the commands are, and whether the last line has an ending; and so is one that fills a second block.
func TestFullBlocks(t *testing.T) {
	for name, line := range map[string]func(i int) string{
		"invalid":               func(int) string { return "x" },
		"NOW":                   func(int) string { return "NOW" },
		"HELP and NOW":          func(i int) string { return []string{"HELP", "NOW"}[min(i%16, 1)] },
		"STATUS":                func(int) string { return "STATUS a" },
		"STATUS, in lower case": func(int) string { return "status a" },
		"REQUEST":               func(i int) string { return fmt.Sprint("REQUEST ", i) },
		"REQUEST, with costs":   func(i int) string { return fmt.Sprint("REQUEST a ", 1+i%3) },
		"RESERVE":               func(i int) string { return fmt.Sprint("RESERVE a ", i) },
		"LIMIT":                 func(i int) string { return fmt.Sprint("LIMIT 9 ", i) },
		"of all kinds": func(i int) string {
			return []string{"x", "NOW", "STATUS a", "REQUEST b", "LIMIT 3 7", "request b", "RESERVE b 9", "# x\nNOW 5\nNOW"}[i%8]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := fullBlocks
			if name == "of all kinds" {
				counts = append(slices.Clone(counts), 2*interp.MaxCommands, 2*interp.MaxCommands+1)
			}
			for _, lines := range counts {
				var script []byte
				for i := range lines {
					script = fmt.Appendln(script, line(i))
				}
				checkFull(t, script, len(script))
				checkFull(t, script[:len(script)-1], len(script)-1)
			}
		})
	}
}

// TestTooLongInFullBlock: a line that is too long before it ends may be the last command that a block has room for, or the
// next.
func TestTooLongInFullBlock(t *testing.T) {
	t.Parallel()
	for _, lines := range fullBlocks {
		for _, length := range []int{65_537, 65_538, 90_000} {
			for _, end := range []string{"", "\r\n", "yyy\nNOW\n", "\nNOW"} {
				start := strings.Repeat("NOW\n", lines-2) + "x\n" + strings.Repeat("y", length)
				checkFull(t, []byte(start+end), len(start))
			}
		}
	}
}

// TestLongScripts: scripts of several blocks, in which LIMIT, NOW, HELP and invalid lines come between calls, every other
// line or every few thousand, are answered as the reference does; and -trace changes nothing on standard output.
func TestLongScripts(t *testing.T) {
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors, " processors"), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			for _, every := range []int{2, 10, 100, 3000} {
				eachSeed(t, 2, func(t *testing.T, s source) {
					script := s.longScript(20_000, every)
					r := verify(t, script)
					if traced := run(t, bytes.NewReader(script), interp.Options{Trace: true}); !bytes.Equal(traced.out, r.out) {
						t.Errorf("%s, with -trace: %s", excerpt(script), difference(traced.out, r.out))
					}
				})
			}
		})
	}
}

// longScript returns n lines, most of them calls, in every form. About one line in every is no call and no NOW with a time.
func (s source) longScript(n, every int) (script []byte) {
	perMinute, now := int64(60), int64(0)
	for range n {
		c := setLimit(s.Int64N(4), s.everydayRate())
		client := fmt.Sprint("c", s.Int64N(s.oneOf(3, 500)))
		switch {
		case s.IntN(every) > 0:
			switch s.IntN(8) {
			case 0:
				now += s.Int64N(2 * tokenTime(perMinute))
				c = setNow(now)
			case 1:
				script = fmt.Appendln(script, "request ", client)
				continue
			case 2:
				c = status(client)
			case 3:
				c = request(client, 1+s.Int64N(3))
			case 4:
				c = reserve(client, s.Int64N(5*tokenTime(perMinute)), 1+s.Int64N(3))
			default:
				script = fmt.Appendln(script, "REQUEST", client)
				continue
			}
		case s.IntN(2) == 0:
			script = append(script, []string{"NOW\n", "HELP\n", "x\n", "#\n", "\n", "NOW -5\n", "STATUS\n"}[s.IntN(7)]...)
			continue
		}
		if c.verb == "LIMIT" {
			perMinute = c.perMinute
		}
		script = append(script, c.String()...)
	}
	return script
}

// TestLargeWrites: a long script is answered in large writes, and none of them is empty.
func TestLargeWrites(t *testing.T) {
	writes, empty, size := 0, 0, 0
	out := writerFunc(func(p []byte) (int, error) {
		writes++
		if len(p) == 0 {
			empty++
		}
		size += len(p)
		return len(p), nil
	})
	var errs bytes.Buffer
	script := strings.Repeat("REQUEST a\n", 1e6)
	if _, err := interp.Run(strings.NewReader(script), out, &errs, interp.Options{}); err != nil {
		t.Fatal(err)
	}
	if errs.Len() > 0 || empty > 0 || size < 1e7 || size/writes < interp.WriteBytes/2 {
		t.Errorf("a million times REQUEST a\ngot:  %d bytes in %d writes, %d of them empty; messages %q\nwant: writes of at least %d bytes",
			size, writes, empty, errs.Bytes(), interp.WriteBytes/2)
	}
}
