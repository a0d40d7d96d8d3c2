//go:build !race

package shm

// Go's atomic.Store on amd64 is XCHG, a full fence of some 20 cycles. A record needs release order only,
// which the machine gives to every store; what is left is to keep the compiler from moving it, and a call
// that it cannot look into does that.

//go:noinline
func storeRelease32(p *uint32, v uint32) { *p = v }

//go:noinline
func storeRelease64(p *uint64, v uint64) { *p = v }
