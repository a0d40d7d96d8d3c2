package span_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/transport"
)

// vendored is a rank whose client, if it is client 0, has a library for collective operations.
type vendored struct {
	*colltest.Comm
	has   bool
	among *coll.View
	left  []transport.OperationKind
}

func (v *vendored) Vendor(among coll.Comm) bool {
	view, ok := among.(*coll.View)
	v.among = view
	return ok && v.has
}

// plain hides what a Comm can do besides.
type plain struct{ coll.Comm }

// Leave has the ranks of the client do it by messages.
func (v *vendored) Leave(o transport.Operation) error {
	v.left = append(v.left, o.Kind)
	on, root := plain{v.among}, slices.Index(v.among.Ranks(), int32(o.Root))
	ints := func(b []byte) coll.Buf {
		m := coll.Bytes(b)
		m.Count, m.Type = int64(o.Count), colltest.Int
		return m
	}
	own := coll.InPlace()
	if o.Send != nil {
		own = ints(o.Send)
	}
	recv := ints(o.Recv)
	recv.Count = int64(o.Count)
	switch o.Kind {
	case transport.Bcast:
		return coll.Bcast(on, coll.Bytes(o.Recv), root)
	case transport.Reduce:
		return coll.Reduce(on, own, recv, op.Predefined(o.Op), root)
	}
	panic("an operation that has no local phase")
}

// A client that has such a library uses it for the phases within, and nobody uses it for those between clients.
func TestTheLocalPhasesOfAClientGoByItsLibrary(t *testing.T) {
	if err := choose.Choose("bcast:vendor,reduce:vendor,allreduce:vendor"); err != nil {
		t.Fatal(err)
	}
	defer choose.Choose("")
	clients := []int32{1, 0, 1, 0, 0}
	layout, err := span.NewLayout(clients, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	w := colltest.New(len(clients))
	w.Client = clients
	var mu sync.Mutex
	left := map[int][]transport.OperationKind{}
	if err := w.Run(func(c *colltest.Comm) error {
		v := &vendored{Comm: c, has: clients[c.Rank()] == 0}
		for root := range clients {
			sum := func(n int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }
			int1 := func(b []byte) coll.Buf { return coll.Buf{Base: coll.Bytes(b).Base, Count: 1, Type: colltest.Int} }
			mine, all, there := sum(c.Rank()), sum(0), sum(0)
			if c.Rank() == root {
				there = sum(77)
			}
			if err := colltest.First(span.Allreduce(v, layout, int1(mine), int1(all), op.Predefined(abi.MPI_SUM)),
				span.Bcast(v, layout, int1(there), root),
				span.Reduce(v, layout, int1(mine), int1(mine), op.Predefined(abi.MPI_MAX), root)); err != nil {
				return err
			}
			if !bytes.Equal(all, sum(10)) || !bytes.Equal(there, sum(77)) || c.Rank() == root && !bytes.Equal(mine, sum(4)) {
				t.Errorf("rank %d, root %d: %v, %v, %v", c.Rank(), root, all, there, mine)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		left[c.Rank()] = v.left
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	each := []transport.OperationKind{transport.Reduce, transport.Bcast, transport.Bcast, transport.Reduce}
	for rank, got := range left {
		var want []transport.OperationKind
		for range len(clients) {
			if clients[rank] == 0 {
				want = append(want, each...)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d has left %v to the library, want %v", rank, got, want)
		}
	}
}

// The same where all clients are libimpi's and alike: the client without a library goes by machine, and both exchange
// the same messages, short and long.
func TestABroadcastTogetherLeavesTheLocalPhaseToTheLibrary(t *testing.T) {
	clients := []int32{1, 0, 1, 0, 0, 2}
	layout, err := span.NewLayout(clients, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	layout.Own, layout.Native = true, true
	layout.Place(nil)
	w := colltest.New(len(clients))
	for _, n := range []int{8, 40_000, 300_000} {
		if err := w.Run(func(c *colltest.Comm) error {
			v := &vendored{Comm: c, has: clients[c.Rank()] == 0}
			for root := range clients {
				want := bytes.Repeat([]byte{byte(root + 1)}, n)
				got := make([]byte, n)
				if c.Rank() == root {
					copy(got, want)
				}
				if err := span.Bcast(v, layout, coll.Bytes(got), root); err != nil {
					return err
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d bytes of root %d: rank %d got others", n, root, c.Rank())
				}
			}
			wanted := 0
			if v.has && n >= 16<<10 {
				wanted = len(clients)
			}
			if len(v.left) != wanted {
				t.Errorf("%d bytes: rank %d has left %d operations to the library, want %d", n, c.Rank(), len(v.left), wanted)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
