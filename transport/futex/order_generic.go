//go:build !amd64 || race

package futex

import "sync/atomic"

// On arm64 this is STLR, already a release store and no more.

// Release32 is Release64 of a word of 32 bits.
func Release32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// Release64 stores v: who sees it by an atomic load sees all that this thread stored before.
func Release64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
