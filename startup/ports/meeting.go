package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// joinTime bounds Join if its context has no deadline.
const joinTime = 60 * time.Second

// meeting is a transport.Meeting.
//
//	Card: a Unix socket and a TCP socket begin to listen
//	Join: pairs on one machine share memory, or agree that they cannot (near.go) -> all other pairs connect (far.go)
type meeting struct {
	conf Config

	card []byte // nil: Card has not been called
	unix net.Listener
	tcp  *tcp.Listener
}

// New begins a meeting. Memory, if there is one, needs Lock, too.
func New(c Config) (transport.Meeting, error) {
	if c.Memory != nil && c.Lock == nil {
		return nil, errors.New("memory to be shared, and no lock")
	}
	if c.Machine == (Machine{}) {
		c.Machine = ThisMachine()
	}
	return &meeting{conf: c}, nil
}

// Card implements transport.Meeting. A process that shares no memory, or whose system has no abstract Unix sockets, is
// reached by TCP.
func (m *meeting) Card() ([]byte, error) {
	if m.card != nil {
		return m.card, nil
	}
	l, err := tcp.ListenBetween(m.conf.bind(), m.conf.Ports[0], m.conf.Ports[1])
	if err != nil {
		return nil, fmt.Errorf("listening at %v for processes of other jobs: %w", m.conf.bind(), err)
	}
	m.tcp = l
	c := card{sealed: m.conf.Sealed, short: true, machine: m.conf.Machine, tcp: l.Addr(), rep: wire.Mine().Rep}
	if m.conf.Memory != nil {
		name := newUnixName()
		if m.unix, err = net.Listen("unix", name.String()); err == nil {
			c.unix = name
		} else {
			m.unix = nil
			m.conf.warn("memory cannot be shared with processes of other jobs: %v", err)
		}
	}
	m.card = c.encode()
	return m.card, nil
}

// Close implements transport.Meeting.
func (m *meeting) Close() {
	if m.tcp != nil {
		m.tcp.Close()
	}
	if m.unix != nil {
		m.unix.Close()
	}
}

// Join implements transport.Meeting.
func (m *meeting) Join(ctx context.Context, p transport.Participants, r transport.Receiver, wake func()) (
	[]transport.Guest, error) {
	if m.card == nil {
		return nil, errors.New("a process joins a meeting, and has given no card")
	}
	a, err := newAssembly(m, p)
	if err != nil {
		return nil, err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, joinTime)
		defer cancel()
	}
	if err := a.shareMemory(ctx); err != nil {
		a.undo()
		return nil, err
	}
	by, err := a.connect(ctx, r, wake)
	if err != nil {
		a.undo()
		return nil, err
	}
	return a.guests(by), nil
}

// assembly is a call of Join.
type assembly struct {
	*meeting
	transport.Participants
	cards []card // of those that are wanted, and this process's

	mu   sync.Mutex // guards what follows, while memory is being shared
	ways []way      // by place
	left int        // those on this machine with which it is not settled yet
	why  []error    // by place: what has gone wrong so far
}

// way is how two participants have a link.
type way uint8

const (
	noWay    way = iota // they want none
	unsolved            // they are on one machine
	settling            // and about to find out
	near                // they share memory
	far                 // they are connected
)

// newAssembly checks what the others have said.
func newAssembly(m *meeting, p transport.Participants) (*assembly, error) {
	if len(p.Number) != len(p.Cards) || p.Me < 0 || p.Me >= len(p.Cards) {
		return nil, fmt.Errorf("%d cards, %d numbers, and this is participant %d", len(p.Cards), len(p.Number), p.Me)
	}
	if string(p.Cards[p.Me]) != string(m.card) {
		return nil, errors.New("the card that came back is not the one that this process has given")
	}
	a := &assembly{meeting: m, Participants: p, cards: make([]card, len(p.Cards)), ways: make([]way, len(p.Cards)),
		why: make([]error, len(p.Cards))}
	taken := map[int32]bool{}
	for i, n := range p.Number {
		if n < 0 && i != p.Me {
			continue
		}
		var err error
		if a.cards[i], err = decodeCard(p.Cards[i]); err != nil {
			return nil, fmt.Errorf("participant %d of the meeting: %w", i, err)
		}
		if i == p.Me {
			continue
		}
		if taken[n] {
			return nil, fmt.Errorf("number %d stands for two participants", n)
		}
		taken[n] = true
		a.ways[i] = far
	}
	for i, w := range a.ways {
		if w == far && m.conf.Memory != nil && a.cards[i].shares(&a.cards[p.Me]) {
			a.ways[i] = unsolved
			a.left++
		}
	}
	return a, nil
}

// called is how errors call a participant.
func (a *assembly) called(i int) string {
	return fmt.Sprintf("process %d (at %v)", a.Number[i], a.cards[i].tcp)
}

// key is what this process and another, and nobody else but other participants, know.
func (a *assembly) key(i int, purpose string) []byte {
	lo, hi := min(a.Me, i), max(a.Me, i)
	places := be.AppendUint64(be.AppendUint64(nil, uint64(lo)), uint64(hi))
	k := derive(a.Secret[:], purpose, "a pair's key", places, a.Cards[lo], a.Cards[hi])
	return k[:]
}

// undo parts from those who share memory with this process already.
func (a *assembly) undo() {
	for i, w := range a.ways {
		if w == near {
			a.part(a.Number[i])
		}
	}
}

// part is Memory.Part.
func (a *assembly) part(number int32) {
	a.conf.Lock.Lock()
	defer a.conf.Lock.Unlock()
	a.conf.Memory.Part(number)
}

// guests are all links that have been made.
func (a *assembly) guests(by transport.Transport) (list []transport.Guest) {
	for i, w := range a.ways {
		g := transport.Guest{Number: a.Number[i], By: by, Near: w == near}
		switch w {
		case near:
			g.By = a.conf.Memory
		case noWay:
			continue
		}
		list = append(list, g)
	}
	return list
}
