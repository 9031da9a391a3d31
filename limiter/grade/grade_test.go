// These tests run the built grader on programs that are right, wrong, or hostile. The right one is tokenbucket itself, the
// others are shell scripts around it.
//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bench is a folder with the built programs and golden files.
type bench struct {
	*testing.T
	dir string
}

// setUp builds the programs and writes four golden files, worked out by hand: 3 at 60 a minute is a token a second.
func setUp(t *testing.T) bench {
	t.Helper()
	b := bench{t, t.TempDir()}
	for name, pkg := range map[string]string{"tokenbucket": "../..", "grade": "."} {
		if text, err := exec.Command("go", "build", "-o", filepath.Join(b.dir, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, text)
		}
	}
	b.write("scripts/README.md", 0o644, "# Scripts\n\n- `burst`: three calls at once. And more.\n- `clock`: time that passes.\n")
	b.write("scripts/burst.in", 0o644, "LIMIT 3 60\nREQUEST a\nREQUEST a\nREQUEST a\nREQUEST a\n")
	b.write("scripts/burst.out", 0o644, "200 X-RateLimit-Remaining: 2\n200 X-RateLimit-Remaining: 1\n200 X-RateLimit-Remaining: 0\n429 Retry-After: 1\n")
	b.write("scripts/clock.in", 0o644, "LIMIT 3 60\nREQUEST a\nNOW 400\nSTATUS a\n")
	b.write("scripts/clock.out", 0o644, "200 X-RateLimit-Remaining: 2\n2.400\n")
	b.write("scripts/default.in", 0o644, "STATUS a\n")
	b.write("scripts/default.out", 0o644, "10.000\n")
	b.write("scripts/other.in", 0o644, "LIMIT 1 1\nSTATUS a\n")
	b.write("scripts/other.out", 0o644, "1.000\n")
	return b
}

func (b bench) write(name string, mode os.FileMode, text string) string {
	b.Helper()
	path := filepath.Join(b.dir, name)
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.Fatal(err)
	}
	return path
}

// program writes a shell script in which RIGHT is the right program.
func (b bench) program(text string) string {
	return b.write("program", 0o755, "#!/bin/sh\n"+strings.ReplaceAll(text, "RIGHT", "'"+filepath.Join(b.dir, "tokenbucket")+"'")+"\n")
}

func (b bench) grade(args ...string) (out string, status int) {
	b.Helper()
	cmd := exec.Command(filepath.Join(b.dir, "grade"), append([]string{"-scripts", filepath.Join(b.dir, "scripts")}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		b.Fatal(err)
	}
	return string(text) + errs.String(), cmd.ProcessState.ExitCode()
}

// TestGrade: what is printed for programs of every kind.
func TestGrade(t *testing.T) {
	b := setUp(t)
	const allRight = "TAP version 14\n1..5\nok 1 - burst\nok 2 - clock\nok 3 - default\nok 4 - other\nok 5 - random scripts, seed 1\n"
	for _, c := range []struct {
		what, program string
		args          []string // before the program
		status        int
		contains      []string // in this order
	}{
		{"a right program", `exec RIGHT`, nil, 0, []string{allRight + "# 5 of 5 right\n"}},
		{"other random scripts", `exec RIGHT`, []string{"-seed", "7"}, 0, []string{"ok 5 - random scripts, seed 7\n"}},
		{"CR LF", `RIGHT | sed 's/$/\r/'`, nil, 0, []string{allRight + "# note: lines end in CR LF, which was taken as LF\n# 5 of 5 right\n"}},
		{"a right program with a bad exit status", `RIGHT; echo oops >&2; exit 3`, nil, 0, []string{allRight}},
		{"a right program that closes its input early", `RIGHT; exec <&-`, nil, 0, []string{allRight}},
		{"one answer wrong", `RIGHT | sed 's/2\.400/2.500/'`, nil, 1, []string{
			"ok 1 - burst\nnot ok 2 - clock\n# This script is about: time that passes.\n" +
				"# The script, up to the line whose answer is wrong:\n#   LIMIT 3 60\n#   REQUEST a\n#   NOW 400\n#   STATUS a\n" +
				"# got:  2.500\n# want: 2.400\n# How it is computed",
			"    now command", "    400 STATUS a                 24000  144000   2.400", "\nok 3 - default\n"}},
		{"what can't be seen", `RIGHT | sed 's/10\.000/10.000 \t/'`, nil, 1, []string{"not ok 3 - default\n", `got:  "10.000 \t"` + "\n# want: 10.000\n"}},
		{"no end of the last line", `RIGHT | { read -r line; printf %s "$line"; cat; }`, nil, 1, []string{"not ok 3 - default\n", "got:  10.000 and no end of the line\n"}},
		{"nothing", `exit 0`, nil, 1, []string{"not ok 1 - burst\n# This script is about: three calls at once.\n", "#   LIMIT 3 60\n#   REQUEST a\n# got:  no line at all\n# want: 200 X-RateLimit-Remaining: 2\n", "# 0 of 5 right\n"}},
		{"too much", `RIGHT; echo more`, nil, 1, []string{"not ok 1 - burst\n", "got:  more\n# want: no line at all\n"}},
		{"a crash", `echo starting >&2; echo "no such thing" >&2; exit 3`, nil, 1, []string{"not ok 1 - burst\n", "It ended with exit status 3.\n# The last line on standard error: no such thing\n"}},
		{"a signal", `kill -9 $$`, nil, 1, []string{"not ok 1 - burst\n", "It ended with signal: killed.\n"}},
		{"for ever", `exec yes`, nil, 1, []string{"not ok 1 - burst\n", "got:  y\n", "# The program printed more than ", ", and was ended.\n", "ok 5"}},
		{"wrong only in random scripts", `RIGHT | sed 's/^2\.999$/3.000/; s/^0\.999$/1.000/'`, nil, 1, []string{"ok 4 - other\nnot ok 5 - random scripts, seed 1\n", "#   STATUS ", ".000\n# want: ", ".999\n"}},
	} {
		out, status := b.grade(append(c.args, b.program(c.program))...)
		if status != c.status {
			t.Errorf("%s\ngot:  status %d\nwant: status %d\n%s", c.what, status, c.status, out)
		}
		rest := out
		for _, text := range c.contains {
			_, after, found := strings.Cut(rest, text)
			if !found {
				t.Errorf("%s\ngot:\n%s\nwant: ...%s...", c.what, out, text)
				break
			}
			rest = after
		}
	}
}

// TestArguments: the rest of the command line is the command as it is, no shell.
func TestArguments(t *testing.T) {
	b := setUp(t)
	if out, status := b.grade(b.program(`[ "$#" = 2 ] && [ "$1" = "-a *" ] && [ "$2" = "" ] && exec RIGHT`), "-a *", ""); status != 0 {
		t.Errorf("got:  status %d\nwant: status 0\n%s", status, out)
	}
}

// TestCantBeRun: a command that can't be run at all is told with its reason.
func TestCantBeRun(t *testing.T) {
	b := setUp(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{b.dir + "/nosuch"}, "Bail out! .*no such file or directory\n"},
		{[]string{"no-such-program-anywhere"}, "Bail out! .*not found.*\n"},
		{[]string{b.write("plain", 0o644, "#!/bin/sh\n")}, "Bail out! .*permission denied\n"},
		{[]string{b.write("text", 0o755, "no interpreter line\n")}, "Bail out! .*exec format error\n"},
		{[]string{"-scripts", b.dir, "cat"}, "Bail out! no scripts in .*\n"},
		{nil, "usage: grade "},
		{[]string{"-nosuch", "cat"}, "usage: grade "},
	} {
		if out, status := b.grade(c.args...); status != 2 || !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("grade %q\ngot:  status %d, %s\nwant: status 2, %s", c.args, status, out, c.want)
		}
	}
	if out, status := b.grade("-h"); status != 0 || !strings.HasPrefix(out, "usage: grade ") {
		t.Errorf("grade -h\ngot:  status %d, %s\nwant: status 0, usage: grade ...", status, out)
	}
}

// isRunning reports whether a process, whose number a program wrote to a file, is there.
func (b bench) isRunning(file string) bool {
	text, err := os.ReadFile(filepath.Join(b.dir, file))
	pid, numberErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || numberErr != nil {
		b.Fatal(err, numberErr)
	}
	return syscall.Kill(pid, 0) == nil
}

// TestHangs: a program that hangs, in itself or in what it started, is ended with all that it started; after three such cases
// in a row grade stops.
func TestHangs(t *testing.T) {
	b := setUp(t)
	for what, text := range map[string]string{
		"itself":                  `echo $$ >pid; while :; do sleep 1; done`,
		"a child":                 `sleep 1000 & echo $! >pid; wait`,
		"an orphan with the pipe": `RIGHT; sleep 1000 & echo $! >pid`,
		"an orphan elsewhere":     `RIGHT; setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait`,
	} {
		if strings.Contains(text, "setsid") && runtime.GOOS != "linux" {
			continue
		}
		out, status := b.grade("-timeout", "300ms", b.program("cd '"+b.dir+"'\n"+text))
		want := "not ok 3 - default\n# The program did not end within 300ms, and was ended.\n"
		if status != 1 || strings.Count(out, "did not end within") != 3 || !strings.Contains(out, "Bail out! stopped, since three scripts in a row") ||
			strings.Contains(text, "RIGHT") && !strings.Contains(out, want) {
			t.Errorf("%s hangs\ngot:  status %d\n%swant: status 1, three cases that took too long, and an end", what, status, out)
		}
		if b.isRunning("pid") {
			t.Errorf("%s hangs\ngot:  it is still there\nwant: ended", what)
		}
	}
	// Two in a row do not stop it.
	out, status := b.grade("-timeout", "1s", b.program(`read -r line; [ "$line" = "STATUS a" ] || { [ "$line" = "LIMIT 1 1" ]; } || sleep 1000; { echo "$line"; cat; } | RIGHT`))
	if status != 1 || !strings.Contains(out, "ok 4 - other\n") {
		t.Errorf("two hang\ngot:  status %d\n%swant: status 1, and the other cases", status, out)
	}
}

// TestInterrupt: when grade is interrupted, or killed where that can be noticed, nothing is left running.
func TestInterrupt(t *testing.T) {
	b := setUp(t)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if runtime.GOOS == "linux" {
		signals = append(signals, os.Kill)
	}
	for _, signal := range signals {
		os.Remove(filepath.Join(b.dir, "pid"))
		cmd := exec.Command(filepath.Join(b.dir, "grade"), "-scripts", filepath.Join(b.dir, "scripts"), "-timeout", "1m",
			b.program("cd '"+b.dir+"'\necho $$ >new && mv new pid; exec sleep 1000"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the program runs", func() bool { _, err := os.Stat(filepath.Join(b.dir, "pid")); return err == nil })
		cmd.Process.Signal(signal)
		cmd.Wait()
		if signal != os.Kill && cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%v\ngot:  %v\nwant: exit status 2", signal, cmd.ProcessState)
		}
		eventually(t, "nothing is left", func() bool { return !b.isRunning("pid") })
	}
}

// eventually waits until something is so; a minute is for ever.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("got:  not so after a minute\nwant: %s", what)
		}
	}
}
