package job

import (
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

func TestReportsKeepWhatWasSaidLast(t *testing.T) {
	var r Reports
	row := func(i int) []wire.Traffic { return []wire.Traffic{{Ours: int32(i)}} }
	answers := func(i int) bool {
		if i < 2 {
			go r.Take(i, row(10+i))
		}
		return i < 2
	}
	if got := r.Ask(3, time.Minute, answers); len(got) != 2 || got[0].Ours != 10 || got[1].Ours != 11 {
		t.Errorf("%+v", got)
	}
	r.Take(2, row(12)) // nobody has asked
	silent := func(i int) bool { return i == 1 }
	if got := r.Ask(3, time.Millisecond, silent); len(got) != 2 {
		t.Errorf("one does not answer: %+v", got)
	}
	asked := []int{}
	r.Ask(3, time.Millisecond, func(i int) bool {
		asked = append(asked, i)
		return false
	})
	if len(asked) != 2 {
		t.Errorf("%v are asked, and 1 owes an answer", asked)
	}
	go r.Take(1, row(21))
	got := r.Ask(3, time.Minute, func(int) bool { return false })
	if len(got) != 2 || got[0].Ours != 10 || got[1].Ours != 21 {
		t.Errorf("it has answered late: %+v", got)
	}
}
