package store

import (
	"syscall"
	"unsafe"
)

// adviseHugePages asks for huge pages under memory that is about to be filled: it is filled and searched faster then. That
// is advice, and an error is no fault.
func adviseHugePages[T any](s []T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(s[0]))
	syscall.Madvise(b, syscall.MADV_HUGEPAGE)
}
