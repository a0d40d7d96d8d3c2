package inquire

import (
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/libimpi/report"
)

// between is how two launchers ask each other.
type between struct {
	answer func([]byte) []byte // of the other
	own    func([]byte) []byte
	odd    []byte // what the other says instead
	none   bool   // it says nothing
}

func (b *between) Answer(source func([]byte) []byte) { b.own = source }

func (b *between) Ask(what []byte, _ time.Duration) (map[int][]byte, bool) {
	switch {
	case b.none:
		return nil, false
	case b.odd != nil:
		return map[int][]byte{1: b.odd}, true
	}
	return map[int][]byte{1: b.answer(what)}, true
}

// half is a launcher of one of two ranks that receive from each other.
func half(rank int, rest bool) (c Config) {
	c.Rest = func() bool { return rest }
	c.States = func(time.Duration) ([]stat.Rank, bool) {
		return []stat.Rank{{Rank: rank, Process: &report.Process{Rank: rank, ThreadCount: 1, Threads: []report.Thread{{
			Call: "MPI_Recv", For: report.ForRequests, Peer: 1 - rank, World: 1 - rank, Tag: 3, Since: time.Now().UnixNano(),
			Settled: true}}}}}, true
	}
	return c
}

func TestLaunchersOfSeveralClientsFindADeadlockTogether(t *testing.T) {
	for name, b := range map[string]*between{"both": {}, "odd": {odd: []byte("{")}, "empty": {odd: []byte("{}")},
		"none": {none: true}, "busy": {}} {
		t.Run(name, func(t *testing.T) {
			theirs := half(1, name != "busy")
			var back between
			theirs.Second, theirs.Others, theirs.Say = true, &back, func(string) { t.Error("the second client tells") }
			theirs.After = time.Millisecond
			second := Open(theirs)
			t.Cleanup(second.Close)
			b.answer = back.own
			ours := half(0, true)
			ours.Others, ours.After, ours.Deadlock = b, time.Millisecond, options.DeadlockReport
			said := make(chan string, 8)
			ours.Say = func(text string) { said <- text }
			first := Open(ours)
			t.Cleanup(first.Close)
			if name == "both" {
				if got := <-said; !strings.HasPrefix(got, "impirun: deadlock: no call of ranks 0,1 can return") {
					t.Error(got)
				}
				if got := back.own([]byte("nonsense")); got != nil {
					t.Errorf("%q", got)
				}
				return
			}
			if _, ranks, _ := first.look(); ranks != nil && name != "busy" {
				t.Errorf("proven with %+v", ranks)
			}
			if rest := first.othersRest(); rest {
				t.Error("the others are at rest")
			}
		})
	}
}
