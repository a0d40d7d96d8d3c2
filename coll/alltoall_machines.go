package coll

import "github.com/libimpi/libimpi/coll/buffer"

// Alltoall among ranks of several machines. The rounds are those of factor with machines in the place of ranks: so
// each machine has one partner at a time.
//
//	machines              short blocks: one message from a machine to another one has those of many pairs of ranks
//	hierarchical-factor   long blocks: the ranks of two machines exchange theirs with each other
//
// Source: Sanders and Traff, The hierarchical factor algorithm for all-to-all communication, 2002; Traff 2010, 9.7,
// where the messages of small problems are grouped, too.

// exchangeByMachine is an alltoall in which ranks exchange blocks with other machines on behalf of their own machine.
// If there are more ranks on each than rounds, several have the same partner, and each of them does so for a group of
// the ranks that get blocks. Turns count rounds and groups; that at place i has the turns i, i+h, i+2h, ... of a
// machine of h ranks.
type exchangeByMachine struct {
	k      *levels
	block  int64
	groups int
}

// next is the next turn from a turn on, in steps of the ranks here, in which this machine has a partner; -1: there is
// none.
func (x *exchangeByMachine) next(turn int) (next, other int) {
	mine, machines := x.k.between.me, x.k.m.Count()
	for ; turn < factorRounds(machines)*x.groups; turn += x.k.here() {
		if other := factorPartner(machines, mine, turn/x.groups); other != mine {
			return turn, other
		}
	}
	return turn, -1
}

// group are the ranks of a machine that get blocks in a turn, from place first on.
func (x *exchangeByMachine) group(machine, turn int) (first int, ranks []int32) {
	ranks = x.k.m.members[machine]
	n, g := int64(len(ranks)), turn%x.groups
	first = int(buffer.PieceAt(n, x.groups, g))
	return first, ranks[first:buffer.PieceAt(n, x.groups, g+1)]
}

// part is how many bytes a rank has for other machines in the turns of the rank at a place.
func (x *exchangeByMachine) part(place int) (n int64) {
	for i, other := x.next(place); other >= 0; i, other = x.next(i + x.k.here()) {
		_, ranks := x.group(other, i)
		n += int64(len(ranks)) * x.block
	}
	return n
}

// came is how many bytes come from other machines for the rank at place `to` in the turns of the one at a place.
func (x *exchangeByMachine) came(place, to int) (n int64) {
	for i, other := x.next(place); other >= 0; i, other = x.next(i + x.k.here()) {
		if first, ranks := x.group(x.k.between.me, i); to >= first && to < first+len(ranks) {
			n += int64(x.k.m.Members(other)) * x.block
		}
	}
	return n
}

// move packs the blocks of some ranks of a machine, or unpacks them.
func (m *Machines) move(c Comm, ranks []int32, b Buf, mem []byte, pack bool) (err error) {
	n := 1
	if m.ordered {
		n = len(ranks) // at once
	}
	for i := 0; i < len(ranks) && err == nil; i += n {
		blocks := b.Slice(int64(ranks[i])*b.Count, int64(n)*b.Count)
		size := len(mem) / (len(ranks) - i) * n
		if pack {
			err = c.Pack(mem[:size], blocks, 0)
		} else {
			err = c.Unpack(blocks, mem[:size], 0)
		}
		mem = mem[size:]
	}
	return err
}

// alltoallMachines:
//
//	collect  a rank gives to each other rank of its machine the block for it, and those for the machines of its turns
//	swap     in its turns it exchanges with a rank of another machine what it has got for that machine
//	deal     it gives to the ranks of its machine what has come for them
//
// Among M machines of m ranks these take m-1, ceil(M/m) and m-1 rounds, and a machine sends max(M-1, m) messages to
// others, or less, instead of m (p-m). In each phase the ranks of a machine move m n p bytes together, or less.
func (s *Scratch) alltoallMachines(c Comm, send, recv Buf) error {
	x := exchangeByMachine{k: s.levelsBy(c, 0), block: recv.Size()}
	if x.groups = 1; !x.k.m.oneLane(x.block * int64(c.Size())) {
		x.groups = max(1, len(x.k.m.lanes)/factorRounds(x.k.m.Count()))
	}
	collected, err := s.collectByMachine(c, &x, send, recv)
	if err != nil {
		return err
	}
	came, err := s.swapByMachine(c, &x, collected)
	if err != nil {
		return err
	}
	return s.dealByMachine(c, &x, recv, came)
}

// collectByMachine returns, for each rank here, its block for this rank and those for this rank's turns.
func (s *Scratch) collectByMachine(c Comm, x *exchangeByMachine, send, recv Buf) ([]byte, error) {
	w, n := &x.k.within, x.k.here()
	mine := x.block + x.part(w.me)
	out, err := s.Alloc(int64(c.Size()) * x.block)
	if err != nil {
		return nil, err
	}
	in, err := s.Alloc(int64(n) * mine)
	if err != nil {
		return nil, err
	}
	for i := range n {
		to, from := (w.me+i)%n, (w.me-i+n)%n
		room := in[int64(from)*mine : int64(from+1)*mine]
		message := room
		if i > 0 {
			size := x.block + x.part(to)
			message, out = out[:size], out[size:]
		}
		if err := x.packFor(c, to, send, message); err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		if err := s.startExchange(w, Bytes(message), to, Bytes(room), from, tagAlltoall); err != nil {
			return nil, err
		}
	}
	if err := s.Wait(c); err != nil {
		return nil, err
	}
	for i := range n {
		if err := c.Unpack(recv.Block(w.rank(i)), in[int64(i)*mine:int64(i)*mine+x.block], 0); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// packFor packs the block for the rank at a place, and those for its turns.
func (x *exchangeByMachine) packFor(c Comm, place int, send Buf, mem []byte) error {
	if err := c.Pack(mem[:x.block], send.Block(x.k.within.rank(place)), 0); err != nil {
		return err
	}
	mem = mem[x.block:]
	for i, other := x.next(place); other >= 0; i, other = x.next(i + x.k.here()) {
		_, ranks := x.group(other, i)
		size := int64(len(ranks)) * x.block
		if err := x.k.m.move(c, ranks, send, mem[:size], true); err != nil {
			return err
		}
		mem = mem[size:]
	}
	return nil
}

// startExchange is Exchange that ends with a later Wait, or before other messages if too many are under way. Nothing
// is sent or received where a buffer is empty.
func (s *Scratch) startExchange(c Comm, out Buf, to int, in Buf, from, tag int) error {
	if s.Full() {
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	if out.Count > 0 {
		if err := s.Add(c.Isend(out, to, tag)); err != nil {
			return err
		}
	}
	if in.Count == 0 {
		return nil
	}
	return s.Add(c.Irecv(in, from, tag))
}

// swapByMachine returns what comes in this rank's turns, one after the other: by rank that gets it, and then by rank
// that has sent it. Messages are of that form.
func (s *Scratch) swapByMachine(c Comm, x *exchangeByMachine, collected []byte) ([]byte, error) {
	here, me := x.k.here(), x.k.within.me
	all, room := x.part(me), int64(0)
	for to := range here {
		room += x.came(me, to)
	}
	out, err := s.Alloc(int64(here) * all)
	if err != nil {
		return nil, err
	}
	in, err := s.Alloc(room)
	if err != nil {
		return nil, err
	}
	rest, column := in, collected[x.block:]
	for i, other := x.next(me); other >= 0; i, other = x.next(i + here) {
		_, there := x.group(other, i)
		rows := out
		for range there {
			for r := range int64(here) {
				from := r * (x.block + all)
				if err := c.Copy(Bytes(rows[:x.block]), Bytes(column[from:from+x.block])); err != nil {
					return nil, err
				}
				rows = rows[x.block:]
			}
			column = column[x.block:]
		}
		message := out[:len(out)-len(rows)]
		_, mine := x.group(x.k.between.me, i)
		peers := x.k.m.members[other]
		peer, size := int(peers[i%len(peers)]), int64(len(mine)*len(peers))*x.block
		if err := s.startExchange(c, Bytes(message), peer, Bytes(rest[:size]), peer, tagAlltoall); err != nil {
			return nil, err
		}
		out, rest = rows, rest[size:]
	}
	return in, s.Wait(c)
}

// dealByMachine gives to each rank here what has come for it.
func (s *Scratch) dealByMachine(c Comm, x *exchangeByMachine, recv Buf, came []byte) error {
	w, n := &x.k.within, x.k.here()
	in, err := s.Alloc(int64(c.Size()) * x.block)
	if err != nil {
		return err
	}
	if came, err = s.byRankHere(c, x, came); err != nil {
		return err
	}
	turn, _ := x.next(w.me)
	first, _ := x.group(x.k.between.me, turn)
	for i, rest := 0, in; i < n; i++ {
		to, from := (w.me+i)%n, (w.me-i+n)%n
		out, size := came[:x.came(w.me, to)], x.came(from, w.me)
		if len(out) > 0 {
			out = came[(to-first)*len(out):][:len(out)] // all ranks of the group get as much
		}
		if i == 0 {
			err = x.unpackFrom(c, w.me, recv, out)
		} else {
			err = s.startExchange(w, Bytes(out), to, Bytes(rest[:size]), from, tagAlltoall)
			rest = rest[size:]
		}
		if err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		from := (w.me - i + n) % n
		size := x.came(from, w.me)
		if err := x.unpackFrom(c, from, recv, in[:size]); err != nil {
			return err
		}
		in = in[size:]
	}
	return nil
}

// unpackFrom unpacks what has come for this rank in the turns of the rank at a place.
func (x *exchangeByMachine) unpackFrom(c Comm, place int, recv Buf, mem []byte) error {
	for i, other := x.next(place); other >= 0 && len(mem) > 0; i, other = x.next(i + x.k.here()) {
		size := int64(x.k.m.Members(other)) * x.block
		if err := x.k.m.move(c, x.k.m.members[other], recv, mem[:size], false); err != nil {
			return err
		}
		mem = mem[size:]
	}
	return nil
}

// byRankHere has what came in several turns in the order of the ranks that get it, and then of turns. There are
// several only where a group is all ranks of a machine.
func (s *Scratch) byRankHere(c Comm, x *exchangeByMachine, came []byte) ([]byte, error) {
	here, me := int64(x.k.here()), x.k.within.me
	first, other := x.next(me)
	if other < 0 {
		return came, nil
	}
	if _, second := x.next(first + int(here)); second < 0 {
		return came, nil
	}
	all := int64(len(came)) / here
	mem, err := s.Alloc(int64(len(came)))
	if err != nil {
		return nil, err
	}
	at := int64(0)
	for i, other := first, other; other >= 0; i, other = x.next(i + int(here)) {
		size := int64(x.k.m.Members(other)) * x.block
		for r := range here {
			if err := c.Copy(Bytes(mem[r*all+at:r*all+at+size]), Bytes(came[:size])); err != nil {
				return nil, err
			}
			came = came[size:]
		}
		at += size
	}
	return mem, nil
}
