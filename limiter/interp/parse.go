package interp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"tokenbucket/limiter"
)

// This file is the language: the verbs, how a line is parsed, and what is said about a line that is none of the commands.

// A verb is the first word of a command, and an index into verbs.
type verb uint8

const (
	limit verb = iota
	now
	request
	reserve
	status
	help
	quit

	blank   // a blank line or a comment
	invalid // a line with a syntax error
)

// isCall reports whether a verb is followed by a client's name.
func (v verb) isCall() bool { return request <= v && v <= status }

// A syntax is what may follow a verb, and what the command does.
type syntax struct {
	name       string
	parameters []parameter
	required   int // the first so many parameters can't be left out
	does       string
}

// A parameter is a word that follows a verb: the client's name, or an integer.
type parameter struct {
	name     string
	min, max int64
	index    int // in args
}

var (
	client   = parameter{name: "client"}
	capacity = parameter{"capacity", 0, limiter.MaxCapacity, 0}
	rate     = parameter{"per_minute", 0, math.MaxInt64, 1}
	clock    = parameter{"ms", math.MinInt64, math.MaxInt64, 0}
	cost     = parameter{"cost", 1, math.MaxInt64, 0}
	maxWait  = parameter{"max_wait", 0, math.MaxInt64, 1}
)

// The verbs, in the order in which HELP lists them. For each that is executed there is a case in executeBatch.
var verbs = [...]syntax{
	limit:   {"LIMIT", []parameter{capacity, rate}, 2, "set the policy for everyone, forget all buckets"},
	now:     {"NOW", []parameter{clock}, 0, "set the clock, or print it"},
	request: {"REQUEST", []parameter{client, cost}, 1, "take cost tokens (1) if they are there now"},
	reserve: {"RESERVE", []parameter{client, maxWait, cost}, 2, "take them now, or up to max_wait ms ahead"},
	status:  {"STATUS", []parameter{client}, 1, "print the tokens, take none"},
	help:    {"HELP", nil, 0, "print this list"},
	quit:    {"QUIT", nil, 0, "end; exit status 0, or 1 after a bad line"},
}

// usage returns the form of a command: optional words stand in brackets.
func (s *syntax) usage() string {
	text := s.name
	for i, p := range s.parameters {
		if i < s.required {
			text += " " + p.name
		} else {
			text += " [" + p.name + "]"
		}
	}
	return text
}

// Help returns the answer to HELP: an example, and the commands, a line each.
func Help() string {
	text := "For example, LIMIT 3 60 and then REQUEST alice: 200 X-RateLimit-Remaining: 2\n"
	for _, s := range verbs {
		text += fmt.Sprintf("%-31s %s\n", s.usage(), s.does)
	}
	return text
}

// Args are the integers of a command: capacity and rate, the time, or cost and max wait.
type args [2]int64

var usual = args{1, 0} // one token now

// A statement is a parsed line.
type statement struct {
	verb      verb
	client    []byte // a part of the line
	arguments args
	given     int // how many words follow the verb
}

// parse parses a line without its ending. A statement is returned with an error too, as far as it goes.
func parse(line []byte) (st statement, err error) {
	var words [5][]byte // one more than the longest command has, to see that there are too many
	count := 0
	for rest := line; count < len(words); count++ {
		if words[count], rest = cutWord(rest); len(words[count]) == 0 {
			break
		}
	}
	if count == 0 || words[0][0] == '#' {
		return statement{verb: blank}, nil
	}
	st = statement{verb: lookup(words[0]), arguments: usual, given: count - 1}
	if st.verb == invalid {
		return st, fmt.Errorf("unknown command %s: %s", quote(words[0]), suggestion(words[0]))
	}
	form := &verbs[st.verb]
	if st.given < form.required {
		return st, fmt.Errorf("too few words in %s: want %s", quote(line), form.usage())
	}
	if st.given > len(form.parameters) {
		return st, fmt.Errorf("too many words in %s: want %s", quote(line), form.usage())
	}
	for i, word := range words[1:count] {
		p := &form.parameters[i]
		if p.name == client.name {
			st.client = word
			continue
		}
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil || n < p.min || n > p.max {
			return st, fmt.Errorf("bad %s %s: want an integer from %d to %d", p.name, quote(word), p.min, p.max)
		}
		st.arguments[p.index] = n
	}
	return st, nil
}

// cutWord returns the first word of a line, empty if there is none, and what follows it.
func cutWord(line []byte) (word, rest []byte) {
	start := 0
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	end := start
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	return line[start:end], line[end:]
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// lookup returns the verb with a name, in which the case of ASCII letters does not matter. Other characters with the same
// letter for their upper case, as the long s, have more bytes.
func lookup(word []byte) verb {
	for v := range verbs {
		if name := verbs[v].name; len(name) == len(word) && strings.EqualFold(name, string(word)) {
			return verb(v)
		}
	}
	return invalid
}

// suggestion returns what was wanted in the place of an unknown verb.
func suggestion(word []byte) string {
	name := strings.ToUpper(string(word))
	switch name {
	case "?":
		return "want HELP"
	case "EXIT":
		return "want QUIT"
	}
	var names []string
	for _, s := range verbs {
		if isOneAway(name, s.name) {
			return "did you mean " + s.name + "?"
		}
		names = append(names, s.name)
	}
	last := len(names) - 1
	return "want " + strings.Join(names[:last], ", ") + " or " + names[last]
}

// isOneAway reports whether a and b differ by one letter too many, too few or wrong, or by two letters swapped.
func isOneAway(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1 && a != b
}

// maxQuoted is how many bytes of the input a message shows.
const maxQuoted = 40

// quote quotes at most maxQuoted bytes of text, whole characters, and escapes what a terminal should not get.
func quote(text []byte) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(string(text))
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(string(text[:cut])) + "..."
}
