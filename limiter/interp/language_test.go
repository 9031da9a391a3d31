// These tests check the language: what each form of a line means, what is said about a line that has none, and lines that
// nearly have the forms of the fast path.
package interp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tokenbucket/limiter/interp"
)

// TestVerbs: each verb in the table, with the fewest and with the most words, is executed, and as the reference does it.
func TestVerbs(t *testing.T) {
	words := map[string]string{
		"client": "a", "capacity": "3", "per_minute": "60", "ms": "500", "max_wait": "1000", "cost": "2",
	}
	for _, usage := range interp.Usages() {
		var fewest, most []string
		for i, name := range strings.Fields(usage) {
			word, optional := name, strings.HasPrefix(name, "[")
			if i > 0 {
				if word = words[strings.Trim(name, "[]")]; word == "" {
					t.Fatalf("%s\ngot:  no valid word for %s\nwant: one, in this test", usage, name)
				}
			}
			most = append(most, word)
			if !optional {
				fewest = append(fewest, word)
			}
		}
		for _, line := range [][]string{fewest, most} {
			script := strings.Join(line, " ") + "\nSTATUS a\n"
			if r := verify(t, []byte(script)); len(r.errs) > 0 {
				t.Errorf("%s\ngot:  %s\nwant: no message", script, r.errs)
			}
		}
	}
}

func TestValidLines(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"", ""},
		{" \t ", ""},
		{"# LIMIT", ""},
		{"\t#LIMIT 1 2", ""},
		{"LIMIT 3 60\nREQUEST a 3\nREQUEST a", "200 X-RateLimit-Remaining: 0\n429 Retry-After: 1\n"},
		{"\t limit\t+003   0 \t\nREQUEST a 3\nREQUEST a", "200 X-RateLimit-Remaining: 0\n429\n"},
		{"LIMIT 153722867280912 9223372036854775807\nREQUEST a 153722867280912\nNOW 1\nSTATUS a",
			"200 X-RateLimit-Remaining: 0\n153722867280912.000\n"},
		{"NOW", "0\n"},
		{"NOW 5\nnow -0\nNOW", "0\n"},
		{"NOW 9223372036854775807\nNOW", "9223372036854775807\n"},
		{"NOW -9223372036854775808\nNOW", "-9223372036854775808\n"},
		{"REQUEST a 10\nRequest A 9\nREQUEST A", "200 X-RateLimit-Remaining: 0\n200 X-RateLimit-Remaining: 1\n200 X-RateLimit-Remaining: 0\n"},
		{"REQUEST a 9223372036854775807", "429\n"},
		{"REQUEST #a 2\nSTATUS #a", "200 X-RateLimit-Remaining: 8\n8.000\n"},
		{"REQUEST \r\x00\xff 3\nSTATUS \r\x00\xff\t", "200 X-RateLimit-Remaining: 7\n7.000\n"},
		{"RESERVE a 0", "200 Send-At: 0\n"},
		{"LIMIT 2 60\nREQUEST é 2\nrEsErVe é 9223372036854775807 2\nSTATUS é", "200 X-RateLimit-Remaining: 0\n200 Send-At: 2000\n-2.000\n"},
		{"STATUS STATUS", "10.000\n"},
		{"help", interp.Help()},
		{" quit \nNOW\noops\n" + strings.Repeat("a", 140_000), ""},
	} {
		if r := verify(t, []byte(c.script)); string(r.both) != c.want {
			t.Errorf("%s\ngot:  %q\nwant: %q", excerpt([]byte(c.script)), r.both, c.want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"LIMITS 1 2", `unknown command "LIMITS": did you mean LIMIT?`},
		{"stats a", `unknown command "stats": did you mean STATUS?`},
		{"REQUETS a", `unknown command "REQUETS": did you mean REQUEST?`},
		{"onw", `unknown command "onw": did you mean NOW?`},
		{"nwo", `unknown command "nwo": did you mean NOW?`},
		{"hwlp", `unknown command "hwlp": did you mean HELP?`},
		{"REVERSE a 1", `unknown command "REVERSE": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{"won", `unknown command "won": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{"exit", `unknown command "exit": want QUIT`},
		{"?", `unknown command "?": want HELP`},
		{"\x7fLIMIT 1 2", `unknown command "\x7fLIMIT": did you mean LIMIT?`},
		{"ſTATUS a", `unknown command "ſTATUS": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{"LIMIT", `too few words in "LIMIT": want LIMIT capacity per_minute`},
		{"LIMIT 1", `too few words in "LIMIT 1": want LIMIT capacity per_minute`},
		{"LIMIT 1 2 3", `too many words in "LIMIT 1 2 3": want LIMIT capacity per_minute`},
		{"NOW 1 2", `too many words in "NOW 1 2": want NOW [ms]`},
		{"REQUEST", `too few words in "REQUEST": want REQUEST client [cost]`},
		{"REQUEST a 1 1", `too many words in "REQUEST a 1 1": want REQUEST client [cost]`},
		{"RESERVE a", `too few words in "RESERVE a": want RESERVE client max_wait [cost]`},
		{"RESERVE a 1 1 1 1", `too many words in "RESERVE a 1 1 1 1": want RESERVE client max_wait [cost]`},
		{"STATUS\t", `too few words in "STATUS\t": want STATUS client`},
		{"STATUS a b", `too many words in "STATUS a b": want STATUS client`},
		{"HELP  me", `too many words in "HELP  me": want HELP`},
		{"QUIT now", `too many words in "QUIT now": want QUIT`},
		{"LIMIT -1 x", `bad capacity "-1": want an integer from 0 to 153722867280912`},
		{"LIMIT 153722867280913 1", `bad capacity "153722867280913": want an integer from 0 to 153722867280912`},
		{"LIMIT 1 -1", `bad per_minute "-1": want an integer from 0 to 9223372036854775807`},
		{"NOW 9223372036854775808", `bad ms "9223372036854775808": want an integer from -9223372036854775808 to 9223372036854775807`},
		{"NOW 0x10", `bad ms "0x10": want an integer from -9223372036854775808 to 9223372036854775807`},
		{"REQUEST a 0", `bad cost "0": want an integer from 1 to 9223372036854775807`},
		{"RESERVE a -1", `bad max_wait "-1": want an integer from 0 to 9223372036854775807`},
		{"RESERVE a 1 1_0", `bad cost "1_0": want an integer from 1 to 9223372036854775807`},
	} {
		r := verify(t, []byte(c.line+"\n"))
		if got, want := string(r.both), "stdin:1: "+c.want+"\n"; got != want {
			t.Errorf("%q\ngot:  %s\nwant: %s", c.line, got, want)
		}
	}
}

// TestQuoted: what a message quotes is escaped, and cut to 40 bytes, but not within a character.
func TestQuoted(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{`say"hi"`, `"say\"hi\""`},
		{"cr\rx", `"cr\rx"`},
		{"esc\x1b[0m,nul\x00,del\x7f", `"esc\x1b[0m,nul\x00,del\x7f"`},
		{"c1\u009b2J,bad\xff", `"c1\u009b2J,bad\xff"`},
		{"né,日本", `"né,日本"`},
		{"1234567890123456789012345678901234567890", `"1234567890123456789012345678901234567890"`},
		{"12345678901234567890123456789012345678901", `"1234567890123456789012345678901234567890"...`},
		{strings.Repeat("\x80", 41), `"` + strings.Repeat(`\x80`, 36) + `"...`},
		{"123456789012345678901234567890123456789é", `"123456789012345678901234567890123456789"...`},
		{"1234567890123456789012345678901234567日本", `"1234567890123456789012345678901234567日"...`},
		{"1234567890123456789012345678901234567😀", `"1234567890123456789012345678901234567"...`},
	} {
		r := verify(t, []byte(c.word))
		want := "stdin:1: unknown command " + c.want + ": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT\n"
		if string(r.errs) != want {
			t.Errorf("%q\ngot:  %s\nwant: %s", c.word, r.errs, want)
		}
	}
}

// TestFastPath: lines that nearly have the forms of the fast path are answered as the reference does, also in the midst of
// lines that have them.
func TestFastPath(t *testing.T) {
	var b bytes.Buffer
	for _, verb := range []string{"REQUEST", "STATUS", "NOW"} {
		for _, start := range []string{" ", "", "  ", "\t"} {
			for _, word := range []string{"", "a", "a b", "\x1f", "\x7f", "\xd5", "\xff", "7", "007", "-7", "+7", "7/", "7:",
				"999999999999999999", "1000000000000000000", "9223372036854775808"} {
				for _, end := range []string{"", " ", "\t", "\r", "\r\r", "\v"} {
					b.WriteString(verb + start + word + end + "\nNOW\nSTATUS a\nNOW 400\nREQUEST b\n")
				}
			}
		}
	}
	verify(t, b.Bytes())

	// Names of all lengths, of bytes at the edges of what a search for the end of a word can take for one.
	eachSeed(t, 20, func(t *testing.T, s source) {
		const edges = "\x00\x01\x1f!\"a\x7f\x80\x81\x9f\xa0\xa1\xa2\xff"
		var script []byte
		for i := range 500 {
			name := make([]byte, 1+s.IntN(30))
			for i := range name {
				name[i] = edges[s.IntN(len(edges))]
			}
			script = fmt.Appendf(script, "%s %s\n", []string{"REQUEST", "STATUS", "request"}[i%3], name)
		}
		verify(t, script)
	})
}

func TestHelpFits(t *testing.T) {
	for line := range strings.Lines(interp.Help()) {
		if width := len(strings.TrimSuffix(line, "\n")); width > 79 {
			t.Errorf("%sgot:  %d columns\nwant: at most 79", line, width)
		}
	}
}
