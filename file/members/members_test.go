package members

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// layouts are machines of ranks: alone, together, and apart.
var layouts = [][]int64{{7}, {3, 3, 3}, {9, 1, 9, 1}}

// everywhere runs body for each rank of each layout with members, and gives them up.
func everywhere(t *testing.T, body func(w *fakeWorld, m *Members) error) {
	t.Helper()
	for _, machines := range layouts {
		w := &fakeWorld{machines: machines}
		err := w.run(func(c *fakeComm, s *Space) error {
			m, err := s.Take(c, nil)
			if err != nil {
				return err
			}
			if err := body(w, m); err != nil {
				return err
			}
			m.Release()
			s.Leave()
			return nil
		})
		if err != nil {
			t.Errorf("machines %d: %v", machines, err)
		}
		if w.discarded != len(machines) {
			t.Errorf("machines %d: %d communicators are discarded", machines, w.discarded)
		}
	}
}

func TestMembersExchangeWhatTheyHave(t *testing.T) {
	everywhere(t, func(w *fakeWorld, m *Members) error {
		me := m.Rank()
		numbers := make([]int64, 2*m.Size())
		if err := m.Allgather([]int64{int64(me), -int64(me)}, numbers); err != nil {
			return err
		}
		texts, err := m.Gather(bytes.Repeat([]byte{byte(me)}, me*me))
		if err != nil {
			return err
		}
		for r := range m.Size() {
			if numbers[2*r] != int64(r) || numbers[2*r+1] != -int64(r) {
				return fmt.Errorf("numbers %d", numbers)
			}
			if !bytes.Equal(texts[r], bytes.Repeat([]byte{byte(r)}, r*r)) {
				return fmt.Errorf("bytes of rank %d: %d", r, texts[r])
			}
		}
		return m.Barrier()
	})
}

func TestMachinesAreNumberedInTheOrderOfRanks(t *testing.T) {
	everywhere(t, func(w *fakeWorld, m *Members) error {
		var seen []int64
		for r, id := range w.machines {
			if !slices.Contains(seen, id) {
				seen = append(seen, id)
			}
			if m.Machine(r) != slices.Index(seen, id) {
				return fmt.Errorf("machine %d of rank %d", m.Machine(r), r)
			}
		}
		return nil
	})
}

func TestMembersOfAMachineMapTheSameMemory(t *testing.T) {
	everywhere(t, func(w *fakeWorld, m *Members) error {
		for _, each := range []int{100, 100, 5000} { // the second time it is the same, and empty again
			memory, err := m.Memory(each)
			if err != nil {
				return err
			}
			mine := (*byte)(memory[m.Rank()])
			if *mine != 0 {
				return fmt.Errorf("the memory has %d in it", *mine)
			}
			if err := m.Barrier(); err != nil {
				return err
			}
			*mine = byte(1 + m.Rank())
			if err := m.Barrier(); err != nil {
				return err
			}
			for r, p := range memory {
				if (p != nil) != (m.Machine(r) == m.Machine(m.Rank())) {
					return fmt.Errorf("memory of rank %d: %v", r, p)
				}
				if p != nil && *(*byte)(p) != byte(1+r) {
					return fmt.Errorf("memory of rank %d is another's", r)
				}
			}
			if err := m.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAllMembersLearnThatAMachineHasNoMemory(t *testing.T) {
	w := &fakeWorld{machines: []int64{0, 0, 1, 1}, short: true}
	err := w.run(func(c *fakeComm, s *Space) error {
		m, err := s.Take(c, nil)
		if err != nil {
			return err
		}
		var failed *file.Error
		if _, err := m.Memory(100); !errors.As(err, &failed) || failed.Class != abi.MPI_ERR_NO_MEM {
			t.Errorf("rank %d: %v", m.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Who dies while memory is mapped is lost; nothing is said of memory.
func TestMembersWithoutMemoryTellOfALoss(t *testing.T) {
	lost := errors.New("rank 1 is lost")
	w := &fakeWorld{machines: []int64{1, 1}, short: true}
	err := w.run(func(c *fakeComm, s *Space) error {
		m, err := s.Take(c, nil)
		if err != nil {
			return err
		}
		m.Own().(*fakeOwn).loss = lost
		if _, err := m.Memory(100); err != lost {
			t.Errorf("rank %d: %v", m.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Members draw numbers from the pointer: nobody gets one twice, and none is left out.
func TestThePointerIsSharedByAll(t *testing.T) {
	const draws = 50
	everywhere(t, func(w *fakeWorld, m *Members) error {
		if m.Rank() == 0 {
			if err := m.Store(1000); err != nil {
				return err
			}
		}
		if err := m.Barrier(); err != nil {
			return err
		}
		own, all := make([]int64, draws), make([]int64, draws*m.Size())
		for i := range own {
			var err error
			if own[i], err = m.FetchAdd(3); err != nil {
				return err
			}
		}
		if err := m.Allgather(own, all); err != nil {
			return err
		}
		slices.Sort(all)
		for i, v := range all {
			if v != int64(1000+3*i) {
				return fmt.Errorf("draw %d is %d", i, v)
			}
		}
		return nil
	})
}

func TestAFileFindsWhatAnEarlierOneHad(t *testing.T) {
	w := &fakeWorld{machines: []int64{0, 0}}
	err := w.run(func(c *fakeComm, s *Space) error {
		take := func() *Members {
			m, err := s.Take(c, nil)
			if err != nil {
				t.Error(err)
			}
			return m
		}
		first, second := take(), take()
		if first == second {
			t.Error("two open files have the same members")
		}
		if _, err := first.FetchAdd(5); err != nil {
			return err
		}
		if err := first.Barrier(); err != nil {
			return err
		}
		first.Release()
		third := take()
		if err := third.Barrier(); err != nil {
			return err
		}
		if third != first {
			t.Error("what the first had is not used again")
		}
		if at, err := third.FetchAdd(0); at != 0 || err != nil {
			t.Errorf("the pointer of a new file is %d: %v", at, err)
		}
		second.Release()
		s.Leave()
		third.Release() // after its communicator
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if w.made != 4 || w.discarded != 4 {
		t.Errorf("%d communicators were made, and %d discarded", w.made, w.discarded)
	}
}

// Members are used again only if they are idle at all ranks.
func TestMembersThatOneRankStillHasAreNotUsed(t *testing.T) {
	w := &fakeWorld{machines: []int64{0, 0}}
	err := w.run(func(c *fakeComm, s *Space) error {
		first, err := s.Take(c, nil)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			first.Release()
		}
		second, err := s.Take(c, nil)
		if second == first {
			t.Errorf("rank %d: members are used that rank 1 has not released", c.Rank())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMoreFilesThanAreKept(t *testing.T) {
	w := &fakeWorld{machines: []int64{0, 0}}
	err := w.run(func(c *fakeComm, s *Space) error {
		var all []*Members
		for range mostKept + 3 {
			m, err := s.Take(c, nil)
			if err != nil {
				return err
			}
			all = append(all, m)
		}
		for _, m := range all {
			m.Release()
		}
		s.Leave()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if w.made != 2*(mostKept+3) || w.discarded != w.made {
		t.Errorf("%d communicators were made, and %d discarded", w.made, w.discarded)
	}
}

func TestAWrongArgumentOfOneMemberIsAnErrorAtAll(t *testing.T) {
	wrong := errors.New("no name")
	w := &fakeWorld{machines: []int64{0, 1, 1}}
	err := w.run(func(c *fakeComm, s *Space) error {
		var refused error
		if c.Rank() == 1 {
			refused = wrong
		}
		_, err := s.Take(c, refused)
		var other *file.Error
		if c.Rank() == 1 && err != wrong || c.Rank() != 1 && !errors.As(err, &other) {
			t.Errorf("rank %d: %v", c.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if w.made != 0 {
		t.Errorf("%d communicators were made", w.made)
	}
}
