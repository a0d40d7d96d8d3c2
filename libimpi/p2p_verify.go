package libimpi

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Types of messages (MPI 5.0, 3.3.1), compared with IMPI_CHECK=1. The first packet of a message of the program's says a
// word about the sequence of basic types in it (transport.Header.DrqID). It is sent to processes of this library only.
// C, which says nothing, sends no messages meanwhile. Where messages are watched (counters.go) this costs a look at
// another flag, and otherwise nothing.
//
//	bit 63      SaysTypes; messages without data, and those of MPI_PACKED, which match all, say nothing
//	bits 53-62  the basic type of all elements, as its handle less MPI_DATATYPE_NULL; 0: there are several
//	bits 0-52   of the hash of the sequence
const (
	typesBasic = 53
	typesHash  = 1<<typesBasic - 1
	basicMask  = 1<<10 - 1
)

// types is what a message says of its types; 0: nothing. Engine lock held.
func (e *Engine) types(ctx *context, p *peer, count int64, t *datatype.Type) uint64 {
	if !e.collectives.verifies.Load() || ctx != ctx.comm.p2p || count == 0 || t.Size() == 0 || !e.isOfUs(p) ||
		isPacked(t) {
		return 0
	}
	word := transport.SaysTypes | t.SignatureOf(count)&typesHash
	if u := t.Uniform(); u != nil {
		word |= uint64(u.Handle()-abi.MPI_DATATYPE_NULL) & basicMask << typesBasic
	}
	return word
}

// isOfUs reports whether a process is of this library, as all of other jobs are.
func (e *Engine) isOfUs(p *peer) bool {
	if p.rank == e.me || p.local >= 0 || e.isGuest(p.rank) {
		return true
	}
	other := &e.job.Procs[p.rank]
	return other.Client == e.job.Procs[e.me].Client || e.job.Hosts[other.Host].SameImpl
}

func isPacked(t *datatype.Type) bool {
	u := t.Uniform()
	return u != nil && u.Handle() == abi.MPI_PACKED
}

// compareTypes gives a receive an error if the message that it has matched, of so many bytes in rep, says that its
// types are not those of the buffer, which has room for that many. A message may have less than that: it has to be the
// beginning.
func (e *Engine) compareTypes(r *Request, said uint64, peer *peer, length, room int64,
	rep datatype.Rep) {
	if !e.collectives.verifies.Load() || said&transport.SaysTypes == 0 || r.ctx != r.comm.p2p || length > room ||
		isPacked(r.mem.typ) ||
		!e.isOfUs(peer) {
		return
	}
	hash, whole := r.mem.typ.SignatureWithin(r.mem.count, length, rep)
	if whole && hash&typesHash == said&typesHash {
		return
	}
	const several = "several basic types"
	sent, received := several, several
	basic := int(said >> typesBasic & basicMask)
	if u := datatype.Named(basic + abi.MPI_DATATYPE_NULL); basic != 0 && u != nil && u.Size() > 0 {
		sent = manyOf(u, length/u.PackedSize(1, rep))
	}
	if u := r.mem.typ.Uniform(); u != nil && u.Size() > 0 {
		received = manyOf(u, r.mem.size/u.Size())
	}
	r.status.Err = errorf(abi.MPI_ERR_TYPE, "message of %d bytes from rank %d with tag %d on %s: it was sent as %s, and "+
		"is received as %s", length, r.status.Source, r.status.Tag, r.comm.describe(), sent, received)
}

// manyOf is n elements of a basic type in words.
func manyOf(t *datatype.Type, n int64) string {
	if n == 1 {
		return t.Name()
	}
	return fmt.Sprintf("%d %s", n, t.Name())
}
