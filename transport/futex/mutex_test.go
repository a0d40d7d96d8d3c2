package futex

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTheLockExcludes(t *testing.T) {
	var word uint32
	m := On(&word)
	n := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20000 {
				m.Lock()
				n++
				m.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 80000 {
		t.Errorf("%d of 80000", n)
	}
	if !m.TryLock() || m.TryLock() {
		t.Error("TryLock takes a free lock, and only a free one")
	}
	m.Unlock()
	if word != Free {
		t.Error("not free")
	}
}

func TestWhoSleepsForTheLockIsWoken(t *testing.T) {
	var word uint32
	m := On(&word)
	m.Lock()
	done := make(chan bool)
	go func() {
		m.Lock()
		//lint:ignore SA2001 to have got it is all
		m.Unlock()
		done <- true
	}()
	for atomic.LoadUint32(&word) != Sleep {
		runtime.Gosched()
	}
	m.Unlock()
	<-done
}

// BenchmarkLock is Lock and Unlock with nobody else around.
func BenchmarkLock(b *testing.B) {
	var word uint32
	m := On(&word)
	for range b.N {
		m.Lock()
		//lint:ignore SA2001 the lock is what is measured
		m.Unlock()
	}
}
