//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// endGroup ends a command.
func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// endOrphans does nothing: what a command started can't be found here.
func endOrphans() {}
