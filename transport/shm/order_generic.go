//go:build (!amd64 && !arm64) || race

package shm

import "sync/atomic"

// spinWhile waits as long as *p is old, for at most n looks (n > 0), and returns what it saw last.
func spinWhile(p *uint32, old, n uint32) uint32 {
	v := atomic.LoadUint32(p)
	for ; v == old && n > 1; n-- {
		v = atomic.LoadUint32(p)
	}
	return v
}
