//go:build race

package shm

import "sync/atomic"

// The race detector does not see atomic operations on mapped memory: in race builds a word of Go's own tells it
// that one holder of the lock comes after the other.
type lockShadow struct{ word atomic.Uint32 }

func (l *lockShadow) acquired() { l.word.Add(1) }
func (l *lockShadow) released() { l.word.Add(1) }
