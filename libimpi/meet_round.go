package libimpi

import (
	"cmp"
	stdcontext "context"
	"crypto/sha256"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport"
)

// encounter is one occasion on which two groups of processes get to know each other, as a process sees it. It goes in
// rounds. In each everybody says something, or why he cannot go on, and hears what all of both sides have said:
//
//	members -> their leader -> line -> the other leader -> its members
//
// Whoever fails, at either side, says so in the next round, and then all fail. A side that finds out by itself that the
// round was of no use says so over the line before it gives up, so that nobody waits for it.
type encounter struct {
	c      *Comm
	root   int // the leader's rank
	ctx    stdcontext.Context
	line   transport.Line    // at the leader; nil: there is none
	first  bool              // our side comes first
	secret [sha256.Size]byte // which all of both sides know
	pinned []*peer           // guests that must stay meanwhile
	made   []*peer           // new ones
}

// round says mine, or err, and returns what all have said, by their ranks. Errors: err of any process, losses.
func (m *encounter) round(mine []byte, err error) (ours, theirs [][]byte, _ error) {
	said := append([]byte{saysWords}, mine...)
	if err != nil {
		said = encodeNo(nil, err)
	}
	all, lost := m.c.gatherBytes(said, m.root)
	var answer []byte
	switch {
	case m.c.Rank() != m.root && lost != nil:
		return nil, nil, lost
	case lost != nil:
		m.refuse(lost)
		answer = encodeNo(nil, lost)
	case m.c.Rank() == m.root:
		answer = m.compare(all)
	}
	if answer, err = m.c.bcastBytes(answer, m.root); err != nil {
		return nil, nil, err
	}
	return m.hear(answer)
}

// compare is what the leader does: it answers what its members are told.
func (m *encounter) compare(all [][]byte) []byte {
	for r, said := range all {
		if no := readNo(said); no != nil {
			m.refuse(no)
			return encodeNo(nil, no)
		}
		if len(said) == 0 || said[0] != saysWords {
			no := errorf(abi.MPI_ERR_INTERN, "rank %d of %s sent a malformed introduction", r, m.c.describe())
			m.refuse(no)
			return encodeNo(nil, no)
		}
		all[r] = said[1:]
	}
	words := encodeWords(nil, all)
	if len(words) > mostWords {
		no := errorf(abi.MPI_ERR_OTHER, "the processes of %s have %d bytes to say to the other side", m.c.describe(),
			len(words))
		m.refuse(no)
		return encodeNo(nil, no)
	}
	theirs, err := m.exchange(m.ctx, words)
	if err != nil {
		return encodeNo(nil, err)
	}
	if no := readNo(theirs); no != nil {
		no.Text = "the other side says: " + no.Text
		return encodeNo(nil, no)
	}
	if _, rest, err := readWords(theirs); err != nil || len(rest) > 0 {
		no := errorf(abi.MPI_ERR_OTHER, "the other side does not keep the protocol: %v", err)
		m.refuse(no)
		return encodeNo(nil, no)
	}
	secret, first := m.line.Secret(), byte(0)
	if m.line.First() {
		first = 1
	}
	answer := append([]byte{saysWords, first}, secret[:]...)
	return append(append(answer, words...), theirs...)
}

// hear takes what the leader answers.
func (m *encounter) hear(answer []byte) (ours, theirs [][]byte, _ error) {
	if no := readNo(answer); no != nil {
		return nil, nil, no
	}
	const head = 2 + transport.SecretSize
	if len(answer) < head {
		return nil, nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s answers %d bytes", m.root, m.c.describe(), len(answer))
	}
	m.first = answer[1] == 1
	m.secret = sha256.Sum256(answer[2:head])
	ours, rest, err := readWords(answer[head:])
	if err == nil {
		theirs, _, err = readWords(rest)
	}
	if err != nil {
		return nil, nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s answers: %v", m.root, m.c.describe(), err)
	}
	return ours, theirs, nil
}

// exchange gives the other leader some bytes.
func (m *encounter) exchange(ctx stdcontext.Context, mine []byte) (theirs []byte, _ error) {
	if m.line == nil {
		return nil, errorf(abi.MPI_ERR_INTERN, "there is no line to the other side")
	}
	if over, is := m.line.(*peerLine); is { // it makes progress itself
		return over.Exchange(ctx, mine)
	}
	var heard []byte // the other thread's until it is done
	var failed error
	err := m.c.engine.Aside(ctx, func(ctx stdcontext.Context) { heard, failed = m.line.Exchange(ctx, mine) })
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, errorf(abi.MPI_ERR_OTHER, "the other side cannot be heard: %v", failed)
	}
	return heard, nil
}

// refuseTime is for how long a leader tries to tell the other that its side gives up.
const refuseTime = 5 * time.Second

// refuse tells the other side why this one gives up. It is not asked what it says to that.
func (m *encounter) refuse(err error) {
	if m.line == nil || m.c.Rank() != m.root {
		return
	}
	ctx, cancel := stdcontext.WithTimeout(m.ctx, refuseTime)
	defer cancel()
	m.exchange(ctx, encodeNo(nil, err))
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
	done := false
	go func() {
		f(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		done = true
		e.ring()
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitFor(func() bool {
		look()
		return done
	}, anyPeer)
	if !done {
		return e.failure()
	}
	return nil
}

// gatherBytes gives the root what all say. Only the root gets an answer.
func (c *Comm) gatherBytes(mine []byte, root int) (all [][]byte, err error) {
	var lengths []int64
	if c.Rank() == root {
		lengths = make([]int64, c.Size())
	}
	recv := numberBuf(lengths)
	recv.Count = 1
	if err := c.Gather(numberBuf([]int64{int64(len(mine))}), recv, root); err != nil {
		return nil, err
	}
	into := coll.VBuf{Type: byteType}
	var room []byte
	var bad error // all take part to the end, whatever one of them says
	if c.Rank() == root {
		total := int64(0)
		for r, n := range lengths {
			if n < 0 || n > mostWords || total+n > mostWords {
				bad = errorf(abi.MPI_ERR_OTHER, "rank %d of %s has %d bytes to say", r, c.describe(), n)
				n = 0
			}
			into.Counts, into.Displs = append(into.Counts, n), append(into.Displs, total)
			total += n
		}
		room = make([]byte, total)
		into.Base = startOf(room)
	}
	if err := c.Gatherv(byteBuf(mine), into, root); err != nil || bad != nil {
		return nil, cmp.Or(bad, err)
	}
	for r, n := range lengths {
		at := into.Displs[r]
		all = append(all, room[at:at+n:at+n])
	}
	return all, nil
}

// bcastBytes gives the root's bytes to all.
func (c *Comm) bcastBytes(b []byte, root int) ([]byte, error) {
	n := []int64{int64(len(b))}
	if err := c.Bcast(numberBuf(n), root); err != nil {
		return nil, err
	}
	if n[0] < 0 || n[0] > 3*transport.MaxExchange {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s sends %d bytes", root, c.describe(), n[0])
	}
	if c.Rank() != root {
		b = make([]byte, n[0])
	}
	if len(b) == 0 {
		return b, nil
	}
	return b, c.Bcast(byteBuf(b), root)
}
