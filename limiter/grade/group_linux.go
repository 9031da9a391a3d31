package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

const prSetChildSubreaper = 36 // of prctl(2)

// ownGroup gives a command a process group of its own. If grade is killed, so is the command; and what outlives the command
// becomes a child of grade, where endOrphans finds it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// endGroup ends the process group of a command.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// endOrphans ends the children of grade and theirs, until there are none.
func endOrphans() {
	for range 100 { // in each round the children of those that were ended
		var children []byte
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			children = append(children, text...)
		}
		if len(children) == 0 {
			return
		}
		for _, f := range bytes.Fields(children) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
				syscall.Wait4(pid, nil, 0, nil)
			}
		}
	}
}
