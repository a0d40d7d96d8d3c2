//go:build !race

package shm

const canStorePast = true

// storePast copies n bytes, n > 0, to memory past the caches, both a multiple of a line's bytes. It is there before
// anything that is stored later.
//
//go:noescape
func storePast(dst, src *byte, n int)
