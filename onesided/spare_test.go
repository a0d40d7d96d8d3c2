package onesided

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
)

// machineOf is n processes of a machine, and what each of them keeps.
type machineOf struct {
	*segments
	kept []Spares
}

func newMachine(n int) *machineOf { return &machineOf{newSegments(), make([]Spares, n)} }

// share calls body for some processes, in the order in which they are members of what shares memory.
func (m *machineOf) share(t *testing.T, processes []int32, body func(me int32, s *Sharers)) {
	t.Helper()
	err := colltest.New(len(processes)).Run(func(c *colltest.Comm) error {
		me := processes[c.Rank()]
		body(me, &Sharers{On: c, World: processes, First: int(processes[0]), Memory: memory{m.segments, 0},
			Spares: &m.kept[me]})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// window maps memory as a window does.
func (s *Sharers) window(t *testing.T, bytes int) Mapped {
	m, err := s.Map(bytes, 64, true)
	if err != nil || len(m.Bytes) != bytes {
		t.Errorf("%d bytes of %d are mapped: %v", len(m.Bytes), bytes, err)
	}
	barrier(t, s.On)
	return m
}

// free is what MPI_Win_free does with it.
func (s *Sharers) free(m Mapped) {
	s.Spares.keep(m).Forget(s.Memory)
}

func barrier(t *testing.T, c coll.Comm) {
	if err := coll.Barrier(c); err != nil {
		t.Error(err)
	}
}

func TestMemoryOfAFreedWindowIsThatOfTheNextAndClear(t *testing.T) {
	m := newMachine(3)
	m.share(t, []int32{0, 1, 2}, func(me int32, s *Sharers) {
		for range 5 {
			w := s.window(t, 8000)
			if i := slices.IndexFunc(w.Bytes, func(b byte) bool { return b != 0 }); i >= 0 {
				t.Errorf("byte %d is %d at first", i, w.Bytes[i])
			}
			barrier(t, s.On)
			if me == 0 {
				for i := range w.Bytes {
					w.Bytes[i] = 0xEE
				}
			}
			barrier(t, s.On)
			s.free(w)
		}
	})
	if m.made != 1 {
		t.Errorf("memory was made %d times", m.made)
	}
}

func TestAMemberThatHasLetGoOfMemoryGetsNew(t *testing.T) {
	m := newMachine(3)
	m.share(t, []int32{0, 1, 2}, func(me int32, s *Sharers) {
		for round := range 4 {
			if round == 2 && me == 1 {
				s.Spares.Release(s.Memory)
			}
			s.free(s.window(t, 8))
		}
	})
	if m.made != 2 || m.open != 3 {
		t.Errorf("memory was made %d times, and %d mappings are open", m.made, m.open)
	}
}

func TestOthersDoNotGetTheMemoryOfFreedWindows(t *testing.T) {
	m := newMachine(3)
	for _, order := range [][]int32{{0, 1, 2}, {2, 1, 0}} {
		m.share(t, order, func(_ int32, s *Sharers) { s.free(s.window(t, 8)) })
	}
	if m.made != 2 {
		t.Errorf("memory was made %d times", m.made)
	}
}

func TestFewAndShortMemoryIsKept(t *testing.T) {
	m := newMachine(2)
	m.share(t, []int32{0, 1}, func(me int32, s *Sharers) {
		for i := range 2 * mostSpares {
			s.free(s.window(t, 8+4096*i))
		}
		s.free(s.window(t, spareBytes+8))
		if n := len(s.Spares.kept); n != mostSpares {
			t.Errorf("process %d keeps %d", me, n)
		}
	})
	if m.open != 2*mostSpares {
		t.Errorf("%d mappings are open", m.open)
	}
	for i := range m.kept {
		m.kept[i].Release(memory{m.segments, 0})
	}
	if m.open != 0 {
		t.Errorf("%d mappings are open at the end", m.open)
	}
}

func TestMemoryOfAWindowThatAMemberHasNotLeftStaysAsItIs(t *testing.T) {
	m := newMachine(3)
	m.share(t, []int32{0, 1, 2}, func(me int32, s *Sharers) {
		old := s.window(t, 8)
		barrier(t, s.On)
		if me == 0 {
			for i := range old.Bytes {
				old.Bytes[i] = 0xEE
			}
		}
		barrier(t, s.On)
		if me != 2 { // which is as if a thread of it were in MPI_Win_free
			s.Spares.keep(old)
		}
		w := s.window(t, 8)
		if i := slices.IndexFunc(old.Bytes, func(b byte) bool { return b != 0xEE }); me == 2 && i >= 0 {
			t.Errorf("byte %d of %d has changed", i, len(old.Bytes))
		}
		s.free(w)
	})
	if m.made != 2 {
		t.Errorf("memory was made %d times", m.made)
	}
}

func TestWhoFindsNoMemoryMakesAllFail(t *testing.T) {
	for from, made := range map[int]int{1 << 30: 2, 2: 2} {
		m := newMachine(3)
		m.foundFrom = from
		m.share(t, []int32{0, 1, 2}, func(me int32, s *Sharers) {
			got, err := s.Map(8, 64, true)
			if (err == nil) != (from == 2) {
				t.Errorf("process %d has %d bytes: %v", me, len(got.Bytes), err)
			}
			got.Forget(s.Memory)
		})
		if m.open != 0 {
			t.Errorf("%d mappings are open", m.open)
		}
		if m.made < made {
			t.Errorf("memory was made %d times", m.made)
		}
	}
}
