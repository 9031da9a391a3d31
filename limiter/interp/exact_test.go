// These tests hold the interpreter against the reference: every script of small worlds, random scripts at the edges of 64
// bits, and the properties that the specification promises.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"tokenbucket/limiter"
	"tokenbucket/limiter/interp"
)

// play runs a script, which must not fail, and gives both outputs and whether any line was bad.
func play(t testing.TB, in io.Reader) (out, errs []byte, bad bool) {
	t.Helper()
	var o, e bytes.Buffer
	bad, err := interp.Run(in, &o, &e, interp.Options{})
	if err != nil {
		t.Fatalf("Run failed, with nothing to fail at: %v", err)
	}
	return o.Bytes(), e.Bytes(), bad
}

// playBoth runs a script with one writer for both outputs, as under 2>&1.
func playBoth(t testing.TB, in io.Reader) []byte {
	t.Helper()
	var both bytes.Buffer
	if _, err := interp.Run(in, &both, &both, interp.Options{}); err != nil {
		t.Fatalf("Run failed, with nothing to fail at: %v", err)
	}
	return both.Bytes()
}

// verify holds what a script makes of the program against the reference, and gives the messages for bad lines.
func verify(t testing.TB, script []byte) (messages []byte) {
	t.Helper()
	out, errs, bad := play(t, bytes.NewReader(script))
	wantOut, wantBad := reference(script)
	if !bytes.Equal(out, wantOut) {
		t.Fatalf("%s\ninput: %s", difference(out, wantOut), clip(script))
	}
	if numbers := badNumbers(t, script, errs); !slices.Equal(numbers, wantBad) {
		t.Fatalf("bad lines\ncame:   %v\nwanted: %v\nmessages: %s\ninput: %s", numbers, wantBad, clip(errs), clip(script))
	}
	if bad != (len(wantBad) > 0) {
		t.Fatalf("Run reported bad lines\ncame:   %v\nwanted: %v\ninput: %s", bad, !bad, clip(script))
	}
	return errs
}

var message = regexp.MustCompile(`^stdin:([0-9]+): .`)

// badNumbers is the numbers of the lines that the messages speak of, one a message.
func badNumbers(t testing.TB, script, messages []byte) (numbers []int64) {
	t.Helper()
	for m := range bytes.Lines(messages) {
		number := message.FindSubmatch(m)
		if number == nil || !bytes.HasSuffix(m, []byte("\n")) {
			t.Fatalf("a message\ncame:   %q\nwanted: one that starts stdin:N: and ends in LF\ninput: %s", m, clip(script))
		}
		n, _ := strconv.ParseInt(string(number[1]), 10, 64)
		numbers = append(numbers, n)
	}
	return numbers
}

// difference shows the first line in which two outputs differ.
func difference(got, want []byte) string {
	g, w := bytes.SplitAfter(got, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	i := 0
	for i < len(g)-1 && i < len(w)-1 && bytes.Equal(g[i], w[i]) {
		i++
	}
	return fmt.Sprintf("line %d of the output\ncame:   %s\nwanted: %s", i+1, clip(g[i]), clip(w[i]))
}

// clip quotes a text, without its middle if it is long.
func clip(text []byte) string {
	const most, side = 6000, 1000
	if len(text) <= most {
		return strconv.Quote(string(text))
	}
	return fmt.Sprintf("%q ... %d bytes ... %q", text[:side], len(text)-2*side, text[len(text)-side:])
}

// Every script of small worlds.

var (
	smallCapacities = []int64{0, 1, 2, 3}
	smallRates      = []int64{0, 1, 7, 60, 60001}
)

// tokenTime is how many ms a token takes to flow in, rounded up; a minute where none does.
func tokenTime(perMinute int64) int64 {
	if perMinute == 0 {
		return 60000
	}
	return 59999/perMinute + 1
}

// smallSteps is how the clock moves: back by a token's time and by 1, not at all, on by 1, and on by a token's time, by 1
// less and by 1 more; each once.
func smallSteps(perMinute int64) []int64 {
	token := tokenTime(perMinute)
	steps := []int64{-token, -1, 0, 1, token - 1, token, token + 1}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// smallCalls is what is called: STATUS, REQUESTs of 1, of 2 and of more than fits, and RESERVEs with waits of 1 ms less
// than a token's time, of that time and of three times as much.
func smallCalls(client string, perMinute int64) []line {
	token := tokenTime(perMinute)
	return []line{
		status(client),
		request(client, 1), request(client, 2), request(client, 4),
		reserve(client, token-1, 1), reserve(client, token, 1), reserve(client, 3*token, 2),
	}
}

// TestSmallWorlds: after every script of up to 5 calls of one client, each with a step of the clock before it, Policy's
// functions give the same outcome and the same bucket as the reference.
//
// Both are functions of a policy, a bucket and a clock. So scripts that lead to the same bucket at the same time have
// the same futures, and one of them is followed for all. A call with its step is one of 49 (of 28 at 60001 a minute, where
// a token's time is 1 ms), in 16 and 4 worlds: with lengths 1 to 5 that is
// 16 * (49 + ... + 49^5) + 4 * (28 + ... + 28^5) = 4,685,153,536 scripts.
func TestSmallWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const length, want = 5, 4_685_153_536
	var scripts int64
	for _, capacity := range smallCapacities {
		for _, perMinute := range smallRates {
			scripts += walk(t, limiter.Policy{Capacity: capacity, PerMinute: perMinute}, length)
		}
	}
	if scripts != want {
		t.Errorf("scripts checked\ncame:   %d\nwanted: %d", scripts, int64(want))
	}
}

// A place is where scripts lead to: a client's bucket, if it has one, and the clock.
type place struct {
	bucket limiter.Bucket
	seen   bool
	now    int64
}

// A trail is how many scripts lead to a place, and the last step of one of them.
type trail struct {
	scripts int64
	before  *trail
	text    string
}

func (tr *trail) String() string {
	if tr.before == nil {
		return ""
	}
	return tr.before.String() + tr.text
}

// walk checks every script of up to length calls under a policy, and counts them.
func walk(t *testing.T, p limiter.Policy, length int) (scripts int64) {
	calls := smallCalls("a", p.PerMinute)
	places := map[place]*trail{{}: {scripts: 1}}
	for range length {
		next := make(map[place]*trail)
		for from, way := range places {
			for _, step := range smallSteps(p.PerMinute) {
				for _, call := range calls {
					scripts += way.scripts
					to, fault := from.follow(p, from.now+step, call)
					known := next[to]
					if known == nil {
						known = &trail{before: way, text: nowAt(to.now).String() + call.String()}
						next[to] = known
					}
					known.scripts += way.scripts
					if fault != "" {
						t.Fatalf("%s\nafter: LIMIT %d %d\n%s%s%s", fault, p.Capacity, p.PerMinute, way, nowAt(to.now), call)
					}
				}
			}
		}
		places = next
	}
	return scripts
}

// follow is the place where a call at a time leads to, and what is wrong with it.
func (at place) follow(p limiter.Policy, now int64, call line) (to place, fault string) {
	ref := refPolicy{num(p.Capacity), num(p.PerMinute)}
	bucket, refBucket := at.bucket, refBucket{num(at.bucket.Ticks), num(at.bucket.Last)}
	if !at.seen {
		bucket, refBucket = p.Full(now), ref.full(num(now))
	}
	var o limiter.Outcome
	var refO refOutcome
	if call.verb == "STATUS" {
		bucket = p.TopUp(bucket, now)
		refBucket = ref.topUp(refBucket, num(now))
	} else {
		bucket, o = p.Take(bucket, now, call.cost, call.wait)
		refBucket, refO = ref.take(refBucket, num(now), num(call.cost), num(call.wait))
	}
	grant, retry := zero, zero
	if refO.at != nil {
		grant = refO.at
	}
	if refO.retryAfter != nil {
		retry = refO.retryAfter
	}
	if !is(refBucket.ticks, bucket.Ticks) || !is(refBucket.last, bucket.Last) ||
		o.Granted != (refO.at != nil) || !is(grant, o.At) || !is(retry, o.RetryAfter) {
		fault = fmt.Sprintf("came:   %+v, %+v\nwanted: {Ticks:%d Last:%d}, rule %d, at %v, retry after %v",
			bucket, o, refBucket.ticks, refBucket.last, refO.rule, refO.at, refO.retryAfter)
	}
	return place{bucket, true, now}, fault
}

func is(n *big.Int, m int64) bool { return n.IsInt64() && n.Int64() == m }

// TestSmallWorldsAsText: the interpreter answers every script of 4 lines of two clients as the reference does. A line is a
// move of the clock (back, by 1 ms, by a token's time, by 1 less and by 1 more) or one of five calls of one of the two;
// shorter scripts are the beginnings of these. That is 15 lines (13 at 60001 a minute, where two moves are the same as
// another or none), and 16 * 15^4 + 4 * 13^4 = 924,244 scripts in 20 worlds. Of two that differ in the clients' names alone the
// one where a calls first is run: with 5 (3) moves these are 16 * (15^4 + 5^4)/2 + 4 * (13^4 + 3^4)/2 = 467,284. Those of a
// world are one input, a LIMIT and NOW 0 before each and a STATUS of a third client, new and so full, after it.
func TestSmallWorldsAsText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const length, want = 4, 467_284
	var scripts atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, capacity := range smallCapacities {
			for _, perMinute := range smallRates {
				t.Run(fmt.Sprintf("%d at %d", capacity, perMinute), func(t *testing.T) {
					t.Parallel()
					var texts author
					texts.grow(capacity, perMinute, length)
					scripts.Add(texts.scripts)
					out, errs, _ := play(t, bytes.NewReader(texts.in))
					if len(errs) > 0 {
						t.Errorf("messages\ncame:   %s\nwanted: none", clip(errs))
					}
					if bytes.Equal(out, texts.want) {
						return
					}
					for _, script := range bytes.SplitAfter(texts.in, []byte("STATUS end\n")) {
						verify(t, script)
					}
					t.Errorf("in a long input alone: %s", difference(out, texts.want))
				})
			}
		}
	})
	if n := scripts.Load(); n != want {
		t.Errorf("scripts checked\ncame:   %d\nwanted: %d", n, want)
	}
}

// An author writes all scripts of a world, and their answers by the reference.
type author struct {
	letters  []line // a NOW among them moves the clock by its ms
	in, want []byte
	scripts  int64
}

func (w *author) grow(capacity, perMinute int64, length int) {
	for _, step := range smallSteps(perMinute) {
		if step != 0 && (step != -1 || tokenTime(perMinute) == 1) {
			w.letters = append(w.letters, nowAt(step))
		}
	}
	for _, client := range []string{"a", "b"} {
		calls := smallCalls(client, perMinute)
		w.letters = append(w.letters, calls[0], calls[1], calls[2], calls[5], calls[6])
	}
	world := newRefWorld()
	world.limit(num(capacity), num(perMinute))
	w.branch(world, []byte(limitTo(capacity, perMinute).String()+"NOW 0\n"), nil, length)
}

// branch writes all scripts that begin with a text, which led the reference to a world and made it give some answers.
func (w *author) branch(world *refWorld, text, answers []byte, length int) {
	if length == 0 {
		w.scripts++
		w.in = append(append(w.in, text...), "STATUS end\n"...)
		w.want = append(append(w.want, answers...), thousandths(mul(world.capacity, thousand))+"\n"...)
		return
	}
	for _, l := range w.letters {
		if len(world.buckets) == 0 && l.client == "b" {
			continue // a calls first
		}
		next := &refWorld{refPolicy: world.refPolicy, now: world.now, buckets: make(map[string]refBucket, 2)}
		for client, b := range world.buckets {
			next.buckets[client] = b
		}
		answer := ""
		switch l.verb {
		case "NOW":
			next.now = add(world.now, num(l.ms))
			l = nowAt(next.now.Int64())
		case "REQUEST":
			answer = next.request(l.client, num(l.cost)) + "\n"
		case "RESERVE":
			answer = next.reserve(l.client, num(l.wait), num(l.cost)) + "\n"
		case "STATUS":
			answer = next.status(l.client) + "\n"
		}
		w.branch(next, append(slices.Clip(text), l.String()...), append(slices.Clip(answers), answer...), length-1)
	}
}

// Random scripts.

// A line is a command of a script; what its verb does not use is 0.
type line struct {
	verb                string
	client              string
	capacity, perMinute int64
	ms, wait, cost      int64
}

func limitTo(capacity, perMinute int64) line {
	return line{verb: "LIMIT", capacity: capacity, perMinute: perMinute}
}
func nowAt(ms int64) line       { return line{verb: "NOW", ms: ms} }
func status(client string) line { return line{verb: "STATUS", client: client} }
func request(client string, cost int64) line {
	return line{verb: "REQUEST", client: client, cost: cost}
}
func reserve(client string, wait, cost int64) line {
	return line{verb: "RESERVE", client: client, wait: wait, cost: cost}
}

// String is the line as the interpreter reads it.
func (l line) String() string {
	switch l.verb {
	case "LIMIT":
		return fmt.Sprintf("LIMIT %d %d\n", l.capacity, l.perMinute)
	case "NOW":
		return fmt.Sprintf("NOW %d\n", l.ms)
	case "REQUEST":
		return fmt.Sprintf("REQUEST %s %d\n", l.client, l.cost)
	case "RESERVE":
		return fmt.Sprintf("RESERVE %s %d %d\n", l.client, l.wait, l.cost)
	}
	return fmt.Sprintf("STATUS %s\n", l.client)
}

func text(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String())
	}
	return b.String()
}

// answers runs lines, all of them good, and gives the answer to each, "" to LIMIT and NOW.
func answers(t *testing.T, lines []line) []string {
	t.Helper()
	out, errs, _ := play(t, strings.NewReader(text(lines)))
	came := strings.SplitAfter(string(out), "\n") // the last is what follows the last LF
	given := make([]string, len(lines))
	calls := 0
	for i, l := range lines {
		if l.client != "" {
			if calls < len(came)-1 {
				given[i] = strings.TrimSuffix(came[calls], "\n")
			}
			calls++
		}
	}
	if len(errs) > 0 || calls != len(came)-1 || came[calls] != "" {
		t.Fatalf("came:   %s%s\nwanted: an answer to every call\ninput:\n%s", out, errs, text(lines))
	}
	return given
}

func granted(answer string) bool { return strings.HasPrefix(answer, "200 ") }

// after is the number behind a prefix of an answer, and whether the answer has that prefix.
func after(answer, prefix string) (int64, bool) {
	rest, ok := strings.CutPrefix(answer, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	return n, err == nil
}

// A draw is a source of random scripts.
type draw struct{ *rand.Rand }

// eachSeed runs a test with a number of sources, and says which one it was that failed.
func eachSeed(t *testing.T, seeds int, test func(t *testing.T, d draw)) {
	t.Helper()
	for seed := range seeds {
		func() {
			defer func() { // also after a Fatal
				if t.Failed() {
					t.Logf("seed: %d", seed)
				}
			}()
			test(t, draw{rand.New(rand.NewPCG(uint64(seed), 0))})
		}()
		if t.Failed() {
			return
		}
	}
}

// one is one of some values.
func (d draw) one(of ...int64) int64 { return of[d.IntN(len(of))] }

// from draws an integer from lo to hi: as often an everyday one as one near lo, near hi, near plus or minus a power of two,
// or of any size.
func (d draw) from(lo, hi int64) int64 {
	for {
		n := d.Int64N(d.one(2, 10, 1000, 100_000))
		switch d.IntN(8) {
		case 0:
			n += lo
		case 1:
			n = hi - n
		case 2:
			n = d.one(1, -1)<<d.IntN(64) + d.one(-n, n)
		case 3:
			n = int64(d.Uint64()) >> d.IntN(64)
		}
		if lo <= n && n <= hi {
			return n
		}
	}
}

// cost draws a cost: mostly one that fits the capacity.
func (d draw) cost(capacity int64) int64 {
	if capacity == 0 || d.IntN(16) == 0 {
		return d.from(1, math.MaxInt64)
	}
	return d.from(1, capacity)
}

// wait draws a max_wait: mostly one of some tokens' time.
func (d draw) wait(perMinute int64) int64 {
	if d.IntN(4) == 0 {
		return d.from(0, math.MaxInt64)
	}
	return d.Int64N(5 * tokenTime(perMinute))
}

// schedule draws n lines that follow a LIMIT and a NOW, of everyday values or of any, with calls by some clients. The
// clock is set back or not.
func (d draw) schedule(n int, back bool, clients ...string) []line {
	capacity, now := 1+d.Int64N(5), d.Int64N(1e6)
	perMinute := d.one(0, 1, 7, 30, 60, 90, 1000, 59_999, 60_000, 60_001, 250_000, 1e6)
	everyday := d.IntN(2) == 0
	if !everyday {
		capacity, perMinute, now = d.from(0, limiter.MaxCapacity), d.from(0, math.MaxInt64), d.from(math.MinInt64, math.MaxInt64)
	}
	lines := []line{limitTo(capacity, perMinute), nowAt(now)}
	for range n {
		client := clients[d.IntN(len(clients))]
		switch d.IntN(8) {
		case 0, 1, 2:
			next := d.from(math.MinInt64, math.MaxInt64)
			if everyday || d.IntN(4) > 0 {
				next = now + d.Int64N(d.one(2, 2*tokenTime(perMinute), 5000))
				if back && d.IntN(4) == 0 {
					next = now - d.Int64N(2*tokenTime(perMinute))
				}
			}
			if next >= now || back {
				now = next
				lines = append(lines, nowAt(now))
			}
		case 3, 4:
			lines = append(lines, request(client, d.cost(capacity)))
		case 5, 6:
			lines = append(lines, reserve(client, d.wait(perMinute), d.cost(capacity)))
		case 7:
			lines = append(lines, status(client))
		}
	}
	return lines
}

// TestScriptsAtTheEdges: the interpreter answers as the reference does also where values are near the ends of 64 bits.
func TestScriptsAtTheEdges(t *testing.T) {
	var spoke [7]int // how often each rule did
	eachSeed(t, 5000, func(t *testing.T, d draw) {
		script := []byte("NOW\n" + text(d.schedule(30, true, "a", "b", "ab")) + "NOW\n")
		out, errs, _ := play(t, bytes.NewReader(script))
		world := newRefWorld()
		want, _ := world.run(script)
		if !bytes.Equal(out, want) || len(errs) > 0 {
			t.Fatalf("%s\nmessages: %q\ninput:\n%s", difference(out, want), errs, script)
		}
		for _, rule := range world.spoke {
			spoke[rule]++
		}
	})
	for rule := 1; rule <= 6; rule++ {
		if spoke[rule] < 150 {
			t.Errorf("the scripts are no test of rule %d: it spoke %d times", rule, spoke[rule])
		}
	}
}

// The properties.

// TestGrantsAreBounded: in any stretch of time the tokens granted, each at the time of its grant, are at most the capacity
// and what flows in meanwhile, as long as the clock is never set back.
func TestGrantsAreBounded(t *testing.T) {
	type grant struct{ at, cost *big.Int }
	eachSeed(t, 3000, func(t *testing.T, d draw) {
		lines := d.schedule(30, false, "a")
		given := answers(t, lines)
		var grants []grant
		now := int64(0)
		for i, l := range lines {
			if l.verb == "NOW" {
				now = l.ms
			}
			if granted(given[i]) {
				at, booked := after(given[i], "200 Send-At: ")
				if !booked {
					at = now
				}
				grants = append(grants, grant{num(at), num(l.cost)})
			}
		}
		slices.SortStableFunc(grants, func(g, h grant) int { return g.at.Cmp(h.at) })
		capacity, rate := num(lines[0].capacity), num(lines[0].perMinute)
		for i := range grants {
			sum := zero
			for _, g := range grants[i:] {
				sum = add(sum, g.cost)
				most := add(mul(capacity, token), mul(sub(g.at, grants[i].at), rate))
				if moreThan(mul(sum, token), most) {
					t.Errorf("from %d to %d\ncame:   %d tokens\nwanted: at most %d ticks\ninput:\n%sanswers: %q",
						grants[i].at, g.at, sum, most, text(lines), given)
				}
			}
		}
	})
}

// TestRetryAfterIsEnoughAndNoMore: a Retry-After is at least 1; who waits that long, alone on the key, is granted the same
// call, unless its time or debt would not fit 64 bits; and a second less is too soon where it is above 1.
func TestRetryAfterIsEnoughAndNoMore(t *testing.T) {
	enough, tooSoon, outOfRange := 0, 0, 0
	check := func(t *testing.T, lines []line) {
		now := int64(0)
		for i, answer := range answers(t, lines) {
			if lines[i].verb == "NOW" {
				now = lines[i].ms
			}
			seconds, promised := after(answer, "429 Retry-After: ")
			if !promised {
				continue
			}
			// again calls once more after some seconds, and gives the answer.
			again := func(seconds int64) (answer, script string) {
				retried := append(lines[:i+1:i+1], nowAt(now+seconds*1000), lines[i])
				return answers(t, retried)[i+2], text(retried)
			}
			if seconds < 1 {
				t.Fatalf("came:   %s\nwanted: at least 1\ninput:\n%s", answer, text(lines[:i+1]))
			}
			if seconds > math.MaxInt64/1000 || now > 0 && seconds*1000 > math.MaxInt64-now {
				continue // no clock gets there
			}
			switch answer, script := again(seconds); {
			case granted(answer):
				enough++
			case answer == "429":
				world := newRefWorld()
				world.run([]byte(script))
				if rule := world.spoke[len(world.spoke)-1]; rule != 5 {
					t.Fatalf("the last line\ncame:   %s\nwanted: a grant\ninput:\n%s", answer, script)
				}
				outOfRange++
			default:
				t.Fatalf("the last line\ncame:   %s\nwanted: a grant\ninput:\n%s", answer, script)
			}
			if seconds > 1 {
				if answer, script := again(seconds - 1); granted(answer) {
					t.Fatalf("the last line\ncame:   %s\nwanted: a refusal\ninput:\n%s", answer, script)
				}
				tooSoon++
			}
		}
	}
	eachSeed(t, 1000, func(t *testing.T, d draw) { check(t, d.schedule(20, false, "a")) })
	// 60 s are short and 50 s allowed: 10 s later the wait will do, but ends 5 s after the last time there is.
	check(t, []line{limitTo(1, 1), nowAt(math.MaxInt64 - 55_000), request("a", 1), reserve("a", 50_000, 1)})
	if enough < 500 || tooSoon < 200 || outOfRange == 0 {
		t.Errorf("no test: %d waits were enough, %d too short, %d led out of range", enough, tooSoon, outOfRange)
	}
}

// TestScheduleReplays: a schedule of RESERVE grants, of any costs, replayed as REQUESTs at their times on a fresh bucket, is
// never refused, as long as the clock is never set back.
func TestScheduleReplays(t *testing.T) {
	replayed := 0
	eachSeed(t, 3000, func(t *testing.T, d draw) {
		var lines []line
		for _, l := range d.schedule(30, false, "a") {
			if l.verb == "REQUEST" || l.verb == "STATUS" {
				l = reserve("a", d.wait(lines[0].perMinute), d.cost(lines[0].capacity))
			}
			lines = append(lines, l)
		}
		replay := lines[:1:1]
		for i, answer := range answers(t, lines) {
			if at, ok := after(answer, "200 Send-At: "); ok {
				replay = append(replay, nowAt(at), request("a", lines[i].cost))
			}
		}
		for i, answer := range answers(t, replay) {
			if replay[i].verb != "REQUEST" {
				continue
			}
			if !granted(answer) {
				t.Fatalf("line %d of the replay\ncame:   %s\nwanted: a grant\nreplay:\n%sschedule:\n%s",
					i+1, answer, text(replay), text(lines))
			}
			replayed++
		}
	})
	if replayed < 1000 {
		t.Errorf("no test: %d grants", replayed)
	}
}

// TestAskingChangesNothing: asking, by STATUS or by a call that is refused, at the time of another line or between two, changes
// no later answer, as long as the clock is never set back.
func TestAskingChangesNothing(t *testing.T) {
	refused := 0
	eachSeed(t, 400, func(t *testing.T, d draw) {
		lines := d.schedule(20, false, "a", "b")
		capacity, perMinute := lines[0].capacity, lines[0].perMinute
		asked := slices.Clone(lines[:2])
		var kept []int // where in asked the lines are
		now := lines[1].ms
		for _, l := range lines[2:] {
			if l.verb == "NOW" {
				if between := now + int64(d.Uint64N(uint64(l.ms)-uint64(now)+1)); d.IntN(2) == 0 {
					asked = append(asked, nowAt(between))
				}
				now = l.ms
			}
			for range d.IntN(3) {
				client := string('a' + rune(d.IntN(3)))
				call := status(client)
				if d.IntN(2) == 0 {
					call = reserve(client, d.wait(perMinute), d.cost(capacity))
				}
				try := append(asked[:len(asked):len(asked)], call)
				if answer := answers(t, try)[len(try)-1]; !granted(answer) {
					asked = try
					if call.verb == "RESERVE" {
						refused++
					}
				}
			}
			kept = append(kept, len(asked))
			asked = append(asked, l)
		}
		want, got := answers(t, lines), answers(t, asked)
		for i, k := range kept {
			if got[k] != want[i+2] {
				t.Fatalf("line %d\ncame:   %s\nwanted: %s\ninput:\n%swithout asking:\n%s",
					k+1, got[k], want[i+2], text(asked), text(lines))
			}
		}
	})
	if refused < 500 {
		t.Errorf("no test: %d refused calls", refused)
	}
}

// TestClientsAreApart: in any interleaving each client gets the answers that it would have had alone.
func TestClientsAreApart(t *testing.T) {
	clients := []string{"a", "b", "ab", "A"}
	eachSeed(t, 1000, func(t *testing.T, d draw) {
		lines := d.schedule(40, true, clients...)
		given := answers(t, lines)
		for _, client := range clients {
			var alone []line
			var want []string
			for i, l := range lines {
				if l.client == "" || l.client == client {
					alone, want = append(alone, l), append(want, given[i])
				}
			}
			for i, got := range answers(t, alone) {
				if got != want[i] {
					t.Fatalf("line %d\ncame:   %s\nwanted: %s, as together with others\ninput:\n%stogether:\n%s",
						i+1, got, want[i], text(alone), text(lines))
				}
			}
		}
	})
}

// TestHowTheClockIsSet: NOW to the time that it is, NOW twice, and NOW in smaller steps, forward or back, change nothing.
func TestHowTheClockIsSet(t *testing.T) {
	eachSeed(t, 2000, func(t *testing.T, d draw) {
		lines := d.schedule(30, true, "a", "b")
		var other []line
		var want []string
		now := int64(0)
		for i, answer := range answers(t, lines) {
			if lines[i].verb == "NOW" {
				between := []int64{lines[i].ms}
				for range d.IntN(3) {
					lo, hi := min(now, lines[i].ms), max(now, lines[i].ms)
					between = append(between, lo+int64(d.Uint64N(uint64(hi)-uint64(lo)|1)))
				}
				slices.Sort(between)
				if lines[i].ms < now {
					slices.Reverse(between)
				}
				for _, ms := range between {
					other, want = append(other, nowAt(ms)), append(want, "")
				}
				now = lines[i].ms
			}
			for range d.IntN(2) {
				other, want = append(other, nowAt(now)), append(want, "")
			}
			other, want = append(other, lines[i]), append(want, answer)
		}
		for i, got := range answers(t, other) {
			if got != want[i] {
				t.Fatalf("line %d\ncame:   %s\nwanted: %s\ninput:\n%swith fewer steps:\n%s",
					i+1, got, want[i], text(other), text(lines))
			}
		}
	})
}

// How the input is read.

// everyKind has a line of every kind; the bad ones are of every kind too.
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

// A cutReader gives its parts, one a read as far as they fit, and calls before each read.
type cutReader struct {
	parts  [][]byte
	before func(part int) // given the number of the part that is next
	part   int
}

func (r *cutReader) Read(p []byte) (int, error) {
	if r.before != nil {
		r.before(r.part)
	}
	if r.part == len(r.parts) {
		return 0, io.EOF
	}
	n := copy(p, r.parts[r.part])
	if r.parts[r.part] = r.parts[r.part][n:]; len(r.parts[r.part]) == 0 {
		r.part++
	}
	return n, nil
}

// chunks cuts a script every so many bytes.
func chunks(script []byte, size int) *cutReader {
	return &cutReader{parts: slices.Collect(slices.Chunk(script, size))}
}

// TestReference: the script of every kind of line, and that of long ones, are answered as the reference does, and they are
// what they claim to be.
func TestReference(t *testing.T) {
	for name, script := range map[string][]byte{"every kind": []byte(everyKind), "long lines": longLines()} {
		verify(t, script)
		if out, bad := reference(script); len(out) == 0 || len(bad) == 0 {
			t.Errorf("%s: %d bytes of answers and %d bad lines", name, len(out), len(bad))
		}
	}
}

// TestFirstLook: lines that are nearly what is understood at a first look are answered as the reference does, also in the
// midst of lines that are.
func TestFirstLook(t *testing.T) {
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
}

// TestReads: how the input is cut into reads changes no byte of both outputs, nor of their order.
func TestReads(t *testing.T) {
	type reader struct {
		name string
		of   func(script []byte) io.Reader
	}
	readers := []reader{
		{"a byte a read", func(s []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(s)) }},
		{"half of what is asked", func(s []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(s)) }},
		{"the end with the data", func(s []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(s)) }},
		{"a byte a read, the end with the last", func(s []byte) io.Reader {
			return iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(s)))
		}},
	}
	for _, size := range []int{2, 3, 5, 7, 11, 13, 64, 1000, 65_535, 65_536, 65_537, 131_072} {
		readers = append(readers, reader{fmt.Sprint(size, " bytes a read"), func(s []byte) io.Reader { return chunks(s, size) }})
	}
	quits := strings.Replace(everyKind, "QUIT 1\n", "quit\n", 1)
	scripts := [][]byte{[]byte(everyKind), []byte(everyKind + "\n"), []byte(quits), longLines()}
	for _, n := range []int{65_536, 65_537, 65_538, 150_000} { // at the limit and beyond, behind a byte-order mark
		for _, before := range []string{"", "NOW\n", "NOW\nNOW\n"} {
			scripts = append(scripts, []byte(before+"\xEF\xBB\xBF"+strings.Repeat("a", n)+"\nNOW"))
		}
	}
	for _, script := range scripts {
		messages := verify(t, script)
		want, _ := reference(script)
		whole := interleaved(script, messages)
		for _, r := range readers {
			out, errs, _ := play(t, r.of(script))
			if !bytes.Equal(out, want) {
				t.Errorf("%s: %s\ninput: %s", r.name, difference(out, want), clip(script))
			}
			if !bytes.Equal(errs, messages) {
				t.Errorf("%s, of the messages: %s\ninput: %s", r.name, difference(errs, messages), clip(script))
			}
			if both := playBoth(t, r.of(script)); !bytes.Equal(both, whole) {
				t.Errorf("%s, both outputs in one: %s\ninput: %s", r.name, difference(both, whole), clip(script))
			}
		}
	}
}

// interleaved is both outputs of a script in their order: that of the reference, and the messages, one for each bad line.
func interleaved(script, messages []byte) []byte {
	out, bad := newRefWorld().run(script)
	var both []byte
	done, i := 0, 0
	for m := range bytes.Lines(messages) {
		both = append(append(both, out[done:bad[i].after]...), m...)
		done = bad[i].after
		i++
	}
	return append(both, out[done:]...)
}

// lockedBuffer is a buffer that can be looked at while it is written.
type lockedBuffer struct {
	mutex sync.Mutex
	bytes []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

func (b *lockedBuffer) Bytes() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.bytes
}

// waitFor waits until the buffer has n bytes, and gives up after a minute, which is for ever.
func (b *lockedBuffer) waitFor(n int) bool {
	for begin := time.Now(); len(b.Bytes()) < n; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			return false
		}
	}
	return true
}

// TestCuts: cut in two anywhere, an input has the same outputs in the same order, and every complete line at hand is
// answered though no more comes.
func TestCuts(t *testing.T) {
	for _, script := range [][]byte{[]byte(everyKind), longLines()} {
		whole := interleaved(script, verify(t, script))
		start := 0
		for line := range bytes.Lines(script) {
			complete := script[:start]
			answered := len(interleaved(complete, verify(t, complete)))
			for i := range line {
				// In long lines only places near their ends matter, and near where they become too long.
				if 3 < i && i < len(line)-3 && len(line) > 1000 && (i < 65_534 || 65_541 < i) {
					continue
				}
				var both lockedBuffer
				cut := &cutReader{parts: [][]byte{script[:start+i], script[start+i:]}, before: func(part int) {
					if part == 1 && !both.waitFor(answered) {
						t.Errorf("cut at byte %d, before more comes\ncame:   %d bytes\nwanted: %d at least\ninput: %s",
							start+i, len(both.Bytes()), answered, clip(script))
					}
				}}
				if _, err := interp.Run(cut, &both, &both, interp.Options{}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(both.Bytes(), whole) {
					t.Fatalf("cut at byte %d: %s\ninput: %s", start+i, difference(both.Bytes(), whole), clip(script))
				}
			}
			start += len(line)
		}
	}
}
