// These tests hold the rows of -trace against arithmetic done by hand, and standard output against a run without it.
package interp

import (
	"bytes"
	"strings"
	"testing"
)

func TestTrace(t *testing.T) {
	// The specification's bucket of 3 at 60 a minute, row for row; then debts, costs, long names and numbers.
	script := []string{
		"LIMIT 3 60",
		"STATUS a",
		"REQUEST a",
		"REQUEST a",
		"REQUEST a",
		"NOW 400",
		"REQUEST a",
		"STATUS a",
		"oops",
		"NOW 1000",
		"REQUEST a",
		"RESERVE a 60000 2",
		"RESERVE alice 5000",
		"REQUEST averylongname 4",
		"REQUEST \x1b[31m",
		"LIMIT 153722867280912 9223372036854775807",
		"RESERVE a 9223372036854775807 153722867280912",
		"RESERVE a 0 153722867280912",
		"NOW 1001",
		"STATUS a",
	}
	want := `   now command              in   ticks tokens  wait answer
     0 STATUS a              0  180000  3.000       3.000
     0 REQUEST a             0  120000  2.000       200 X-RateLimit-Remaining: 2
     0 REQUEST a             0   60000  1.000       200 X-RateLimit-Remaining: 1
     0 REQUEST a             0       0  0.000       200 X-RateLimit-Remaining: 0
   400 REQUEST a         24000   24000  0.400   600 429 Retry-After: 1
   400 STATUS a              0   24000  0.400       0.400
stdin:9: unknown command "oops": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT
  1000 REQUEST a         36000       0  0.000       200 X-RateLimit-Remaining: 0
  1000 RESERVE a 60000 2      0 -120000 -2.000  2000 200 Send-At: 3000
  1000 RESERVE al… 5000      0  120000  2.000       200 Send-At: 1000
  1000 REQUEST avery… 4      0  180000  3.000       429
  1000 REQUEST \x1b[31m      0  120000  2.000       200 X-RateLimit-Remaining: 2
  1000 RESERVE a 9223372036854775807 153722867280912      0       0  0.000       200 Send-At: 1000
  1000 RESERVE a 0 153722867280912      0       0  0.000     1 429 Retry-After: 1
  1001 STATUS a         9223372036854720000 9223372036854720000 153722867280912.000       153722867280912.000
`
	in := strings.Join(script, "\n")
	var out, errs, plain bytes.Buffer
	if _, err := Run(strings.NewReader(in), &out, &errs, Options{Trace: true}); err != nil {
		t.Fatal(err)
	}
	if errs.String() != want {
		t.Errorf("%s\nwanted:\n%s\ncame:\n%s", in, want, errs.String())
	}
	if _, err := Run(strings.NewReader(in), &plain, new(bytes.Buffer), Options{}); err != nil {
		t.Fatal(err)
	}
	if out.String() != plain.String() {
		t.Errorf("standard output with -trace\n%s\nand without\n%s", out.String(), plain.String())
	}
}

// TestClip: a name that does not fit shows that it goes on.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		client string
		width  int
		want   string
	}{
		{"alice", 5, "alice"},
		{"alice", 4, "ali…"},
		{"alice", 1, "a…"}, // never to nothing
		{"a", -5, "a"},
		{"😀😀😀😀", 4, "😀😀😀😀"},
		{"😀😀😀😀x", 4, "😀😀😀…"},
		{"a\x1bb", 6, `a\x1bb`},
		{"a\x1bb", 5, `a\x1…`},
	} {
		if got := clip(c.client, c.width); got != c.want {
			t.Errorf("clip(%q, %d)\nwanted: %s\ncame:   %s", c.client, c.width, c.want, got)
		}
	}
}

// TestTraceOrder: a row stands before its answer, and with -live the clock has room.
func TestTraceOrder(t *testing.T) {
	ms := int64(1_700_000_000_000)
	in := "NOW\nRESERVE a 60000 10\nRESERVE a 60000\n"
	want := `1700000000000
          now command              in   ticks tokens  wait answer
1700000000000 RESERVE a 60000 10      0       0  0.000       200 Send-At: 1700000000000
200 Send-At: 1700000000000
1700000000000 RESERVE a 60000       0  -60000 -1.000  1000 200 Send-At: 1700000001000
200 Send-At: 1700000001000
`
	got := runText(t, strings.NewReader(in), Options{Trace: true, Clock: func() int64 { return ms }})
	if got != want {
		t.Errorf("%s\nwanted:\n%s\ncame:\n%s", in, want, got)
	}
}
