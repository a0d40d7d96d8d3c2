package onesided

import "testing"

func TestTheOwnerOfAWordIsKnown(t *testing.T) {
	const n, me = 3, 1
	mem := make([]uint64, WordsBytes(n)/8)
	w := &Window{me: me}
	targets := make([]Target, n)
	w.words = NewWords(bytesOf(mem), me, &View{}, targets, nil, newLosses(len(targets)))
	for r := range n {
		m := &w.words.members[r]
		for _, word := range []*uint64{&m.Fence, &m.Next, &m.Read, &m.Write, &w.words.posted[me*n+r], targets[r].Completed} {
			if got, ok := w.Awaited(word, nil); !ok || got != r {
				t.Errorf("a word of %d is of %d, %v", r, got, ok)
			}
		}
	}
	if got, ok := w.Awaited(new(uint64), nil); ok {
		t.Errorf("a word of nobody is of %d", got)
	}
	w.requests.targets, w.requests.origins = make([]target, n), make([]origin, n)
	w.requests.origins[0].exposed, w.requests.origins[0].completed = 2, 2
	w.requests.origins[2].exposed = 1
	for c, want := range map[Condition]int{(*isOpen)(&w.requests.targets[2]): 2, (*isHeld)(&w.requests.targets[1]): 1,
		&areComplete{w, []int{0, 2}}: 2} {
		if got, ok := w.Awaited(nil, c); !ok || got != want {
			t.Errorf("%T is for %d, %v, want %d", c, got, ok, want)
		}
	}
	for _, c := range []Condition{(*isSent)(&w.requests.targets[2]), (*isIdle)(&w.requests.targets[2]), nil} {
		if got, ok := w.Awaited(nil, c); ok {
			t.Errorf("%T needs a call of %d", c, got)
		}
	}
}
