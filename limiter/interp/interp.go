// Package interp runs scripts of LIMIT, NOW, REQUEST, RESERVE and STATUS commands, one a line, against a store of token
// buckets.
//
// This file reads lines and runs them. A line becomes a command in parse.go, the buckets decide in package limiter, and
// the answer gets its words in answer.go.
package interp

import (
	"bytes"
	"io"

	"tokenbucket/limiter"
)

// maxLine is how many bytes a line may hold, without its ending and the byte-order mark.
const maxLine = 1 << 16

// bufferSize is room for the longest line with its ending, and for a block of many short ones.
const bufferSize = 2 * maxLine

// maxEmptyReads is how many reads in a row may bring nothing before the reader counts as broken.
const maxEmptyReads = 100

const byteOrderMark = "\ufeff"

// Options say how a script is run. The zero value is the way of a pipe.
type Options struct {
	Clock    func() int64 // the real clock in ms, in the place of the one that NOW sets; it never goes back
	Terminal bool         // show a banner and prompts, for a person
}

// Run reads commands from in until its end, QUIT or a fault, and writes the answers to out and a message for each bad
// line to errs, in order. Whenever it waits for input, all that it had to say is written.
//
// It reports whether any line was bad. The error is that of a read or a write that failed, and ends the run; a line that
// a read error cut off is not run.
func Run(in io.Reader, out, errs io.Writer, opt Options) (bad bool, err error) {
	it := &interpreter{
		Options: opt,
		streams: streams{writers: [...]io.Writer{toOut: out, toErrs: errs}},
		store:   limiter.NewStore(limiter.Policy{Capacity: 10, PerMinute: 60}),
	}
	err = it.run(in)
	it.flush()
	if err == nil {
		err = it.failed
	}
	return it.bad, err
}

// An interpreter is the state of a run.
type interpreter struct {
	Options
	streams
	store    *limiter.Store
	clock    int64 // what NOW set, in ms
	number   int64 // how many lines have ended, and so the number of the last one
	bad      bool  // one of them was
	skipping bool  // the line being read is too long, and was reported
	quit     bool
}

// run reads blocks of input and runs the lines in them. What it returns is a read error.
func (it *interpreter) run(in io.Reader) error {
	if it.Terminal {
		it.write(toOut, banner)
	}
	buf := make([]byte, bufferSize)
	held := 0  // bytes at the start of buf that are the beginning of a line
	empty := 0 // reads in a row that brought nothing
	for it.failed == nil {
		if it.Terminal && held == 0 {
			it.write(toOut, prompt)
		}
		it.flush()
		n, err := in.Read(buf[held:])
		end := held + n
		if i := bytes.LastIndexByte(buf[held:end], '\n'); i >= 0 {
			whole := held + i + 1
			it.lines(buf[:whole])
			if it.quit {
				return nil
			}
			end = copy(buf, buf[whole:end])
		}
		held = it.hold(buf[:end])

		if err == io.EOF {
			it.end(buf[:held])
			return nil
		}
		if err != nil {
			return err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

// lines runs a block of lines, each with its ending.
func (it *interpreter) lines(block []byte) {
	for len(block) > 0 && !it.quit {
		i := bytes.IndexByte(block, '\n')
		it.line(block[:i])
		block = block[i+1:]
	}
}

// hold keeps the beginning of a line until the rest is read, and returns its length; but of one that is too long
// whatever follows, nothing.
func (it *interpreter) hold(begun []byte) int {
	if it.skipping {
		return 0
	}
	most := maxLine + len("\r")
	if it.number == 0 {
		most += len(byteOrderMark)
	}
	if len(begun) <= most {
		return len(begun)
	}
	it.skipping = true
	it.tooLong(begun, it.number+1)
	return 0
}

// end runs the last line, if it is one without an ending.
func (it *interpreter) end(last []byte) {
	if it.Terminal {
		it.write(toOut, "\n") // Ctrl-D left the cursor behind the prompt
	}
	if len(last) > 0 {
		it.line(last)
	}
}

// line runs a line without its LF.
func (it *interpreter) line(line []byte) {
	it.number++
	if it.skipping {
		it.skipping = false
		return
	}
	if it.number == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > maxLine {
		it.tooLong(line, it.number)
		return
	}
	c, m := parse(line)
	if m == nil && c.verb == now && !c.bare && it.Clock != nil {
		m = &mistake{"with -live there is no", line, "want NOW alone, the clock is the real one"}
	}
	if m != nil {
		it.report(m, it.number)
		return
	}
	it.do(c)
}

// do runs a command.
func (it *interpreter) do(c command) {
	it.to(toOut)
	switch c.verb {
	case limit:
		it.store.Reset(limiter.Policy{Capacity: c.capacity, PerMinute: c.perMinute})
	case now:
		if c.bare {
			it.pending = appendLine(it.pending, it.now())
		} else {
			it.clock = c.ms
		}
	case request:
		b, o := it.store.Take(c.client, it.now(), c.cost, 0)
		it.pending = appendRequest(it.pending, b, o)
	case reserve:
		_, o := it.store.Take(c.client, it.now(), c.cost, c.maxWait)
		it.pending = appendReserve(it.pending, o)
	case status:
		it.pending = appendStatus(it.pending, it.store.TopUp(c.client, it.now()))
	case help:
		it.pending = append(it.pending, Help...)
	case quit:
		it.quit = true
	}
}

func (it *interpreter) now() int64 {
	if it.Clock != nil {
		return it.Clock()
	}
	return it.clock
}

func (it *interpreter) tooLong(line []byte, number int64) {
	it.report(&mistake{"line too long,", line, "want at most 65536 bytes"}, number)
}

func (it *interpreter) report(m *mistake, number int64) {
	it.bad = true
	it.to(toErrs)
	it.pending = appendMistake(it.pending, number, m)
}
