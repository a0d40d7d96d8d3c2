//go:build !amd64 || race

package shm

import "sync/atomic"

// On arm64 this is STLR, already a release store and no more.

func storeRelease32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

func storeRelease64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
