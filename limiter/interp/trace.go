package interp

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"tokenbucket/limiter"
)

// This file is the rows of -trace.

// What a row shows, within 80 columns for everyday numbers. With -live the clock is wider.
const (
	rowFormat    = "%*d %-16s %6d %7d %6s %5s %s"
	headerFormat = "%*s %-16s %6s %7s %6s %5s %s\n"
	commandWidth = 16
	clockWidth   = 6
	liveWidth    = 13
)

// row appends the row of a call to pending output, and the header before the first.
func (it *interpreter) row(out []byte, v verb, name []byte, a *args, ms int64, before, after limiter.Bucket, o limiter.Outcome) []byte {
	it.pending = out
	it.to(toErrs)
	width := clockWidth
	if it.Clock != nil {
		width = liveWidth
	}
	if !it.traced {
		it.traced = true
		it.pending = fmt.Appendf(it.pending, headerFormat, width, "now", "command", "in", "ticks", "tokens", "wait", "answer")
	}
	inflow := uint64(it.policy.Refill(before, ms).Ticks) - uint64(before.Ticks) // which can exceed an int64
	wait, answer := "", []byte(nil)
	if o.Wait > 0 {
		wait = strconv.FormatUint(o.Wait, 10)
	}
	switch v {
	case request:
		answer = appendRequest(nil, after, o)
	case reserve:
		answer = appendReserve(nil, o)
	case status:
		answer = append(appendTokens(nil, after), '\n')
	}
	it.pending = fmt.Appendf(it.pending, rowFormat, width, ms, shown(v, string(name), a), inflow, after.Ticks, appendTokens(nil, after), wait, answer)
	return it.to(toOut)
}

// shown returns a call as a row shows it.
func shown(v verb, name string, a *args) string {
	form, integers := &verbs[v], ""
	for i := range form.parameters[1:] {
		if 1+i < form.required || a[i] != usual[i] {
			integers += " " + strconv.FormatInt(a[i], 10)
		}
	}
	return form.name + " " + clip(name, commandWidth-len(form.name)-1-len(integers)) + integers
}

// clip makes a client's name fit to be shown: escaped as in a message, and cut to a width, but not to nothing.
func clip(name string, width int) string {
	width = max(width, 2)
	shown := strconv.Quote(name[:min(len(name), (width+1)*utf8.UTFMax)])
	shown = shown[1 : len(shown)-1]
	if utf8.RuneCountInString(shown) <= width {
		return shown
	}
	return string([]rune(shown)[:width-1]) + "…"
}
