package interp

import "strings"

// This file is what the program tells a person.

const banner = "tokenbucket: a token-bucket rate limiter. HELP lists the commands, Ctrl-D ends.\n"

const prompt = "> "

// Help is the answer to HELP: the commands, a line each.
var Help = func() string {
	var b strings.Builder
	for _, c := range commands {
		b.WriteString(c.usage)
		b.WriteString(strings.Repeat(" ", 32-len(c.usage)))
		b.WriteString(c.does)
		b.WriteByte('\n')
	}
	return b.String()
}()
