// These tests compare the program with the reference on every script of small worlds: a few values of everything, a few
// commands long.
package interp_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"tokenbucket/limiter"
	"tokenbucket/limiter/interp"
)

var (
	smallCapacities = []int64{0, 1, 2, 3}
	smallRates      = []int64{0, 1, 7, 60, 60_001}
)

// smallSteps returns how the clock moves: back by a token's time and by 1, not at all, on by 1, and on by a token's time,
// by 1 less and by 1 more; each once.
func smallSteps(perMinute int64) []int64 {
	token := tokenTime(perMinute)
	steps := []int64{-token, -1, 0, 1, token - 1, token, token + 1}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// smallCalls returns the calls of a client: STATUS, REQUESTs of 1, of 2 and of more than fits, and RESERVEs with max waits
// of 1 ms less than a token's time, of that time and of three times as much.
func smallCalls(client string, perMinute int64) []command {
	token := tokenTime(perMinute)
	return []command{
		status(client),
		request(client, 1), request(client, 2), request(client, 4),
		reserve(client, token-1, 1), reserve(client, token, 1), reserve(client, 3*token, 2),
	}
}

// TestSmallWorlds: after every script of up to 5 calls of one client, each with a step of the clock before it, Refill and
// Take return the same bucket and the same outcome as the reference.
//
// Both are functions of a policy, a bucket and a clock. So scripts that lead to the same bucket at the same time have the
// same futures, and one of them is followed for all. A call with its step is one of 49 (of 28 at 60,001 a minute, where a
// token's time is 1 ms), in 16 and 4 worlds: with lengths 1 to 5 that is
// 16 * (49 + ... + 49^5) + 4 * (28 + ... + 28^5) = 4,685,153,536 scripts.
func TestSmallWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	const length, want = 5, 4_685_153_536
	var scripts int64
	for _, capacity := range smallCapacities {
		for _, perMinute := range smallRates {
			scripts += walk(t, limiter.Policy{Capacity: capacity, PerMinute: perMinute}, length)
		}
	}
	if scripts != want {
		t.Errorf("scripts checked\ngot:  %d\nwant: %d", scripts, int64(want))
	}
}

// A state is what scripts lead to: the client's bucket, and the clock.
type state struct {
	bucket limiter.Bucket
	now    int64
}

// A path is how many scripts lead to a state, and the last commands of one of them.
type path struct {
	scripts int64
	before  *path
	text    string
}

func (p *path) String() string {
	if p.before == nil {
		return p.text
	}
	return p.before.String() + p.text
}

// walk checks every script of up to length calls under a policy, and counts them.
func walk(t *testing.T, p limiter.Policy, length int) (scripts int64) {
	calls := smallCalls("a", p.PerMinute)
	states := map[state]*path{{bucket: p.Full()}: {scripts: 1, text: setLimit(p.Capacity, p.PerMinute).String()}}
	for range length {
		next := make(map[state]*path)
		for from, way := range states {
			for _, step := range smallSteps(p.PerMinute) {
				now := from.now + step
				for _, call := range calls {
					scripts += way.scripts
					bucket, _, fault := compareTake(p, from.bucket, now, call.cost, call.maxWait)
					if fault != "" {
						t.Fatalf("%s%s%s%s", way, setNow(now), call, fault)
					}
					to := state{bucket, now}
					if next[to] == nil {
						next[to] = &path{before: way, text: setNow(now).String() + call.String()}
					}
					next[to].scripts += way.scripts
				}
			}
		}
		states = next
	}
	return scripts
}

// TestSmallWorldsAsText: the interpreter answers every script of 4 commands of two clients as the reference does. A command
// is a move of the clock (back, by 1 ms, by a token's time, by 1 less and by 1 more) or one of five calls of one of the
// two; shorter scripts are the beginnings of these. That is 15 commands (13 at 60,001 a minute, where two moves are the
// same as another or none), and 16 * 15^4 + 4 * 13^4 = 924,244 scripts in 20 worlds. Of two that differ in the clients'
// names alone, the one where a calls first is run: with 5 (3) moves these are
// 16 * (15^4 + 5^4)/2 + 4 * (13^4 + 3^4)/2 = 467,284. Those of a world are one input, with a LIMIT and NOW 0 before each
// and a STATUS of a third client, new and so full, after it.
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
					var a author
					a.writeAll(capacity, perMinute, length)
					scripts.Add(a.scripts)
					r := run(t, bytes.NewReader(a.in), interp.Options{})
					if len(r.errs) > 0 {
						t.Errorf("messages\ngot:  %s\nwant: none", excerpt(r.errs))
					}
					if bytes.Equal(r.out, a.want) {
						return
					}
					for _, script := range bytes.SplitAfter(a.in, []byte("STATUS end\n")) {
						verify(t, script)
					}
					t.Errorf("in a long input alone: %s", difference(r.out, a.want))
				})
			}
		}
	})
	if n := scripts.Load(); n != want {
		t.Errorf("scripts checked\ngot:  %d\nwant: %d", n, want)
	}
}

// An author writes all scripts of a world, and their answers by the reference.
type author struct {
	commands []command // a NOW among them moves the clock by its ms
	in, want []byte
	scripts  int64
}

func (a *author) writeAll(capacity, perMinute int64, length int) {
	for _, step := range smallSteps(perMinute) {
		if step != 0 && (step != -1 || tokenTime(perMinute) == 1) {
			a.commands = append(a.commands, setNow(step))
		}
	}
	for _, client := range []string{"a", "b"} {
		calls := smallCalls(client, perMinute)
		a.commands = append(a.commands, calls[0], calls[1], calls[2], calls[5], calls[6])
	}
	world := newRefWorld()
	world.limit(num(capacity), num(perMinute))
	a.write(world, []byte(setLimit(capacity, perMinute).String()+"NOW 0\n"), nil, length)
}

// write writes all scripts that begin with a text, which led the reference to a world and to some answers, and go on for
// length commands.
func (a *author) write(world *refWorld, text, answers []byte, length int) {
	if length == 0 {
		a.scripts++
		a.in = append(append(a.in, text...), "STATUS end\n"...)
		a.want = append(append(a.want, answers...), thousandths(mul(world.capacity, thousand))+"\n"...)
		return
	}
	for _, c := range a.commands {
		if len(world.buckets) == 0 && c.client == "b" {
			continue // a calls first
		}
		next := &refWorld{refPolicy: world.refPolicy, now: world.now, buckets: maps.Clone(world.buckets)}
		answer := ""
		switch c.verb {
		case "NOW":
			next.now = add(world.now, num(c.ms))
			c = setNow(next.now.Int64())
		case "REQUEST":
			answer = next.request(c.client, num(c.cost)) + "\n"
		case "RESERVE":
			answer = next.reserve(c.client, num(c.maxWait), num(c.cost)) + "\n"
		case "STATUS":
			answer = next.status(c.client) + "\n"
		}
		a.write(next, append(slices.Clip(text), c.String()...), append(slices.Clip(answers), answer...), length-1)
	}
}
