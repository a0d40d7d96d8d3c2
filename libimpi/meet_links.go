package libimpi

import (
	stdcontext "context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/meeting"
	"github.com/libimpi/libimpi/transport"
)

// How the processes of a side make links while all of them make progress (meeting.Links), and lines of messages.

// linksOf makes links for the members of a communicator.
type linksOf struct{ c *Comm }

// Begin implements meeting.Links, as the following do.
func (l linksOf) Begin() (transport.Meeting, error) {
	begin := l.c.engine.guests.begin
	if begin == nil {
		return nil, errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION,
			"rank %d of %s cannot have links with processes of other jobs", l.c.Rank(), l.c.describe())
	}
	made, err := begin()
	if err != nil {
		return nil, errorf(abi.MPI_ERR_OTHER, "rank %d of %s cannot be met: %v", l.c.Rank(), l.c.describe(), err)
	}
	return made, nil
}

// Exchange gives the other leader some bytes.
func (l linksOf) Exchange(ctx stdcontext.Context, line transport.Line, mine []byte) (theirs []byte, failed,
	lost error) {
	if over, is := line.(*peerLine); is { // it makes progress itself
		theirs, lost = over.Exchange(ctx, mine)
		return theirs, nil, lost
	}
	var heard []byte // the other thread's until it is done
	lost = l.c.engine.Aside(ctx, func(ctx stdcontext.Context) { heard, failed = line.Exchange(ctx, mine) })
	if lost != nil {
		return nil, nil, lost
	}
	return heard, failed, nil
}

// joinTime is how long the links of a meeting may take.
const joinTime = 60 * time.Second

// Join has links made.
func (l linksOf) Join(ctx stdcontext.Context, line transport.Line, root int,
	join func(stdcontext.Context, transport.Receiver, func()), failed func() bool) error {
	e := l.c.engine
	limited, release := stdcontext.WithTimeout(ctx, joinTime)
	defer release()
	ctx, cancel := stdcontext.WithCancelCause(limited)
	defer cancel(nil)
	if line != nil && !e.home.InTurn {
		var watching sync.WaitGroup
		watching.Go(func() { e.watchLine(ctx, line, cancel) })
		defer func() {
			cancel(nil)
			watching.Wait() // the engine may be closed afterwards
		}()
	}
	together := l.c.beginJoint(root, cancel)
	joins := func(ctx stdcontext.Context) { join(ctx, e, e.progress) }
	if aside := e.asideUnless(ctx, joins, together.look); aside != nil {
		return aside
	}
	if lost := together.end(ctx, failed()); lost != nil {
		return lost
	}
	if failed() && stdcontext.Cause(ctx) == meeting.ErrGone {
		return meeting.ErrGone
	}
	return nil
}

// While links are made, a process waits for others that may have died. A leader sees that in its line; members say to
// their leader when they have their links or have failed, and wait for its word: that all have theirs, or that nobody
// need wait any more.

// Tags of these words in the collective context.
const (
	tagJoined = 1002 // of members
	tagJoin   = 1003 // of the leader
)

// joint is the making of links by all processes of a side, as one of them sees it.
type joint struct {
	c      *Comm
	root   int                        // the leader's rank
	cancel stdcontext.CancelCauseFunc // of this process's own
	from   []*Request                 // a member: for the leader's word; the leader: for those of all members
	words  []int32                    // 1: failed, or all is in vain
}

// beginJoint begins to wait for the words of the others.
func (c *Comm) beginJoint(root int, cancel stdcontext.CancelCauseFunc) *joint {
	j := &joint{c: c, root: root, cancel: cancel}
	if c.Rank() != root {
		j.words = make([]int32, 1)
		j.await(root, tagJoin)
		return j
	}
	j.words = make([]int32, c.Size()-1)
	for r := range c.Size() {
		if r != root {
			j.await(r, tagJoined)
		}
	}
	return j
}

// await posts the receive of the next word.
func (j *joint) await(rank int, tag int32) {
	c := j.c
	in := intBuf(j.words[len(j.from) : len(j.from)+1])
	id := c.irecv(c.coll, in.Base, in.Count, in.Type, rank, tag)
	c.engine.mu.Lock()
	j.from = append(j.from, c.engine.requests.find(id))
	c.engine.mu.Unlock()
}

// look ends this process's waiting if a word says that it is in vain, or does not come since a member is lost. Engine
// lock held.
func (j *joint) look() {
	for i, r := range j.from {
		if r.state.done && (j.words[i] != 0 || r.failure() != nil) {
			j.cancel(meeting.ErrGone)
		}
	}
}

// end exchanges the words, when this process has its links or has failed.
func (j *joint) end(ctx stdcontext.Context, failed bool) error {
	c, root, e := j.c, j.root, j.c.engine
	word := []int32{0}
	if failed {
		word[0] = 1
	}
	if c.Rank() != root {
		if err := c.ops.Send(intBuf(word), root, tagJoined); err != nil {
			return err
		}
		return j.hear()
	}
	if !failed {
		e.mu.Lock()
		e.waitFor(func() bool {
			j.look()
			return j.complete() || ctx.Err() != nil
		}, anyPeer, forConnection)
		e.mu.Unlock()
	}
	if ctx.Err() != nil {
		word[0] = 1
	}
	for r := range c.Size() {
		if r == root {
			continue
		}
		if err := c.ops.Send(intBuf(word), r, tagJoin); err != nil {
			return err
		}
	}
	return j.hear()
}

// complete reports whether all words have come. Engine lock held.
func (j *joint) complete() bool {
	for _, r := range j.from {
		if !r.state.done {
			return false
		}
	}
	return true
}

// hear waits for all words.
func (j *joint) hear() (err error) {
	e := j.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range j.from {
		e.wait(r)
		if _, lost := e.finish(r); err == nil {
			err = lost
		}
	}
	return err
}

// lookTime is how often a leader looks while links are made whether the other one is there. With the other leader its
// whole job is gone, as jobs end as a whole.
const lookTime = 100 * time.Millisecond

// watchLine ends the waiting when the other leader has gone. It returns when ctx is done.
func (e *Engine) watchLine(ctx stdcontext.Context, line transport.Line, cancel stdcontext.CancelCauseFunc) {
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if line.Ended() {
				cancel(meeting.ErrGone)
				e.mu.Lock()
				e.ring()
				e.mu.Unlock()
				return
			}
		}
	}
}

// Aside runs f on another thread while this one makes progress, and returns when f has. If an own process is lost
// meanwhile, it does not wait for f, whose context ends, and returns that.
func (e *Engine) Aside(ctx stdcontext.Context, f func(stdcontext.Context)) error {
	return e.asideUnless(ctx, f, func() {})
}

// asideUnless is Aside that calls look, under the engine's lock, whenever something may have come: it may end ctx.
func (e *Engine) asideUnless(ctx stdcontext.Context, f func(stdcontext.Context), look func()) error {
	if e.home.InTurn {
		f(ctx)
		return nil
	}
	ctx, cancel := stdcontext.WithCancel(ctx)
	defer cancel()
	var (
		leaving sync.Mutex // whoever left may close the engine, in whose memory its lock is
		left    bool
		done    bool // guarded by the engine's lock
	)
	go func() {
		f(ctx)
		leaving.Lock()
		defer leaving.Unlock()
		if !left {
			e.mu.Lock()
			done = true
			e.ring()
			e.mu.Unlock()
		}
	}()
	e.mu.Lock()
	e.waitFor(func() bool {
		look()
		return done
	}, anyPeer, forConnection)
	var lost error
	if !done {
		lost = e.failure()
	}
	e.mu.Unlock()
	leaving.Lock()
	left = true
	leaving.Unlock()
	return lost
}

// peerLine is a line of messages between the leaders of two groups, on a communicator that both belong to. Its errors
// are losses.
type peerLine struct {
	on     *Comm
	with   int // the other leader's rank
	tag    int
	secret [transport.SecretSize]byte
	first  bool
}

// openLine gives a leader a line to the other one, on a communicator of both. Both call it.
func (m *encounter) openLine(on *Comm, with int, tag int32) error {
	l, err := on.openPeerLine(with, tag)
	if err == nil {
		m.Line = l
	}
	return err
}

func (c *Comm) openPeerLine(with int, tag int32) (*peerLine, error) {
	l := &peerLine{on: c, with: with, tag: int(tag), first: c.engine.before(c.engine.me, c.group.World(with))}
	var mine, theirs [transport.SecretSize]byte
	rand.Read(mine[:])
	if err := c.exchange(byteBuf(mine[:]), byteBuf(theirs[:]), with, l.tag); err != nil {
		return nil, err
	}
	if !l.first {
		mine, theirs = theirs, mine
	}
	l.secret = sha256.Sum256(append(mine[:], theirs[:]...))
	return l, nil
}

// Exchange implements transport.Line.
func (l *peerLine) Exchange(_ stdcontext.Context, mine []byte) ([]byte, error) {
	length := make([]int64, 1)
	if err := l.on.exchange(numberBuf([]int64{int64(len(mine))}), numberBuf(length), l.with, l.tag); err != nil {
		return nil, err
	}
	if length[0] < 0 || length[0] > transport.MaxExchange {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s announces %d bytes", l.with, l.on.describe(), length[0])
	}
	theirs := make([]byte, length[0])
	return theirs, l.on.exchange(byteBuf(mine), byteBuf(theirs), l.with, l.tag)
}

// Secret implements transport.Line.
func (l *peerLine) Secret() [transport.SecretSize]byte { return l.secret }

// First implements transport.Line.
func (l *peerLine) First() bool { return l.first }

// Ended implements transport.Line. The engine's lock is not held.
func (l *peerLine) Ended() bool {
	e := l.on.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return l.on.without(int32(l.with)) != nil
}

// Close implements transport.Line.
func (l *peerLine) Close() error { return nil }
