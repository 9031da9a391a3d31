// These tests run the interpreter as at a terminal, with a banner, prompts and a fresh line at the end.
package interp_test

import (
	"bytes"
	"io"
	"testing"

	"tokenbucket/limiter/interp"
)

// withoutBanner returns what a run at a terminal wrote after its banner, which is one line of a screen.
func withoutBanner(t *testing.T, both []byte) []byte {
	t.Helper()
	banner, rest, _ := bytes.Cut(both, []byte("\n"))
	if len(banner) == 0 || len(banner) > 79 {
		t.Errorf("the banner\ngot:  %q\nwant: a line of 1 to 79 columns", banner)
	}
	return rest
}

// withoutPrompts returns what a run at a terminal wrote without banner and prompts; nothing else there may look like one.
func withoutPrompts(t *testing.T, both []byte) []byte {
	t.Helper()
	return bytes.ReplaceAll(withoutBanner(t, both), []byte("> "), nil)
}

func TestTerminal(t *testing.T) {
	for _, c := range []struct {
		what string
		in   []string // a read each
		want string   // what the program writes between what the person types
	}{
		{"Ctrl-D at once", nil, "> \n"},
		{"an answer, an error, nothing", []string{"STATUS a\n", "oops\n", "NOW 5\n", "NOW\n"},
			"> 10.000\n> " + `stdin:2: unknown command "oops": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT` + "\n> > 5\n> \n"},
		{"QUIT leaves the cursor on a fresh line by itself", []string{"QUIT\n", "NOW\n"}, "> "},
		{"Ctrl-D within a line hands it over, twice ends it", []string{"NO", "W"}, "> \n0\n"},
	} {
		in := &partsReader{end: io.EOF}
		for _, part := range c.in {
			in.parts = append(in.parts, []byte(part))
		}
		r := run(t, in, interp.Options{Terminal: true})
		if got := withoutBanner(t, r.both); string(got) != c.want {
			t.Errorf("%s: %q\ngot:  %q\nwant: %q", c.what, c.in, got, c.want)
		}
	}
}
