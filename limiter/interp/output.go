package interp

import "io"

// This file keeps standard output and standard error in order without writing each line by itself.

// The two streams.
const (
	toOut = iota
	toErrs
)

// writeBytes is how much text is written at a time; roomBytes is room for the answers to a batch of calls beyond that.
const (
	writeBytes = 1 << 16
	roomBytes  = 1 << 13
)

// An output is the two streams and the text that is still to be written, all of it to one of them: before text for the
// other is added, it is flushed.
type output struct {
	writers [2]io.Writer
	current int
	pending []byte
	failed  [2]error // the first write to each stream that failed; nothing is written to it after that
}

// to prepares for text of one of the streams, and returns what is pending, with room for more.
func (o *output) to(stream int) []byte {
	if stream != o.current || len(o.pending) >= writeBytes {
		o.flush()
		o.current = stream
	}
	return o.pending
}

// flush writes what is pending. It reports whether answers can be written: messages and rows may be lost.
func (o *output) flush() bool {
	if len(o.pending) > 0 && o.failed[o.current] == nil {
		n, err := o.writers[o.current].Write(o.pending)
		if err == nil && n < len(o.pending) {
			err = io.ErrShortWrite
		}
		o.failed[o.current] = err
	}
	o.pending = o.pending[:0]
	return o.failed[toOut] == nil
}
