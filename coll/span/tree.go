package span

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

// Barrier returns when all ranks have entered it (IMPI 0.0, 4.10): fan-in to the masters, a barrier of empty
// messages between them, linear or along the tree, fan-out. Rank 0 is always master 0.
func Barrier(c Comm, l *Layout) (err error) {
	if l.together() {
		return together(c, l, coll.Barrier)
	}
	k := enter(c, l, 0)
	defer k.leave(&err)
	if err := k.fanIn(); err != nil {
		return err
	}
	if k.isMaster() {
		if l.Own {
			err = coll.Barrier(k.between())
		} else {
			err = k.masterBarrier()
		}
		if err != nil {
			return err
		}
	}
	return k.fanOut()
}

func (k *call) masterBarrier() error {
	m, v, empty := k.Clients(), k.mine, coll.Bytes(nil)
	first, last := above(v), above(m-1)>>1 // the bits in which children differ
	parent := v - first>>1
	if k.linear() {
		parent = 0
	}
	child := func(bit int) bool { return v|bit < m }
	switch {
	case k.linear() && v == 0:
		for i := 1; i < m; i++ {
			if err := k.Recv(empty, k.master(i), tagBarrier); err != nil {
				return err
			}
		}
	case !k.linear():
		for bit := last; bit >= first; bit >>= 1 {
			if child(bit) {
				if err := k.Recv(empty, k.master(v|bit), tagBarrier); err != nil {
					return err
				}
			}
		}
	}
	if v > 0 {
		if err := k.Send(empty, k.master(parent), tagBarrier); err != nil {
			return err
		}
		if err := k.Recv(empty, k.master(parent), tagBarrier); err != nil {
			return err
		}
	}
	switch {
	case k.linear() && v == 0:
		for i := 1; i < m; i++ {
			if err := k.Send(empty, k.master(i), tagBarrier); err != nil {
				return err
			}
		}
	case !k.linear():
		for bit := first; bit <= last; bit <<= 1 {
			if child(bit) {
				if err := k.Send(empty, k.master(v|bit), tagBarrier); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fanIn returns at a master when all ranks of its client have called it: a binomial tree.
func (k *call) fanIn() error {
	w, n := &k.local, len(k.local.Ranks())
	for bit := 1; bit < below(w.Rank(), n); bit <<= 1 {
		if w.Rank()+bit < n {
			if err := w.Recv(coll.Bytes(nil), w.Rank()+bit, tagBarrier); err != nil {
				return err
			}
		}
	}
	if w.Rank() == 0 {
		return nil
	}
	return w.Send(coll.Bytes(nil), w.Rank()&(w.Rank()-1), tagBarrier)
}

// fanOut returns when the master of the client has called it.
func (k *call) fanOut() error {
	w, n := &k.local, len(k.local.Ranks())
	if w.Rank() != 0 {
		if err := w.Recv(coll.Bytes(nil), w.Rank()&(w.Rank()-1), tagBarrier); err != nil {
			return err
		}
	}
	for bit := below(w.Rank(), n) >> 1; bit > 0; bit >>= 1 {
		if w.Rank()+bit < n {
			if err := w.Send(coll.Bytes(nil), w.Rank()+bit, tagBarrier); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bcast gives the data in root's buffer to all ranks (IMPI 0.0, 4.11): from root to the other masters, typed,
// linear or along the tree, and inside each client.
func Bcast(c Comm, l *Layout, b coll.Buf, root int) (err error) {
	k := enter(c, l, root)
	defer k.leave(&err)
	if l.together() {
		return k.bcastTogether(b)
	}
	if k.speaks() {
		if err := k.masterBcast(b); err != nil {
			return err
		}
	}
	return coll.Bcast(&k.local, b, k.localRoot())
}

func (k *call) masterBcast(b coll.Buf) error {
	m, v := k.Clients(), k.v()
	if k.linear() {
		if v != 0 {
			return k.Recv(b, k.root, tagBcast)
		}
		for i := range m {
			if i != k.rooted {
				if err := k.Send(b, k.master(i), tagBcast); err != nil {
					return err
				}
			}
		}
		return nil
	}
	bit := above(v)
	if v != 0 {
		if err := k.Recv(b, k.speaker(v-bit>>1), tagBcast); err != nil {
			return err
		}
	}
	for ; v+bit < m; bit <<= 1 {
		if err := k.Send(b, k.speaker(v+bit), tagBcast); err != nil {
			return err
		}
	}
	return nil
}

// Reduce combines the vectors of all ranks into root's recv (IMPI 0.0, 4.16). The arguments are those of
// coll.Reduce. An operation that commutes is applied inside each client, then between the masters, linear or
// along the tree; with another one every rank sends its vector to root.
func Reduce(c Comm, l *Layout, send, recv coll.Buf, op coll.Op, root int) (err error) {
	k := enter(c, l, root)
	defer k.leave(&err)
	own := recv
	if !send.IsInPlace() {
		own = coll.Buf{Base: send.Base, Count: recv.Count, Type: send.Type}
	}
	if l.together() || l.Own && choose.Reproduces() {
		return coll.Reduce(k.everybody(), send, recv, op, root)
	}
	if !op.Commutative() {
		return k.reduceInOrder(own, recv, op)
	}
	acc := recv
	if k.speaks() && k.me != root {
		if acc, err = k.Typed(recv.Count, recv.Type); err != nil {
			return err
		}
	}
	// In place is a matter of root alone, and there own is recv.
	local := own
	if own.Base == acc.Base {
		local = coll.InPlace()
	}
	if !k.speaks() {
		local = own
	}
	if err := coll.Reduce(&k.local, local, acc, op, k.localRoot()); err != nil {
		return err
	}
	if !k.speaks() {
		return nil
	}
	return k.masterReduce(acc, op)
}

func (k *call) masterReduce(acc coll.Buf, op coll.Op) error {
	m, v := k.Clients(), k.v()
	if k.linear() {
		if v != 0 {
			return k.Send(acc, k.root, tagReduce)
		}
		for i := range m {
			if i != k.rooted {
				if err := k.combine(acc, op, k.master(i)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for bit := 1; bit < below(v, m) && v+bit < m; bit <<= 1 {
		if err := k.combine(acc, op, k.speaker(v+bit)); err != nil {
			return err
		}
	}
	if v == 0 {
		return nil
	}
	return k.Send(acc, k.speaker(v&(v-1)), tagReduce)
}

// combine receives a vector and applies op to it and acc.
func (k *call) combine(acc coll.Buf, op coll.Op, from int) error {
	tmp, err := k.tmp(acc)
	if err != nil {
		return err
	}
	if err := k.Recv(tmp, from, k.tag(from, tagReduce)); err != nil {
		return err
	}
	return k.Combine(op, tmp, acc)
}

// tmp is a buffer for a vector like b, one and the same for the whole call.
func (k *call) tmp(b coll.Buf) (coll.Buf, error) {
	if k.spare.Type == nil {
		var err error
		if k.spare, err = k.Typed(b.Count, b.Type); err != nil {
			return coll.Buf{}, err
		}
	}
	return k.spare, nil
}

// reduceInOrder: root starts with the vector of the last rank and applies op to each one below it, downwards.
func (k *call) reduceInOrder(own, recv coll.Buf, op coll.Op) error {
	if k.me != k.root {
		return k.Send(own, k.root, k.tag(k.root, tagReduce))
	}
	last := k.Size() - 1
	if own.Base == recv.Base && k.me != last {
		saved, err := k.Typed(recv.Count, recv.Type)
		if err != nil {
			return err
		}
		if err := k.Copy(saved, own); err != nil {
			return err
		}
		own = saved
	}
	var err error
	if k.me == last {
		err = k.Copy(recv, own)
	} else {
		err = k.Recv(recv, last, k.tag(last, tagReduce))
	}
	for p := last - 1; p >= 0 && err == nil; p-- {
		if p == k.me {
			err = k.Combine(op, own, recv)
		} else {
			err = k.combine(recv, op, p)
		}
	}
	return err
}

// Allreduce is Reduce to rank 0 and Bcast from there (IMPI 0.0, 4.21). The arguments are those of coll.Allreduce.
func Allreduce(c Comm, l *Layout, send, recv coll.Buf, op coll.Op) error {
	if l.Own {
		return ownAllreduce(c, l, send, recv, op)
	}
	if send.IsInPlace() && c.Rank() != 0 {
		send = recv
	}
	if err := Reduce(c, l, send, recv, op, 0); err != nil {
		return err
	}
	return Bcast(c, l, recv, 0)
}

// Scan leaves in recv of rank r the vectors of ranks 0 to r combined (IMPI 0.0, 4.18): each rank hands its result
// to the next. The arguments are those of coll.Scan.
func Scan(c Comm, l *Layout, send, recv coll.Buf, op coll.Op) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Scan(c, send, recv, op) })
	}
	k := enter(c, l, 0)
	defer k.leave(&err)
	if !send.IsInPlace() {
		send.Count = recv.Count
		if err := k.Copy(recv, send); err != nil {
			return err
		}
	}
	if k.me > 0 {
		tmp, err := k.tmp(recv)
		if err != nil {
			return err
		}
		if err := k.Recv(tmp, k.me-1, k.tag(k.me-1, tagScan)); err != nil {
			return err
		}
		if err := k.Combine(op, tmp, recv); err != nil {
			return err
		}
	}
	if k.me+1 < k.Size() {
		return k.Send(recv, k.me+1, k.tag(k.me+1, tagScan))
	}
	return nil
}
