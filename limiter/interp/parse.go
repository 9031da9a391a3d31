package interp

import (
	"math"
	"strconv"

	"tokenbucket/limiter"
)

// This file turns a line into a command, or into the reason why it is none. It knows the language and nothing of buckets.

// A verb is what a command does, and its place in commands.
type verb uint8

const (
	limit verb = iota
	now
	request
	reserve
	status
	help
	quit
	nothing // a blank line, or a comment

	hasTerms verb = 1 << 7 // beside the verb of a call
)

// The commands, in the order in which HELP lists them.
var commands = [...]struct {
	name     string
	usage    string
	does     string
	min, max int // how many words follow the verb
}{
	limit:   {"LIMIT", "LIMIT capacity per_minute", "set the policy for everyone, forget all buckets", 2, 2},
	now:     {"NOW", "NOW [ms]", "set the clock, or print it", 0, 1},
	request: {"REQUEST", "REQUEST client [cost]", "take cost tokens (1) if they are there now", 1, 2},
	reserve: {"RESERVE", "RESERVE client max_wait [cost]", "take them now, or up to max_wait ms ahead", 2, 3},
	status:  {"STATUS", "STATUS client", "print the tokens, take none", 1, 1},
	help:    {"HELP", "HELP", "print this list", 0, 0},
	quit:    {"QUIT", "QUIT", "end; exit status 0, or 1 after a bad line", 0, 0},
}

// maxWords is one more than the longest command has, enough to see that there are too many.
const maxWords = 5

// A command is a line understood. What its verb does not use is 0.
type command struct {
	verb      verb
	bare      bool   // NOW asks for the clock
	client    []byte // a part of the line
	cost      int64  // tokens
	maxWait   int64  // ms
	ms        int64
	capacity  int64 // tokens
	perMinute int64 // tokens
}

// A mistake is why a line is no command. It reads: problem "quoted": want.
type mistake struct {
	problem string
	quoted  []byte
	want    string
}

// parse reads a line without its ending.
func parse(line []byte) (c command, m *mistake) {
	var words [maxWords][]byte
	count := split(line, &words)
	if count == 0 || words[0][0] == '#' {
		return command{verb: nothing}, nil
	}
	c.verb = lookup(words[0])
	if c.verb == nothing {
		return c, &mistake{"unknown command", words[0], suggestion(words[0])}
	}
	entry := &commands[c.verb]
	given := count - 1
	if given < entry.min {
		return c, &mistake{"too few words in", line, "want " + entry.usage}
	}
	if given > entry.max {
		return c, &mistake{"too many words in", line, "want " + entry.usage}
	}

	switch c.verb {
	case limit:
		if c.capacity, m = integer(words[1], "capacity", 0, limiter.MaxCapacity); m == nil {
			c.perMinute, m = integer(words[2], "per_minute", 0, math.MaxInt64)
		}
	case now:
		if c.bare = given == 0; !c.bare {
			c.ms, m = integer(words[1], "ms", math.MinInt64, math.MaxInt64)
		}
	case request:
		c.client = words[1]
		c.cost, m = cost(words[2])
	case reserve:
		c.client = words[1]
		if c.maxWait, m = integer(words[2], "max_wait", 0, math.MaxInt64); m == nil {
			c.cost, m = cost(words[3])
		}
	case status:
		c.client = words[1]
	}
	return c, m
}

// split puts the line's words into words, as many as it holds, and returns how many.
func split(line []byte, words *[maxWords][]byte) (count int) {
	for i := 0; i < len(line) && count < maxWords; {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if i > start {
			words[count] = line[start:i]
			count++
		}
	}
	return count
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// integer reads a word as an integer of the range.
func integer(word []byte, name string, min, max int64) (int64, *mistake) {
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil || n < min || n > max {
		return 0, &mistake{"bad " + name, word,
			"want an integer from " + strconv.FormatInt(min, 10) + " to " + strconv.FormatInt(max, 10)}
	}
	return n, nil
}

// cost reads the last word as a number of tokens, 1 if there is none.
func cost(word []byte) (int64, *mistake) {
	if word == nil {
		return 1, nil
	}
	return integer(word, "cost", 1, math.MaxInt64)
}

// lookup finds a verb by its name, in which the case of ASCII letters does not matter.
func lookup(word []byte) verb {
	for v := range commands {
		if isName(word, commands[v].name) {
			return verb(v)
		}
	}
	return nothing
}

func isName(word []byte, name string) bool {
	if len(word) != len(name) {
		return false
	}
	for i, b := range word {
		if upper(b) != name[i] {
			return false
		}
	}
	return true
}

// upper is the upper case of a byte. Only ASCII letters have one: Unicode's rules would make an S of a long s.
func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

// suggestion says what was wanted in the place of an unknown verb.
func suggestion(word []byte) string {
	up := make([]byte, len(word))
	for i, b := range word {
		up[i] = upper(b)
	}
	name := string(up)
	switch name {
	case "?":
		return "want HELP"
	case "EXIT":
		return "want QUIT"
	}
	for _, c := range commands {
		if isOneAway(name, c.name) {
			return "did you mean " + c.name + "?"
		}
	}
	return "want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT"
}

// isOneAway reports whether a letter too many, too few or wrong, or two letters swapped, make the difference.
func isOneAway(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1
}
