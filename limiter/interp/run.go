// Package interp runs scripts of LIMIT, NOW, REQUEST, RESERVE and STATUS commands, one a line of at most 65,536 bytes,
// on token buckets: 10 tokens and 60 a minute, until LIMIT says otherwise.
//
// A script goes through it in blocks of lines. A scanner (scan.go) reads a block and parses its lines: the commonest
// forms on a fast path (fastpath.go), the others by the table of verbs (parse.go). The interpreter, in this file,
// executes the commands of the block in order, and appends the answers (answer.go) to its output (output.go). In a long
// script the scanner has a goroutine of its own, so that one core parses while another executes.
//
// TestReference, in reference_test.go, is the first test to read.
package interp

import (
	"cmp"
	"io"
	"runtime"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

// blocks is how many blocks there are where parsing and executing run concurrently.
const blocks = 4

const (
	banner = "tokenbucket: a token-bucket rate limiter. HELP lists the commands, Ctrl-D ends.\n"
	prompt = "> "
)

// Options say how a script is run. The zero value suits piped input.
type Options struct {
	Clock    func() int64 // the real clock in ms, instead of the one that NOW sets; it never goes back
	Trace    bool         // show the arithmetic of each call on the errors' writer
	Terminal bool         // show a banner and prompts, for a person
}

// Run reads commands from in until its end, QUIT or a fault, and writes the answers to out and a message for each
// invalid line to errs, in order. Every answer is written before it waits for input.
//
// It reports whether any line was invalid. The error is that of the first failed read, write to out or write to errs. A read
// or a write to out that fails ends the run, and a line that a read error cut off is not run; a write to errs that fails
// costs messages and rows, but no answers. A long script is read in a goroutine of its own; when a write to out fails, that
// may still be waiting for more.
func Run(in io.Reader, out, errs io.Writer, opt Options) (bad bool, err error) {
	it := &interpreter{Options: opt, policy: limiter.Policy{Capacity: 10, PerMinute: 60}}
	it.store = store.New(it.policy.Full())
	it.output = output{writers: [...]io.Writer{toOut: out, toErrs: errs}, pending: make([]byte, 0, writeBytes+roomBytes)}
	err = it.run(&scanner{in: in, hasher: it.store.Hasher(), live: opt.Clock != nil})
	it.flush()
	if err == io.EOF {
		err = cmp.Or(it.failed[toOut], it.failed[toErrs])
	}
	return it.bad, err
}

// An interpreter is the state of a run, apart from the scanner's.
type interpreter struct {
	Options
	output
	policy limiter.Policy
	store  *store.Store
	bad    bool // a line was invalid
	traced bool // the header of the trace was written

	// With Clock:
	ms       int64 // the last reading
	forgetAt int64 // ms; when it is time to forget clients
}

// run runs the script. The error is io.EOF at its end, a read error or a write error.
func (it *interpreter) run(s *scanner) error {
	if it.Terminal {
		it.pending = append(it.to(toOut), banner...)
	}
	for b := newBlock(); ; {
		if it.Terminal {
			it.pending = append(it.to(toOut), prompt...)
		}
		if !it.flush() {
			return it.failed[toOut]
		}
		s.next(b)
		it.execute(b)
		if b.end != nil {
			return b.end
		}
		if b.full && runtime.GOMAXPROCS(0) > 1 {
			return it.runConcurrently(s, b)
		}
	}
}

// runConcurrently runs the rest of a long script: while one core executes a block, another parses the next.
func (it *interpreter) runConcurrently(s *scanner, b *block) error {
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
	for it.failed[toOut] == nil {
		select {
		case b = <-ready:
		default:
			if !it.flush() {
				return it.failed[toOut]
			}
			b = <-ready
		}
		it.execute(b)
		if b.end != nil {
			return b.end
		}
		free <- b
	}
	return it.failed[toOut]
}

// execute executes the commands of a block in order.
func (it *interpreter) execute(b *block) {
	if it.Terminal && b.eof {
		it.pending = append(it.to(toOut), '\n') // Ctrl-D left the cursor behind the prompt, or behind the line
	}
	for commands, keys := b.commands, b.keys; len(commands) > 0; {
		calls := countCalls(commands[:min(len(commands), store.MaxBatch)])
		if it.Clock != nil && (it.ms >= it.forgetAt || it.store.Crowded(calls)) {
			it.forgetFull()
		}
		n := max(1, calls)
		it.executeBatch(b, commands[:n], keys[:calls], it.store.Find(b.text[:], keys[:calls]))
		commands, keys = commands[n:], keys[calls:]
	}
	clear(b.commands)
	clear(b.keys)
}

// countCalls returns how many calls the commands start with.
func countCalls(commands []command) (n int) {
	for n < len(commands) && commands[n].verb.isCall() {
		n++
	}
	return n
}

// forgetFull forgets the clients whose buckets are full, and so as good as new. It relies on a clock that never goes back.
// It will be called again after a second, or more where there are many clients, so that it takes a small part of the time.
func (it *interpreter) forgetFull() {
	full := it.policy.Full()
	it.store.Forget(func(b limiter.Bucket) bool { return it.policy.Refill(b, it.ms).Ticks == full.Ticks })
	it.forgetAt = it.ms + 1000 + int64(it.store.Clients()/500)
}

// executeBatch executes calls, with the keys and buckets of their clients, or one command of another kind. Policy and output
// are in local variables, for speed.
func (it *interpreter) executeBatch(b *block, commands []command, keys []store.Key, buckets []*limiter.Bucket) {
	stream := toOut
	if commands[0].verb == invalid {
		stream = toErrs
	}
	out := it.to(stream)
	for i := range commands {
		c := &commands[i]
		if it.Clock != nil && stream == toOut {
			it.ms = it.Clock()
			c.now = it.ms
		}
		switch c.verb {
		case limit:
			a := b.arguments[c.arguments]
			it.policy = limiter.Policy{Capacity: a[0], PerMinute: a[1]}
			it.store.Reset(it.policy.Full())
		case now:
			out = appendLine(out, c.now)
		case request, reserve:
			bucket, a := buckets[i], &b.arguments[c.arguments]
			after, outcome := it.policy.Take(*bucket, c.now, a[0], a[1])
			if it.Trace {
				out = it.row(out, c, keys[i].Name(b.text[:]), a, *bucket, after, outcome)
			}
			*bucket = after
			switch {
			case !outcome.Granted:
				out = appendRefusal(out, outcome.RetryAfter)
			case c.verb == request:
				out = remaining.append(out, after.Tokens())
			default:
				out = appendLine(append(out, "200 Send-At: "...), outcome.At)
			}
		case status:
			bucket := buckets[i]
			after := it.policy.Refill(*bucket, c.now)
			if it.Trace {
				out = it.row(out, c, keys[i].Name(b.text[:]), nil, *bucket, after, limiter.Outcome{})
			}
			*bucket = after
			out = append(appendTokens(out, after), '\n')
		case help:
			out = append(out, Help()...)
		case invalid:
			a := b.arguments[c.arguments]
			it.bad = true
			out = append(out, b.messages[a[0]:a[1]]...)
		default:
			panic("no case for " + verbs[c.verb].name)
		}
	}
	it.pending = out
}
