// Package terminal tells whether a file is a terminal.
package terminal

import "os"

// Is reports whether f is a terminal: a device for characters, and not the null device.
func Is(f *os.File) bool {
	is, err := f.Stat()
	if err != nil || is.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(is, null)
}
