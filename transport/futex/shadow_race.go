//go:build race

package futex

import (
	"sync"
	"sync/atomic"
)

// The race detector does not see atomic operations on mapped memory: in race builds a word of Go's own tells it
// that one holder of the lock comes after the other. It is the same for all that take the lock in this process.
type shadow struct{ word *atomic.Uint32 }

var shadows sync.Map // of *atomic.Uint32, by the lock's word

func shadowOf(word *uint32) shadow {
	w, _ := shadows.LoadOrStore(word, new(atomic.Uint32))
	return shadow{w.(*atomic.Uint32)}
}

func (l *shadow) acquired() { l.word.Add(1) }
func (l *shadow) released() { l.word.Add(1) }
