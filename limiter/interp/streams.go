package interp

import "io"

// This file keeps standard output and standard error in order without writing each line by itself.

// Where text goes.
const (
	toOut = iota
	toErrs
)

// writeSize is how much text is written at a time.
const writeSize = 1 << 16

// streams is two writers and the text that is still to be written, all of it to one of them: before text for the other
// is added, it is written out.
type streams struct {
	writers [2]io.Writer
	current int
	pending []byte
	failed  error // the first write that failed; nothing is written after it
}

// newStreams has memory for what is pending from the start: slices that grow leave pages behind, and each page that a
// program touches for the first time takes longer than many commands.
func newStreams(out, errs io.Writer) streams {
	return streams{writers: [...]io.Writer{toOut: out, toErrs: errs}, pending: make([]byte, 0, writeSize+writeSize/8)}
}

// to makes room for text for one of the writers, which is then appended to pending.
func (s *streams) to(writer int) {
	if writer != s.current || len(s.pending) >= writeSize {
		s.flush()
		s.current = writer
	}
}

func (s *streams) write(writer int, text string) {
	s.to(writer)
	s.pending = append(s.pending, text...)
}

// flush writes out what is pending, and reports whether all is well so far.
func (s *streams) flush() bool {
	if len(s.pending) > 0 && s.failed == nil {
		n, err := s.writers[s.current].Write(s.pending)
		if err == nil && n < len(s.pending) {
			err = io.ErrShortWrite
		}
		s.failed = err
	}
	s.pending = s.pending[:0]
	return s.failed == nil
}
