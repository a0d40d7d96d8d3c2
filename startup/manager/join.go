package manager

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// Options say what is special about a job.
type Options struct {
	Apart bool    // its processes share no memory, though they may be on one machine
	Among *Client // it is one client among others (clients.go); nil: it is all there is
}

// Joined is what a process has got by Join: what a launcher of ours would have said, with the tables in Job and the
// memory that the processes of this machine share, and more that becomes the caller's.
type Joined struct {
	startup.Welcome
	Listener *tcp.Listener   // at which processes of other machines and clients connect; nil: there are none
	Session  *client.Session // the connection of rank 0 to the server of the clients; nil: there is none
	Pipes    *[2]int         // to the agent of this machine (agent.go); nil: there is none
	Agent    *agent.Agent    // which is in this process; nil: it is not
}

// Join finds the other processes of a manager's job.
//
// It blocks until all processes of the job have come this far, or ctx is done. The manager stays the caller's, also if
// there is an error; unless that is a *CauseError, the manager may know a better reason.
// gone is called, once, if the manager is lost after Join has returned without an error.
//
// Flow: each process opens a Unix socket, and listens for other machines -> it puts its card (card.go), and gets those
// of all -> each makes the tables (tables.go), or gets those of all clients (clients.go) -> the lowest rank of those
// that can share memory makes it, and hands it to the others (share.go).
func Join(ctx context.Context, m Manager, gone func(error), o Options) (Joined, error) {
	at := here()
	if o.Apart {
		rand.Read(at.place[:])
	}
	return join(ctx, m, gone, at, o.Among)
}

func join(ctx context.Context, m Manager, gone func(error), at where, among *Client) (Joined, error) {
	id := m.Identity()
	w := Joined{Welcome: startup.Welcome{LocalSize: 1, Shared: -1, Universe: id.Universe}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j := &joining{Manager: m, id: id, among: among, cancel: cancel, gone: gone, mine: newCard(at),
		pipes: [2]int{-1, -1}}
	if among != nil {
		j.mine.client, j.mine.gate = uint8(among.Rank)+1, among.Via == client.ViaOne
	}
	if id.Size == 1 && among == nil {
		w.Job, w.JobID = startup.OneClient(j.mine.pid), jobID(id.Job, []card{j.mine})
		m.Watch(j.lost)
		return w, j.settle(nil)
	}
	err := j.settle(j.run(ctx, &w))
	if err != nil {
		if j.outside != nil {
			j.outside.Close()
		}
		w.letGo(err)
		j.decline(err)
	}
	if w.Listener != nil && among == nil && len(w.Local) == id.Size {
		w.Listener.Close()
		w.Listener = nil
	}
	return w, err
}

// letGo closes what a process has that cannot join, because of an error.
func (w *Joined) letGo(why error) {
	if w.Shared >= 0 {
		unix.Close(w.Shared)
	}
	if w.Listener != nil {
		w.Listener.Close()
		w.Listener = nil
	}
	if w.Agent != nil {
		w.Agent.Close()
		w.Agent = nil
	}
	if w.Pipes != nil {
		agent.CloseSockets(w.Pipes[:]...)
		w.Pipes = nil
	}
	if w.Session != nil {
		var blamed *int32
		var other *client.LostError
		if errors.As(why, &other) {
			blamed = &other.Client
		}
		w.Session.Fail(why.Error(), blamed)
		w.Session = nil
	}
}

// CauseError is why a process cannot join the others if that is not because another process has ended: nobody knows
// better. Of an error that all processes find, rank 0 alone makes one.
type CauseError struct{ Err error }

func (e *CauseError) Error() string { return e.Err.Error() }
func (e *CauseError) Unwrap() error { return e.Err }

// alike is an error that all processes find.
func (j *joining) alike(err error) error {
	if j.id.Rank == 0 {
		return &CauseError{err}
	}
	return err
}

// joining is one Join.
type joining struct {
	Manager
	id    Identity
	among *Client          // nil: there are no other clients
	met   bool             // the server has been asked
	hands map[int32][2]int // the pipes that go out with the memory of the machine, by rank (agent.go)
	pipes [2]int           // those that have come with it; -1: none

	outside *tcp.Listener // of the one process to which other clients connect (gate.go); nil: this one is not it
	mine    card
	cards   []card // by rank, once all are there
	cancel  context.CancelCauseFunc
	gone    func(error)

	mu     sync.Mutex
	joined bool  // Join has returned without an error
	loss   error // of the manager

	ended *client.LostError // another client; nil: none
}

// lost takes the loss of the manager: it ends Join, or is the caller's afterwards.
func (j *joining) lost(err error) {
	j.mu.Lock()
	j.loss = err
	joined := j.joined
	j.mu.Unlock()
	if joined {
		j.gone(err)
		return
	}
	j.cancel(fmt.Errorf("%s is lost: %w", j.Name(), err))
}

// settle decides whether Join has succeeded.
func (j *joining) settle(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil && j.loss != nil {
		err = fmt.Errorf("%s is lost: %w", j.Name(), j.loss)
	}
	if j.ended != nil { // whatever came of it
		err = &CauseError{j.ended}
	}
	j.joined = err == nil
	return err
}

// run joins a job. What is in w is the caller's, also if there is an error.
func (j *joining) run(ctx context.Context, w *Joined) (err error) {
	near, err := listenNear(j.mine.unix)
	if err != nil {
		return &CauseError{err}
	}
	defer near.Close()
	if j.among == nil {
		w.Listener = j.listen()
	} else if w.Listener, err = j.listenAmong(); err != nil {
		return &CauseError{err}
	}
	if err := j.exchange(ctx); err != nil {
		return err
	}
	members := sharers(j.cards, j.id.Rank)
	w.Local, w.LocalSize = slices.Clone(members), int32(len(members))
	w.LocalRank = int32(slices.Index(members, int32(j.id.Rank)))
	if j.among != nil {
		err = j.joinClients(ctx, w)
	} else {
		w.Job, err = tables(j.cards, j.id.Rank)
	}
	if err != nil {
		return err
	}
	w.JobID = jobID(j.id.Job, j.cards)
	if j.among == nil {
		w.Shared, err = j.share(ctx, near, members)
		return err
	}
	return j.shareWithAgent(ctx, near, members, w)
}

// listen opens a listener for other machines, at the address by which others probably reach this one. A process that
// can listen nowhere (nil) may yet share memory with all others.
func (j *joining) listen() *tcp.Listener {
	bind := address.Usable()
	l, err := tcp.ListenBetween(bind, 0, 0)
	if errors.Is(err, unix.EADDRNOTAVAIL) {
		l, err = tcp.ListenBetween(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0, 0)
	}
	if err != nil {
		return nil
	}
	j.mine.addr = l.Addr()
	return l
}

// exchange puts the card, and gets those of all.
func (j *joining) exchange(ctx context.Context) error {
	text := j.mine.encode()
	if len(text) > j.id.MaxValue {
		return j.alike(fmt.Errorf("%s takes values of %d bytes, and libimpi needs %d", j.Name(), j.id.MaxValue, len(text)))
	}
	if err := j.Put(cardKey, text); err != nil {
		return err
	}
	if err := j.Fence(ctx); err != nil {
		return err
	}
	j.cards = make([]card, j.id.Size)
	places := map[[16]byte]int{} // by the name of the Unix socket
	for r := range j.cards {
		text, err := j.Get(ctx, r, cardKey)
		if err != nil {
			return err
		}
		if j.cards[r], err = decodeCard(text); err != nil {
			return j.alike(fmt.Errorf("rank %d, which %s has started: %w", r, j.Name(), err))
		}
		if other, twice := places[j.cards[r].unix]; twice {
			return j.alike(fmt.Errorf("ranks %d and %d say the same: %s has started one of them twice", other, r, j.Name()))
		}
		places[j.cards[r].unix] = r
	}
	if err := oneClient(j.cards); err != nil {
		return j.alike(err)
	}
	if j.cards[j.id.Rank] != j.mine {
		return &CauseError{fmt.Errorf("%s does not return what rank %d has put: another process has the same rank",
			j.Name(), j.id.Rank)}
	}
	j.Watch(j.lost)
	return nil
}
