package onesided

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// world is a window of n processes in one, each on a goroutine.
type world struct {
	control []byte
	parts   [][]byte
}

func newWorld(n, bytes int) *world {
	w := &world{control: words(WordsBytes(n))}
	for range n {
		w.parts = append(w.parts, words(bytes))
	}
	return w
}

// words is memory that begins where a word may.
func words(n int) []byte { return bytesOf(make([]uint64, n/8+1))[:n] }

type machine struct{}

func (machine) Await(word *uint64, least uint64, inVain func() error) error {
	for atomic.LoadUint64(word) < least {
		if err := inVain(); err != nil {
			return err
		}
		runtime.Gosched()
	}
	return nil
}

func (machine) Wake(int) {}

func (machine) Relax() error {
	runtime.Gosched()
	return nil
}

// run calls body for each process, and returns when all are done.
func (w *world) run(t *testing.T, body func(me int, words *Words)) {
	t.Helper()
	done := make(chan bool)
	for me := range w.parts {
		go func() {
			view, targets := NewView(len(w.parts))
			body(me, NewWords(w.control, me, view, targets, machine{}, newLosses(len(w.parts))))
			done <- true
		}()
	}
	for range w.parts {
		<-done
	}
}
