//go:build !linux

package store

// adviseHugePages does nothing here: this platform chooses the size of pages by itself.
func adviseHugePages[T any]([]T) {}
