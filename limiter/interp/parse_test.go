package interp

import (
	"math"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line string
		want command
	}{
		{"", command{verb: nothing}},
		{" \t ", command{verb: nothing}},
		{"# LIMIT", command{verb: nothing}},
		{"\t#LIMIT 1 2", command{verb: nothing}},
		{"LIMIT 3 60", command{verb: limit, capacity: 3, perMinute: 60}},
		{"\t limit\t+003   0 \t", command{verb: limit, capacity: 3}},
		{"LIMIT 153722867280912 9223372036854775807", command{verb: limit, capacity: 153722867280912, perMinute: math.MaxInt64}},
		{"NOW", command{verb: now, bare: true}},
		{"now -0", command{verb: now}},
		{"NOW 9223372036854775807", command{verb: now, ms: math.MaxInt64}},
		{"NOW -9223372036854775808", command{verb: now, ms: math.MinInt64}},
		{"REQUEST a", command{verb: request, client: []byte("a"), cost: 1}},
		{"Request A 9223372036854775807", command{verb: request, client: []byte("A"), cost: math.MaxInt64}},
		{"REQUEST #a 2", command{verb: request, client: []byte("#a"), cost: 2}},
		{"REQUEST \r\x00\xff", command{verb: request, client: []byte("\r\x00\xff"), cost: 1}},
		{"RESERVE a 0", command{verb: reserve, client: []byte("a"), cost: 1}},
		{"rEsErVe é 9223372036854775807 2", command{verb: reserve, client: []byte("é"), cost: 2, maxWait: math.MaxInt64}},
		{"STATUS STATUS", command{verb: status, client: []byte("STATUS")}},
		{"help", command{verb: help}},
		{" quit ", command{verb: quit}},
	} {
		got, m := parse([]byte(c.line))
		if m != nil || !sameCommand(got, c.want) {
			t.Errorf("%q\nwanted: %+v\ncame:   %+v, %+v", c.line, c.want, got, m)
		}
	}
}

func sameCommand(a, b command) bool {
	same := string(a.client) == string(b.client)
	a.client, b.client = nil, nil
	return same && a.verb == b.verb && a.bare == b.bare && a.cost == b.cost && a.maxWait == b.maxWait &&
		a.ms == b.ms && a.capacity == b.capacity && a.perMinute == b.perMinute
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"LIMITS 1 2", `stdin:7: unknown command "LIMITS": did you mean LIMIT?`},
		{"stats a", `stdin:7: unknown command "stats": did you mean STATUS?`},
		{"REQUETS a", `stdin:7: unknown command "REQUETS": did you mean REQUEST?`},
		{"nwo", `stdin:7: unknown command "nwo": did you mean NOW?`},
		{"REVERSE a 1", `stdin:7: unknown command "REVERSE": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{"exit", `stdin:7: unknown command "exit": want QUIT`},
		{"?", `stdin:7: unknown command "?": want HELP`},
		{"\x7fLIMIT 1 2", `stdin:7: unknown command "\x7fLIMIT": did you mean LIMIT?`},
		{"ſTATUS a", `stdin:7: unknown command "ſTATUS": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{"LIMIT", `stdin:7: too few words in "LIMIT": want LIMIT capacity per_minute`},
		{"LIMIT 1", `stdin:7: too few words in "LIMIT 1": want LIMIT capacity per_minute`},
		{"LIMIT 1 2 3", `stdin:7: too many words in "LIMIT 1 2 3": want LIMIT capacity per_minute`},
		{"NOW 1 2", `stdin:7: too many words in "NOW 1 2": want NOW [ms]`},
		{"REQUEST", `stdin:7: too few words in "REQUEST": want REQUEST client [cost]`},
		{"REQUEST a 1 1", `stdin:7: too many words in "REQUEST a 1 1": want REQUEST client [cost]`},
		{"RESERVE a", `stdin:7: too few words in "RESERVE a": want RESERVE client max_wait [cost]`},
		{"RESERVE a 1 1 1 1", `stdin:7: too many words in "RESERVE a 1 1 1 1": want RESERVE client max_wait [cost]`},
		{"STATUS", `stdin:7: too few words in "STATUS": want STATUS client`},
		{"STATUS a b", `stdin:7: too many words in "STATUS a b": want STATUS client`},
		{"HELP me", `stdin:7: too many words in "HELP me": want HELP`},
		{"QUIT now", `stdin:7: too many words in "QUIT now": want QUIT`},
		{"LIMIT -1 x", `stdin:7: bad capacity "-1": want an integer from 0 to 153722867280912`},
		{"LIMIT 153722867280913 1", `stdin:7: bad capacity "153722867280913": want an integer from 0 to 153722867280912`},
		{"LIMIT 1 -1", `stdin:7: bad per_minute "-1": want an integer from 0 to 9223372036854775807`},
		{"NOW 9223372036854775808", `stdin:7: bad ms "9223372036854775808": want an integer from -9223372036854775808 to 9223372036854775807`},
		{"NOW 0x10", `stdin:7: bad ms "0x10": want an integer from -9223372036854775808 to 9223372036854775807`},
		{"REQUEST a 0", `stdin:7: bad cost "0": want an integer from 1 to 9223372036854775807`},
		{"RESERVE a -1", `stdin:7: bad max_wait "-1": want an integer from 0 to 9223372036854775807`},
		{"RESERVE a 1 1_0", `stdin:7: bad cost "1_0": want an integer from 1 to 9223372036854775807`},
	} {
		_, m := parse([]byte(c.line))
		if m == nil {
			t.Errorf("%q\nwanted: %s\ncame:   no mistake", c.line, c.want)
			continue
		}
		if got := string(appendMistake(nil, 7, m)); got != c.want+"\n" {
			t.Errorf("%q\nwanted: %s\ncame:   %s", c.line, c.want, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"plain words", `"plain words"`},
		{`say "hi"`, `"say \"hi\""`},
		{"tab\tcr\r esc\x1b[0m nul\x00 del\x7f", `"tab\tcr\r esc\x1b[0m nul\x00 del\x7f"`},
		{"c1\u009b2J bad\xff", `"c1\u009b2J bad\xff"`},
		{"né 日本", `"né 日本"`},
		{"1234567890123456789012345678901234567890", `"1234567890123456789012345678901234567890"`},
		{"12345678901234567890123456789012345678901", `"1234567890123456789012345678901234567890"...`},
		{strings.Repeat("\x80", 41), `"` + strings.Repeat(`\x80`, 36) + `"...`},
		{"123456789012345678901234567890123456789é", `"123456789012345678901234567890123456789"...`},
	} {
		if got := string(appendQuoted(nil, []byte(c.text))); got != c.want {
			t.Errorf("%q\nwanted: %s\ncame:   %s", c.text, c.want, got)
		}
	}
}
