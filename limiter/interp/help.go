package interp

import "fmt"

// This file is what the program tells a person.

const banner = "tokenbucket: a token-bucket rate limiter. HELP lists the commands, Ctrl-D ends.\n"

const prompt = "> "

// Help is the answer to HELP: an example, and the commands, a line each.
func Help() string {
	text := "For example, LIMIT 3 60 and then REQUEST alice: 200 X-RateLimit-Remaining: 2\n"
	for _, c := range commands {
		text += fmt.Sprintf("%-31s %s\n", c.usage, c.does)
	}
	return text
}
