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
	request: {"REQUEST", "REQUEST client [cost]", "take tokens (1) if they are there now", 1, 2},
	reserve: {"RESERVE", "RESERVE client max_wait [cost]", "take them now, or up to max_wait ms ahead", 2, 3},
	status:  {"STATUS", "STATUS client", "print the tokens, take none", 1, 1},
	help:    {"HELP", "HELP", "print this list", 0, 0},
	quit:    {"QUIT", "QUIT", "end, as the end of the input does", 0, 0},
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
func parse(line []byte) (command, *mistake) {
	var buf [maxWords][]byte
	words := split(line, buf[:0])
	if len(words) == 0 || words[0][0] == '#' {
		return command{verb: nothing}, nil
	}
	v := lookup(words[0])
	if v == nothing {
		return command{}, &mistake{"unknown command", words[0], suggestion(words[0])}
	}
	args := arguments{words: words[1:]}
	if given := len(args.words); given < commands[v].min {
		return command{}, &mistake{"too few words in", line, "want " + commands[v].usage}
	} else if given > commands[v].max {
		return command{}, &mistake{"too many words in", line, "want " + commands[v].usage}
	}

	c := command{verb: v}
	switch v {
	case limit:
		c.capacity = args.integer("capacity", 0, limiter.MaxCapacity)
		c.perMinute = args.integer("per_minute", 0, math.MaxInt64)
	case now:
		if c.bare = len(args.words) == 0; !c.bare {
			c.ms = args.integer("ms", math.MinInt64, math.MaxInt64)
		}
	case request:
		c.client = args.word()
		c.cost = args.cost()
	case reserve:
		c.client = args.word()
		c.maxWait = args.integer("max_wait", 0, math.MaxInt64)
		c.cost = args.cost()
	case status:
		c.client = args.word()
	}
	return c, args.mistake
}

// split appends the line's words to words, as far as its capacity goes.
func split(line []byte, words [][]byte) [][]byte {
	for i := 0; i < len(line) && len(words) < cap(words); {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if i > start {
			words = append(words, line[start:i])
		}
	}
	return words
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// lookup finds a verb by its name, in which the case of ASCII letters does not matter.
func lookup(word []byte) verb {
	name := string(upper(word))
	for v := range commands {
		if commands[v].name == name {
			return verb(v)
		}
	}
	return nothing
}

// upper is the word in upper case. Only ASCII letters have one here: Unicode would make S of a long s.
func upper(word []byte) []byte {
	up := make([]byte, len(word))
	for i, b := range word {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		up[i] = b
	}
	return up
}

// suggestion says what was wanted in the place of an unknown verb.
func suggestion(word []byte) string {
	return "want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT"
}

// arguments takes the words after the verb one by one and keeps the first mistake in them.
type arguments struct {
	words   [][]byte
	mistake *mistake
}

func (a *arguments) word() []byte {
	w := a.words[0]
	a.words = a.words[1:]
	return w
}

// integer takes the next word as an integer of the range.
func (a *arguments) integer(name string, min, max int64) int64 {
	w := a.word()
	n, err := strconv.ParseInt(string(w), 10, 64)
	if (err != nil || n < min || n > max) && a.mistake == nil {
		a.mistake = &mistake{"bad " + name, w,
			"want an integer from " + strconv.FormatInt(min, 10) + " to " + strconv.FormatInt(max, 10)}
	}
	return n
}

// cost takes the last word, if there is one, as the number of tokens; 1 otherwise.
func (a *arguments) cost() int64 {
	if len(a.words) == 0 {
		return 1
	}
	return a.integer("cost", 1, math.MaxInt64)
}
