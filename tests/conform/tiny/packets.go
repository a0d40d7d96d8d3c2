package main

import (
	"bytes"
	"io"
	"math/bits"
	"net"
	"slices"
	"sync"
)

// Packets (3.5): their types, and where their fields are.
const (
	data, dataSync, protoAck, syncAck, cancel, cancelYes, cancelNo, finiPacket = 0, 1, 2, 3, 4, 5, 6, 7

	atLen, atSrc, atDst, atSrqID, atDrqID, atMsgLen, atLSRank, atTag, atCID, header = 4, 8, 32, 56, 64, 72, 80, 84, 88, 128
)

const barrierTag = 110 // on context id 1, that of MPI_COMM_WORLD's collectives

// procID is IMPI_Proc (3.2).
type procID [24]byte

type process struct {
	id   procID
	host int
}

// link is the connection to another host.
type link struct {
	conn *net.TCPConn
	fini bool // it has said FINI
}

// message has arrived, or its first packet has.
type message struct {
	head     []byte
	from, to int
	data     []byte
}

func (m *message) whole() bool { return uint64(len(m.data)) == be.Uint64(m.head[atMsgLen:]) }

// pair is one of our processes and one of another client.
type pair struct{ ours, theirs int }

// job is all that is known of the job.
type job struct {
	fault    *fault
	rank, n  int // this client, and its processes
	server   net.Conn
	ip       net.IP
	listener net.Listener
	arrived  chan arrival
	meshed   chan struct{}

	clients, host, first                        int // host: ours; first: the rank of its first process
	dataLen, tagUB, ackMark, hiWater, maxLinear int
	hosts                                       []*net.TCPAddr
	procs                                       []process
	masters                                     []int // of each client
	links                                       map[int]*link
	readers                                     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	cond    *sync.Cond
	queue   []*message // nobody has taken them
	open    map[uint64]*message
	synced  map[uint64]uint64 // srqid to drqid
	nextID  uint64
	out, in map[pair]int // packets that count and are not acknowledged
	waiting int          // processes that are in a barrier
	round   int          // barriers so far
	lied    bool         // wrong-lsrank has happened
	ended   bool         // FINI is said
}

func newJob(f *fault, rank, n int) *job {
	j := &job{fault: f, rank: rank, n: n, maxLinear: 4, arrived: make(chan arrival), meshed: make(chan struct{}),
		links: map[int]*link{}, open: map[uint64]*message{}, synced: map[uint64]uint64{}, out: map[pair]int{},
		in: map[pair]int{}}
	j.cond = sync.NewCond(&j.mu)
	return j
}

// packet makes a header.
func (j *job) packet(kind uint32, from, to int, srqid, drqid uint64) []byte {
	p := make([]byte, header)
	be.PutUint32(p, kind)
	copy(p[atSrc:], j.procs[from].id[:])
	copy(p[atDst:], j.procs[to].id[:])
	be.PutUint64(p[atSrqID:], srqid)
	be.PutUint64(p[atDrqID:], drqid)
	return p
}

// transmit sends a packet; the lock is held. Those that count wait until the window has room.
func (j *job) transmit(p []byte, from, to int) {
	for be.Uint32(p) != protoAck && j.out[pair{from, to}] >= j.hiWater {
		j.cond.Wait()
	}
	if be.Uint32(p) != protoAck {
		j.out[pair{from, to}]++
	}
	j.fault.write(j.links[j.procs[to].host].conn, p)
}

// send sends a message; a long one, or a synchronous one, waits for the SYNCACK (3.7).
func (j *job) send(from, to int, tag int32, cid uint64, b []byte, synchronous bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if to < 0 || to >= len(j.procs) || j.links[j.procs[to].host] == nil {
		die("rank %d is no process of another client", to)
	}
	j.nextID++
	id, n := j.nextID, min(len(b), j.dataLen)
	p := j.packet(data, from, to, id, 0)
	if synchronous || n < len(b) {
		be.PutUint32(p, dataSync)
	}
	be.PutUint32(p[atLen:], uint32(n))
	be.PutUint64(p[atMsgLen:], uint64(len(b)))
	be.PutUint32(p[atLSRank:], uint32(from))
	if j.fault.is("wrong-lsrank") && !j.lied {
		j.lied = true
		be.PutUint32(p[atLSRank:], 5)
	}
	be.PutUint32(p[atTag:], uint32(tag))
	be.PutUint64(p[atCID:], cid)
	j.transmit(append(p, b[:n]...), from, to)
	if be.Uint32(p) == data {
		return
	}
	for _, ok := j.synced[id]; !ok; _, ok = j.synced[id] {
		j.cond.Wait()
	}
	be.PutUint32(p, data)
	be.PutUint64(p[atDrqID:], j.synced[id])
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = min(len(b), j.dataLen)
		be.PutUint32(p[atLen:], uint32(n))
		j.transmit(append(bytes.Clone(p), b[:n]...), from, to)
	}
}

// receive takes the packets of a host until the connection ends, which it must not before FINI.
func (j *job) receive(h int, l *link) {
	for {
		p := make([]byte, header)
		if _, err := io.ReadFull(l.conn, p); err != nil {
			if j.mu.Lock(); !l.fini {
				die("the connection to host %d has ended without FINI: %v", h, err)
			}
			j.mu.Unlock()
			return
		}
		var body []byte
		if be.Uint32(p) <= dataSync {
			n := be.Uint32(p[atLen:])
			if int64(n) > int64(j.dataLen) || uint64(n) > be.Uint64(p[atMsgLen:]) {
				die("host %d sends a packet of %d bytes of %d", h, n, be.Uint64(p[atMsgLen:]))
			}
			body = make([]byte, n)
			if _, err := io.ReadFull(l.conn, body); err != nil {
				die("the connection to host %d has ended in a packet: %v", h, err)
			}
		}
		j.mu.Lock()
		j.take(h, l, p, body)
		j.cond.Broadcast()
		j.mu.Unlock()
	}
}

// who is the rank of a process of a host.
func (j *job) who(id []byte, host int) int {
	for r, p := range j.procs {
		if bytes.Equal(p.id[:], id) && p.host == host {
			return r
		}
	}
	die("% x is no process of host %d", id, host)
	return -1
}

// take acts on a packet. The lock is held.
func (j *job) take(h int, l *link, p, body []byte) {
	kind := be.Uint32(p)
	if kind == finiPacket {
		l.fini = true
		return
	}
	from, to := j.who(p[atSrc:atDst], h), j.who(p[atDst:atSrqID], j.host)
	srqid, drqid, at := be.Uint64(p[atSrqID:]), be.Uint64(p[atDrqID:]), pair{to, from}
	if kind == protoAck {
		if j.out[at] -= j.ackMark; j.out[at] < 0 {
			die("process %d acknowledges what was not sent", from)
		}
		return
	}
	if l.fini && kind <= dataSync && drqid == 0 {
		die("host %d sends a message after FINI", h)
	}
	if j.in[at]++; j.in[at] >= j.ackMark && !j.fault.is("no-acks") {
		j.in[at] -= j.ackMark
		j.transmit(j.packet(protoAck, to, from, 0, 0), to, from)
	}
	switch m := (&message{head: p, from: from, to: to, data: body}); {
	case kind == data && !m.whole():
		m = j.open[drqid]
		if m == nil || m.from != from || m.to != to || uint64(len(m.data)+len(body)) > be.Uint64(m.head[atMsgLen:]) {
			die("process %d continues a message that is not under way", from)
		}
		m.data = append(m.data, body...)
	case kind == data, kind == dataSync && !j.ended:
		j.queue = append(j.queue, m)
	case kind == dataSync:
		j.answer(m)
	case kind == syncAck:
		if srqid == 0 || srqid > j.nextID {
			die("process %d acknowledges message %d, which was not sent", from, srqid)
		}
		j.synced[srqid] = drqid
	case kind == cancel:
		j.cancelled(from, to, srqid)
	default:
		die("process %d sends a packet of type %d", from, kind)
	}
}

// answer lets the sender of a DATASYNC go on. The lock is held.
func (j *job) answer(m *message) {
	if be.Uint32(m.head) != dataSync {
		return
	}
	j.nextID++
	j.open[j.nextID] = m
	j.transmit(j.packet(syncAck, m.to, m.from, be.Uint64(m.head[atSrqID:]), j.nextID), m.to, m.from)
}

// cancelled answers CANCEL, which is for the newest of messages with the same srqid (3.7.4). The lock is held.
func (j *job) cancelled(from, to int, srqid uint64) {
	kind := uint32(cancelNo)
	for i, m := range slices.Backward(j.queue) {
		if m.from == from && m.to == to && be.Uint64(m.head[atSrqID:]) == srqid {
			j.queue = append(j.queue[:i:i], j.queue[i+1:]...)
			kind = cancelYes
			break
		}
	}
	j.transmit(j.packet(kind, to, from, srqid, 0), to, from)
}

// recv waits for a message; from and tag may be -1, any.
func (j *job) recv(to, from int, tag int32, cid uint64) *message {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for i, m := range j.queue {
			if m.to != to || from >= 0 && m.from != from || be.Uint64(m.head[atCID:]) != cid ||
				tag >= 0 && int32(be.Uint32(m.head[atTag:])) != tag {
				continue
			}
			j.queue = append(j.queue[:i:i], j.queue[i+1:]...)
			for j.answer(m); !m.whole(); {
				j.cond.Wait()
			}
			return m
		}
		j.cond.Wait()
	}
}

// barrier is 4.10 on MPI_COMM_WORLD: who comes last of a client plays its master.
func (j *job) barrier() {
	j.mu.Lock()
	round := j.round
	if j.waiting++; j.waiting < j.n {
		for j.round == round {
			j.cond.Wait()
		}
		j.mu.Unlock()
		return
	}
	j.waiting = 0
	j.mu.Unlock()
	j.masterBarrier()
	j.mu.Lock()
	j.round++
	j.cond.Broadcast()
	j.mu.Unlock()
}

// parent is that of a client in the tree, of which few clients make a star.
func (j *job) parent(client int) int {
	if client == 0 || j.clients <= j.maxLinear {
		return 0
	}
	return client &^ (1 << (bits.Len(uint(client)) - 1))
}

func (j *job) masterBarrier() {
	say := func(c int) { j.send(j.first, j.masters[c], barrierTag, 1, nil, false) }
	hear := func(c int) { j.recv(j.first, j.masters[c], barrierTag, 1) }
	for c := j.rank + 1; c < j.clients; c++ {
		if j.parent(c) == j.rank {
			hear(c)
		}
	}
	if j.rank > 0 {
		say(j.parent(j.rank))
		hear(j.parent(j.rank))
	}
	for c := j.rank + 1; c < j.clients; c++ {
		if j.parent(c) == j.rank {
			say(c)
		}
	}
}

// finish is MPI_Finalize, after its barrier: FINI in both directions (3.8), and to the server (2.4).
func (j *job) finish() {
	if j.fault.is("extra-packet") {
		to := 0
		if j.rank == 0 {
			to = j.masters[1]
		}
		j.send(j.first, to, 9, 0, []byte("more"), false)
	}
	j.mu.Lock()
	j.ended = true
	for _, l := range j.links {
		if !j.fault.is("no-fini") {
			p := make([]byte, header)
			be.PutUint32(p, finiPacket)
			j.fault.write(l.conn, p)
		}
	}
	for _, m := range j.queue { // nobody will receive them, and their senders may wait
		j.answer(m)
	}
	for _, l := range j.links {
		for !l.fini && !j.fault.is("no-fini") {
			j.cond.Wait()
		}
		l.conn.CloseWrite()
	}
	j.mu.Unlock()
	j.readers.Wait()
	j.say(fini)
}
