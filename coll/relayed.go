package coll

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/relay"
)

// relayed is the way of short blocks from machine to machine: see package relay. A message is a frame of units. A unit
// is the block of an edge, or if the ranks have one block for all of their edges, that of a rank. If blocks have
// different lengths, a frame begins with the lengths of all units; a unit is empty whose block is long, and goes
// directly, as both of its ends know.
type relayed struct {
	s      *Scratch
	c      Comm
	plan   *relay.Plan
	send   *Blocks
	recv   *Blocks
	room   int64 // bytes of a unit at most: of all of them, if they have one length
	header int64 // bytes of a length; 0: all units have one length
	same   bool  // a rank has one block for all of its edges
}

func (x *relayed) short(b Buf) bool { return b.Size() <= x.room }

// frame is how many bytes a message of so many units has at most.
func (x *relayed) frame(units int) int64 { return int64(units) * (x.header + x.room) }

// units is the number of units for so many edges from so many ranks.
func (x *relayed) units(edges, ranks int) int {
	if x.same {
		return ranks
	}
	return edges
}

// of is where the units of a share are in the message.
func (x *relayed) of(share *relay.Share) []int32 {
	if x.same {
		return share.Ranks
	}
	return share.Edges
}

// neighborsByMachine: the rounds are those of three exchanges, of at most twice m, M and twice m messages, among M
// machines of m ranks. Between two machines there is one message in each direction.
func (s *Scratch) neighborsByMachine(c Comm, e *Edges, send, recv *Blocks) error {
	x := relayed{s: s, c: c, plan: e.Plan, send: send, recv: recv, same: send.kind == same}
	if x.room = recv.buf.Size(); recv.kind != even {
		x.room, x.header = choose.Relayed(), 4
	} else if x.room == 0 {
		return nil
	}
	return x.run(e)
}

// run receives everything first: so no rank waits for another one that has to receive something else.
func (x *relayed) run(e *Edges) error {
	s, c, p := x.s, x.c, x.plan
	collected, err := x.collect()
	if err != nil {
		return err
	}
	toCollect := len(s.reqs)
	came := make([][]byte, len(p.Receivers))
	for i := range p.Receivers {
		r := &p.Receivers[i]
		if came[i], err = x.expect(x.units(r.Total, r.Ranks), r.From, tagNeighborSwap); err != nil {
			return err
		}
	}
	toSwap := len(s.reqs)
	dealt := make([][]byte, len(p.Gets))
	for i := range p.Gets {
		if dealt[i], err = x.expect(len(p.Gets[i].Edges), p.Gets[i].From, tagNeighborDeal); err != nil {
			return err
		}
	}
	if err := x.give(collected); err != nil {
		return err
	}
	if err := s.alongEdges(c, e, x.send, x.recv, x); err != nil {
		return err
	}
	if err := c.Wait(s.reqs[:toCollect]...); err != nil {
		return err
	}
	for i := range p.Senders {
		if err := x.pass(&p.Senders[i], collected[i]); err != nil {
			return err
		}
	}
	if err := c.Wait(s.reqs[toCollect:toSwap]...); err != nil {
		return err
	}
	s.reqs = s.reqs[:copy(s.reqs, s.reqs[toSwap:])]
	for i := range p.Receivers {
		if err := x.deal(&p.Receivers[i], came[i], dealt); err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	for i := range p.Gets {
		if err := x.get(p.Gets[i].Edges, dealt[i]); err != nil {
			return err
		}
	}
	return nil
}

// expect makes room for a frame of so many units, and starts to receive it, unless it is this rank's own.
func (x *relayed) expect(units int, from int32, tag int) ([]byte, error) {
	mem, err := x.s.Alloc(x.frame(units))
	if err != nil || int(from) == x.c.Rank() {
		return mem, err
	}
	return mem, x.s.Add(x.c.Irecv(Bytes(mem), int(from), tag))
}

// then calls f when all steps before it are done, if it looks at lengths.
func (x *relayed) then(f func() error) error {
	if x.header == 0 {
		return f()
	}
	return x.c.Then(f)
}

// ship sends a frame. Where lengths are looked at, all messages are waited for before (Recorder), but for this one.
func (x *relayed) ship(frame []byte, to int32, tag int) error {
	if x.header > 0 {
		return x.c.Send(Bytes(frame), int(to), tag)
	}
	return x.s.Add(x.c.Isend(Bytes(frame), int(to), tag))
}

// slots cuts the memory of a sender into room for what each rank gives to it.
func (x *relayed) slots(p *relay.Sender, mem []byte) iter.Seq2[int32, []byte] {
	return func(yield func(int32, []byte) bool) {
		for j, from := range p.From {
			n := x.frame(x.units(int(p.Edges[j]), 1))
			if !yield(from, mem[:n:n]) {
				return
			}
			mem = mem[n:]
		}
	}
}

// collect starts to receive what this rank is the sender of. It returns the memory for each machine.
func (x *relayed) collect() (collected [][]byte, err error) {
	collected = make([][]byte, len(x.plan.Senders))
	for i := range collected {
		p := &x.plan.Senders[i]
		if collected[i], err = x.s.Alloc(x.frame(x.units(p.Total, len(p.From)))); err != nil {
			return nil, err
		}
		for from, slot := range x.slots(p, collected[i]) {
			if int(from) == x.c.Rank() {
				continue
			}
			if err := x.s.Add(x.c.Irecv(Bytes(slot), int(from), tagNeighborCollect)); err != nil {
				return nil, err
			}
		}
	}
	return collected, nil
}

// give packs this rank's blocks for each machine, and starts to send them.
func (x *relayed) give(collected [][]byte) (err error) {
	sender := 0
	for i := range x.plan.Collects {
		p := &x.plan.Collects[i]
		edges := p.Edges[:x.units(len(p.Edges), 1)]
		var frame []byte
		if int(p.To) == x.c.Rank() { // senders are in the same order
			for from, slot := range x.slots(&x.plan.Senders[sender], collected[sender]) {
				if from == p.To {
					frame = slot
				}
			}
			sender++
		} else if frame, err = x.s.Alloc(x.frame(len(edges))); err != nil {
			return err
		}
		n, err := x.pack(edges, frame)
		if err != nil {
			return err
		}
		if int(p.To) == x.c.Rank() {
			continue
		}
		if err := x.s.Add(x.c.Isend(Bytes(frame[:n]), int(p.To), tagNeighborCollect)); err != nil {
			return err
		}
	}
	return nil
}

// pack packs the short blocks of some edges.
func (x *relayed) pack(edges []int32, frame []byte) (n int64, err error) {
	n = int64(len(edges)) * x.header
	for i, edge := range edges {
		b := x.send.At(int(edge))
		size := b.Size()
		if !x.short(b) {
			size = 0
		}
		if x.header > 0 {
			binary.NativeEndian.PutUint32(frame[4*i:], uint32(size))
		}
		if size > 0 {
			if err := x.c.Pack(frame[n:n+size], b, 0); err != nil {
				return 0, err
			}
		}
		n += size
	}
	return n, nil
}

// unit returns a unit of a frame of so many. Those before it have `at` bytes.
func (x *relayed) unit(frame []byte, units, i int, at int64) ([]byte, error) {
	size := x.room
	if x.header > 0 {
		size = int64(binary.NativeEndian.Uint32(frame[4*i:]))
	}
	from := int64(units)*x.header + at
	if size > x.room {
		return nil, &Error{Class: abi.MPI_ERR_INTERN, Msg: fmt.Sprintf("another rank passes a block of %d bytes on", size)}
	}
	return frame[from : from+size], nil
}

// pass sends to the receiver of another machine what has been collected for it: as it is, or if blocks have different
// lengths, without gaps.
func (x *relayed) pass(p *relay.Sender, collected []byte) error {
	if x.header == 0 {
		return x.ship(collected, p.To, tagNeighborSwap)
	}
	total := x.units(p.Total, len(p.From))
	frame, err := x.s.Alloc(x.frame(total))
	if err != nil {
		return err
	}
	return x.then(func() error {
		done, n := 0, int64(total)*x.header
		j := 0
		for _, slot := range x.slots(p, collected) {
			units, at := x.units(int(p.Edges[j]), 1), int64(0)
			for i := range units {
				unit, err := x.unit(slot, units, i, at)
				if err != nil {
					return err
				}
				copy(frame[4*(done+i):], slot[4*i:4*i+4])
				at += int64(copy(frame[n+at:], unit))
			}
			n, done, j = n+at, done+units, j+1
		}
		return x.ship(frame[:n], p.To, tagNeighborSwap)
	})
}

// deal gives each rank of this machine its units of a message.
func (x *relayed) deal(p *relay.Receiver, came []byte, dealt [][]byte) error {
	frames := make([][]byte, len(p.Shares))
	for i := range p.Shares {
		share := &p.Shares[i]
		if int(share.To) == x.c.Rank() {
			frames[i] = dealt[p.Own]
			continue
		}
		var err error
		if frames[i], err = x.s.Alloc(x.frame(len(share.Edges))); err != nil {
			return err
		}
	}
	return x.then(func() error {
		units := make([][]byte, x.units(p.Total, p.Ranks))
		at := int64(0)
		for i := range units {
			var err error
			if units[i], err = x.unit(came, len(units), i, at); err != nil {
				return err
			}
			at += int64(len(units[i]))
		}
		for i := range p.Shares {
			share := &p.Shares[i]
			n, err := x.share(x.of(share), units, frames[i])
			if err != nil {
				return err
			}
			if int(share.To) == x.c.Rank() {
				continue
			}
			if err := x.ship(frames[i][:n], share.To, tagNeighborDeal); err != nil {
				return err
			}
		}
		return nil
	})
}

// share copies some units to a frame.
func (x *relayed) share(which []int32, units [][]byte, frame []byte) (n int64, err error) {
	n = int64(len(which)) * x.header
	for i, u := range which {
		unit := units[u]
		if x.header > 0 {
			binary.NativeEndian.PutUint32(frame[4*i:], uint32(len(unit)))
		}
		if len(unit) > 0 {
			if err := x.c.Copy(Bytes(frame[n:n+int64(len(unit))]), Bytes(unit)); err != nil {
				return 0, err
			}
		}
		n += int64(len(unit))
	}
	return n, nil
}

// get unpacks the blocks of some edges.
func (x *relayed) get(edges []int32, frame []byte) error {
	return x.then(func() error {
		at := int64(0)
		for i, edge := range edges {
			b := x.recv.At(int(edge))
			unit, err := x.unit(frame, len(edges), i, at)
			if err != nil {
				return err
			}
			at += int64(len(unit))
			if !x.short(b) {
				continue
			}
			if n := int64(len(unit)); n > b.Size() {
				msg := fmt.Sprintf("a block of %d bytes from a neighbor, where %d are expected", n, b.Size())
				if err := Truncated(x.c, "recvcounts", msg); err != nil {
					return err
				}
				unit = unit[:b.Size()]
			}
			if err := x.c.Unpack(b, unit, 0); err != nil {
				return err
			}
		}
		return nil
	})
}
