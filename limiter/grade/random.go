package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tokenbucket/limiter"
)

// This file makes random scripts of the exercise's language, and shrinks one that is answered wrong.

// A line is a command of the exercise; the integers that its verb does not have are 0.
type line struct {
	verb     string
	client   string
	integers [2]int64 // of LIMIT the capacity and the rate, of NOW the time in ms
}

func (l line) String() string {
	switch l.verb {
	case "LIMIT":
		return fmt.Sprintf("LIMIT %d %d\n", l.integers[0], l.integers[1])
	case "NOW":
		return fmt.Sprintf("NOW %d\n", l.integers[0])
	}
	return l.verb + " " + l.client + "\n"
}

func text(lines []line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l.String())
	}
	return b.Bytes()
}

// How many random scripts there are, and how many policies each has.
const (
	scripts  = 5
	policies = 200
)

// tryRandom runs the program on random scripts. It returns the first that is answered wrong, shrunk, or else the last.
func (p *program) tryRandom(seed uint64) (a attempt, err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range scripts {
		w, lines := newWorld(), []line(nil)
		for range policies {
			lines = w.addRandom(lines, r)
		}
		if a, err = p.try(lines); err != nil || a.got.fault != "" {
			break
		}
		if a.wrong < len(a.lines) {
			a, err = p.shrink(a)
			break
		}
	}
	a.name = fmt.Sprintf("random scripts, seed %d", seed)
	return a, err
}

// An attempt is what the program made of some lines.
type attempt struct {
	testCase
	lines []line
	got   result
	wrong int // index of the first line that was answered wrong, or else how many lines there are
}

// try runs the program on lines.
func (p *program) try(lines []line) (a attempt, err error) {
	a.lines, a.script = lines, text(lines)
	a.want, _ = reference(a.script, false)
	a.got, err = p.run(a.script, len(a.want))
	answer, _, _ := difference(a.got.out, a.want)
	for a.wrong = 0; a.wrong < len(lines); a.wrong++ {
		if lines[a.wrong].client != "" {
			if answer == 0 {
				break
			}
			answer--
		}
	}
	return a, err
}

// maxTries bounds how long shrinking takes.
const maxTries = 200

// shrink returns an attempt with the fewest lines that are still answered wrong, and then with the smallest numbers.
func (p *program) shrink(a attempt) (attempt, error) {
	tries := 0
	var failed error
	// better tries other lines, and keeps them if they are answered wrong too.
	better := func(lines []line) bool {
		if tries++; tries > maxTries || failed != nil || !isDecided(lines) {
			return false
		}
		b, err := p.try(lines)
		failed = err
		if err != nil || b.got.late || b.wrong == len(lines) {
			return false
		}
		b.lines = b.lines[:b.wrong+1]
		a = b
		return true
	}
	// fewer leaves out so many lines at a time.
	fewer := func(size int) {
		for at := 0; at < len(a.lines); {
			if !better(slices.Delete(slices.Clone(a.lines), at, min(at+size, len(a.lines)))) {
				at += size
			}
		}
	}
	better(a.lines[:min(a.wrong+1, len(a.lines))])
	for size := len(a.lines) / 2; size > 0; size /= 2 {
		fewer(size)
	}
	better(earlier(a.lines))
	for i := 0; i < len(a.lines); i++ {
		for k := range a.lines[i].integers {
			for _, smaller := range []func(n int64) int64{
				func(n int64) int64 { return 1 },
				func(n int64) int64 { return n / 10 },
				func(n int64) int64 { return n / 2 },
				func(n int64) int64 { return n - 1 },
			} {
				for i < len(a.lines) {
					lines := slices.Clone(a.lines)
					n := &lines[i].integers[k]
					if *n = smaller(*n); *n < 1 || *n >= a.lines[i].integers[k] || !better(lines) {
						break
					}
				}
			}
		}
	}
	fewer(1)
	best, err := p.try(a.lines)
	if err == nil && best.wrong < len(a.lines) {
		a = best
	}
	return a, failed
}

// earlier returns lines with all times moved, so that the earliest is 0.
func earlier(lines []line) []line {
	lines = slices.Clone(lines)
	first := int64(math.MaxInt64)
	for _, l := range lines {
		if l.verb == "NOW" {
			first = min(first, l.integers[0])
		}
	}
	for i := range lines {
		if lines[i].verb == "NOW" {
			lines[i].integers[0] -= first
		}
	}
	return lines
}

// A world is what a right solution knows.
type world struct {
	policy  limiter.Policy
	buckets map[string]limiter.Bucket
	now     int64
	asked   int64 // the latest time of a STATUS or a refusal since the last LIMIT
}

func newWorld() *world {
	return &world{policy: limiter.Policy{Capacity: 10, PerMinute: 60}, buckets: make(map[string]limiter.Bucket)}
}

// bucket returns a client's bucket by now.
func (w *world) bucket(client string) limiter.Bucket {
	b, seen := w.buckets[client]
	if !seen {
		b = w.policy.Full()
	}
	return w.policy.Refill(b, w.now)
}

// do runs a line. It reports false, and does not run it, where the line is a NOW that sets the clock back behind a STATUS or a
// refusal: whether these store their refill is left open by the exercise, and later answers depend on it.
func (w *world) do(l line) bool {
	switch l.verb {
	case "LIMIT":
		w.policy, w.asked = limiter.Policy{Capacity: l.integers[0], PerMinute: l.integers[1]}, 0
		clear(w.buckets)
	case "NOW":
		if l.integers[0] < w.asked {
			return false
		}
		w.now = l.integers[0]
	case "STATUS":
		w.asked = max(w.asked, w.now)
	case "REQUEST":
		b, o := w.policy.Take(w.bucket(l.client), w.now, 1, 0)
		w.buckets[l.client] = b
		if !o.Granted {
			w.asked = max(w.asked, w.now)
		}
	}
	return true
}

// isDecided reports whether the exercise says what the answers to lines are.
func isDecided(lines []line) bool {
	w := newWorld()
	for _, l := range lines {
		if !w.do(l) {
			return false
		}
	}
	return true
}

// addRandom adds lines of one policy. Their times come from how long the clients' next tokens take, so that answers change
// there.
func (w *world) addRandom(lines []line, r *rand.Rand) []line {
	one := func(of ...int64) int64 { return of[r.IntN(len(of))] }
	add := func(l line) {
		if w.do(l) {
			lines = append(lines, l)
		}
	}
	if r.IntN(20) > 0 {
		capacity := one(1, 1, 2, 2, 3, 5, 10, 12, 100, 1+r.Int64N(20), 1+r.Int64N(1_000_000))
		rate := one(1, 7, 7, 30, 59, 60, 61, 600, 7000, 60_000, 60_001, 1+r.Int64N(100), 1+r.Int64N(100_000))
		add(line{verb: "LIMIT", integers: [2]int64{capacity, rate}})
	}
	if r.IntN(20) > 0 {
		start := one(0, 0, 0, 1, 999, r.Int64N(100_000), 1<<31-500, 1<<32-500, 1_700_000_000_000)
		add(line{verb: "NOW", integers: [2]int64{start}})
	}
	clients := []string{"a", "b", "A", "client1", "client2", "Client1", "10.0.0.1", "10.0.0.10", "x", "y", "z", "B", "ab", "ba",
		"a-name-that-is-longer-than-most-names-are", "a-name-that-is-longer-than-most-names-ar3"}
	r.Shuffle(len(clients), func(i, j int) { clients[i], clients[j] = clients[j], clients[i] })
	clients = clients[:one(1, 1, 1, 2, 2, 3, 16)]
	for range 5 + r.IntN(30) {
		client := clients[r.IntN(len(clients))]
		switch r.IntN(8) {
		case 0, 1:
			now := w.now
			wait := max(0, (limiter.TicksPerToken-w.bucket(client).Ticks+w.policy.PerMinute-1)/w.policy.PerMinute) // for the next token
			switch r.IntN(8) {
			case 0, 1:
				now += wait + one(-1, 0, 0, 1)
			case 2: // so that whole seconds are left to wait, or a little more
				now += max(0, wait-1000*r.Int64N(wait/1000+1)-r.Int64N(2))
			case 3:
				now += one(1, 10, 100, 999, 1000, 1001, 60_000, r.Int64N(60_000))
			case 4:
				now += wait * one(2, 3, w.policy.Capacity)
			case 5:
				now += one(86_400_000, 46*86_400_000, 1+r.Int64N(1<<32))
			default:
				now -= one(1, 500, 1000, r.Int64N(100_000))
			}
			add(line{verb: "NOW", integers: [2]int64{max(0, now)}})
		case 2, 3:
			add(line{verb: "STATUS", client: client})
		default:
			for range one(1, 1, 2, min(w.policy.Capacity, 12), min(w.policy.Capacity, 12)+1) {
				add(line{verb: "REQUEST", client: client})
			}
		}
	}
	return lines
}
