package limiter

import (
	"syscall"
	"unsafe"
)

// adviseHuge asks for large pages under memory that is about to be filled: it is filled and searched faster then. That
// is advice, and an error is no fault.
func adviseHuge[T any](s []T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(s[0]))
	syscall.Madvise(b, syscall.MADV_HUGEPAGE)
}
