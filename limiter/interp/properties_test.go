// These tests check, on random schedules, the promises of the specification that hold between answers, such as that a
// Retry-After is enough; and what they take for granted, that clients are apart and that only the time counts.
package interp_test

import (
	"math/big"
	"slices"
	"testing"
)

// TestGrantsAreBounded: in any stretch of time the tokens granted, each at the time of its grant, are at most the capacity
// and what flows in meanwhile, as long as the clock is never set back.
func TestGrantsAreBounded(t *testing.T) {
	t.Parallel()
	type grant struct{ at, cost *big.Int }
	eachSeed(t, 3000, func(t *testing.T, s source) {
		commands := s.schedule(30, false, "a")
		answers := answers(t, commands)
		var grants []grant
		now := int64(0)
		for i, c := range commands {
			if c.verb == "NOW" {
				now = c.ms
			}
			if isGrant(answers[i]) {
				at, reserved := numberAfter(answers[i], "200 Send-At: ")
				if !reserved {
					at = now
				}
				grants = append(grants, grant{num(at), num(c.cost)})
			}
		}
		slices.SortStableFunc(grants, func(g, h grant) int { return g.at.Cmp(h.at) })
		capacity, perMinute := num(commands[0].capacity), num(commands[0].perMinute)
		for i := range grants {
			sum := zero
			for _, g := range grants[i:] {
				sum = add(sum, g.cost)
				most := add(mul(capacity, token), mul(sub(g.at, grants[i].at), perMinute))
				if moreThan(mul(sum, token), most) {
					t.Errorf("%sanswers: %q\ngot:  %d tokens from %d to %d\nwant: at most %d ticks",
						scriptOf(commands), answers, sum, grants[i].at, g.at, most)
				}
			}
		}
	})
}

// TestRetryAfterIsEnoughAndNoMore: a Retry-After is at least 1; who waits that long, alone on the key, is granted the same
// call, unless its time or debt would not fit 64 bits; and a second less is too soon where it is above 1.
func TestRetryAfterIsEnoughAndNoMore(t *testing.T) {
	t.Parallel()
	enough, tooSoon, outOfRange := 0, 0, 0
	check := func(t *testing.T, commands []command) {
		now := int64(0)
		for i, answer := range answers(t, commands) {
			if commands[i].verb == "NOW" {
				now = commands[i].ms
			}
			seconds, promised := numberAfter(answer, "429 Retry-After: ")
			if !promised {
				continue
			}
			// again calls once more after some seconds, and returns the answer and the script.
			again := func(seconds int64) (answer, script string) {
				retried := append(commands[:i+1:i+1], setNow(now+seconds*1000), commands[i])
				return answers(t, retried)[i+2], scriptOf(retried)
			}
			if seconds < 1 {
				t.Fatalf("%sthe last command\ngot:  %s\nwant: at least 1", scriptOf(commands[:i+1]), answer)
			}
			if seconds > maxInt/1000 || now > 0 && seconds*1000 > maxInt-now {
				continue // no clock gets there
			}
			switch answer, script := again(seconds); {
			case isGrant(answer):
				enough++
			case answer == "429":
				world := newRefWorld()
				world.run([]byte(script))
				if last := world.outcomes[len(world.outcomes)-1]; last.rule != 5 {
					t.Fatalf("%sthe last command\ngot:  %s\nwant: a grant", script, answer)
				}
				outOfRange++
			default:
				t.Fatalf("%sthe last command\ngot:  %s\nwant: a grant", script, answer)
			}
			if seconds > 1 {
				if answer, script := again(seconds - 1); isGrant(answer) {
					t.Fatalf("%sthe last command\ngot:  %s\nwant: a refusal", script, answer)
				}
				tooSoon++
			}
		}
	}
	eachSeed(t, 1000, func(t *testing.T, s source) { check(t, s.schedule(20, false, "a")) })
	// 60 s are short and 50 s allowed: 10 s later the wait will do, but ends 5 s after the last time there is.
	check(t, []command{setLimit(1, 1), setNow(maxInt - 55_000), request("a", 1), reserve("a", 50_000, 1)})
	if enough < 500 || tooSoon < 200 || outOfRange == 0 {
		t.Errorf("got:  %d waits that were enough, %d too short, %d that led out of range\nwant: at least 500, 200 and 1",
			enough, tooSoon, outOfRange)
	}
}

// TestScheduleReplays: a schedule of RESERVE grants, of any costs, replayed as REQUESTs at their times on a fresh bucket, is
// never refused, as long as the clock is never set back.
func TestScheduleReplays(t *testing.T) {
	t.Parallel()
	replayed := 0
	eachSeed(t, 3000, func(t *testing.T, s source) {
		var commands []command
		for _, c := range s.schedule(30, false, "a") {
			if c.verb == "REQUEST" || c.verb == "STATUS" {
				c = reserve("a", s.maxWait(commands[0].perMinute), s.cost(commands[0].capacity))
			}
			commands = append(commands, c)
		}
		replay := commands[:1:1]
		for i, answer := range answers(t, commands) {
			if at, ok := numberAfter(answer, "200 Send-At: "); ok {
				replay = append(replay, setNow(at), request("a", commands[i].cost))
			}
		}
		for i, answer := range answers(t, replay) {
			if replay[i].verb != "REQUEST" {
				continue
			}
			if !isGrant(answer) {
				t.Fatalf("%sreplayed as\n%sline %d of the replay\ngot:  %s\nwant: a grant",
					scriptOf(commands), scriptOf(replay), i+1, answer)
			}
			replayed++
		}
	})
	if replayed < 1000 {
		t.Errorf("grants replayed\ngot:  %d\nwant: at least 1000", replayed)
	}
}

// TestAskingChangesNothing: asking, by STATUS or by a call that is refused, at the time of another command or between two,
// changes no later answer, as long as the clock is never set back.
func TestAskingChangesNothing(t *testing.T) {
	t.Parallel()
	refused := 0
	eachSeed(t, 400, func(t *testing.T, s source) {
		commands := s.schedule(20, false, "a", "b")
		capacity, perMinute := commands[0].capacity, commands[0].perMinute
		asking := slices.Clone(commands[:2])
		var kept []int // the indexes of commands[2:] in asking
		now := commands[1].ms
		for _, c := range commands[2:] {
			if c.verb == "NOW" {
				if between := now + int64(s.Uint64N(uint64(c.ms)-uint64(now)+1)); s.IntN(2) == 0 {
					asking = append(asking, setNow(between))
				}
				now = c.ms
			}
			for range s.IntN(3) {
				client := string('a' + rune(s.IntN(3)))
				call := status(client)
				if s.IntN(2) == 0 {
					call = reserve(client, s.maxWait(perMinute), s.cost(capacity))
				}
				try := append(asking[:len(asking):len(asking)], call)
				if answer := answers(t, try)[len(try)-1]; !isGrant(answer) {
					asking = try
					if call.verb == "RESERVE" {
						refused++
					}
				}
			}
			kept = append(kept, len(asking))
			asking = append(asking, c)
		}
		got, want := answers(t, asking), answers(t, commands)
		for i, k := range kept {
			if got[k] != want[i+2] {
				t.Fatalf("%swithout asking\n%sline %d\ngot:  %s\nwant: %s",
					scriptOf(asking), scriptOf(commands), k+1, got[k], want[i+2])
			}
		}
	})
	if refused < 500 {
		t.Errorf("refused calls\ngot:  %d\nwant: at least 500", refused)
	}
}

// TestClientsAreApart: in any interleaving each client gets the answers that it would get alone.
func TestClientsAreApart(t *testing.T) {
	t.Parallel()
	clients := []string{"a", "b", "ab", "A"}
	eachSeed(t, 1000, func(t *testing.T, s source) {
		commands := s.schedule(40, true, clients...)
		together := answers(t, commands)
		for _, client := range clients {
			var alone []command
			var want []string
			for i, c := range commands {
				if c.client == "" || c.client == client {
					alone, want = append(alone, c), append(want, together[i])
				}
			}
			checkAnswers(t, alone, want, commands)
		}
	})
}

// TestHowTheClockIsSet: NOW to the time that it is, NOW twice, and NOW in smaller steps, forward or back, change nothing.
func TestHowTheClockIsSet(t *testing.T) {
	t.Parallel()
	eachSeed(t, 2000, func(t *testing.T, s source) {
		commands := s.schedule(30, true, "a", "b")
		var other []command
		var want []string
		now := int64(0)
		for i, answer := range answers(t, commands) {
			if commands[i].verb == "NOW" {
				steps := []int64{commands[i].ms}
				for range s.IntN(3) {
					lo, hi := min(now, commands[i].ms), max(now, commands[i].ms)
					steps = append(steps, lo+int64(s.Uint64N(uint64(hi)-uint64(lo)|1)))
				}
				slices.Sort(steps)
				if commands[i].ms < now {
					slices.Reverse(steps)
				}
				for _, ms := range steps {
					other, want = append(other, setNow(ms)), append(want, "")
				}
				now = commands[i].ms
			}
			for range s.IntN(2) {
				other, want = append(other, setNow(now)), append(want, "")
			}
			other, want = append(other, commands[i]), append(want, answer)
		}
		checkAnswers(t, other, want, commands)
	})
}

// checkAnswers checks the answers to commands that should be those to others.
func checkAnswers(t *testing.T, commands []command, want []string, others []command) {
	t.Helper()
	for i, got := range answers(t, commands) {
		if got != want[i] {
			t.Fatalf("%sas in\n%sline %d\ngot:  %s\nwant: %s", scriptOf(commands), scriptOf(others), i+1, got, want[i])
		}
	}
}
