// Package span holds the collectives on a communicator that spans IMPI clients (IMPI 0.0, chapter 4).
//
// A client takes part by its master, its lowest rank in the communicator; in an operation with a root the root
// itself stands for its client. An operation has local phases inside each client, which are ours (package coll
// on a view of the local ranks), and a global phase between the masters, whose messages are mandated: who sends
// what to whom, and with which tag. No other message crosses clients.
//
//	layout.go   who is in which client; the view of the local ranks; the two trees
//	tree.go     Barrier, Bcast, Reduce, Allreduce, Scan
//	gather.go   Gather, Gatherv, Allgather, Allgatherv
//	scatter.go  Scatter, Scatterv, Reduce_scatter
//	alltoall.go Alltoall, Alltoallv
//	extend.go   what IMPI 0.0 does not know: Exscan, Reduce_scatter_block, Alltoallw
//	own.go      the same operations where no client is foreign: then nothing is mandated
//
// Sizes are those of external32, in bytes. A "packed" message is external32 made by the datatype cursor and sent as
// MPI_BYTE; a "typed" one is left to the engine, which converts it; on the wire they are the same. Where all ranks are
// libimpi's and alike, messages and sizes are as in memory (Layout.Native).
// Messages of length 0 in the lists are really sent.
package span

import (
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Comm is a communicator that can tell how long a message was: in the tree of Gatherv a master passes on blocks
// whose lengths only the root knows (IMPI 0.0, 4.13).
type Comm interface {
	coll.Comm
	// RecvLen is Recv that leaves the bytes received in *n.
	RecvLen(b coll.Buf, from, tag int, n *int64) error
	// RecvExactly is Recv of a message that has to fill the buffer.
	RecvExactly(b coll.Buf, from, tag int) error
}

// Tags of the messages between clients (IMPI 0.0, 4.25). Others begin at tagLocal.
const (
	tagBarrier   = 110
	tagBcast     = 120
	tagGather    = 130
	tagGatherv   = 140
	tagScatter   = 150
	tagScatterv  = 160
	tagAlltoall  = 170
	tagAlltoallv = 180
	tagReduce    = 190
	tagScan      = 200

	tagLocal     = 1000 // added to the tags of package coll and of messages that stay inside a client
	tagExtension = 1500 // added to the tags of package coll for operations that IMPI does not know
	tagAlltoallw = 1900
)

// Defaults of the two values that clients negotiate (IMPI 0.0, 2.3.5 and 4.25).
const (
	DefaultXSize     = 1024
	DefaultMaxLinear = 4
)

// Layout says which client each rank belongs to. It is made once for a communicator and not changed after its
// first use, so that calls may share it.
type Layout struct {
	// ReceiverMajor orders the blocks of a short Alltoall message by receiver first. The text does not say; the
	// default is by sender.
	ReceiverMajor bool
	// AnyGatherTag lets the root of a long Gatherv accept any tag from other clients: by the letter of IMPI 0.0,
	// 4.13, they send 130 where the root expects 140. It needs a Comm whose Irecv knows MPI_ANY_TAG, and that no other
	// collective is under way on the communicator.
	AnyGatherTag bool
	// Native says that data looks the same in the memory of all ranks, and so on its way between them: the engine converts
	// no typed message, and what MPI_Pack makes is as in memory, too.
	Native bool
	// Own says that all clients are libimpi's, so that the global phase of Barrier and Allreduce may be a better one than
	// IMPI 0.0 mandates; if ranks are Native, too, all operations have others (own.go), and Place has been called.
	Own bool
	// Machines are those of each client's ranks, by number of client, nil where they do not matter; nil for all.
	Machines []*coll.Machines

	client    []int32        // client of each rank, numbered by master
	place     []int32        // place of each rank among its client's
	members   [][]int32      // ranks of each client, ascending; the first is its master
	masters   []int32        // by number of client
	all       *coll.Machines // of all ranks, and above them the clients; nil: each rank is a client's only one
	xsize     int64
	maxLinear int64
}

// NewLayout makes a Layout from a number for each rank that is equal for the ranks of one client. xsize
// (bytes of external32) and maxLinear (clients) are the negotiated C_COLL_XSIZE and C_COLL_MAXLINEAR; -1 is
// the default.
func NewLayout(client []int32, xsize, maxLinear int64) (*Layout, error) {
	if len(client) == 0 || xsize < -1 || maxLinear < -1 || xsize > 1<<31-1 {
		return nil, &coll.Error{Class: abi.MPI_ERR_ARG, Msg: fmt.Sprintf("layout of %d ranks with XSIZE %d and MAXLINEAR %d",
			len(client), xsize, maxLinear)}
	}
	l := &Layout{xsize: xsize, maxLinear: maxLinear}
	if xsize == -1 {
		l.xsize = DefaultXSize
	}
	if maxLinear == -1 {
		l.maxLinear = DefaultMaxLinear
	}
	number := map[int32]int32{}
	for r, c := range client {
		i, known := number[c]
		if !known {
			i = int32(len(l.members))
			number[c] = i
			l.members = append(l.members, nil)
			l.masters = append(l.masters, int32(r))
		}
		l.client = append(l.client, i)
		l.place = append(l.place, int32(len(l.members[i])))
		l.members[i] = append(l.members[i], int32(r))
	}
	return l, nil
}

// Client is the number of a rank's client.
func (l *Layout) Client(rank int) int { return int(l.client[rank]) }

func (l *Layout) machines(client int) *coll.Machines {
	if l.Machines == nil {
		return nil
	}
	return l.Machines[client]
}

// Clients is the number of clients.
func (l *Layout) Clients() int { return len(l.members) }

func (l *Layout) master(i int) int { return int(l.masters[i]) }

func (l *Layout) linear() bool { return int64(len(l.members)) <= l.maxLinear }

// procs is the number of ranks in the clients whose master numbers are root + from .. root + to - 1 around.
func (l *Layout) procs(root, from, to int) int64 {
	n := 0
	for v := from; v < to; v++ {
		n += len(l.members[(root+v)%len(l.members)])
	}
	return int64(n)
}

// call is one collective call of one rank.
type call struct {
	Comm
	*Layout
	*coll.Scratch
	me     int // rank
	mine   int // number of its client
	root   int // rank
	rooted int // number of root's client
	local  coll.View
	global coll.View // see between
	spare  coll.Buf  // see tmp
	packed []byte    // see arrival
	counts []int64   // working memory of the v-variants inside a client
	displs []int64
	told   []byte // see tellLongest
	sizes  []byte // see gatherSizes

	received int64 // see passOn
}

var calls = sync.Pool{New: func() any { return new(call) }}

func enter(c Comm, l *Layout, root int) *call {
	k := calls.Get().(*call)
	k.Comm, k.Layout, k.Scratch, k.me, k.root = c, l, c.Scratch(), c.Rank(), root
	k.mine, k.rooted = int(l.client[k.me]), int(l.client[root])
	k.local = coll.NewView(c, l.members[k.mine], int(l.place[k.me]), tagLocal, l.machines(k.mine))
	k.local.OfClient = true
	return k
}

// leave gives working memory back, unless messages may be under way into it, or the call is carried out later.
func (k *call) leave(err *error) {
	if k.Kept() {
		return
	}
	k.Done(err)
	k.Comm, k.Layout, k.Scratch, k.local, k.global = nil, nil, nil, coll.View{}, coll.View{}
	k.spare, k.packed = coll.Buf{}, nil
	k.told, k.sizes = nil, nil
	calls.Put(k)
}

func (k *call) isMaster() bool { return k.local.Rank() == 0 }

// home reports whether this rank is in the client of root.
func (k *call) home() bool { return k.mine == k.rooted }

// speaks reports whether this rank takes part in the global phase of a rooted operation.
func (k *call) speaks() bool { return k.me == k.root || k.isMaster() && !k.home() }

// localRoot is the place of the rank that stands for this client.
func (k *call) localRoot() int {
	if k.home() {
		return int(k.place[k.root])
	}
	return 0
}

// v is this client's number, counted from root's.
func (k *call) v() int { return (k.mine - k.rooted + k.Clients()) % k.Clients() }

// speaker is the rank that stands for the client of the given number counted from root's.
func (k *call) speaker(v int) int {
	if v == 0 {
		return k.root
	}
	return k.master((v + k.rooted) % k.Clients())
}

// tag is the mandated tag for a message that goes to or comes from another client.
func (k *call) tag(peer, tag int) int {
	if int(k.client[peer]) == k.mine {
		return tagLocal + tag
	}
	return tag
}

// above is the lowest power of two greater than v: in the tree of Barrier and Bcast the children of v are
// v + above, v + 2 above, ..., and its parent is v - above/2, that is v without its highest bit.
func above(v int) int {
	b := 1
	for b <= v {
		b <<= 1
	}
	return b
}

// below is the lowest bit of v, or for 0 the first power of two not less than n: in the tree of Gather and
// Reduce the children of v are v + 1, v + 2, v + 4, ... less than v + below, and its parent is v - below.
func below(v, n int) int {
	if v != 0 {
		return v & -v
	}
	b := 1
	for b < n {
		b <<= 1
	}
	return b
}

// rep is how packed messages look.
func (l *Layout) rep() datatype.Rep {
	if l.Native {
		return datatype.Native
	}
	return datatype.External32
}

func (l *Layout) packedSize(b coll.Buf) int64 {
	if b.Count == 0 {
		return 0
	}
	return b.Type.PackedSize(b.Count, l.rep())
}
