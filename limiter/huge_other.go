//go:build !linux

package limiter

// adviseHuge does nothing here: this platform chooses the size of pages by itself.
func adviseHuge[T any]([]T) {}
