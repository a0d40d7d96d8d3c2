package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// together begins operations of all processes: those of two lines in an order that differs.
func (s *suite) together() {
	if !s.Collective {
		s.t.Skip("this transport has none")
	}
	const root = 1
	message := []byte("from the root")
	for _, o := range []struct {
		kind     transport.OperationKind
		apart    bool // the own vector is not where the result goes
		want     func(rank int32) []byte
		needsAll func(rank int32) bool
	}{
		{transport.Barrier, false, func(int32) []byte { return nil }, func(int32) bool { return true }},
		{transport.Bcast, false, func(int32) []byte { return message }, func(int32) bool { return false }},
		{transport.Reduce, false, sumAt(root), func(rank int32) bool { return rank == root }},
		{transport.Reduce, true, sumAt(root), func(rank int32) bool { return rank == root }},
		{transport.Allreduce, false, sumAt(-1), func(int32) bool { return true }},
		{transport.Allreduce, true, sumAt(-1), func(int32) bool { return true }},
	} {
		var over [2][Processes]int
		var under [2][Processes]*transport.Operation
		begin := func(line int, rank int32) {
			u := &transport.Operation{Kind: o.kind, Root: root, Count: 2, Type: abi.MPI_UINT32_T, Op: abi.MPI_SUM,
				Over: func(err error) {
					if over[line][rank]++; err != nil {
						s.t.Error(err)
					}
				}}
			switch want := o.want(rank); o.kind {
			case transport.Barrier:
			case transport.Bcast:
				if u.Recv = make([]byte, len(message)); rank == root {
					copy(u.Recv, message)
				}
			default:
				if u.Send = numbers(rank, 10*rank); want != nil && o.apart {
					u.Recv = make([]byte, len(want))
				} else if want != nil {
					u.Send, u.Recv = nil, u.Send
				}
			}
			under[line][rank] = u
			s.Transports[rank].(transport.Collective).Begin(line, u)
		}
		begin(0, 0)
		begin(1, 0)
		begin(1, 1)
		for range 50 {
			s.step()
		}
		for line, begun := range [2][]int32{{0}, {0, 1}} {
			for _, rank := range begun {
				if o.needsAll(rank) && over[line][rank] > 0 {
					s.t.Errorf("operation %d is over for %d, and others have not begun", o.kind, rank)
				}
			}
		}
		begin(1, 2)
		begin(0, 2)
		begin(0, 1)
		for line := range over {
			s.until(fmt.Sprintf("operation %d of line %d", o.kind, line), func() bool {
				return over[line][0] > 0 && over[line][1] > 0 && over[line][2] > 0
			})
			for rank, u := range under[line] {
				if want := o.want(int32(rank)); want != nil && string(u.Recv) != string(want) || over[line][rank] != 1 {
					s.t.Errorf("operation %d, apart %v: process %d has %q, want %q; over %d times", o.kind, o.apart, rank, u.Recv,
						want, over[line][rank])
				}
			}
		}
	}
}

func numbers(all ...int32) (b []byte) {
	for _, n := range all {
		b = binary.NativeEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// sumAt returns what a reduction to root gives; -1: to all.
func sumAt(root int32) func(rank int32) []byte {
	return func(rank int32) []byte {
		if root >= 0 && rank != root {
			return nil
		}
		return numbers(0+1+2, 10*(0+1+2))
	}
}
