package span

import "github.com/libimpi/libimpi/coll"

// Operations that IMPI 0.0 does not know, as an extension between clients that both are libimpi: typed messages
// with tags from 1000 on, which no IMPI operation uses.

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

// everybody shows the communicator to package coll, whose reductions send typed messages only, so that the
// engine can convert them.
func (k *call) everybody() coll.Comm {
	k.local = view{k.Comm, nil, k.me, tagExtension}
	return &k.local
}
