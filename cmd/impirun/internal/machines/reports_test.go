package machines

import (
	"reflect"
	"testing"

	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/stat"
)

func TestAnswersOfNodesCountForTheirOwnQuestion(t *testing.T) {
	q := &inquests{}
	q.take(0, &tree.ReportFrame{Number: 0}) // nobody has asked
	first, _ := q.begin(2)
	q.take(0, &tree.ReportFrame{Number: first, Ranks: []stat.Rank{{Rank: 0}}})
	q.end()
	second, all := q.begin(2)
	q.take(0, &tree.ReportFrame{Number: first})
	q.take(1, &tree.ReportFrame{Number: second, Ranks: []stat.Rank{{Rank: 1}}})
	q.take(1, &tree.ReportFrame{Number: second})
	select {
	case <-all:
		t.Fatal("a node has not answered")
	default:
	}
	q.take(0, &tree.ReportFrame{Number: second})
	<-all
	if got := q.end(); len(got) != 2 || len(got[1]) != 1 {
		t.Errorf("%v", got)
	}
	q.take(0, &tree.ReportFrame{Number: second}) // too late
}

func TestNodesAreAtRestIfAllAre(t *testing.T) {
	q := &inquests{}
	q.rests(0, true)
	if q.atRest(2) || q.atRest(0) || !q.atRest(1) {
		t.Error("one of two is at rest")
	}
	q.rests(1, true)
	if !q.atRest(2) {
		t.Error("both are at rest")
	}
	if q.rests(0, false); q.atRest(2) {
		t.Error("one goes on")
	}
}

func TestRanksOfANodeAreItsOwn(t *testing.T) {
	r := &nodeLink{Member: tree.Member{Name: "a", Ranks: []int{2, 3, 5}}}
	spawned := stat.Rank{Job: 1, Rank: 0, State: stat.Ended}
	told := []stat.Rank{{Rank: 2, State: stat.Stopped}, {Rank: 4, State: stat.Ended}, spawned}
	want := []stat.Rank{spawned, {Rank: 2, State: stat.Stopped}, {Rank: 3, State: stat.Outside},
		{Rank: 5, State: stat.Outside}}
	if got := ranksOf(r, told, true, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := ranksOf(r, nil, false, 0); len(got) != 3 || got[1].State != stat.Mute || got[1].Rank != 3 {
		t.Errorf("%+v", got)
	}
}
