// Tokenbucket reads LIMIT, NOW, REQUEST, RESERVE and STATUS commands from standard input and prints what a token-bucket
// rate limiter answers.
//
// This file is the command line: flags, terminal and exit status. Package interp runs the script.
package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"tokenbucket/limiter/interp"
)

const version = "tokenbucket 1.0.0\n"

const usage = "usage: tokenbucket [-live] [-trace] [-h] [-version] < script\n"

// about returns the answer to -h.
func about() string {
	return usage + `
Reads commands, one a line, and prints what a token-bucket rate limiter answers:

  printf 'LIMIT 3 60\nREQUEST alice\nSTATUS alice\n' | tokenbucket

  -live     the clock is the real one, in Unix milliseconds; NOW tells it
  -trace    show the arithmetic of each answer on standard error
  -version  print the version
  -h        print this text

` + interp.Help() + `
Exit status: 0; 1 if a line was bad, but not in a terminal session; 2 for bad
usage, and when the input could not be read or the output not written.
`
}

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit status.
func run(args []string) int {
	var opt interp.Options
	var live, bad bool
	text := "" // what to print instead of running a script
	for _, arg := range args {
		quoted := strconv.Quote(arg[:min(len(arg), 40)])
		flag := arg // with one dash
		if strings.HasPrefix(arg, "--") {
			flag = arg[1:]
		}
		switch {
		case flag == "-live":
			live = true
		case flag == "-trace":
			opt.Trace = true
		case flag == "-h" || flag == "-help":
			text = about()
		case flag == "-version":
			text = version
		case strings.HasPrefix(arg, "-"):
			return fail("there is no flag " + quoted + "\n" + usage)
		default:
			return fail(quoted + " can't be read: scripts are read from standard input, tokenbucket < FILE\n" + usage)
		}
	}
	var err error
	if text != "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		opt.Terminal = isTerminal(os.Stdin) && isTerminal(os.Stdout)
		if live {
			start := time.Now() // with a monotonic reading, which the system clock can't step
			opt.Clock = func() int64 { return start.Add(time.Since(start)).UnixMilli() }
		}
		bad, err = interp.Run(os.Stdin, os.Stdout, os.Stderr, opt)
	}
	if err == nil {
		err = os.Stdout.Close() // where some file systems first say that a write failed
	}
	if err != nil {
		return fail(err.Error() + "\n")
	}
	if bad && !opt.Terminal {
		return 1
	}
	return 0
}

// fail prints why the program can't do what was asked, and returns the exit status for that.
func fail(why string) int {
	os.Stderr.WriteString("tokenbucket: " + why)
	return 2
}

// isTerminal reports whether f is a terminal: a character device, and not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
