//go:build (amd64 || arm64) && !race

package shm

// spinWhile waits, with PAUSE or YIELD, as long as *p is old, for at most n looks (n > 0), and returns
// what it saw last.
//
//go:noescape
func spinWhile(p *uint32, old, n uint32) uint32
