package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// This file runs the program that is graded, within limits, and leaves nothing of it behind.

// A program is what is graded.
type program struct {
	command []string
	timeout time.Duration

	mutex   sync.Mutex
	running *exec.Cmd
}

// A result is what one run of a program left behind.
type result struct {
	out       []byte
	crlf      bool   // lines of out ended in CR LF; LF stands there now
	late      bool   // it took too long
	fault     string // what it did that no program should: it took too long, or printed too much
	status    string // its exit status, if that is not 0, or the signal that ended it
	lastError string // the last line that it printed on standard error
}

// run runs the program on a script. It is given room for somewhat more output than the right one has. The error is why it
// can't be run at all.
func (p *program) run(script []byte, right int) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	out := limitedBuffer{room: right + right/4 + 4096, full: cancel}
	var errs tail
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(script), &out, &errs
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = time.Second // for what has left the group and keeps the output open
	ownGroup(cmd)

	p.mutex.Lock()
	err := cmd.Start()
	p.running = cmd
	p.mutex.Unlock()
	if err != nil {
		p.running = nil
		return result{}, err
	}
	err = cmd.Wait()
	p.end()

	r := result{out: out.kept, lastError: errs.lastLine()}
	switch {
	case out.room < 0:
		r.fault = fmt.Sprintf("printed more than %d bytes, where %d are right, and was ended", len(r.out), right)
	case ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay):
		r.late, r.fault = true, fmt.Sprintf("did not end within %v, and was ended", p.timeout)
	case !cmd.ProcessState.Success():
		r.status = cmd.ProcessState.String()
	}
	if bytes.Contains(r.out, []byte("\r\n")) {
		r.crlf = true
		r.out = bytes.ReplaceAll(r.out, []byte("\r\n"), []byte("\n"))
	}
	return r, nil
}

// end ends the program that is running, if one is, and all that it started.
func (p *program) end() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.running != nil {
		endGroup(p.running)
		endOrphans()
		p.running = nil
	}
}

// A limitedBuffer is a buffer with so much room. It calls full when that does not do.
type limitedBuffer struct {
	kept []byte
	room int
	full func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := max(0, min(len(p), b.room))
	b.kept = append(b.kept, p[:n]...)
	if b.room -= len(p); b.room < 0 {
		b.full()
		return n, io.ErrShortWrite
	}
	return n, nil
}

// A tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 4096
	t.kept = append(t.kept, p...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-most):]...)
	return len(p), nil
}

func (t *tail) lastLine() string {
	lines := bytes.Split(bytes.TrimRight(t.kept, "\r\n"), []byte("\n"))
	return string(bytes.TrimRight(lines[len(lines)-1], "\r"))
}
