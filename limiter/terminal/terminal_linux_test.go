package terminal_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"tokenbucket/limiter/terminal"
)

// openTerminal makes a pseudo-terminal: what is written to keyboard is typed, and what a program prints to screen can be
// read from keyboard.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	screen, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

func TestIs(t *testing.T) {
	_, screen := openTerminal(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	closed, _ := os.Open(os.DevNull)
	closed.Close()
	for _, c := range []struct {
		what string
		f    *os.File
		want bool
	}{{"a terminal", screen, true}, {os.DevNull, null, false}, {"a pipe", pipe, false}, {"a closed file", closed, false}, {"no file", nil, false}} {
		if got := terminal.Is(c.f); got != c.want {
			t.Errorf("Is(%s): wanted %v, came %v", c.what, c.want, got)
		}
	}
}

func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "tokenbucket")
	if text, err := exec.Command("go", "build", "-o", program, "tokenbucket").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return program
}

// TestSession is a person at a real terminal: banner, prompts, an answer, an error in its place, Ctrl-D.
func TestSession(t *testing.T) {
	program := build(t)
	keyboard, screen := openTerminal(t)
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()

	var seen bytes.Buffer
	// watch reads the screen until it ends with text.
	watch := func(text string) {
		t.Helper()
		var b [1]byte
		for !strings.HasSuffix(seen.String(), text) {
			if _, err := keyboard.Read(b[:]); err != nil {
				t.Fatalf("wanted: ...%q\ncame:   %q, %v", text, seen.String(), err)
			}
			seen.Write(b[:])
		}
	}
	watch("\r\n> ")
	if banner := seen.String(); strings.Count(banner, "\n") != 1 {
		t.Errorf("wanted: a banner of one line and a prompt\ncame:   %q", banner)
	}
	for _, turn := range []struct{ typed, shown string }{
		{"LIMIT 3 60\n", "LIMIT 3 60\r\n> "},
		{"STATUS a\n", "STATUS a\r\n3.000\r\n> "},
		{"oops\n", "oops\r\nstdin:3: unknown command \"oops\": want LIMIT, NOW, REQUEST, RESERVE, STATUS, HELP or QUIT\r\n> "},
		{"\n", "\r\n> "},
		{"REQUEST a\n", "REQUEST a\r\n200 X-RateLimit-Remaining: 2\r\n> "},
		{"\x04", "\r\n"}, // Ctrl-D
	} {
		seen.Reset()
		if _, err := keyboard.WriteString(turn.typed); err != nil {
			t.Fatal(err)
		}
		watch(turn.shown)
		if seen.String() != turn.shown {
			t.Errorf("typed:  %q\nwanted: %q\ncame:   %q", turn.typed, turn.shown, seen.String())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("wanted: exit status 0 in spite of the bad line\ncame:   %v", err)
	}
	if n, err := keyboard.Read(make([]byte, 1)); n > 0 || !errors.Is(err, syscall.EIO) {
		t.Errorf("something came after the end: %d bytes, %v", n, err)
	}
}

// TestHalfSession: with a terminal on one side only there is neither banner nor prompt, and a bad line counts.
func TestHalfSession(t *testing.T) {
	program := build(t)

	keyboard, screen := openTerminal(t)
	reading := exec.Command(program)
	reading.Stdin = screen
	if _, err := keyboard.WriteString("oops\nNOW\n\x04"); err != nil {
		t.Fatal(err)
	}
	out, err := reading.Output()
	if string(out) != "0\n" || reading.ProcessState.ExitCode() != 1 {
		t.Errorf("input from a terminal\nwanted: %q, exit status 1\ncame:   %q, %v", "0\n", out, err)
	}

	keyboard, screen = openTerminal(t)
	writing := exec.Command(program)
	writing.Stdin, writing.Stdout = strings.NewReader("NOW\n"), screen
	if err := writing.Run(); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	n, err := keyboard.Read(text)
	if shown := string(text[:n]); shown != "0\r\n" {
		t.Errorf("output to a terminal\nwanted: %q\ncame:   %q, %v", "0\r\n", shown, err)
	}
}
