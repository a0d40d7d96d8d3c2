package manager

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// Join finds the other processes of a manager's job, and returns what a launcher of ours would have said: the tables in
// Job, and the memory that the processes of this machine share. If there are other machines it answers the listener,
// too, at which their processes connect.
//
// It blocks until all processes of the job have come this far, or ctx is done. The manager stays the caller's, also if
// there is an error. gone is called, once, if the manager is lost after Join has returned without an error.
//
// Flow: each process opens a Unix socket, and listens for other machines -> it puts its card (card.go), and gets those
// of all -> each makes the tables (tables.go) -> the lowest rank of those that can share memory makes it, and hands it
// to the others (share.go).
func Join(ctx context.Context, m Manager, gone func(error)) (startup.Welcome, *tcp.Listener, error) {
	return join(ctx, m, gone, here())
}

// JoinApart is Join for processes that share no memory, though they may be on one machine.
func JoinApart(ctx context.Context, m Manager, gone func(error)) (startup.Welcome, *tcp.Listener, error) {
	at := here()
	rand.Read(at.place[:])
	return join(ctx, m, gone, at)
}

func join(ctx context.Context, m Manager, gone func(error), at where) (startup.Welcome, *tcp.Listener, error) {
	id := m.Identity()
	w := startup.Welcome{LocalSize: 1, Shared: -1, Universe: id.Universe}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j := &joining{Manager: m, id: id, cancel: cancel, gone: gone, mine: newCard(at)}
	if id.Size == 1 {
		w.Job, w.JobID = startup.OneClient(j.mine.pid), jobID(id.Job, []card{j.mine})
		m.Watch(j.lost)
		return w, nil, j.settle(nil)
	}
	listener, err := j.run(ctx, &w)
	if err = j.settle(err); err != nil && w.Shared >= 0 {
		unix.Close(w.Shared)
	}
	if listener != nil && (err != nil || len(w.Local) == id.Size) {
		listener.Close()
		listener = nil
	}
	return w, listener, err
}

// joining is one Join.
type joining struct {
	Manager
	id     Identity
	mine   card
	cards  []card // by rank, once all are there
	cancel context.CancelCauseFunc
	gone   func(error)

	mu     sync.Mutex
	joined bool  // Join has returned without an error
	loss   error // of the manager
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
	j.joined = err == nil
	return err
}

// run joins a job of several processes. The listener is the caller's, also if there is an error.
func (j *joining) run(ctx context.Context, w *startup.Welcome) (*tcp.Listener, error) {
	near, err := listenNear(j.mine.unix)
	if err != nil {
		return nil, err
	}
	defer near.Close()
	listener := j.listen()
	if err := j.exchange(ctx); err != nil {
		return listener, err
	}
	w.Local = sharers(j.cards, j.id.Rank)
	w.LocalSize = int32(len(w.Local))
	for i, r := range w.Local {
		if r == int32(j.id.Rank) {
			w.LocalRank = int32(i)
		}
	}
	if w.Job, err = tables(j.cards, j.id.Rank); err != nil {
		return listener, err
	}
	w.JobID = jobID(j.id.Job, j.cards)
	w.Shared, err = j.share(ctx, near, w.Local)
	return listener, err
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
		return fmt.Errorf("%s takes values of %d bytes, and libimpi needs %d", j.Name(), j.id.MaxValue, len(text))
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
			return fmt.Errorf("rank %d, which %s has started: %w", r, j.Name(), err)
		}
		if other, twice := places[j.cards[r].unix]; twice {
			return fmt.Errorf("ranks %d and %d say the same: %s has started one of them twice", other, r, j.Name())
		}
		places[j.cards[r].unix] = r
	}
	if j.cards[j.id.Rank] != j.mine {
		return fmt.Errorf("%s does not return what rank %d has put: another process has the same rank", j.Name(), j.id.Rank)
	}
	j.Watch(j.lost)
	return nil
}
