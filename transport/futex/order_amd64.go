//go:build !race

package futex

// Go's atomic.Store on amd64 is XCHG, a full fence: it waits for all stores before it, and those to lines that another
// core has read last take long. The machine gives release order to every store; what is left is to keep the compiler
// from moving it, and a call that it cannot look into does that.

// Release32 is Release64 of a word of 32 bits.
//
//go:noinline
func Release32(p *uint32, v uint32) { *p = v }

// Release64 stores v: who sees it by an atomic load sees all that this thread stored before.
//
//go:noinline
func Release64(p *uint64, v uint64) { *p = v }
