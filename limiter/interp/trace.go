package interp

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"tokenbucket/limiter"
)

// This file decides what a row of -trace says. The arithmetic is pure, so a row does it once more beside the answer, and
// neither the bucket nor the way of an answer knows of rows.

// What a row shows, within 80 columns for everyday numbers. With -live the clock is wider.
const (
	traceRow     = "%*d %-16s %6d %7d %6s %5s %s"
	traceHeader  = "%*s %-16s %6s %7s %6s %5s %s\n"
	commandWidth = 16
	clockWidth   = 6
	liveWidth    = 13
)

// trace answers calls one by one, each behind a row of its arithmetic, and returns the terms that are not theirs.
func (it *interpreter) trace(text []byte, calls []limiter.Call, terms []terms) []terms {
	for i := range calls {
		c := calls[i : i+1]
		it.store.Seek(c)
		before := *it.store.Bucket(text, &c[0], 0)

		it.to(toOut)
		start := len(it.pending)
		rest := it.answer(text, c, terms)
		answer := string(it.pending[start:])
		it.pending = it.pending[:start]

		it.to(toErrs)
		it.appendRow(string(text[c[0].At:][:c[0].Size]), before, c[0], terms[:len(terms)-len(rest)], answer)
		it.write(toOut, answer)
		terms = rest
	}
	return terms
}

// appendRow adds the row of a call to what is pending, and the header before the first.
func (it *interpreter) appendRow(client string, before limiter.Bucket, c limiter.Call, given []terms, answer string) {
	width := clockWidth
	if it.Clock != nil {
		width = liveWidth
	}
	if !it.traced {
		it.traced = true
		it.pending = fmt.Appendf(it.pending, traceHeader, width, "now", "command", "in", "ticks", "tokens", "wait", "answer")
	}

	policy := it.store.Policy()
	after := policy.TopUp(before, c.Now)
	inflow := uint64(after.Ticks) - uint64(before.Ticks) // which may be past an int64
	kind := verb(c.Kind) &^ hasTerms
	asked, wait := "", ""
	if kind != status {
		t := terms{cost: 1}
		if len(given) > 0 {
			t = given[0]
		}
		if kind == reserve {
			asked = " " + strconv.FormatInt(t.maxWait, 10)
		}
		if t.cost != 1 {
			asked += " " + strconv.FormatInt(t.cost, 10)
		}
		var o limiter.Outcome
		if after, o = policy.Take(before, c.Now, t.cost, t.maxWait); o.Wait > 0 {
			wait = strconv.FormatUint(o.Wait, 10)
		}
	}
	name := commands[kind].name
	command := name + " " + clip(client, commandWidth-len(name)-1-len(asked)) + asked
	it.pending = fmt.Appendf(it.pending, traceRow, width, c.Now, command, inflow, after.Ticks,
		appendTokens(nil, after), wait, answer)
}

// clip makes a client's name fit to be shown: escaped as in a message, and cut to a width, but not to nothing.
func clip(client string, width int) string {
	width = max(width, 2)
	shown := strconv.Quote(client[:min(len(client), (width+1)*utf8.UTFMax)])
	shown = shown[1 : len(shown)-1]
	if utf8.RuneCountInString(shown) <= width {
		return shown
	}
	return string([]rune(shown)[:width-1]) + "…"
}
