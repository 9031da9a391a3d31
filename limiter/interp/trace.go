package interp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tokenbucket/limiter"
)

// This file is the rows of -trace.

// A row is 64 columns wide for everyday numbers.
const (
	rowFormat    = "%*d %-*s %6d %7d %7s %5s %s"
	headerFormat = "%*s %-*s %6s %7s %7s %5s %s\n"
	clockWidth   = 6
	liveWidth    = 13 // of the clock with -live
	firstColumns = 29 // of the clock and the command together
)

// row writes the row of a call, and the header before the first. It returns out as tell does.
func (it *interpreter) row(out []byte, c *command, name []byte, a *args, before, after limiter.Bucket, o limiter.Outcome) []byte {
	var row []byte
	width := clockWidth
	if it.Clock != nil {
		width = liveWidth
	}
	if !it.traced {
		it.traced = true
		row = fmt.Appendf(row, headerFormat, width, "now", firstColumns-width, "command", "in", "ticks", "tokens", "wait", "code")
	}
	inflow := uint64(it.policy.Refill(before, c.now).Ticks) - uint64(before.Ticks) // which can exceed an int64
	wait, code := "", ""
	if o.Wait > 0 {
		wait = strconv.FormatUint(o.Wait, 10)
	}
	if o.Granted {
		code = "200"
	} else if c.verb != status {
		code = "429"
	}
	command := shown(c.verb, name, a, firstColumns-width)
	row = fmt.Appendf(row, rowFormat, width, c.now, firstColumns-width, command, inflow, after.Ticks, appendTokens(nil, after), wait, code)
	return it.tell(out, append(bytes.TrimRight(row, " "), '\n'))
}

// shown returns a call as a row shows it: with the arguments that are not the usual ones, and a name that fits the width.
func shown(v verb, name []byte, a *args, width int) string {
	form, integers := &verbs[v], ""
	for i, p := range form.parameters {
		if p.name != client.name && (i < form.required || a[p.index] != usual[p.index]) {
			integers += " " + strconv.FormatInt(a[p.index], 10)
		}
	}
	return form.name + " " + fit(name, width-len(form.name)-1-len(integers)) + integers
}

// fit returns a client's name in at most width columns, but at least one. What would not take one column a character is
// escaped, and escapes are not cut.
func fit(name []byte, width int) string {
	width = max(width, 1)
	text, short, columns := "", "", 0 // short leaves a column for the sign that a name goes on
	for character := range strings.SplitSeq(string(name), "") {
		quoted := strconv.QuoteToASCII(character)
		if r, _ := utf8.DecodeRuneInString(character); r < 0x1100 && unicode.IsPrint(r) && !unicode.IsMark(r) { // the wide ones come later
			quoted = strconv.Quote(character)
		}
		quoted = quoted[1 : len(quoted)-1]
		if columns += utf8.RuneCountInString(quoted); columns > width {
			return short + "…"
		}
		if text += quoted; columns < width {
			short = text
		}
	}
	return text
}
