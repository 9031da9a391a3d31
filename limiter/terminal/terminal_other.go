//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package terminal

import "os"

// Is reports false: on this platform the standard library cannot tell.
func Is(*os.File) bool { return false }
