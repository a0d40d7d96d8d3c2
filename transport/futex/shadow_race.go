//go:build race

package futex

import "sync/atomic"

// The race detector does not see atomic operations on mapped memory: in race builds a word of Go's own tells it
// that one holder of the lock comes after the other.
type shadow struct{ word atomic.Uint32 }

func (l *shadow) acquired() { l.word.Add(1) }
func (l *shadow) released() { l.word.Add(1) }
