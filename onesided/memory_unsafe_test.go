package onesided

import (
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"golang.org/x/sys/unix"
)

func bytesOf(w []uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w)) }

// buf is a slice of any type as a buffer.
func buf[T any](s []T, count int64, t *datatype.Type) Buf {
	return Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: count, Type: t}
}

func at0(p []byte, off int64) unsafe.Pointer { return unsafe.Pointer(&p[off]) }

func numbers[T any](p []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/int(unsafe.Sizeof(t)))
}

// oneByOne combines elements so many bytes apart.
func oneByOne(t *testing.T, o coll.Op, element *datatype.Type, left unsafe.Pointer, l int64, right unsafe.Pointer,
	r, n int64) {
	t.Helper()
	for i := range n {
		if err := o.Apply(unsafe.Add(right, i*r), unsafe.Add(left, i*l), 1, element); err != nil {
			t.Fatal(err)
		}
	}
}

// aligned is n bytes of memory at a multiple of align.
func aligned(n, align int) []byte {
	room := words(n + align)
	from := -uintptr(unsafe.Pointer(&room[0])) & uintptr(align-1)
	return room[from:][:n:n]
}

// programs is memory of n integers as a program has it: addresses that are outside of it may be computed.
func programs(t *testing.T, n int) []int64 {
	mem, err := unix.Mmap(-1, 0, 8*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}
