// Grade runs a program for the token-bucket exercise on scripts and compares its answers with the right ones.
//
//	grade python3 solution.py
//
// It prints TAP version 14, so that a person reads it and prove(1) and CI servers do too. The scripts are the golden files
// of the exercise, NAME.in and NAME.out, and then random ones, whose right answers come from package interp. Where an
// answer is wrong it shows the mistake that the script is about, the script, the answer and the arithmetic.
//
// This file is the command line and the report. How the program is run is in run.go, the random scripts are in random.go.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tokenbucket/limiter/interp"
)

const usage = `usage: grade [-scripts DIR] [-seed N] [-timeout 5s] COMMAND [ARGUMENT]...

Runs COMMAND on each script of the exercise and compares what it prints with the right answers. Prints TAP.

  -scripts DIR   other golden files, NAME.in and NAME.out; testdata has those for the whole language
  -seed N        other random scripts; 1 if left out
  -timeout 5s    how long one run may take

Exit status: 0 if all answers are right, 1 if not, 2 if COMMAND can't be run.
`

// Exit statuses.
const (
	exitWrong   = 1
	exitFailure = 2
)

func main() {
	runtime.LockOSThread() // or the end of the thread that started a program would end that
	os.Exit(grade(os.Args[1:], os.Stdout, os.Stderr))
}

// grade returns the exit status.
func grade(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("grade", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	scripts := flags.String("scripts", "testdata/exercise", "")
	seed := flags.Uint64("seed", 1, "")
	timeout := flags.Duration("timeout", 5*time.Second, "")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		io.WriteString(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "grade: %v\n%s", err, usage)
		return exitFailure
	case flags.NArg() == 0:
		fmt.Fprintf(errs, "grade: no command to grade\n%s", usage)
		return exitFailure
	}
	r := &report{Writer: bufio.NewWriter(out), program: program{command: flags.Args(), timeout: *timeout}}
	defer r.Flush()

	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-interrupt
		r.program.end()
		fmt.Fprintln(errs, "grade:", s)
		os.Exit(exitFailure)
	}()

	cases, err := goldenFiles(*scripts)
	if err != nil {
		return r.bailOut(exitFailure, err)
	}
	fmt.Fprintf(r, "TAP version 14\n1..%d\n", len(cases)+1)
	right, err := r.program.runTogether(cases)
	if err != nil {
		return r.bailOut(exitFailure, err)
	}
	late := 0 // cases in a row that timed out
	for _, c := range cases {
		got := result{out: c.want}
		if !right[c.name] {
			if got, err = r.program.run(c.script, len(c.want)); err != nil {
				return r.bailOut(exitFailure, err)
			}
		}
		r.result(c, got)
		if late++; !got.late {
			late = 0
		} else if late == 3 {
			return r.bailOut(exitWrong, fmt.Errorf("stopped, since three scripts in a row took longer than %v", *timeout))
		}
	}
	a, err := r.program.tryRandom(*seed)
	if err != nil {
		return r.bailOut(exitFailure, err)
	}
	r.result(a.testCase, a.got)
	if r.crlf {
		fmt.Fprintln(r, "# note: lines end in CR LF, which was taken as LF")
	}
	fmt.Fprintf(r, "# %d of %d right\n", r.number-r.wrong, r.number)
	if r.wrong > 0 {
		return exitWrong
	}
	return 0
}

// A testCase is a script and its right answers.
type testCase struct {
	name, about  string
	script, want []byte
}

// goldenFiles reads the scripts of a folder, in order, with what its README says of them: "- `NAME`: about."
func goldenFiles(dir string) (cases []testCase, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.in"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no scripts in %s", dir)
	}
	about := make(map[string]string)
	readme, _ := os.ReadFile(filepath.Join(dir, "README.md"))
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: (.*?)(?:\\. |\\.?$)").FindAllStringSubmatch(string(readme), -1) {
		about[m[1]] = m[2]
	}
	for _, name := range names {
		c := testCase{name: strings.TrimSuffix(filepath.Base(name), ".in")}
		c.about = about[c.name]
		if c.script, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if c.want, err = os.ReadFile(strings.TrimSuffix(name, ".in") + ".out"); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// runTogether runs as many of the cases as it can in one go, since starting a program may take longer than all of them. It
// returns those, if all the answers are right; otherwise each case has to be run by itself.
//
// A script that begins with LIMIT, behind a NOW 0, finds nothing of the scripts before it, if the program is right.
func (p *program) runTogether(cases []testCase) (right map[string]bool, err error) {
	var script, want []byte
	right = make(map[string]bool)
	for _, c := range cases {
		if bytes.HasPrefix(c.script, []byte("LIMIT ")) && bytes.HasSuffix(c.script, []byte("\n")) {
			script = append(append(script, "NOW 0\n"...), c.script...)
			want = append(want, c.want...)
			right[c.name] = true
		}
	}
	if answers, _ := reference(script, false); !bytes.Equal(answers, want) {
		return nil, nil // some of the scripts are not to be run together
	}
	got, err := p.run(script, len(want))
	if got.fault != "" || !bytes.Equal(got.out, want) {
		return nil, err
	}
	return right, err
}

// A report is the TAP that is written.
type report struct {
	*bufio.Writer
	program       program
	number, wrong int
	crlf          bool // a line ended in CR LF
}

// bailOut ends the report.
func (r *report) bailOut(status int, err error) int {
	fmt.Fprintf(r, "Bail out! %v\n", err)
	return status
}

// result writes whether a program's answers to a case are right, and if not, why.
func (r *report) result(c testCase, got result) {
	defer r.Flush()
	r.number++
	r.crlf = r.crlf || got.crlf
	line, gotLine, wantLine := difference(got.out, c.want)
	if line < 0 && got.fault == "" {
		fmt.Fprintf(r, "ok %d - %s\n", r.number, c.name)
		return
	}
	r.wrong++
	fmt.Fprintf(r, "not ok %d - %s\n", r.number, c.name)
	if c.about != "" {
		fmt.Fprintf(r, "# This script is about: %s.\n", c.about)
	}
	if line >= 0 {
		r.explain(c.script, line, gotLine, wantLine)
	}
	if got.fault != "" {
		fmt.Fprintf(r, "# The program %s.\n", got.fault)
	}
	if got.status != "" {
		fmt.Fprintf(r, "# It ended with %s.\n", got.status)
	}
	if got.lastError != "" {
		fmt.Fprintf(r, "# The last line on standard error: %s\n", visible(got.lastError))
	}
}

// shownLines is how many lines of a script are shown.
const shownLines = 30

// explain writes the script up to the line whose answer is wrong, both answers, and how the right one is computed.
func (r *report) explain(script []byte, answer int, got, want string) {
	lines := bytes.SplitAfter(script, []byte("\n"))
	n := askedBy(lines, answer)
	fmt.Fprintln(r, "# The script, up to the line whose answer is wrong:")
	first := max(0, n-shownLines)
	if first > 0 {
		fmt.Fprintf(r, "#   ... %d lines ...\n", first)
	}
	for _, l := range lines[first:n] {
		fmt.Fprintf(r, "#   %s\n", visible(strings.TrimSuffix(string(l), "\n")))
	}
	fmt.Fprintf(r, "# got:  %s\n# want: %s\n", got, want)
	if rows := trace(bytes.Join(lines[:n], nil)); len(rows) > 1 && want != nothing {
		fmt.Fprintln(r, "# How it is computed (60,000 ticks are a token; in: what flowed in since the last refill):")
		fmt.Fprintf(r, "#   %s\n#   %s\n", rows[0], rows[len(rows)-1])
	}
}

// nothing stands for an answer that is not there.
const nothing = "no line at all"

// difference finds the first line, counted from 0, in which two texts differ, and shows both; -1 if they are the same.
func difference(got, want []byte) (line int, gotLine, wantLine string) {
	if bytes.Equal(got, want) {
		return -1, "", ""
	}
	g, w := bytes.SplitAfter(got, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	for line < min(len(g), len(w)) && bytes.Equal(g[line], w[line]) {
		line++
	}
	show := func(lines [][]byte) string {
		if line >= len(lines) || len(lines[line]) == 0 {
			return nothing
		}
		text, ended := strings.CutSuffix(string(lines[line]), "\n")
		if !ended {
			return visible(text) + " and no end of the line"
		}
		return visible(text)
	}
	return line, show(g), show(w)
}

// visible returns a text as it is if all of it can be seen, and otherwise quoted; a long one is cut.
func visible(text string) string {
	const most = 200
	more := ""
	if len(text) > most {
		text, more = text[:most], "..."
	}
	if quoted := strconv.Quote(text); text == "" || quoted != `"`+text+`"` || strings.TrimSpace(text) != text {
		return quoted + more
	}
	return text + more
}

// reference returns the right answers to a script, and the rows of their arithmetic.
func reference(script []byte, traced bool) (out, rows []byte) {
	var o, e bytes.Buffer
	if _, err := interp.Run(bytes.NewReader(script), &o, &e, interp.Options{Trace: traced}); err != nil {
		panic(err) // a buffer does not fail
	}
	return o.Bytes(), e.Bytes()
}

// trace returns the header and rows of a script's arithmetic.
func trace(script []byte) []string {
	_, rows := reference(script, true)
	return strings.Split(strings.TrimSuffix(string(rows), "\n"), "\n")
}

// askedBy returns how many lines of a script lead up to and include the one that an answer, counted from 0, answers; all of
// them if there is no such answer.
func askedBy(lines [][]byte, answer int) int {
	return sort.Search(len(lines), func(n int) bool {
		out, _ := reference(bytes.Join(lines[:n], nil), false)
		return bytes.Count(out, []byte("\n")) > answer
	})
}
