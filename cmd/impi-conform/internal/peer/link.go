package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/transport/wire"
)

// Link is a socket between a host of ours and one of the client under test. Its reader holds every packet
// against chapter 3: processes, lengths, which message it belongs to, the window; and keeps our side of flow
// control.
type Link struct {
	job          *Job
	Conn         *events.Conn
	Ours, Theirs int
	write        sync.Mutex
	reading      sync.Mutex    // held while the reader is in Conn.Read, and while it is paused
	over         chan struct{} // closed when the reader has ended

	// of the reader
	open   map[uint64]*message // long messages under way, by our drqid
	finiIn bool                // guarded by job.mu
	ended  error               // how the stream ended; guarded by job.mu
	cut    bool                // we have cut it: nothing that comes matters; guarded by job.mu
}

// message is a long one that arrives.
type message struct {
	first codec.Packet
	from  int
	to    int
	data  []byte
}

// window is flow control between a process of ours and one of theirs (3.6).
type window struct {
	out      int // ours to theirs: counted and not acknowledged
	outTotal int
	acked    int // PROTOACKs that came
	inTotal  int
	unacked  int // theirs to ours: counted and not acknowledged by us
}

func (j *Job) windowOf(ours, theirs int) *window {
	w := j.window[[2]int{ours, theirs}]
	if w == nil {
		w = new(window)
		j.window[[2]int{ours, theirs}] = w
	}
	return w
}

// read takes packets until the stream ends.
func (l *Link) read() {
	defer close(l.over)
	j := l.job
	l.open = map[uint64]*message{}
	for {
		p, err := codec.ReadPacket(pausable{l}, j.DataLen)
		if err == nil {
			err = l.take(p)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // who waits for something knows better for what
			<-j.now().Context().Done()
			return
		}
		if err != nil {
			l.end(err)
			return
		}
	}
}

// end notes how the stream ended. Only after both FINIs may it end.
func (l *Link) end(err error) {
	j := l.job
	j.mu.Lock()
	defer j.mu.Unlock()
	l.ended = err
	if !l.cut && err != io.EOF && !errors.Is(err, net.ErrClosed) && !(isReset(err) && l.finiIn) &&
		j.now().Context().Err() == nil {
		j.now().Wrong(recorded(l.Conn.LastIn()), nil, "host %d to host %d: %v", l.Theirs, l.Ours, err)
		j.broken = true
	}
	j.cond.Broadcast()
}

// recorded is the number of an event.
type recorded int

func (r recorded) Event() int { return int(r) }

// take checks one packet and acts on it. An error is a broken rule after which the stream makes no sense.
func (l *Link) take(p codec.Packet) error {
	j := l.job
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.cond.Broadcast()
	if p.Type == wire.PkFini {
		if l.finiIn {
			j.now().Errorf("host %d sends a second FINI", l.Theirs)
		}
		l.finiIn = true
		return nil
	}
	from, to := j.rank(p.Src), j.rank(p.Dst)
	if from < 0 || j.Procs[from].Host != l.Theirs {
		return fmt.Errorf("%v: pk_src %x pid %d is no process of host %d", p.Header, p.Src.HostID, p.Src.PID, l.Theirs)
	}
	if to < 0 || j.Procs[to].Host != l.Ours {
		return fmt.Errorf("%v: pk_dest %x pid %d is no process of host %d", p.Header, p.Dst.HostID, p.Dst.PID, l.Ours)
	}
	w := j.windowOf(to, from)
	if p.Type == wire.PkProtoAck {
		if w.out < int(j.AckMark) {
			return fmt.Errorf("process %d acknowledges packets of process %d that were not sent: %d are outstanding, ackmark "+
				"is %d", from, to, w.out, j.AckMark)
		}
		w.out -= int(j.AckMark)
		w.acked++
		return nil
	}
	w.inTotal++
	if w.unacked++; w.unacked > int(j.HiWater) {
		return fmt.Errorf("process %d has %d unacknowledged packets on their way to process %d, hiwater is %d", from,
			w.unacked, to, j.HiWater)
	}
	if l.finiIn && p.First() {
		return fmt.Errorf("%v after FINI", p.Header)
	}
	if !j.Setup.NoAcks {
		if w.unacked >= int(j.AckMark) {
			w.unacked -= int(j.AckMark)
			if err := l.sendLocked(j.control(wire.PkProtoAck, to, from, 0, 0)); err != nil {
				return fmt.Errorf("PROTOACK: %w", err)
			}
		}
	}
	return l.deliver(Packet{p, from, to, l.Conn.LastIn()})
}

// deliver puts a packet in the queue; in a job that is not manual, whole messages.
func (l *Link) deliver(p Packet) error {
	j := l.job
	if j.Setup.Manual {
		j.queue = append(j.queue, p)
		return nil
	}
	switch {
	case p.Type == wire.PkSyncAck:
		if _, dup := j.syncs[p.SrqID]; dup {
			return fmt.Errorf("%v: a second one for this message", p.Header)
		}
		j.syncs[p.SrqID] = p.DrqID
	case p.Type == wire.PkData && !p.First():
		return l.proceed(p)
	case p.Type == wire.PkDataSync:
		id := uint64(0)
		if uint64(p.Len) < p.MsgLen {
			if p.Len != j.DataLen {
				return fmt.Errorf("%v: the first packet of a long message must have IMPI_Pk_maxdatalen bytes, %d",
					p.Header, j.DataLen)
			}
			j.nextID++
			id = j.nextID
			l.open[id] = &message{first: p.Packet, from: p.From, to: p.To, data: p.Data}
		} else {
			j.queue = append(j.queue, p)
		}
		return l.sendLocked(j.control(wire.PkSyncAck, p.To, p.From, p.SrqID, id))
	default:
		if p.Type == wire.PkData && p.Len > 0 && p.Len > j.DataLen {
			return fmt.Errorf("%v: longer than IMPI_Pk_maxdatalen, %d", p.Header, j.DataLen)
		}
		j.queue = append(j.queue, p)
	}
	return nil
}

// proceed takes a further packet of a long message.
func (l *Link) proceed(p Packet) error {
	m := l.open[p.DrqID]
	if m == nil {
		return fmt.Errorf("%v: its drqid is none that a SYNCACK gave", p.Header)
	}
	f := m.first.Header
	if m.from != p.From || m.to != p.To || f.SrqID != p.SrqID || f.MsgLen != p.MsgLen || f.LSRank != p.LSRank ||
		f.Tag != p.Tag || f.CID != p.CID {
		return fmt.Errorf("%v continues %v and differs from it", p.Header, f)
	}
	m.data = append(m.data, p.Data...)
	switch n := uint64(len(m.data)); {
	case n > p.MsgLen:
		return fmt.Errorf("%v: %d bytes have come, more than pk_msglen", p.Header, n)
	case n == p.MsgLen:
		delete(l.open, p.DrqID)
		whole := Packet{m.first, p.From, p.To, p.event}
		whole.Data = m.data
		l.job.queue = append(l.job.queue, whole)
	}
	return nil
}

// rank is the world rank of a name, -1 if it is nobody's.
func (j *Job) rank(id codec.ID) int {
	return slices.IndexFunc(j.Procs, func(p Proc) bool { return p.ID == id })
}

// control is a packet without user data.
func (j *Job) control(kind uint32, from, to int, srqid, drqid uint64) codec.Packet {
	return codec.Packet{Header: codec.Header{
		Type: kind, Src: j.Procs[from].ID, Dst: j.Procs[to].ID, SrqID: srqid, DrqID: drqid}}
}

// sendLocked sends a packet that waits for no window, and counts it. job.mu is held: the reader answers.
func (l *Link) sendLocked(p codec.Packet) error {
	j := l.job
	if p.Counted() {
		if from, to := j.rank(p.Src), j.rank(p.Dst); from >= 0 && to >= 0 {
			w := j.windowOf(from, to)
			w.out++
			w.outTotal++
		}
	}
	return l.Bytes(p.Bytes())
}

// Bytes sends anything.
func (l *Link) Bytes(b []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	_, err := l.Conn.Write(b)
	return err
}

// Pause keeps the reader from reading, until the answer is called.
func (l *Link) Pause() (resume func()) {
	l.Conn.SetReadDeadline(past) // so that the reader gives way
	l.reading.Lock()
	return func() {
		l.Conn.SetReadDeadline(l.job.T.Deadline())
		l.reading.Unlock()
	}
}

// pausable is what arrives on a link, for its reader: Pause may interrupt a read, which then goes on.
type pausable struct{ l *Link }

func (p pausable) Read(b []byte) (n int, err error) {
	for {
		p.l.reading.Lock()
		n, err = p.l.Conn.Read(b)
		p.l.reading.Unlock()
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(p.l.job.now().Deadline()) {
			return n, err
		}
	}
}

// Cut ends the connection: nothing that happens on it from now on is held against the client.
func (l *Link) Cut() {
	l.Ignore()
	l.Conn.Close()
}

// Reset ends the connection with a TCP reset.
func (l *Link) Reset() {
	l.Conn.SetLinger(0)
	l.Cut()
}

// Ignore holds nothing that arrives from now on against the client.
func (l *Link) Ignore() {
	l.job.mu.Lock()
	l.cut = true
	l.job.mu.Unlock()
}
