package span

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

// Operations that IMPI 0.0 does not know, as an extension between clients that both are libimpi: typed messages
// with tags from 1000 on, which no IMPI operation uses.

// ownAllreduce is Allreduce with half of the mandated messages between clients: the masters exchange their clients'
// results. An operation that does not commute needs the order of the ranks, which clients may share among them in any
// way.
func ownAllreduce(c Comm, l *Layout, send, recv coll.Buf, op coll.Op) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	if !op.Commutative() || choose.Reproduces() || l.Native {
		return coll.Allreduce(k.everybody(), send, recv, op)
	}
	if send.IsInPlace() && !k.isMaster() {
		send = recv
	}
	if err := coll.Reduce(&k.local, send, recv, op, 0); err != nil {
		return err
	}
	if k.isMaster() {
		if err := coll.Allreduce(k.between(), coll.InPlace(), recv, op); err != nil {
			return err
		}
	}
	return coll.Bcast(&k.local, recv, 0)
}

// Exscan is coll.Exscan.
func Exscan(c Comm, l *Layout, send, recv coll.Buf, op coll.Op) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	return coll.Exscan(k.everybody(), send, recv, op)
}

// ReduceScatterBlock is coll.ReduceScatterBlock.
func ReduceScatterBlock(c Comm, l *Layout, send, recv coll.Buf, op coll.Op) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	return coll.ReduceScatterBlock(k.everybody(), send, recv, op)
}

// Alltoallw is coll.Alltoallw.
func Alltoallw(c Comm, l *Layout, send, recv coll.WBuf) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	to := coll.Each(recv)
	if send.IsInPlace() {
		return k.pairs(&to, &to, true, tagAlltoallw)
	}
	from := coll.Each(send)
	return k.pairs(&from, &to, false, tagAlltoallw)
}
