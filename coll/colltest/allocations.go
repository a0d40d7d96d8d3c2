package colltest

import "testing"

// Allocations counts the allocations of a call, of all ranks together, with two buffers of n elements.
func Allocations(w *World, n int64, f func(c *Comm, a, b *Mem) error) (allocs float64, err error) {
	const runs = 100
	err = w.Run(func(c *Comm) error {
		a, b := NewMem(n, Double), NewMem(n, Double)
		a.Put(0, make([]byte, 8*n))
		b.Put(0, make([]byte, 8*n))
		var err error
		once := func() {
			if e := f(c, a, b); e != nil {
				err = e
			}
		}
		if c.Rank() == 0 {
			allocs = testing.AllocsPerRun(runs, once)
			return err
		}
		for range runs + 1 {
			once()
		}
		return err
	})
	return allocs, err
}
