// This is the first test to read: the reference, which is what a script must answer by the words of the specification
// alone. TestReference compares the program with it, byte for byte, and so do most tests of this package.
//
// The reference shares no code with the program but the text of HELP. Its integers are math/big, its store is a map, it
// splits the whole script into lines at once, and nothing in it is made fast.
package interp_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"testing"

	"tokenbucket/limiter/interp"
)

// TestReference runs a script with a line of every kind, and one with lines at and beyond the limit of length.
func TestReference(t *testing.T) {
	for name, script := range map[string][]byte{"every kind": []byte(everyKind), "long lines": longLines()} {
		verify(t, script)
		if out, invalid := newRefWorld().run(script); len(out) == 0 || len(invalid) == 0 {
			t.Errorf("%s\ngot:  %d bytes of answers and %d invalid lines\nwant: some of both", name, len(out), len(invalid))
		}
	}
}

// Arithmetic without bounds. No value is ever changed in place.

func num(n int64) *big.Int        { return big.NewInt(n) }
func add(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }
func sub(a, b *big.Int) *big.Int  { return new(big.Int).Sub(a, b) }
func mul(a, b *big.Int) *big.Int  { return new(big.Int).Mul(a, b) }
func atLeast(a, b *big.Int) bool  { return a.Cmp(b) >= 0 }
func moreThan(a, b *big.Int) bool { return a.Cmp(b) > 0 }

func maximum(a, b *big.Int) *big.Int {
	if atLeast(a, b) {
		return a
	}
	return b
}

func minimum(a, b *big.Int) *big.Int {
	if atLeast(a, b) {
		return b
	}
	return a
}

// floorDiv is a/b rounded towards minus infinity, for b above 0, where Euclid's quotient is that.
func floorDiv(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) }

// ceilDiv is a/b rounded towards plus infinity, for b above 0.
func ceilDiv(a, b *big.Int) *big.Int {
	q := floorDiv(new(big.Int).Neg(a), b)
	return q.Neg(q)
}

const (
	minInt      = math.MinInt64
	maxInt      = math.MaxInt64
	maxCapacity = 153_722_867_280_912
)

var (
	zero     = num(0)
	one      = num(1)
	thousand = num(1000)
	token    = num(60_000) // ticks
	least    = num(minInt)
	greatest = num(maxInt)
)

func fits64(n *big.Int) bool { return atLeast(n, least) && atLeast(greatest, n) }

// The bucket.

type refPolicy struct{ capacity, perMinute *big.Int }

type refBucket struct{ ticks, last *big.Int }

// A refOutcome is the answer to take: the number of the rule that decided, and of the rest what the rule computes.
type refOutcome struct {
	rule       int
	at         *big.Int // the time of the grant
	retryAfter *big.Int // seconds
	wait       *big.Int // ms
}

func (p refPolicy) full(now *big.Int) refBucket {
	return refBucket{ticks: mul(p.capacity, token), last: now}
}

func (p refPolicy) refill(b refBucket, now *big.Int) refBucket {
	elapsed := maximum(zero, sub(now, b.last))
	return refBucket{
		ticks: minimum(mul(p.capacity, token), add(b.ticks, mul(elapsed, p.perMinute))),
		last:  maximum(b.last, now),
	}
}

func (p refPolicy) take(b refBucket, now, cost, maxWait *big.Int) (refBucket, refOutcome) {
	b = p.refill(b, now)
	short := sub(mul(cost, token), b.ticks)
	if moreThan(cost, p.capacity) {
		return b, refOutcome{rule: 1}
	}
	if atLeast(zero, short) {
		return refBucket{sub(b.ticks, mul(cost, token)), b.last}, refOutcome{rule: 2, at: now}
	}
	if p.perMinute.Sign() == 0 {
		return b, refOutcome{rule: 3}
	}
	wait := ceilDiv(short, p.perMinute)
	if moreThan(wait, maxWait) {
		return b, refOutcome{rule: 4, wait: wait, retryAfter: ceilDiv(sub(wait, maxWait), thousand)}
	}
	spill := maximum(zero, sub(sub(mul(wait, p.perMinute), short), mul(sub(p.capacity, cost), token)))
	ticks := sub(b.ticks, add(mul(cost, token), spill))
	at := add(b.last, wait)
	if !fits64(ticks) || !fits64(at) {
		return b, refOutcome{rule: 5, wait: wait}
	}
	return refBucket{ticks, b.last}, refOutcome{rule: 6, wait: wait, at: at}
}

// The world: a policy, a clock and a bucket for each client.

type refWorld struct {
	refPolicy
	now      *big.Int
	buckets  map[string]refBucket
	outcomes []refOutcome // of the calls, in order
}

func newRefWorld() *refWorld {
	w := &refWorld{now: zero}
	w.limit(num(10), num(60))
	return w
}

func (w *refWorld) limit(capacity, perMinute *big.Int) {
	w.refPolicy = refPolicy{capacity, perMinute}
	w.buckets = map[string]refBucket{}
}

func (w *refWorld) bucket(client string) refBucket {
	b, seen := w.buckets[client]
	if !seen {
		b = w.full(w.now)
	}
	return b
}

func (w *refWorld) call(client string, cost, maxWait *big.Int) refOutcome {
	b, o := w.take(w.bucket(client), w.now, cost, maxWait)
	w.buckets[client] = b
	w.outcomes = append(w.outcomes, o)
	return o
}

// The answers, each a line without its LF.

func (w *refWorld) request(client string, cost *big.Int) string {
	o := w.call(client, cost, zero)
	if o.at == nil {
		return o.refusal()
	}
	return fmt.Sprint("200 X-RateLimit-Remaining: ", floorDiv(w.buckets[client].ticks, token))
}

func (w *refWorld) reserve(client string, maxWait, cost *big.Int) string {
	o := w.call(client, cost, maxWait)
	if o.at == nil {
		return o.refusal()
	}
	return fmt.Sprint("200 Send-At: ", o.at)
}

func (o refOutcome) refusal() string {
	if o.retryAfter == nil {
		return "429"
	}
	return fmt.Sprint("429 Retry-After: ", o.retryAfter)
}

func (w *refWorld) status(client string) string {
	b := w.refill(w.bucket(client), w.now)
	w.buckets[client] = b
	return thousandths(floorDiv(mul(b.ticks, thousand), token))
}

func thousandths(n *big.Int) string {
	sign, size := "", new(big.Int).Abs(n)
	if n.Sign() < 0 {
		sign = "-"
	}
	whole, rest := new(big.Int).QuoRem(size, thousand, new(big.Int))
	return fmt.Sprintf("%s%d.%03d", sign, whole, rest)
}

// The language.

var decimal = regexp.MustCompile(`^[+-]?[0-9]+$`)

// integer reads a word as an integer from lo to hi, or returns nil.
func integer(word []byte, lo, hi *big.Int) *big.Int {
	if !decimal.Match(word) {
		return nil
	}
	n, ok := new(big.Int).SetString(string(word), 10)
	if !ok || moreThan(lo, n) || moreThan(n, hi) {
		return nil
	}
	return n
}

// optionalCost reads words[i] as a cost; it is 1 if there is no such word.
func optionalCost(words [][]byte, i int) *big.Int {
	if i >= len(words) {
		return one
	}
	return integer(words[i], one, greatest)
}

// execute executes the words of a line. It returns the answer with its LF, or "" if there is none, and whether the line
// is valid. An invalid line changes nothing.
func (w *refWorld) execute(words [][]byte) (answer string, valid bool) {
	verb := bytes.Map(func(r rune) rune { // ASCII alone: a long s or a Kelvin sign is another letter
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, words[0])
	args := words[1:]
	between := func(lo, hi int) bool { return lo <= len(args) && len(args) <= hi }

	switch string(verb) {
	case "LIMIT":
		if between(2, 2) {
			capacity := integer(args[0], zero, num(maxCapacity))
			perMinute := integer(args[1], zero, greatest)
			if capacity != nil && perMinute != nil {
				w.limit(capacity, perMinute)
				return "", true
			}
		}
	case "NOW":
		if between(0, 0) {
			return fmt.Sprintln(w.now), true
		}
		if between(1, 1) {
			if now := integer(args[0], least, greatest); now != nil {
				w.now = now
				return "", true
			}
		}
	case "REQUEST":
		if between(1, 2) {
			if cost := optionalCost(args, 1); cost != nil {
				return w.request(string(args[0]), cost) + "\n", true
			}
		}
	case "RESERVE":
		if between(2, 3) {
			maxWait := integer(args[1], zero, greatest)
			cost := optionalCost(args, 2)
			if maxWait != nil && cost != nil {
				return w.reserve(string(args[0]), maxWait, cost) + "\n", true
			}
		}
	case "STATUS":
		if between(1, 1) {
			return w.status(string(args[0])) + "\n", true
		}
	case "HELP":
		if between(0, 0) {
			return help, true
		}
	}
	return "", false
}

var help = interp.Help()

var quit = regexp.MustCompile(`^[Qq][Uu][Ii][Tt]$`)

// An invalidLine is the number of an invalid line, and how many bytes of standard output come before its message.
type invalidLine struct {
	number int64
	after  int
}

// run returns the standard output of a script and its invalid lines.
func (w *refWorld) run(script []byte) (out []byte, invalid []invalidLine) {
	lines := bytes.Split(bytes.TrimPrefix(script, []byte("\xEF\xBB\xBF")), []byte("\n"))
	if len(lines[len(lines)-1]) == 0 { // after the last LF, or of no input, there is no line
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r")) // one, not more
		if len(line) > 65536 {
			invalid = append(invalid, invalidLine{int64(i + 1), len(out)})
			continue
		}
		words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		if len(words) == 1 && quit.Match(words[0]) {
			break
		}
		answer, valid := w.execute(words)
		out = append(out, answer...)
		if !valid {
			invalid = append(invalid, invalidLine{int64(i + 1), len(out)})
		}
	}
	return out, invalid
}
