// These are the scripts of the tests: commands and their answers, random schedules of commands, and two scripts by hand.
package interp_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tokenbucket/limiter/interp"
)

// A command is a command of a script; what its verb does not use is 0.
type command struct {
	verb                string
	client              string
	capacity, perMinute int64
	ms, maxWait, cost   int64
}

func setLimit(capacity, perMinute int64) command {
	return command{verb: "LIMIT", capacity: capacity, perMinute: perMinute}
}
func setNow(ms int64) command      { return command{verb: "NOW", ms: ms} }
func status(client string) command { return command{verb: "STATUS", client: client} }
func request(client string, cost int64) command {
	return command{verb: "REQUEST", client: client, cost: cost}
}
func reserve(client string, maxWait, cost int64) command {
	return command{verb: "RESERVE", client: client, maxWait: maxWait, cost: cost}
}

// String returns the command as a line.
func (c command) String() string {
	switch c.verb {
	case "LIMIT":
		return fmt.Sprintf("LIMIT %d %d\n", c.capacity, c.perMinute)
	case "NOW":
		return fmt.Sprintf("NOW %d\n", c.ms)
	case "REQUEST":
		return fmt.Sprintf("REQUEST %s %d\n", c.client, c.cost)
	case "RESERVE":
		return fmt.Sprintf("RESERVE %s %d %d\n", c.client, c.maxWait, c.cost)
	}
	return fmt.Sprintf("STATUS %s\n", c.client)
}

func scriptOf(commands []command) string {
	var b strings.Builder
	for _, c := range commands {
		b.WriteString(c.String())
	}
	return b.String()
}

// answers runs commands, all of them valid, and returns the answer to each, "" to LIMIT and NOW.
func answers(t *testing.T, commands []command) []string {
	t.Helper()
	r := run(t, strings.NewReader(scriptOf(commands)), interp.Options{})
	lines := strings.SplitAfter(string(r.out), "\n") // the last is what follows the last LF
	answers := make([]string, len(commands))
	calls := 0
	for i, c := range commands {
		if c.client != "" {
			if calls < len(lines)-1 {
				answers[i] = strings.TrimSuffix(lines[calls], "\n")
			}
			calls++
		}
	}
	if len(r.errs) > 0 || calls != len(lines)-1 || lines[calls] != "" {
		t.Fatalf("%s\ngot:  %s%s\nwant: an answer to each call", scriptOf(commands), r.out, r.errs)
	}
	return answers
}

func isGrant(answer string) bool { return strings.HasPrefix(answer, "200 ") }

// numberAfter returns the number after a prefix of an answer, and whether the answer has that prefix.
func numberAfter(answer, prefix string) (int64, bool) {
	rest, ok := strings.CutPrefix(answer, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	return n, err == nil
}

// tokenTime returns how many ms a token takes to flow in, rounded up; a minute where none does.
func tokenTime(perMinute int64) int64 {
	if perMinute == 0 {
		return 60_000
	}
	return 59_999/perMinute + 1
}

// A source is a source of random scripts.
type source struct{ *rand.Rand }

// eachSeed runs a test with so many sources, and reports the seed of one that fails.
func eachSeed(t *testing.T, seeds int, test func(t *testing.T, s source)) {
	t.Helper()
	for seed := range seeds {
		func() {
			defer func() { // also after a Fatal
				if t.Failed() {
					t.Logf("seed: %d", seed)
				}
			}()
			test(t, source{rand.New(rand.NewPCG(uint64(seed), 0))})
		}()
		if t.Failed() {
			return
		}
	}
}

// oneOf returns one of some values.
func (s source) oneOf(values ...int64) int64 { return values[s.IntN(len(values))] }

// between returns an integer from lo to hi: as often an everyday one as one near lo, near hi, near plus or minus a power
// of two, or of any size.
func (s source) between(lo, hi int64) int64 {
	for {
		n := s.Int64N(s.oneOf(2, 10, 1000, 100_000))
		switch s.IntN(8) {
		case 0:
			n += lo
		case 1:
			n = hi - n
		case 2:
			n = s.oneOf(1, -1)<<s.IntN(64) + s.oneOf(-n, n)
		case 3:
			n = int64(s.Uint64()) >> s.IntN(64)
		}
		if lo <= n && n <= hi {
			return n
		}
	}
}

// cost returns a cost, mostly one that fits the capacity.
func (s source) cost(capacity int64) int64 {
	if capacity == 0 || s.IntN(16) == 0 {
		return s.between(1, maxInt)
	}
	return s.between(1, capacity)
}

// maxWait returns a max wait, mostly the time of a few tokens.
func (s source) maxWait(perMinute int64) int64 {
	if s.IntN(4) == 0 {
		return s.between(0, maxInt)
	}
	return s.Int64N(5 * tokenTime(perMinute))
}

// everydayRate returns a rate of everyday.
func (s source) everydayRate() int64 {
	return s.oneOf(0, 1, 7, 30, 60, 90, 1000, 59_999, 60_000, 60_001, 250_000, 1e6)
}

// schedule returns a LIMIT, a NOW and about n more commands, of everyday values or of any, with calls by some clients.
// The clock is set back only if back is set.
func (s source) schedule(n int, back bool, clients ...string) []command {
	capacity, now := 1+s.Int64N(5), s.Int64N(1e6)
	perMinute := s.everydayRate()
	everyday := s.IntN(2) == 0
	if !everyday {
		capacity, perMinute, now = s.between(0, maxCapacity), s.between(0, maxInt), s.between(minInt, maxInt)
	}
	commands := []command{setLimit(capacity, perMinute), setNow(now)}
	for range n {
		client := clients[s.IntN(len(clients))]
		switch s.IntN(8) {
		case 0, 1, 2:
			next := s.between(minInt, maxInt)
			if everyday || s.IntN(4) > 0 {
				next = now + s.Int64N(s.oneOf(2, 2*tokenTime(perMinute), 5000))
				if back && s.IntN(4) == 0 {
					next = now - s.Int64N(2*tokenTime(perMinute))
				}
			}
			if next >= now || back {
				now = next
				commands = append(commands, setNow(now))
			}
		case 3, 4:
			commands = append(commands, request(client, s.cost(capacity)))
		case 5, 6:
			commands = append(commands, reserve(client, s.maxWait(perMinute), s.cost(capacity)))
		case 7:
			commands = append(commands, status(client))
		}
	}
	return commands
}

// everyKind has a line of every kind; the invalid ones are of every kind too.
const everyKind = "\xEF\xBB\xBFNOW\r\n" +
	"# a comment\n \t# another, LIMIT 1 1\n\n \t \n\r\n" +
	"limit 2 30\nnow 5\nstatus a\nrequest a\nreserve a 2000 2\nnow\nhelp\n" +
	"LIMIT 3 60\nNOW 0\n" +
	"STATUS a\nrequest a\nReQuEsT\ta   2\t\n  REQUEST a 1  \r\n" +
	"NOW +400\nREQUEST a\nSTATUS a\nREQUEST b 0003\nREQUEST b 4\nRESERVE b 60000\nRESERVE b 60000 2\r\nRESERVE b 0\nSTATUS b\n" +
	"NOW -9223372036854775808\nSTATUS b\nNOW\nNOW 9223372036854775807\nSTATUS b\n" +
	"HeLP\r\n" +
	"STATUS é\nSTATUS \xff\x00\x1b[2J\x7f\nSTATUS c\rd\nSTATUS e\r\r\nSTATUS #\n" +
	"oops\n\x1b]0;oops\x07\n\xC2\x9b2J\n\xff\xfe\n\u017fTATUS a\n\xEF\xBB\xBFNOW\n" +
	"LIMIT\nLIMIT 1\nLIMIT 1 2 3\nLIMIT -1 1\nLIMIT 153722867280913 1\nLIMIT 1 9223372036854775808\nLIMIT x y\r\n" +
	"NOW 9223372036854775808\nNOW -9223372036854775809\nNOW 1 2\nNOW\r\r\nNOW 1.0\n" +
	"REQUEST\nREQUEST a 0\nREQUEST a -1\nREQUEST a 1 1\nREQUEST a 0x1\nREQUEST a \u0661\n" +
	"RESERVE\nRESERVE a\nRESERVE a -1\nRESERVE a 1 0\nRESERVE a 1 1 1\nRESERVE a 1_0\n" +
	"STATUS\nSTATUS a b\nHELP me\nQUIT 1\n" +
	"STATUS a\nNOW\r"

// longLines has lines at and beyond the limit of 65,536 bytes, with all endings.
func longLines() []byte {
	var b bytes.Buffer
	wide := func(n int, start, end string) {
		b.WriteString(start + strings.Repeat("x", n-len(start)) + end + "NOW\n")
	}
	b.WriteString("\xEF\xBB\xBF")
	for _, end := range []string{"\n", "\r\n"} {
		wide(65536, "STATUS ", end)
		wide(65537, "STATUS ", end)
	}
	wide(65535, "STATUS ", "\r\r\n")
	wide(65536, "#", "\r\r\n")
	wide(65537, "#", "\n")
	wide(200000, "oops ", "\r\n")
	b.WriteString(strings.Repeat(" ", 65530) + "STATUS\n")
	b.WriteString(strings.Repeat(" ", 65531) + "STATUS\n")
	b.WriteString(strings.Repeat("\t", 65537) + "\nNOW 5\nNOW\n")
	b.WriteString(strings.Repeat("y", 65538))
	return b.Bytes()
}
