package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// counted is a generalized request that counts its calls, each of which enters the engine.
type counted struct {
	e                     *Engine
	queries, frees, stops int
	complete              bool
	err                   error
}

func (g *counted) Query(st *CStatus) error {
	g.enter()
	g.queries++
	if st != nil {
		st.Tag = 77
	}
	return g.err
}

func (g *counted) Free() error { g.enter(); g.frees++; return nil }
func (g *counted) Cancel(complete bool) error {
	g.enter()
	g.stops++
	g.complete = complete
	return nil
}
func (g *counted) enter() { g.e.World().Iprobe(0, 0, new(Status)) }

func TestAGeneralRequestCallsItsFunctionsOnceAndWithoutTheLock(t *testing.T) {
	e := world(t, 1)[0]
	g := &counted{e: e}
	id := e.StartGeneral(g)
	held := id
	if done, err := e.Test(&id, nil); done || err != nil {
		t.Fatalf("done before it is completed: %t %v", done, err)
	}
	must(t, e.Cancel(id))
	if g.stops != 1 || g.complete {
		t.Errorf("cancel: %+v", g)
	}
	must(t, e.CompleteGeneral(id))
	wantClass(t, e.CompleteGeneral(id), abi.MPI_ERR_REQUEST)
	ids, st := []uint64{nullRequest, id}, make([]CStatus, 2)
	if done, err := e.GetStatusAll(ids, st); !done || err != nil || st[1].Tag != 77 || g.frees != 0 {
		t.Errorf("get status: %t %v %+v", done, err, g)
	}
	must(t, e.WaitAll(ids, st))
	if g.queries != 2 || g.frees != 1 || ids[1] != nullRequest {
		t.Errorf("wait: %+v", g)
	}
	wantClass(t, e.CompleteGeneral(held), abi.MPI_ERR_REQUEST)
}

func TestAGeneralRequestThatIsFreedEndsWhenItIsCompleted(t *testing.T) {
	e := world(t, 1)[0]
	for _, freedFirst := range []bool{true, false} {
		g := &counted{e: e}
		id := e.StartGeneral(g)
		held := id
		if freedFirst {
			must(t, e.FreeRequest(&id))
			if g.frees != 0 {
				t.Error("freed before it is completed")
			}
			must(t, e.CompleteGeneral(held))
		} else {
			must(t, e.CompleteGeneral(held))
			must(t, e.FreeRequest(&id))
		}
		if g.frees != 1 || g.queries != 0 {
			t.Errorf("%+v", g)
		}
	}
}

func TestTheErrorOfAGeneralRequestIsTheCalls(t *testing.T) {
	e := world(t, 1)[0]
	g := &counted{e: e, err: Errorf(abi.MPI_ERR_IO, "no")}
	id := e.StartGeneral(g)
	must(t, e.CompleteGeneral(id))
	ids, st := []uint64{id}, make([]CStatus, 1)
	wantClass(t, e.WaitAll(ids, st), abi.MPI_ERR_IN_STATUS)
	if st[0].Error != abi.MPI_ERR_IO || g.frees != 1 || ids[0] != nullRequest {
		t.Errorf("status %+v, %+v", st[0], g)
	}
}
