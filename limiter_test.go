// These tests run the built program as a grader would: the golden files under testdata, then what a file cannot show,
// such as exit statuses, conversations through pipes, and full disks.
//
//	go test . -run Golden -accept NAME        takes the program's answers to testdata/NAME.in as right
package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

var accept = flag.String("accept", "", "the golden file whose answers are to be written anew")

var program string // the program, built

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := 1, error(nil)
	defer func() {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(status)
	}()
	dir, err := os.MkdirTemp("", "tokenbucket")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "tokenbucket")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if text, buildErr := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); buildErr != nil {
		err = fmt.Errorf("go build: %v\n%s", buildErr, text)
		return
	}
	status = m.Run()
}

// A result is what a run of the program left behind.
type result struct {
	out, err string
	status   int
}

// run runs the program to its end.
func run(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); ctx.Err() != nil {
		t.Fatal("did not end within a minute")
	} else if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestGolden compares what is printed, and the exit status, with the golden files, those of the exercise among them.
func TestGolden(t *testing.T) {
	scripts, _ := filepath.Glob("testdata/*.in")
	exercise, _ := filepath.Glob("testdata/exercise/*.in")
	scripts = append(scripts, exercise...)
	if len(scripts) < 100 {
		t.Fatalf("there are only %d golden files", len(scripts))
	}
	if *accept != "" && !slices.Contains(scripts, filepath.Join("testdata", *accept+".in")) {
		t.Fatalf("there is no testdata/%s.in to accept", *accept)
	}
	wrong := 0
	for _, script := range scripts {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(script), "testdata/"), ".in")
		right := t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, bytes.NewReader(in))
			stem := strings.TrimSuffix(script, ".in")
			if *accept == name {
				writeGolden(t, stem, got)
			}
			want := readGolden(t, stem, got)
			if line, g, w, differ := firstDifference(got.out, want.out); differ {
				n := askedBy(t, in, line)
				t.Errorf("%s:%d: %s\ngot:  %s\nwant: %s", script, n, quoteLine(in, n), g, w)
			}
			if _, g, w, differ := firstDifference(got.err, want.err); differ {
				t.Errorf("%s: standard error\ngot:  %s\nwant: %s", script, g, w)
			}
			if got.status != want.status {
				t.Errorf("%s: exit status\ngot:  %d\nwant: %d", script, got.status, want.status)
			}
		})
		if !right {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d wrong", wrong, len(scripts))
	}
}

// readGolden is what should come: a NAME.err is there where lines are bad, and only there.
func readGolden(t *testing.T, stem string, got result) (want result) {
	out, err := os.ReadFile(stem + ".out")
	if err != nil {
		t.Fatalf("%v\nand this is what comes:\n%s%s", err, got.out, got.err)
	}
	errs, err := os.ReadFile(stem + ".err")
	if err == nil {
		want.status = 1
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	want.out, want.err = string(out), string(errs)
	return want
}

func writeGolden(t *testing.T, stem string, got result) {
	if err := os.WriteFile(stem+".out", []byte(got.out), 0o644); err != nil {
		t.Fatal(err)
	}
	if got.err == "" {
		if err := os.Remove(stem + ".err"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(stem+".err", []byte(got.err), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstDifference finds the first line, counted from 1, in which two texts differ, down to their last LF.
func firstDifference(got, want string) (line int, gotLine, wantLine string, differ bool) {
	if got == want {
		return 0, "", "", false
	}
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for line = 0; line < min(len(g), len(w)) && g[line] == w[line]; line++ {
	}
	show := func(lines []string) string {
		if line >= len(lines) || lines[line] == "" {
			return "the end"
		}
		return strings.TrimSuffix(lines[line], "\n")
	}
	return line + 1, show(g), show(w), true
}

// askedBy is the number of the input line that an output line answers: with the script up to there, this program prints
// that many lines. It is the last line if there should be no such answer.
func askedBy(t *testing.T, in []byte, answer int) int {
	lines := bytes.SplitAfter(bytes.TrimSuffix(in, []byte("\n")), []byte("\n"))
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		got := run(t, bytes.NewReader(bytes.Join(lines[:i+1], nil)))
		return strings.Count(got.out, "\n") >= answer
	})
}

func quoteLine(in []byte, n int) string {
	line := strings.Split(string(in), "\n")[n-1]
	if len(line) > 100 {
		line = line[:100]
	}
	return strings.Trim(strconv.Quote(line), `"`)
}

func TestCommandLine(t *testing.T) {
	const hello = "STATUS a\n"
	for _, c := range []struct {
		args     []string
		in       string
		out, err string // what the text starts with; "" is nothing
		status   int
	}{
		{nil, hello, "10.000\n", "", 0},
		{nil, "", "", "", 0},
		{nil, "oops\n" + hello, "10.000\n", "stdin:1: ", 1},
		{[]string{"-h"}, hello, "usage: tokenbucket", "", 0},
		{[]string{"-trace", "-h", "-live"}, hello, "usage: tokenbucket", "", 0},
		{[]string{"-version"}, hello, "tokenbucket ", "", 0},
		{[]string{"-help"}, hello, "usage: tokenbucket", "", 0},
		{[]string{"--help"}, hello, "usage: tokenbucket", "", 0},
		{[]string{"--h"}, hello, "usage: tokenbucket", "", 0},
		{[]string{"--version"}, hello, "tokenbucket ", "", 0},
		{[]string{"--live"}, "NOW 5\n" + hello, "10.000\n", "stdin:1: ", 1},
		{[]string{"--trace"}, hello, "10.000\n", "   now command ", 0},
		{[]string{"---live"}, hello, "", `tokenbucket: there is no flag "---live"`, 2},
		{[]string{"-nosuch"}, hello, "", "tokenbucket: there is no flag ", 2},
		{[]string{"-live=true"}, hello, "", "tokenbucket: ", 2},
		{[]string{"--"}, hello, "", "tokenbucket: ", 2},
		{[]string{""}, hello, "", "tokenbucket: ", 2},
		{[]string{"-h", "-x"}, hello, "", "tokenbucket: ", 2},
		{[]string{"-\x1b[31m"}, hello, "", `tokenbucket: there is no flag "-\x1b[31m"`, 2},
		{[]string{"script.txt"}, hello, "", `tokenbucket: "script.txt" can't be read: scripts are read from standard input, tokenbucket < FILE`, 2},
		{[]string{"-live", "-"}, hello, "", "tokenbucket: ", 2},
		{[]string{"-live"}, "NOW 5\n" + hello, "10.000\n", "stdin:1: ", 1},
	} {
		got := run(t, strings.NewReader(c.in), c.args...)
		if !starts(got.out, c.out) || !starts(got.err, c.err) || got.status != c.status {
			t.Errorf("tokenbucket %q < %q\ngot:  status %d, %q, %q\nwant: status %d, %q..., %q...",
				c.args, c.in, got.status, got.out, got.err, c.status, c.out, c.err)
		}
		if c.status == 2 && !strings.Contains(got.err, "\nusage: tokenbucket ") {
			t.Errorf("tokenbucket %q: no usage line in %q", c.args, got.err)
		}
	}
}

func starts(text, with string) bool {
	return strings.HasPrefix(text, with) && (with != "" || text == "")
}

// TestFaults: what can't be read or written ends with a message and status 2, which wins over a bad line's 1.
func TestFaults(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	folder, err := os.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	paused, producer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	defer paused.Close()
	if _, err := producer.WriteString("NOW\n"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what     string
		in       io.Reader
		out      *os.File
		args     []string
		contains string
	}{
		{"a full disk", strings.NewReader("oops\nNOW\n"), full, nil, "no space left"},
		{"a full disk, and many answers", strings.NewReader(strings.Repeat("NOW\n", 1e6)), full, nil, "no space left"},
		{"a full disk, and -h", null, full, []string{"-h"}, "no space left"},
		{"a full disk, and -version", null, full, []string{"-version"}, "no space left"},
		{"a folder as input", folder, null, nil, "is a directory"},
		{"a full disk, and a producer that pauses for ever", paused, full, nil, "no space left"},
	} {
		var errs bytes.Buffer
		cmd := exec.Command(program, c.args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, &errs
		cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != 2 || !strings.Contains(errs.String(), c.contains) {
			t.Errorf("%s\ngot:  status %d, %s\nwant: status 2, ...%s...", c.what, status, errs.String(), c.contains)
		}
	}
}

// TestFullStandardError: messages and rows that can't be written are lost, answers are not, and the exit status is 2.
func TestFullStandardError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, args := range [][]string{nil, {"-trace"}} {
		cmd := exec.Command(program, args...)
		cmd.Stdin, cmd.Stderr = strings.NewReader("REQUEST a\nFOO\nREQUEST a\n"), full
		out, _ := cmd.Output()
		const want = "200 X-RateLimit-Remaining: 9\n200 X-RateLimit-Remaining: 8\n"
		if status := cmd.ProcessState.ExitCode(); string(out) != want || status != 2 {
			t.Errorf("%q\ngot:  %q, status %d\nwant: %q, status 2", args, out, status, want)
		}
	}
}

// TestClosedPipe: a reader that has seen enough ends the program as it ends cat, by SIGPIPE and without a word.
func TestClosedPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGPIPE here")
	}
	var errs bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stderr = &errs
	cmd.Stdin = strings.NewReader(strings.Repeat("NOW\n", 1e6))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReaderSize(out, 16).ReadString('\n'); line != "0\n" {
		t.Errorf("got: %q, %v\nwant: 0", line, err)
	}
	out.Close()
	cmd.Wait()
	if state := cmd.ProcessState.String(); state != "signal: broken pipe" || errs.Len() > 0 {
		t.Errorf("got:  %s, %s\nwant: signal: broken pipe", state, errs.String())
	}
}

// A conversation is the program driven through pipes.
type conversation struct {
	*testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan string
}

func converse(t *testing.T, args ...string) *conversation {
	c := &conversation{T: t, cmd: exec.Command(program, args...), answers: make(chan string)}
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = c.cmd.Stdout // in order, as under 2>&1
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			c.answers <- s.Text()
		}
		close(c.answers)
	}()
	t.Cleanup(func() { c.in.Close(); c.cmd.Process.Kill(); c.cmd.Wait() })
	return c
}

func (c *conversation) say(text string) {
	c.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.Fatal(err)
	}
}

// hear waits for an answer. A program that holds one back would hang here: a minute is for ever.
func (c *conversation) hear() string {
	c.Helper()
	select {
	case answer := <-c.answers:
		return answer
	case <-time.After(time.Minute):
		c.Fatal("got no answer")
	}
	return ""
}

// TestConversation: each answer comes before the next command is sent, also where a line arrives in pieces.
func TestConversation(t *testing.T) {
	c := converse(t)
	for _, turn := range []struct {
		say []string
		ear string
	}{
		{[]string{"LIMIT 2 30\nREQUEST a\n"}, "200 X-RateLimit-Remaining: 1"},
		{[]string{"REQ", "UEST", " a", "\n"}, "200 X-RateLimit-Remaining: 0"},
		{[]string{"RESERVE a 60000\r\n"}, "200 Send-At: 2000"},
		{[]string{"STATUS a\nNOW 20"}, "-1.000"},
		{[]string{"00\nNOW\n"}, "2000"},
		{[]string{"nonsense\nSTA"}, `stdin:8: unknown command "nonsense": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT`},
		{[]string{"TUS a\n"}, "0.000"},
	} {
		for _, piece := range turn.say {
			c.say(piece)
		}
		if answer := c.hear(); answer != turn.ear {
			t.Fatalf("%q\ngot:  %s\nwant: %s", turn.say, answer, turn.ear)
		}
	}
	c.say("QUIT\n") // ends it though the pipe stays open
	if answer, open := <-c.answers; open {
		t.Errorf("an answer to QUIT: %q", answer)
	}
}

// startTerminal starts a shell command at a pseudo-terminal.
func startTerminal(t *testing.T, command string) *exec.Cmd {
	if _, err := exec.LookPath("script"); err != nil || runtime.GOOS != "linux" {
		t.Skip("no script of util-linux here")
	}
	return exec.Command("script", "-qec", command, os.DevNull)
}

// TestSession is a person at a terminal: a banner, prompts, an answer, an error in its place, Ctrl-D.
func TestSession(t *testing.T) {
	cmd := startTerminal(t, "'"+program+"'")
	keyboard, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for _, turn := range []struct{ typed, want string }{
		{"", "tokenbucket: a token-bucket rate limiter. HELP lists the commands, Ctrl-D ends.\r\n> "},
		{"LIMIT 3 60\n", "LIMIT 3 60\r\n> "},
		{"STATUS a\n", "STATUS a\r\n3.000\r\n> "},
		{"oops\n", "oops\r\nstdin:3: unknown command \"oops\": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT\r\n> "},
		{"\n", "\r\n> "},
		{"REQUEST a\n", "REQUEST a\r\n200 X-RateLimit-Remaining: 2\r\n> "},
		{"\x04", "\r\n"}, // Ctrl-D
	} {
		if _, err := io.WriteString(keyboard, turn.typed); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(turn.want))
		if n, err := io.ReadFull(screen, got); string(got) != turn.want {
			t.Fatalf("typed: %q\ngot:   %q, %v\nwant:  %q", turn.typed, got[:n], err, turn.want)
		}
	}
	rest, err := io.ReadAll(screen)
	if err := cmp.Or(err, cmd.Wait()); err != nil || len(rest) > 0 {
		t.Errorf("after Ctrl-D\ngot:  %q, %v\nwant: nothing more, and exit status 0 in spite of the invalid line", rest, err)
	}
}

// TestHalfSession: with a terminal on one side only, or the null device, there is neither banner nor prompt, and an invalid
// line counts.
func TestHalfSession(t *testing.T) {
	for _, c := range []struct{ command, typed, want string }{
		{"PROGRAM | cat", "NOW\n\x04", "NOW\r\n0\r\n"},
		{"echo NOW | PROGRAM", "", "0\r\n"},
		{"PROGRAM </dev/null", "", ""},
		{"PROGRAM >/dev/null; echo $?", "NOW\n\x04", "NOW\r\n0\r\n"},
		{"PROGRAM 2>/dev/null >/dev/null; echo $?", "oops\n\x04", "oops\r\n1\r\n"},
		{"echo oops | PROGRAM 2>/dev/null; echo $?", "", "1\r\n"},
	} {
		cmd := startTerminal(t, strings.ReplaceAll(c.command, "PROGRAM", "'"+program+"'"))
		cmd.Stdin = strings.NewReader(c.typed)
		if got, err := cmd.Output(); err != nil || string(got) != c.want {
			t.Errorf("%s, typed %q\ngot:  %q, %v\nwant: %q", c.command, c.typed, got, err, c.want)
		}
	}
}

// TestConversationAfterLongScript: a script so long that reading and answering go side by side, then a person again.
func TestConversationAfterLongScript(t *testing.T) {
	c := converse(t)
	const long = 200_000
	go io.WriteString(c.in, strings.Repeat("STATUS a\n", long))
	for i := range long {
		if answer := c.hear(); answer != "10.000" {
			t.Fatalf("answer %d\ngot:  %s\nwant: 10.000", i+1, answer)
		}
	}
	for i := range 100 {
		c.say(fmt.Sprintf("NOW %d\nNO", i))
		c.say("W\n")
		if answer := c.hear(); answer != strconv.Itoa(i) {
			t.Fatalf("NOW\ngot:  %s\nwant: %d", answer, i)
		}
	}
}

// TestLive: the clock of -live is the system's, and Send-At is told on it.
func TestLive(t *testing.T) {
	c := converse(t, "-live")
	before := time.Now().UnixMilli()
	c.say("LIMIT 1 1\nNOW\n")
	told, err := strconv.ParseInt(c.hear(), 10, 64)
	after := time.Now().UnixMilli()
	// The program took the system's time when it started, before this test did: a step of that clock is no fault of it.
	if slack := int64(60_000); err != nil || told < before-slack || told > after+slack {
		t.Errorf("NOW\ngot:  %d, %v\nwant: %d to %d", told, err, before, after)
	}
	sendAt := func() (ms int64) {
		t.Helper()
		c.say("RESERVE a 36000000\n")
		answer := c.hear()
		if _, err := fmt.Sscanf(answer, "200 Send-At: %d", &ms); err != nil {
			t.Fatalf("RESERVE\ngot:  %s\nwant: a grant", answer)
		}
		return ms
	}
	first := sendAt()
	if first < told {
		t.Errorf("Send-At %d before NOW %d", first, told)
	}
	for i := int64(1); i <= 60; i++ { // one a minute, and the test is through long before
		if next := sendAt(); next != first+60_000*i {
			t.Fatalf("reservation %d\ngot:  200 Send-At: %d\nwant: 200 Send-At: %d", i, next, first+60_000*i)
		}
	}
}

// readme copies the project to a temporary folder, and writes the scripts that the README shows there. It returns the folder
// and the command blocks of the README by their language. A script is named in a comment at its head.
func readme(t *testing.T) (folder string, blocks map[string][]string) {
	t.Helper()
	for _, tool := range []string{"bash", "make", "mkfifo"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool, " here")
		}
	}
	folder = t.TempDir()
	for _, name := range []string{"go.mod", "main.go", "Makefile", "README.md", "limiter_test.go", "limiter", "testdata"} {
		if text, err := exec.Command("cp", "-R", name, folder).CombinedOutput(); err != nil {
			t.Fatalf("cp %s: %v\n%s", name, err, text)
		}
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks = make(map[string][]string)
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
		if name := regexp.MustCompile(`(?m)^# ([\w-]+\.(?:sh|awk))\b`).FindStringSubmatch(m[2]); name != nil {
			if err := os.WriteFile(filepath.Join(folder, name[1]), []byte(m[2]), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder, blocks
}

// TestReadme types what the README shows behind "$ " and compares what comes with what it shows below.
func TestReadme(t *testing.T) {
	folder, blocks := readme(t)
	typed := 0
	for _, block := range blocks["console"] {
		for _, turn := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(turn, "\n")
			if command == "make test" { // is under way
				continue
			}
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			cmd := exec.Command("bash", "-c", command)
			cmd.Dir = folder
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") }) // of make test
			got, err := cmd.CombinedOutput()
			if err != nil || string(got) != want {
				t.Errorf("$ %s\ngot:\n%s%v\nwant:\n%s", command, got, err, want)
			}
			typed++
		}
	}
	if typed == 0 {
		t.Error("no command in the README")
	}
}

// TestReadmeGrading runs the loops that grade many solutions, or grade without Go, on a right and a wrong one.
func TestReadmeGrading(t *testing.T) {
	folder, _ := readme(t)
	sh := func(command string) (string, error) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = folder
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	if text, err := sh("make && mkdir submissions && touch submissions/a.py submissions/b.py"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// In the place of Python: a right program, and one with a mistake in some answers.
	const python = `#!/bin/sh
case $1 in *a.py) exec bin/tokenbucket;; *) bin/tokenbucket | sed 's/Retry-After: 2/Retry-After: 1/' ;; esac
`
	if err := os.WriteFile(filepath.Join(folder, "python3"), []byte(python), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := sh(`PATH="$PWD:$PATH" && sh submissions.sh`)
	if want := regexp.MustCompile(`^submissions/a\.py: right\nsubmissions/b\.py: \d+ wrong\n$`); err != nil || !want.MatchString(got) {
		t.Errorf("submissions.sh\ngot:\n%s%v\nwant:\n%s", got, err, want)
	}
	got, err = sh("cp bin/tokenbucket theirs && sh without-go.sh")
	if err != nil || got != "0 wrong\n" {
		t.Errorf("without-go.sh, a right program\ngot:\n%s%v\nwant:\n0 wrong", got, err)
	}
	got, err = sh("printf '#!/bin/sh\nexit 0\n' >theirs && sh without-go.sh")
	if lines := strings.Count(got, "\n"); err == nil || lines < 50 || !strings.HasSuffix(got, fmt.Sprintf("\n%d wrong\n", lines-1)) {
		t.Errorf("without-go.sh, a program that prints nothing\ngot:\n%s%v\nwant: all are wrong", got, err)
	}
}

// A vendor is an API with a limit of its own: this program on the real clock. The scripts reach it by a curl that is found
// before the real one.
type vendor struct {
	*testing.T
	folder string
	ask    *os.File
}

// startVendor starts a vendor for the scripts of the README, which are given our limit in the place of theirs.
func startVendor(t *testing.T, limit, ours string) *vendor {
	folder, _ := readme(t)
	v := &vendor{T: t, folder: folder}
	v.sh(`for f in *.sh; do sed 's/LIMIT 8 30/` + ours + `/' $f >new && mv new $f; done
		mkdir bin && cp '` + program + `' bin/tokenbucket && mkfifo ask answer
		cat >bin/curl <<'END'
#!/bin/sh
flock vendor.lock sh -c 'echo REQUEST key >ask && read -r answer <answer && echo "$answer" >>vendor.log'
END
		chmod +x bin/curl && touch vendor.log`)
	open := func(name string) *os.File { // held open, so that neither side sees an end
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	v.ask = open("ask")
	cmd := exec.Command(program, "-live")
	cmd.Stdin, cmd.Stdout = v.ask, open("answer")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := io.WriteString(v.ask, limit+"\n"); err != nil {
		t.Fatal(err)
	}
	return v
}

// command is a shell command in the vendor's folder, in which the scripts find the programs that they need.
func (v *vendor) command(command string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = v.folder
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(v.folder, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

// sh runs a shell command, which is to succeed, and returns what it prints.
func (v *vendor) sh(command string) string {
	v.Helper()
	text, err := v.command(command).CombinedOutput()
	if err != nil {
		v.Fatalf("%s\n%v\n%s", command, err, text)
	}
	return string(text)
}

func (v *vendor) read(name string) string {
	text, err := os.ReadFile(filepath.Join(v.folder, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.Error(err)
	}
	return string(text)
}

// check looks at what the vendor answered.
func (v *vendor) check(calls int) {
	v.Helper()
	log := v.read("vendor.log")
	if got := strings.Count(log, "200 "); got < calls || strings.Contains(log, "429") {
		v.Errorf("the vendor\ngot:  %d calls, %d of them refused\nwant: %d calls at least, none refused",
			strings.Count(log, "\n"), strings.Count(log, "429"), calls)
	}
}

// shells are the shells that the scripts are tried under.
func shells(t *testing.T) (names []string) {
	for _, name := range []string{"dash", "bash"} {
		if _, err := exec.LookPath(name); err == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Skip("no dash and no bash here")
	}
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("no flock here")
	}
	return names
}

// keepAnswers makes reserve.sh write the answer to each reservation into the file answers.
func (v *vendor) keepAnswers() {
	v.sh(`sed 's/^\tcase $answer in/\techo "$answer" >>answers\n&/' reserve.sh >new && mv new reserve.sh && grep -q '>>answers' reserve.sh`)
}

// TestJournal: callers under two shells share a journal, while others are killed at random moments and leave entries that
// are cut off. The vendor refuses none, no time is given twice, and the journal has each answer that was given.
func TestJournal(t *testing.T) {
	names := shells(t)
	v := startVendor(t, "LIMIT 100 1800", "LIMIT 20 1800")
	v.keepAnswers()
	const calls = 40
	var callers []*exec.Cmd
	for i := range 2 {
		// The last line has no LF, and is a call all the same.
		c := v.command(fmt.Sprintf("seq %d | tr '\\n' ' ' | sed 's/ $//' | tr ' ' '\\n' | %s reserve.sh journal", calls, names[i%len(names)]))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		callers = append(callers, c)
	}
	r := rand.New(rand.NewPCG(1, 0))
	for i := range 10 {
		c := v.command("seq 100 | exec setsid -w timeout -s KILL 0." + fmt.Sprintf("%03d", 20+r.IntN(300)) + " " + names[i%len(names)] + " reserve.sh journal")
		c.Run()
		cut := []string{"\nNOW 17", "\nNOW 1700000000000\nRESER", "\nNOW 1700000000000\nRESERVE vendor", "\nNO", "\n"}[i%5]
		v.sh(fmt.Sprintf("flock journal printf '%s' >>journal", strings.ReplaceAll(cut, "\n", `\n`)))
	}
	for _, c := range callers {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	v.check(2 * calls)
	given := make(map[string]bool)
	for answer := range strings.Lines(v.read("answers")) {
		if given[answer] || !strings.HasPrefix(answer, "200 Send-At: ") {
			t.Errorf("got:  %swant: a time, given once", answer)
		}
		given[answer] = true
	}
	if len(given) < 2*calls {
		t.Errorf("got:  %d answers\nwant: at least %d", len(given), 2*calls)
	}
	replay := v.sh("{ echo LIMIT 20 1800; cat journal; } | tokenbucket 2>/dev/null || [ $? = 1 ]")
	for answer := range strings.Lines(replay) {
		delete(given, answer)
	}
	if len(given) > 0 {
		t.Errorf("answers that the journal does not have\ngot:  %v\nwant: none", given)
	}
	if later := v.read("later.txt"); later != "" {
		t.Errorf("later.txt\ngot:  %q\nwant: nothing", later)
	}
}

// TestJournalCut: the journal is cut again and again while callers ask, and nobody notices.
func TestJournalCut(t *testing.T) {
	names := shells(t)
	v := startVendor(t, "LIMIT 100 600", "LIMIT 20 600")
	v.keepAnswers()
	for round := range 2 {
		caller := v.command("seq 30 | " + names[round%len(names)] + " reserve.sh journal")
		if err := caller.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- caller.Wait() }()
		asking := true
		for start := time.Now(); asking || v.read("journal") != ""; {
			if time.Since(start) > time.Minute {
				t.Fatalf("got:  after a minute the journal is\n%s\nwant: cut", v.read("journal"))
			}
			select {
			case err := <-done:
				if asking = false; err != nil {
					t.Error(err)
				}
			default:
			}
			v.sh(names[0] + " cut.sh journal || [ $? = 1 ]")
		}
	}
	v.check(60)
	if answers := v.read("answers"); strings.Count(answers, "200 Send-At: ") != 60 {
		t.Errorf("answers\ngot:  %s\nwant: 60 times", answers)
	}
	v.sh(`[ -z "$(sort answers | uniq -d)" ]`) // no time is given twice
}

// TestJournalFails: what can't be reserved in time is put off, and without the program, or without room for the journal, no
// call is made.
func TestJournalFails(t *testing.T) {
	for _, shell := range shells(t) {
		v := startVendor(t, "LIMIT 100 1800", "LIMIT 2 1")
		v.sh("sed 's/280000/0/' reserve.sh >hasty.sh && seq 5 | " + shell + " hasty.sh journal")
		if later, want := v.read("later.txt"), "3\n4\n5\n"; !strings.HasSuffix(later, want) {
			t.Errorf("%s: later.txt\ngot:  %q\nwant: %q at its end", shell, later, want)
		}
		made := v.read("vendor.log")
		for _, command := range []string{
			"seq 5 | " + shell + " reserve.sh /dev/full",
			"mv bin/tokenbucket bin/gone && seq 5 | " + shell + " reserve.sh journal",
		} {
			if text, err := v.command(command).CombinedOutput(); err == nil {
				t.Errorf("%s\ngot:  success\n%swant: a failure", command, text)
			}
		}
		if got := v.read("vendor.log"); got != made {
			t.Errorf("%s: the vendor\ngot:  %q\nwant: %q, as before", shell, got, made)
		}
	}
}

// TestPace: the script that talks to one program makes all its calls, and none without the program.
func TestPace(t *testing.T) {
	v := startVendor(t, "LIMIT 60 1800", "LIMIT 18 1800")
	v.sh("seq 60 | bash pace.sh")
	v.check(60)
	if text, err := v.command("sed 's/tokenbucket -live/false/' pace.sh >no.sh && seq 60 | bash no.sh").CombinedOutput(); err == nil {
		t.Errorf("without the program\ngot:  success\n%swant: a failure", text)
	}
	v.check(60)
	if got := strings.Count(v.read("vendor.log"), "\n"); got != 60 {
		t.Errorf("calls\ngot:  %d\nwant: 60, none without the program", got)
	}
}
