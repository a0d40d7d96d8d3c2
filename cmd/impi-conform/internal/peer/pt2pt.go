package peer

import (
	"bytes"
	"io"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// Pattern is the n bytes that the player sends with a tag, and expects.
func Pattern(tag, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((tag + 7*i) % 251)
	}
	return b
}

// Take waits for the next packet, or message, from one process to another.
func (j *Job) Take(from, to int) Packet {
	var got Packet
	j.await(func() bool {
		i := slices.IndexFunc(j.queue, func(p Packet) bool { return p.From == from && p.To == to })
		if i >= 0 {
			got = j.queue[i]
			j.queue = slices.Delete(j.queue, i, i+1)
		}
		return i >= 0
	}, "a packet should have come from process %d to process %d", from, to)
	return got
}

// Expect is Take of a packet of this type.
func (j *Job) TakeType(kind uint32, from, to int) Packet {
	p := j.Take(from, to)
	if p.Type != kind {
		j.T.Fatalf("%v must be %s", p, codec.TypeName(kind))
	}
	return p
}

// Message takes a whole message of the player's: n bytes of the pattern with this tag in MPI_COMM_WORLD.
func (j *Job) Message(from, to, tag, n int) Packet {
	p := j.Take(from, to)
	if p.CID != wire.WorldCID || int(p.Tag) != tag || int(p.LSRank) != from || p.MsgLen != uint64(n) {
		j.T.Fatalf("%v must have cid %d, tag %d, lsrank %d, pk_msglen %d", p, wire.WorldCID, tag, from, n)
	}
	if !bytes.Equal(p.Data, Pattern(tag, n)[:len(p.Data)]) {
		j.T.Fatalf("%v carries other data than were sent", p)
	}
	return p
}

// queued is how many packets have arrived and were not taken.
func (j *Job) queued() int { j.mu.Lock(); defer j.mu.Unlock(); return len(j.queue) }

// Data is the first packet of a message of ours in MPI_COMM_WORLD, with the player's pattern. It is a DATASYNC
// if the message is longer than a packet.
func (j *Job) Data(from, to, tag, n int) codec.Packet {
	return j.first(from, to, int32(from), int32(tag), wire.WorldCID, Pattern(tag, n))
}

func (j *Job) first(from, to int, lsrank, tag int32, cid uint64, data []byte) codec.Packet {
	j.mu.Lock()
	j.nextID++
	id := j.nextID
	j.mu.Unlock()
	h := codec.Header{Type: wire.PkData, Len: uint32(len(data)), Src: j.Procs[from].ID, Dst: j.Procs[to].ID, SrqID: id,
		MsgLen: uint64(len(data)), LSRank: lsrank, Tag: tag, CID: cid}
	if len(data) > int(j.DataLen) {
		h.Type, h.Len = wire.PkDataSync, j.DataLen
		data = data[:j.DataLen]
	}
	return codec.Packet{Header: h, Data: data}
}

// Send sends a packet when the window of its pair has room.
func (j *Job) Send(p codec.Packet) {
	from, to := j.rank(p.Src), j.rank(p.Dst)
	if p.Counted() {
		j.await(func() bool {
			w := j.windowOf(from, to)
			if w.out >= int(j.HiWater) {
				return false
			}
			w.out++
			w.outTotal++
			return true
		}, "process %d acknowledges no packets of process %d", to, from)
	}
	if err := j.LinkOf(from, to).Bytes(p.Bytes()); err != nil {
		j.T.Stop()
		j.T.Fatalf("%v to process %d: %v", p.Header, to, err)
	}
}

// Sent counts n packets that were sent by other means.
func (j *Job) Sent(from, to, n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.windowOf(from, to)
	w.out += n
	w.outTotal += n
}

// Control sends a packet without user data.
func (j *Job) Control(kind uint32, from, to int, srqid, drqid uint64) {
	j.Send(j.control(kind, from, to, srqid, drqid))
}

// SendMessage sends a whole message, short or long.
func (j *Job) SendMessage(from, to int, lsrank, tag int32, cid uint64, data []byte) {
	p := j.first(from, to, lsrank, tag, cid, data)
	j.Send(p)
	if p.Type == wire.PkDataSync {
		j.Continue(p, j.Synced(p.SrqID), data[p.Len:], int(j.DataLen))
	}
}

// Synced waits for the SYNCACK of a message and returns its drqid.
func (j *Job) Synced(srqid uint64) (drqid uint64) {
	j.await(func() (ok bool) {
		drqid, ok = j.syncs[srqid]
		return ok
	}, "no SYNCACK for message %d", srqid)
	return drqid
}

// Continue sends the rest of a long message in packets of at most chunk bytes.
func (j *Job) Continue(first codec.Packet, drqid uint64, rest []byte, chunk int) {
	for len(rest) > 0 {
		n := min(chunk, len(rest))
		p := first
		p.Type, p.Len, p.DrqID, p.Data = wire.PkData, uint32(n), drqid, rest[:n]
		rest = rest[n:]
		j.Send(p)
	}
}

// Acks waits until process theirs has sent n PROTOACKs to ours.
func (j *Job) Acks(ours, theirs, n int) {
	j.await(func() bool { return j.windowOf(ours, theirs).acked >= n },
		"process %d should have sent %d PROTOACKs to process %d", theirs, n, ours)
}

// Arrived waits until n counted packets of process theirs have come to ours, all in all.
func (j *Job) Arrived(theirs, ours, n int) {
	j.await(func() bool { return j.windowOf(ours, theirs).inTotal >= n },
		"%d packets should have come from process %d to process %d", n, theirs, ours)
}

// Acknowledge sends a PROTOACK from ours to theirs.
func (j *Job) Acknowledge(ours, theirs int) {
	j.mu.Lock()
	j.windowOf(ours, theirs).unacked -= int(j.AckMark)
	j.mu.Unlock()
	j.Control(wire.PkProtoAck, ours, theirs, 0, 0)
}

// AutoAcks acknowledges what is due, and from now on at once.
func (j *Job) AutoAcks() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Setup.NoAcks = false
	for pair, w := range j.window {
		for w.unacked >= int(j.AckMark) {
			w.unacked -= int(j.AckMark)
			l := j.links[[2]int{j.Procs[pair[0]].Host, j.Procs[pair[1]].Host}]
			l.Bytes(j.control(wire.PkProtoAck, pair[0], pair[1], 0, 0).Bytes())
		}
	}
}

// Finish is the orderly end of a job (2.4, 3.8): the barrier on MPI_COMM_WORLD, FINI in both directions on every
// socket, the end of all connections, FINI to the server, exit code 0.
func (j *Job) Finish() {
	j.Play(j.World(), wire.WorldCID, Barrier(j.Comm(j.World())))
	j.AwaitFini()
	j.SayFini()
	j.End()
}

// End is the rest of Finish after FINI in both directions.
func (j *Job) End() {
	j.AwaitEnd()
	j.Fini()
	j.Exit(0)
	j.Done()
}

// AwaitFini waits for FINI on every link; nothing else may be left then.
func (j *Job) AwaitFini() {
	for _, l := range j.Links() {
		var fini bool
		var how error
		j.await(func() bool {
			fini, how = l.finiIn, l.ended
			return fini || how != nil
		}, "host %d should have sent FINI to host %d", l.Theirs, l.Ours)
		if !fini {
			j.T.Stop() // if the connection has ended because of something worse
			j.T.Fatalf("host %d should have sent FINI to host %d: %v", l.Theirs, l.Ours, how)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.queue {
		j.T.Errorf("%v should not have been sent", p)
	}
}

// SayFini sends FINI on every link.
func (j *Job) SayFini() {
	for _, l := range j.Links() {
		l.Bytes(codec.Packet{Header: codec.Header{Type: wire.PkFini}}.Bytes())
	}
}

// AwaitEnd reads every link to its end, and holds the PROTOACKs that came against the packets that were sent.
func (j *Job) AwaitEnd() {
	for _, l := range j.Links() {
		var how error
		j.await(func() bool {
			how = l.ended
			return how != nil
		}, "host %d does not close the connection to host %d after both FINIs", l.Theirs, l.Ours)
		j.T.Check(how == io.EOF || isReset(how), "host %d to host %d: %v", l.Theirs, l.Ours, how)
		l.Conn.Close()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for pair, w := range j.window {
		if w.out >= int(j.AckMark) {
			j.T.Errorf("process %d has sent %d PROTOACKs for %d packets of process %d, ackmark is %d", pair[1], w.acked,
				w.outTotal, pair[0], j.AckMark)
		}
	}
}

// HeardFini reports whether any host has sent FINI.
func (j *Job) HeardFini() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.links {
		if l.finiIn {
			return true
		}
	}
	return false
}
