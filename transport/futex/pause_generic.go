//go:build (!amd64 && !arm64) || race

package futex

import "sync/atomic"

// Pause passes n rounds of a spin loop.
func Pause(n uint32) {
	var sink uint32
	for ; n > 0; n-- {
		atomic.AddUint32(&sink, 1)
	}
}
