// Package interp runs scripts of LIMIT, NOW, REQUEST, RESERVE and STATUS commands, one a line of at most 65,536 bytes,
// on token buckets: 10 tokens and 60 a minute, until LIMIT says otherwise.
//
// A script goes through it in blocks of lines. A scanner (scan.go) reads a block and parses its lines: the commonest
// forms on a fast path (fastpath.go), the others by the table of verbs (parse.go). The interpreter, in this file,
// executes the commands of the block in order, and puts the answers (answer.go) and messages into order. In a long script
// the scanner has a goroutine of its own, so that one core parses while another executes.
//
// TestReference, in reference_test.go, is the first test to read.
package interp

import (
	"bufio"
	"cmp"
	"io"
	"runtime"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

const (
	blocks     = 4       // of lines, where parsing and executing run concurrently
	writeBytes = 1 << 16 // answers that are written at a time
	roomBytes  = 1 << 12 // room beyond that for the answers to a batch of calls, or to HELP

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
// It reports whether any line was invalid. The error is that of a read, or else of a write to out, or else of a write to
// errs. A read or a write to out that fails ends the run, and a line that a read error cut off is not run; a write to errs
// that fails costs messages and rows, but no answers. A long script is read in a goroutine of its own; when a write to out
// fails, that may still be waiting for more.
func Run(in io.Reader, out, errs io.Writer, opt Options) (bad bool, err error) {
	it := &interpreter{Options: opt, out: out, errs: bufio.NewWriter(errs), policy: limiter.Policy{Capacity: 10, PerMinute: 60}}
	it.store = store.New(it.policy.Full())
	it.pending = make([]byte, 0, writeBytes+roomBytes)
	err = it.run(&scanner{in: in, hasher: it.store.Hasher(), live: opt.Clock != nil})
	it.flush()
	if err == io.EOF {
		err = cmp.Or(it.failed, it.errs.Flush())
	}
	return it.bad, err
}

// An interpreter is the state of a run, apart from the scanner's.
type interpreter struct {
	Options
	out      io.Writer
	failed   error         // of out; nothing is written to it after that
	errs     *bufio.Writer // what it holds comes before what is pending
	pending  []byte        // answers that are still to be written
	policy   limiter.Policy
	store    *store.Store
	bad      bool  // a line was invalid
	traced   bool  // the header of the trace was written
	ms       int64 // the last reading of Clock
	forgetAt int64 // ms; with Clock, when it is time to forget clients
}

// run runs the script. The error is io.EOF at its end, a read error or a write error.
func (it *interpreter) run(s *scanner) error {
	var ready chan *block
	free := make(chan *block, blocks)
	defer close(free)
	if it.Terminal {
		it.pending = append(it.pending, banner...)
	}
	for b := newBlock(); ; {
		if it.Terminal {
			it.pending = append(it.pending, prompt...)
		}
		if len(ready) == 0 { // the next block may have to be waited for
			it.flush()
		}
		if it.failed != nil {
			return it.failed
		}
		if ready == nil {
			s.next(b)
		} else {
			free <- b
			b = <-ready
		}
		it.execute(b)
		if b.end != nil {
			return b.end
		}
		if b.full && ready == nil && runtime.GOMAXPROCS(0) > 1 { // a long script: from here on one core parses ahead
			ready = make(chan *block, blocks)
			for range blocks - 1 {
				free <- newBlock()
			}
			go func() {
				for b := range free {
					s.next(b)
					ready <- b
				}
			}()
		}
	}
}

// execute executes the commands of a block in order.
func (it *interpreter) execute(b *block) {
	if it.Terminal && b.eof {
		it.pending = append(it.pending, '\n') // Ctrl-D left the cursor behind the prompt, or behind the line
	}
	for commands, keys := b.commands, b.keys; len(commands) > 0; {
		calls, most := 0, min(len(commands), store.MaxBatch)
		for calls < most && (len(keys) == len(commands) || commands[calls].verb.isCall()) { // with as many keys, all are
			calls++
		}
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

// forgetFull forgets the clients whose buckets are full, and so as good as new. It relies on a clock that never goes back.
// It will be called again after a second, or more where there are many clients, so that it takes a small part of the time.
func (it *interpreter) forgetFull() {
	full := it.policy.Full()
	it.store.Forget(func(b limiter.Bucket) bool { return it.policy.Refill(b, it.ms).Ticks == full.Ticks })
	it.forgetAt = it.ms + 1000 + int64(it.store.Clients()/500)
}

// executeBatch executes calls, with the keys and buckets of their clients, or one command of another kind. It appends the
// answers to out, in the free part of the buffer.
func (it *interpreter) executeBatch(b *block, commands []command, keys []store.Key, buckets []*limiter.Bucket) {
	if len(it.pending) > writeBytes {
		it.flush()
	}
	out := it.pending
	for i := range commands {
		c := &commands[i]
		if it.Clock != nil && c.verb != invalid {
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
			case outcome.Granted && c.verb == request:
				out = remaining.append(out, after.Tokens())
			case outcome.Granted:
				out = appendLine(append(out, "200 Send-At: "...), outcome.At)
			case outcome.RetryAfter > 0:
				out = retryAfter.append(out, outcome.RetryAfter)
			default:
				out = append(out, "429\n"...)
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
			out = it.tell(out, b.messages[a[0]:a[1]])
		default:
			panic("no case for " + verbs[c.verb].name)
		}
	}
	it.pending = out
}

// tell writes to errs, behind the answers in out, and returns the buffer for those that follow.
func (it *interpreter) tell(out, text []byte) []byte {
	if it.pending = out; len(out) > 0 {
		it.flush()
	}
	it.errs.Write(text)
	return it.pending
}

// flush writes what is pending, on either stream.
func (it *interpreter) flush() {
	it.errs.Flush()
	if len(it.pending) > 0 && it.failed == nil {
		n, err := it.out.Write(it.pending)
		if err == nil && n < len(it.pending) {
			err = io.ErrShortWrite
		}
		it.failed = err
	}
	it.pending = it.pending[:0]
}
