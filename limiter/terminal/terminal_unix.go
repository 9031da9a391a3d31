//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

// Is reports whether f is a terminal: whether it has the settings of one.
func Is(f *os.File) bool {
	conn, err := f.SyscallConn() // f.Fd would make the file blocking
	if err != nil {
		return false
	}
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		var settings syscall.Termios
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, getSettings, uintptr(unsafe.Pointer(&settings)))
	})
	return err == nil && errno == 0
}
