package coll_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Boards on which the other ranks write anything, and something else each time this one looks. Nothing may crash, or
// touch memory beside the buffers.

// hostileBoard is a board, and a communicator, of which the other ranks are hostile.
type hostileBoard struct {
	coll.AtOnce
	seating coll.Seating
	says    [][]byte // what others show, by turns
	looks   int
	part    []byte
	reqs    coll.Req
}

const hostileRanks = 3

func (b *hostileBoard) Rank() int   { return 1 }
func (b *hostileBoard) Size() int   { return hostileRanks }
func (b *hostileBoard) Begin(int64) { b.looks = 0 }
func (b *hostileBoard) End()        {}

func (b *hostileBoard) Put(int64) ([]byte, error) { return b.part, nil }
func (b *hostileBoard) Publish(int64)             {}

// Get implements board.Board. A part has no memory behind it. Now and then it is not there yet.
func (b *hostileBoard) Get(int) ([]byte, error) {
	if b.looks++; b.looks%5 == 1 {
		return nil, nil
	}
	part := b.says[b.looks%len(b.says)]
	return append(make([]byte, 0, max(1, len(part))), part...), nil
}

// blockingHostile is one whose contributions are always there.
type blockingHostile struct{ *hostileBoard }

func (b blockingHostile) Get(rank int) (part []byte, err error) {
	for part == nil {
		part, err = b.hostileBoard.Get(rank)
	}
	return part, err
}

func (b *hostileBoard) Send(coll.Buf, int, int) error { return nil }
func (b *hostileBoard) Recv(coll.Buf, int, int) error { return nil }

func (b *hostileBoard) Isend(coll.Buf, int, int) (coll.Req, error) {
	b.reqs++
	return b.reqs, nil
}

func (b *hostileBoard) Irecv(coll.Buf, int, int) (coll.Req, error) {
	b.reqs++
	return b.reqs, nil
}

func (b *hostileBoard) Wait(...coll.Req) error   { return nil }
func (b *hostileBoard) Withdraw(r coll.Req) bool { return r%2 == 0 }
func (b *hostileBoard) Board() coll.Seating      { return b.seating }

// repeat goes on with an operation until it is over; never for long.
func (b *hostileBoard) repeat(f func() (bool, error)) (err error) {
	for range 1000 {
		var over bool
		if over, err = f(); over {
			return err
		}
	}
	return nil
}

// Operate implements coll.Boarded.
func (b *hostileBoard) Operate(t *board.Operation) error {
	b.Begin(t.Most())
	return b.repeat(func() (bool, error) { return t.Run(b) })
}

// guarded is a buffer between bytes that nobody may touch.
type guarded struct{ mem []byte }

const guard = 4096

func newGuarded(n int) guarded { return guarded{bytes.Repeat([]byte{0xa5}, n+2*guard)} }

func (g guarded) buf(count int64, t *datatype.Type) coll.Buf {
	b := coll.Bytes(g.mem[guard:])
	b.Count, b.Type = count, t
	return b
}

func (g guarded) whole() bool {
	clean := bytes.Repeat([]byte{0xa5}, guard)
	return bytes.Equal(g.mem[:guard], clean) && bytes.Equal(g.mem[len(g.mem)-guard:], clean)
}

// saying is a part with one entry for each rank, each of which says the same: where the block is, or stands for it.
func saying(entry uint64, at, n uint64) []byte {
	part := binary.NativeEndian.AppendUint64(nil, hostileRanks)
	for range hostileRanks {
		part = binary.NativeEndian.AppendUint64(part, 1<<32|32<<16|entry)
	}
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(part, at), n)
}

func FuzzHostileBoard(f *testing.F) {
	for _, size := range []uint16{1, 100, 5000, 40000} {
		for _, other := range [][]byte{nil, saying(1000, 1<<20, 1000), saying(board.ByMessage, 0, 0), saying(9, 1, 1)} {
			f.Add(saying(9, 1, 1<<63), other, size, size%2 == 0)
			f.Add(saying(board.ByLongMessage, 0, 0), other, size, false)
			f.Add(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 1<<20), 1<<63), other, size, true)
			f.Add(binary.NativeEndian.AppendUint64(nil, ^uint64(0)), other, size, false)
		}
	}
	f.Fuzz(func(t *testing.T, one, other []byte, size uint16, gaps bool) {
		n, typ := 4*int64(size), datatype.Named(abi.MPI_BYTE) // also what is read by all
		if gaps {
			typ = gapped
		}
		room := int(n*typ.Extent()) * hostileRanks
		in, out := newGuarded(room), newGuarded(room)
		for _, twoCores := range []bool{false, true} {
			b := &hostileBoard{says: [][]byte{one, other}, part: make([]byte, 64<<10),
				seating: coll.Seating{Part: 64 << 10, Crowded: true, TwoCores: twoCores}}
			useHostile(b, out.buf(n, typ), in.buf(n, typ))
			useHostileExchange(b, out.buf(n, typ), in.buf(n, typ))
		}
		if !in.whole() || !out.whole() {
			t.Error("memory beside a buffer was written")
		}
	})
}

// useHostile makes all operations of equal blocks and of vectors, long and short.
func useHostile(b *hostileBoard, send, recv coll.Buf) {
	for _, turn := range []*board.Operation{
		new(board.Operation).Barrier(b), new(board.Operation).Bcast(b, recv, 0),
		new(board.Operation).Gather(b, send, recv, 1, send.Count),
		new(board.Operation).Scatter(b, send, recv, 0, send.Count), new(board.Operation).Allgather(b, send, recv),
		new(board.Operation).Alltoall(b, send, recv),
	} {
		_ = b.Operate(turn)
	}
	sum, small := op.Predefined(abi.MPI_SUM), datatype.Named(abi.MPI_INT8_T)
	out, in := coll.Buf{Base: send.Base, Count: send.Count, Type: small}, coll.Buf{Base: recv.Base, Count: recv.Count,
		Type: small}
	_ = b.Operate(new(board.Operation).Allreduce(b, out, in, sum))
	ins := threeBlocks(recv)
	for _, long := range []func() error{
		func() error { return coll.Bcast(b, recv, 0) },
		func() error { return coll.Allgather(b, send, recv) },
		func() error { return coll.Allgatherv(b, send, ins) },
		func() error { return coll.Alltoall(b, send, recv) },
		func() error { return coll.Gather(b, send, recv, 1) },
		func() error { return coll.Scatter(b, send, recv, 0) },
		func() error { return coll.Allreduce(b, out, in, sum) },
		func() error { return coll.Scan(b, out, in, sum) },
	} {
		_ = long()
	}
}

// useHostileExchange makes all exchanges.
func useHostileExchange(b *hostileBoard, send, recv coll.Buf) {
	outs, ins := threeBlocks(send), threeBlocks(recv)
	from, to := coll.Varying(outs), coll.Varying(ins)
	var x coll.Exchange
	for _, is := range []func(x *coll.Exchange){
		func(x *coll.Exchange) { x.Gatherv(b, send, &ins, 1) },
		func(x *coll.Exchange) { x.Allgatherv(b, send, &ins) },
		func(x *coll.Exchange) { x.Scatterv(b, &outs, recv, 0) },
		func(x *coll.Exchange) { x.Alltoallv(b, &from, &to) },
	} {
		is(&x)
		_ = x.Do(b, blockingHostile{b})
	}
}

// threeBlocks are as many blocks as there are ranks, of which one is given.
func threeBlocks(b coll.Buf) coll.VBuf {
	n := b.Count
	return coll.VBuf{Base: b.Base, Type: b.Type, Counts: []int64{n, n, n}, Displs: []int64{0, n, 2 * n}}
}

// gapped is a byte and a hole.
var gapped = func() *datatype.Type {
	t, err := datatype.Resized(datatype.Named(abi.MPI_BYTE), 0, 2)
	if err != nil {
		panic(err)
	}
	return t
}()
