// Tokenbucket reads LIMIT, NOW, REQUEST, RESERVE and STATUS commands from standard input and prints what a token-bucket
// rate limiter answers.
//
// This file is the command line: flags, terminal, exit status. Package interp runs the script.
package main

import (
	"os"
	"strconv"
	"time"

	"tokenbucket/limiter/interp"
	"tokenbucket/limiter/terminal"
)

const version = "tokenbucket 1.0.0\n"

const usage = "usage: tokenbucket [-live] [-trace] [-h] [-version] < script\n"

const about = usage + `
Reads commands, one a line, and prints what a token-bucket rate limiter answers:

  printf 'LIMIT 3 60\nREQUEST alice\nSTATUS alice\n' | tokenbucket

  -live     the clock is the real one, in Unix milliseconds; NOW tells it
  -trace    show the arithmetic of each answer on standard error
  -version  print the version
  -h        print this text

`

const statuses = `
Exit status: 0; 1 if a line was bad, but not in a terminal session; 2 for bad
usage, and when the input could not be read or the output not written.
`

// Exit statuses.
const (
	exitBadLine = 1
	exitFailure = 2
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) (status int) {
	var live, trace, help, showVersion bool
	for _, arg := range args {
		switch arg {
		case "-live":
			live = true
		case "-trace":
			trace = true
		case "-h":
			help = true
		case "-version":
			showVersion = true
		default:
			return fail("there is no "+strconv.Quote(arg[:min(len(arg), 40)]), usage)
		}
	}
	if help {
		return tell(about + interp.Help() + statuses)
	}
	if showVersion {
		return tell(version)
	}

	opt := interp.Options{Trace: trace, Terminal: terminal.Is(os.Stdin) && terminal.Is(os.Stdout)}
	if live {
		start := time.Now() // with a monotonic reading, which the system clock can't step
		opt.Clock = func() int64 { return start.Add(time.Since(start)).UnixMilli() }
	}
	bad, err := interp.Run(os.Stdin, os.Stdout, os.Stderr, opt)
	if err == nil {
		err = os.Stdout.Close() // where some file systems first say that a write failed
	}
	if err != nil {
		return fail(err.Error(), "")
	}
	if bad && !opt.Terminal {
		return exitBadLine
	}
	return 0
}

// tell prints what a flag asked for.
func tell(text string) (status int) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fail(err.Error(), "")
	}
	return 0
}

// fail says what went wrong.
func fail(what, advice string) (status int) {
	os.Stderr.WriteString("tokenbucket: " + what + "\n" + advice)
	return exitFailure
}
