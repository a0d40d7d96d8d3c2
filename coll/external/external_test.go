package external

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/datatype"
)

// portably carries out operations, and fails if data that looks different at other members would travel.
type portably struct{ *colltest.Comm }

// only refuses data in the machine's own form.
func only(bufs ...coll.Buf) error {
	for _, b := range bufs {
		if !b.IsInPlace() && b.Count > 0 && !b.Type.Portable() {
			return fmt.Errorf("%d elements of %s would travel as they are", b.Count, b.Type.Name())
		}
	}
	return nil
}

func vectors(list ...coll.VBuf) error {
	for _, v := range list {
		if !v.IsInPlace() && v.Counts != nil {
			if err := only(coll.Buf{Count: int64(len(v.Counts)), Type: v.Type}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p portably) Bcast(b coll.Buf, root int) error {
	return colltest.First(only(b), coll.Bcast(p.Comm, b, root))
}

func (p portably) Gather(send, recv coll.Buf, root int) error {
	return colltest.First(only(send, recv), coll.Gather(p.Comm, send, recv, root))
}

func (p portably) Gatherv(send coll.Buf, recv coll.VBuf, root int) error {
	return colltest.First(only(send), vectors(recv), coll.Gatherv(p.Comm, send, recv, root))
}

func (p portably) Scatter(send, recv coll.Buf, root int) error {
	return colltest.First(only(send, recv), coll.Scatter(p.Comm, send, recv, root))
}

func (p portably) Scatterv(send coll.VBuf, recv coll.Buf, root int) error {
	return colltest.First(only(recv), vectors(send), coll.Scatterv(p.Comm, send, recv, root))
}

func (p portably) Allgather(send, recv coll.Buf) error {
	return colltest.First(only(send, recv), coll.Allgather(p.Comm, send, recv))
}

func (p portably) Allgatherv(send coll.Buf, recv coll.VBuf) error {
	return colltest.First(only(send), vectors(recv), coll.Allgatherv(p.Comm, send, recv))
}

func (p portably) Alltoall(send, recv coll.Buf) error {
	return colltest.First(only(send, recv), coll.Alltoall(p.Comm, send, recv))
}

func (p portably) Alltoallv(send, recv coll.VBuf) error {
	return colltest.First(vectors(send, recv), coll.Alltoallv(p.Comm, send, recv))
}

func (p portably) Alltoallw(send, recv coll.WBuf) error { return coll.Alltoallw(p.Comm, send, recv) }

func call(c *colltest.Comm) *Call { return NewCall(portably{c}, c, c.Size(), false) }

// types look different in memory and in external32, or the same.
var types = []*datatype.Type{colltest.Double, colltest.Section, datatype.Named(abi.MPI_BYTE)}

// everywhere runs body for each rank of worlds of several sizes, with each type.
func everywhere(t *testing.T, body func(c *colltest.Comm, typ *datatype.Type) error) {
	t.Helper()
	for _, n := range []int{1, 2, 5} {
		for _, typ := range types {
			err := colltest.New(n).Run(func(c *colltest.Comm) error { return body(c, typ) })
			if err != nil {
				t.Errorf("%d ranks, %s: %v", n, typ.Name(), err)
			}
		}
	}
}

const count = 7

func TestRootedOperationsMoveWhatTheyShould(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, typ *datatype.Type) error {
		for root := range c.Size() {
			err := colltest.First(
				colltest.TryBcast(c, root, count, typ, func(b coll.Buf) error { return call(c).Bcast(b, root) }),
				colltest.TryGather(c, root, count, typ, func(out, in coll.Buf) error { return call(c).Gather(out, in, root) }),
				colltest.TryScatter(c, root, count, typ, func(out, in coll.Buf) error { return call(c).Scatter(out, in, root) }),
				colltest.TryGatherv(c, root, count, typ,
					func(out coll.Buf, in coll.VBuf) error { return call(c).Gatherv(out, in, root) }),
				colltest.TryScatterv(c, root, count, typ,
					func(out coll.VBuf, in coll.Buf) error { return call(c).Scatterv(out, in, root) }))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSymmetricOperationsMoveWhatTheyShould(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, typ *datatype.Type) error {
		return colltest.First(
			colltest.TryAllgather(c, count, typ, func(out, in coll.Buf) error { return call(c).Allgather(out, in) }),
			colltest.TryAllgatherv(c, count, typ,
				func(out coll.Buf, in coll.VBuf) error { return call(c).Allgatherv(out, in) }),
			colltest.TryAlltoall(c, count, typ, func(out, in coll.Buf) error { return call(c).Alltoall(out, in) }))
	})
}

// One member gives packed what the others get as what it is.
func TestPackedDataMeetsWhatItIs(t *testing.T) {
	err := colltest.New(3).Run(func(c *colltest.Comm) error {
		want := colltest.Pattern(count, colltest.Double, 1, 0)
		m := colltest.NewMem(count, colltest.Double)
		packed := make([]byte, colltest.Double.PackedSize(count, datatype.External32))
		b := m.Buf
		if c.Rank() == 1 {
			m.Put(0, want)
			if err := coll.Pack(packed, b, datatype.External32); err != nil {
				return err
			}
			b = coll.Bytes(packed)
		}
		if err := call(c).Bcast(b, 1); err != nil {
			return err
		}
		return m.Expect("bcast", 0, want)
	})
	if err != nil {
		t.Error(err)
	}
	err = colltest.New(3).Run(func(c *colltest.Comm) error { // each way round: rank 2 gets bytes
		own := colltest.NewMem(count, colltest.Double)
		own.Put(0, colltest.Pattern(count, colltest.Double, c.Rank(), 0))
		each := colltest.Double.PackedSize(count, datatype.External32)
		all, packed := colltest.NewMem(3*count, colltest.Double), make([]byte, 3*each)
		in := all.Of(count)
		if c.Rank() == 2 {
			in = coll.Bytes(packed)
			in.Count = each
		}
		if err := call(c).Allgather(own.Buf, in); err != nil {
			return err
		}
		for r := range int64(3) {
			want := colltest.Pattern(count, colltest.Double, int(r), 0)
			if c.Rank() != 2 {
				if err := all.Expect("allgather", r*count, want); err != nil {
					return err
				}
				continue
			}
			theirs, form := colltest.NewMem(count, colltest.Double), make([]byte, each)
			theirs.Put(0, want)
			if err := coll.Pack(form, theirs.Buf, datatype.External32); err != nil {
				return err
			}
			if !bytes.Equal(packed[r*each:][:each], form) {
				return fmt.Errorf("block %d is not external32", r)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Of an intercommunicator the root says MPI_ROOT; others of its group have no part in the operation.
func TestTheRootOfAnIntercommunicatorSaysSo(t *testing.T) {
	x := Call{inter: true}
	for root, want := range map[int][2]bool{
		abi.MPI_ROOT: {true, false}, abi.MPI_PROC_NULL: {false, false}, 0: {false, true},
	} {
		if got := [2]bool{x.isRoot(root), x.isLeaf(root)}; got != want {
			t.Errorf("root %d: %v, want %v", root, got, want)
		}
	}
}
