package libimpi

import (
	stdcontext "context"
	"time"
)

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
	m      *encounter
	cancel stdcontext.CancelCauseFunc // of this process's own
	from   []*Request                 // a member: for the leader's word; the leader: for those of all members
	words  []int32                    // 1: failed, or all is in vain
}

// beginJoint begins to wait for the words of the others.
func (m *encounter) beginJoint(cancel stdcontext.CancelCauseFunc) *joint {
	j := &joint{m: m, cancel: cancel}
	if m.c.Rank() != m.root {
		j.words = make([]int32, 1)
		j.await(m.root, tagJoin)
		return j
	}
	j.words = make([]int32, m.c.Size()-1)
	for r := range m.c.Size() {
		if r != m.root {
			j.await(r, tagJoined)
		}
	}
	return j
}

// await posts the receive of the next word.
func (j *joint) await(rank int, tag int32) {
	c := j.m.c
	in := intBuf(j.words[len(j.from) : len(j.from)+1])
	id := c.irecv(c.coll, in.Base, in.Count, in.Type, rank, tag)
	c.engine.mu.Lock()
	j.from = append(j.from, c.engine.requests.find(id))
	c.engine.mu.Unlock()
}

// look ends this process's waiting if a word says that it is in vain. Engine lock held.
func (j *joint) look() {
	for i, r := range j.from {
		if r.state.done && j.words[i] != 0 {
			j.cancel(errGone)
		}
	}
}

// end exchanges the words, when this process has its links or has failed.
func (j *joint) end(ctx stdcontext.Context, failed bool) error {
	m, e := j.m, j.m.c.engine
	word := []int32{0}
	if failed {
		word[0] = 1
	}
	if m.c.Rank() != m.root {
		if err := m.c.ops.Send(intBuf(word), m.root, tagJoined); err != nil {
			return err
		}
		return j.hear()
	}
	if !failed {
		e.mu.Lock()
		e.waitFor(func() bool {
			j.look()
			return j.complete() || ctx.Err() != nil
		}, anyPeer)
		e.mu.Unlock()
	}
	if ctx.Err() != nil {
		word[0] = 1
	}
	for r := range m.c.Size() {
		if r == m.root {
			continue
		}
		if err := m.c.ops.Send(intBuf(word), r, tagJoin); err != nil {
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
	e := j.m.c.engine
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

// watchLine ends the waiting when the other leader has gone. It returns when ctx is done.
func (m *encounter) watchLine(ctx stdcontext.Context, cancel stdcontext.CancelCauseFunc) {
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if m.line.Ended() {
				cancel(errGone)
				e := m.c.engine
				e.mu.Lock()
				e.ring()
				e.mu.Unlock()
				return
			}
		}
	}
}
