// Package interp runs scripts of LIMIT, NOW, REQUEST, RESERVE and STATUS commands, one a line of at most 65,536 bytes,
// against a store of token buckets: 10 tokens and 60 a minute, until LIMIT says otherwise.
//
// This file runs a script. Blocks of lines come from block.go, what the lines mean is found out in lines.go and parse.go,
// the buckets decide in package limiter, and the answers get their words in answer.go.
package interp

import (
	"io"
	"runtime"

	"tokenbucket/limiter"
)

// blocks is how many blocks are under way where reading and answering go side by side.
const blocks = 4

// Options say how a script is run. The zero value is the way of a pipe.
type Options struct {
	Clock    func() int64 // the real clock in ms, in the place of the one that NOW sets; it never goes back
	Trace    bool         // show the arithmetic of each call on the errors' writer
	Terminal bool         // show a banner and prompts, for a person
}

// Run reads commands from in until its end, QUIT or a fault, and writes the answers to out and a message for each bad
// line to errs, in order. Whenever it waits for input, all that it had to say is written.
//
// It reports whether any line was bad. The error is that of a read or a write that failed, and ends the run; a line that
// a read error cut off is not run. A long script is read in a goroutine of its own; when a write fails, that may still be
// waiting for more.
func Run(in io.Reader, out, errs io.Writer, opt Options) (bad bool, err error) {
	it := &interpreter{
		Options: opt,
		streams: newStreams(out, errs),
		store:   limiter.NewStore(limiter.Policy{Capacity: 10, PerMinute: 60}),
	}
	err = it.run(&scanner{in: in, seed: it.store.Seed(), live: opt.Clock != nil})
	it.flush()
	if err == nil {
		err = it.failed
	}
	return it.bad, err
}

// An interpreter is the state of a run, but for what the scanner keeps.
type interpreter struct {
	Options
	streams
	store  *limiter.Store
	bad    bool // a line was
	traced bool // the header of the trace is there
}

// run runs the script. What it returns is a read error.
func (it *interpreter) run(s *scanner) error {
	it.store.Monotonic = it.Clock != nil
	if it.Terminal {
		it.write(toOut, banner)
	}
	for b := newBlock(); ; {
		if it.Terminal {
			it.write(toOut, prompt)
		}
		if !it.flush() {
			return nil
		}
		s.next(b)
		it.block(b)
		if b.end != nil {
			return b.fault()
		}
		if b.full && runtime.GOMAXPROCS(0) > 1 {
			return it.runSideBySide(s, b)
		}
	}
}

// runSideBySide runs the rest of a long script: while one core answers the calls of a block, another takes in the next.
func (it *interpreter) runSideBySide(s *scanner, b *block) error {
	free, ready := make(chan *block, blocks), make(chan *block, blocks)
	defer close(free)
	free <- b
	for range blocks - 1 {
		free <- newBlock()
	}
	go func() {
		for b := range free {
			s.next(b)
			ready <- b
			if b.end != nil {
				return
			}
		}
	}()
	for it.failed == nil {
		select {
		case b = <-ready:
		default:
			if !it.flush() {
				return nil
			}
			b = <-ready
		}
		it.block(b)
		if b.end != nil {
			return b.fault()
		}
		free <- b
	}
	return nil
}

// block does what the lines of a block say.
func (it *interpreter) block(b *block) {
	if it.Terminal && (b.cut || b.end == io.EOF) {
		it.write(toOut, "\n") // Ctrl-D left the cursor behind the prompt, or behind the line
	}
	terms, done := b.terms, 0
	for i := range b.others {
		o := &b.others[i]
		terms = it.answerAll(b.text[:], b.calls[done:o.after], terms)
		it.do(o)
		done = o.after
	}
	it.answerAll(b.text[:], b.calls[done:], terms)
	// Back to the scanner go blocks that this core was the last to write to: it can then have their memory for writing
	// at once, where it would otherwise wait for this core to give up each line of cache.
	clear(b.calls)
}

// answerAll answers calls, and returns the terms that are not theirs.
func (it *interpreter) answerAll(text []byte, calls []limiter.Call, terms []terms) []terms {
	for len(calls) > 0 {
		n := min(len(calls), limiter.MaxSeek)
		if it.Clock != nil {
			for i := range calls[:n] {
				calls[i].Now = it.Clock()
			}
		}
		if it.Trace {
			terms = it.trace(text, calls[:n], terms)
		} else {
			terms = it.answer(text, calls[:n], terms)
		}
		calls = calls[n:]
	}
	return terms
}

// answer answers as many calls as can be found together.
func (it *interpreter) answer(text []byte, calls []limiter.Call, terms []terms) []terms {
	it.store.Seek(calls)
	it.to(toOut)
	policy, out := it.store.Policy(), it.pending
	for i := range calls {
		c := &calls[i]
		b := it.store.Bucket(text, c, i)
		var o limiter.Outcome
		switch verb(c.Kind) {
		case request:
			*b, o = policy.Take(*b, c.Now, 1, 0)
			out = appendRequest(out, *b, o)
		case request | hasTerms:
			*b, o = policy.Take(*b, c.Now, terms[0].cost, 0)
			out = appendRequest(out, *b, o)
			terms = terms[1:]
		case reserve | hasTerms:
			*b, o = policy.Take(*b, c.Now, terms[0].cost, terms[0].maxWait)
			out = appendReserve(out, o)
			terms = terms[1:]
		case status:
			*b = policy.TopUp(*b, c.Now)
			out = appendStatus(out, *b)
		}
	}
	it.pending = out
	return terms
}

// do does what a line says that is no call.
func (it *interpreter) do(o *other) {
	if o.mistake != nil {
		it.bad = true
		it.to(toErrs)
		it.pending = appendMistake(it.pending, o.number, o.mistake)
		return
	}
	it.to(toOut)
	switch o.command.verb {
	case limit:
		it.store.Reset(limiter.Policy{Capacity: o.command.capacity, PerMinute: o.command.perMinute})
	case now:
		ms := o.now
		if it.Clock != nil {
			ms = it.Clock()
		}
		it.pending = appendLine(it.pending, ms)
	case help:
		it.pending = append(it.pending, Help()...)
	}
}
