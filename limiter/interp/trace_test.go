// These tests check the rows of -trace: against rows by hand, and in their numbers against the reference.
package interp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tokenbucket/limiter/interp"
)

func TestTrace(t *testing.T) {
	// The specification's bucket of 3 at 60 a minute, row for row; then debts, costs, long names and numbers.
	const script = `LIMIT 3 60
STATUS a
REQUEST a
REQUEST a
REQUEST a
NOW 400
REQUEST a
STATUS a
oops
NOW 1000
REQUEST a
RESERVE a 60000 2
RESERVE alice 5000
REQUEST averylongname 4
` + "REQUEST \x1b[31m" + `
LIMIT 153722867280912 9223372036854775807
RESERVE a 9223372036854775807 153722867280912
RESERVE a 0 153722867280912
NOW 1001
STATUS a
`
	const want = `   now command                     in   ticks  tokens  wait code
     0 STATUS a                     0  180000   3.000
     0 REQUEST a                    0  120000   2.000       200
     0 REQUEST a                    0   60000   1.000       200
     0 REQUEST a                    0       0   0.000       200
   400 REQUEST a                24000   24000   0.400   600 429
   400 STATUS a                     0   24000   0.400
stdin:9: unknown command "oops": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT
  1000 REQUEST a                36000       0   0.000       200
  1000 RESERVE a 60000 2            0 -120000  -2.000  2000 200
  1000 RESERVE alice 5000           0  120000   2.000       200
  1000 REQUEST averylongname 4      0  180000   3.000       429
  1000 REQUEST \x1b[31m             0  120000   2.000       200
  1000 RESERVE a 9223372036854775807 153722867280912      0       0   0.000       200
  1000 RESERVE a 0 153722867280912      0       0   0.000     1 429
  1001 STATUS a                9223372036854720000 9223372036854720000 153722867280912.000
`
	traced := run(t, strings.NewReader(script), interp.Options{Trace: true})
	if string(traced.errs) != want {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", script, traced.errs, want)
	}
	if plain := run(t, strings.NewReader(script), interp.Options{}); !bytes.Equal(traced.out, plain.out) {
		t.Errorf("%s\ngot:\n%s\nwant, as without -trace:\n%s", script, traced.out, plain.out)
	}
}

// TestTraceNames: a name that does not fit its column is cut, and shows that it goes on, but is not cut to nothing.
func TestTraceNames(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"REQUEST an-alexandrines", "REQUEST an-alexandrines"},
		{"REQUEST an-alexandrinest", "REQUEST an-alexandrine…"},
		{"STATUS an-alexandrinest", "STATUS an-alexandrinest"},
		{"RESERVE vendor 280000", "RESERVE vendor 280000  "},
		{"RESERVE alexander 5000", "RESERVE alexander 5000 "},
		{"RESERVE alexander 5000 3", "RESERVE alexand… 5000 3"},
		{"REQUEST a 1", "REQUEST a              "},
		{"REQUEST ééééééééééééééé", "REQUEST ééééééééééééééé"},
		{"REQUEST жжжжжжжжжжжжжжжж", "REQUEST жжжжжжжжжжжжжж…"},
		{"REQUEST 日本", `REQUEST \u65e5\u672c   `},
		{"REQUEST 日本語", `REQUEST \u65e5\u672c…  `},
		{"REQUEST e\u0301", `REQUEST e\u0301        `},
		{"REQUEST 😀", `REQUEST \U0001f600     `},
		{"REQUEST abcdefghijk\x1b", `REQUEST abcdefghijk\x1b`},
		{"REQUEST abcdefghijkl\x1b", "REQUEST abcdefghijkl…  "},
		{"RESERVE \x1b 100000000000", "RESERVE … 100000000000 "},
	} {
		r := run(t, strings.NewReader(c.line), interp.Options{Trace: true})
		_, row, _ := strings.Cut(string(r.errs), "\n")
		// The clock, the command, and no inflow.
		if want := "     0 " + c.want + "      0 "; !strings.HasPrefix(row, want) {
			t.Errorf("%q\ngot:  %s\nwant: %s...", c.line, row, want)
		}
	}
}

// TestTraceOrder: a row comes before its answer, and with -live the clock has room within the same 64 columns.
func TestTraceOrder(t *testing.T) {
	const script = "NOW\nRESERVE a 6000 9\nRESERVE a 5000 3\nRESERVE vendor 280000\n"
	const want = `1700000000000
          now command              in   ticks  tokens  wait code
1700000000000 RESERVE a 6000 9      0   60000   1.000       200
200 Send-At: 1700000000000
1700000000000 RESERVE a 5000 3      0 -120000  -2.000  2000 200
200 Send-At: 1700000002000
1700000000000 RESERVE … 280000      0  540000   9.000       200
200 Send-At: 1700000000000
`
	clock := func() int64 { return 1_700_000_000_000 }
	if r := run(t, strings.NewReader(script), interp.Options{Trace: true, Clock: clock}); string(r.both) != want {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", script, r.both, want)
	}
}

// TestTraceReference: the numbers of each row are those of the reference, for values of any size.
func TestTraceReference(t *testing.T) {
	t.Parallel()
	eachSeed(t, 1000, func(t *testing.T, s source) {
		commands := s.schedule(30, true, "a", "b")
		script := scriptOf(commands)
		world := newRefWorld()
		var want []string // rows, their words apart by single blanks
		for _, c := range commands {
			before := world.bucket(c.client)
			out, _ := world.run([]byte(c.String()))
			if c.client == "" {
				continue
			}
			inflow := sub(world.refill(before, world.now).ticks, before.ticks)
			after, wait := world.buckets[c.client].ticks, ""
			if c.verb != "STATUS" {
				if o := world.outcomes[len(world.outcomes)-1]; o.wait != nil {
					wait = o.wait.String()
				}
			}
			code := string(out[:3])
			if c.verb == "STATUS" {
				code = ""
			}
			call := c.String()
			if c.verb != "STATUS" && c.cost == 1 {
				call = strings.TrimSuffix(call, " 1\n") // as if it were left out
			}
			tokens := thousandths(floorDiv(mul(after, thousand), token))
			want = append(want, words(fmt.Sprint(world.now, " ", call, " ", inflow, " ", after, " ", tokens, " ", wait, " ", code)))
		}
		r := run(t, strings.NewReader(script), interp.Options{Trace: true})
		rows := strings.Split(string(r.errs), "\n")
		if len(rows) != len(want)+2 && len(want) > 0 {
			t.Fatalf("%s\ngot:  %d lines\nwant: %d rows after a header", script, len(rows)-1, len(want))
		}
		for i := range want {
			if got := words(rows[1+i]); got != want[i] {
				t.Fatalf("%s\nrow %d\ngot:  %s\nwant: %s", script, i+1, got, want[i])
			}
		}
	})
}

// words returns a text with its words apart by single blanks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
