//go:build (amd64 || arm64) && !race

package futex

// Pause tells the core n times (n > 0) that it is in a spin loop.
func Pause(n uint32)
