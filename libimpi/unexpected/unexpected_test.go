package unexpected

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type message = Message[int]

// TestTheNewestOfAnIdIsFound keeps and forgets messages of a peer at random, against a list that is searched.
func TestTheNewestOfAnIdIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var kept Kept[int]
	var all []*message // the oldest first
	indexed := 0
	for step := range 20000 {
		switch x := r.IntN(100); {
		case x < 52:
			m := &message{SrqID: uint64(r.IntN(60))}
			kept.Note(m)
			all = append(all, m)
		case x < 75 && len(all) > 0: // matched, wherever it stands
			i := r.IntN(len(all))
			kept.Forget(all[i])
			all = slices.Delete(all, i, i+1)
		case x < 76:
			for _, m := range all {
				kept.Forget(m)
			}
			all = nil
		default:
			id, want := uint64(r.IntN(60)), (*message)(nil)
			for _, m := range all {
				if m.SrqID == id {
					want = m
				}
			}
			if got := kept.NewestOf(id); got != want {
				t.Fatalf("step %d: of id %d %p is found, not %p", step, id, got, want)
			}
		}
		if kept.Indexed() {
			indexed++
		}
		found, err := kept.Check()
		slices.Reverse(found)
		if err != nil || !slices.Equal(found, all) {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	if indexed == 0 || indexed == 20000 {
		t.Errorf("there was an index in %d of 20000 steps", indexed)
	}
}

// TestEarlyMessagesWaitInOrder pushes and removes messages of some contexts, against lists.
func TestEarlyMessagesWaitInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var early Early[int]
	lists := map[uint64][]*message{}
	for step := range 20000 {
		cid := uint64(r.IntN(5))
		switch list := lists[cid]; {
		case r.IntN(2) > 0:
			m := new(message)
			early.Push(m, cid)
			lists[cid] = append(list, m)
		case len(list) > 0:
			i := r.IntN(len(list))
			early.Remove(list[i])
			if list[i].Early {
				t.Fatalf("step %d: what was removed is early still", step)
			}
			lists[cid] = slices.Delete(list, i, i+1)
		}
		n, contexts := 0, 0
		for cid, list := range lists {
			n += len(list)
			var first *message
			if len(list) > 0 {
				contexts++
				first = list[0]
			}
			if early.First(cid) != first {
				t.Fatalf("step %d: the first of context %d is another one", step, cid)
			}
		}
		if all, err := early.Check(); err != nil || len(all) != n || early.Contexts() != contexts {
			t.Fatalf("step %d: %d of %d messages in %d of %d contexts: %v", step, len(all), n, early.Contexts(), contexts, err)
		}
	}
}

// TestThePoolGivesMemoryOnce takes messages of all sizes and gives them back at random: no two have the same memory,
// and a program that does the same again and again allocates nothing.
func TestThePoolGivesMemoryOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var pool Pool[int]
	var all []*message
	for step := range 20000 {
		if r.IntN(2) > 0 {
			n := r.IntN(1 << r.IntN(18))
			m := pool.Get(n)
			if len(m.Payload) != n || m.Tag != 0 || m.next != nil {
				t.Fatalf("step %d: %d bytes for %d, and tag %d", step, len(m.Payload), n, m.Tag)
			}
			m.Tag = int32(step)
			for i := range m.Payload {
				m.Payload[i] = byte(step)
			}
			all = append(all, m)
		} else if len(all) > 0 {
			i := r.IntN(len(all))
			m := all[i]
			for _, b := range m.Payload {
				if b != byte(m.Tag) {
					t.Fatalf("step %d: the memory of message %d has become another's", step, m.Tag)
				}
			}
			pool.Put(m)
			all = slices.Delete(all, i, i+1)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		a, b := pool.Get(100), pool.Get(4000)
		pool.Put(a)
		pool.Put(b)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
