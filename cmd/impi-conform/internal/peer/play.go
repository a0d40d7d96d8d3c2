package peer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// step is a Msg in terms of the job.
type step struct {
	Msg
	from, to int // world ranks
	lsrank   int
	cid      uint64
	state    progress
	first    codec.Packet // of a long message that we send
}

type progress int

const (
	waiting  progress = iota
	awaiting          // our DATASYNC is sent, its SYNCACK awaited
	done
)

// Play takes part in a collective of the communicator of these world ranks, whose point-to-point context id is
// cid: it sends what the processes of ours send, as soon as they could, and awaits what the client under test
// must send. A message that comes before its sender could know enough is an error, and so is one with other
// bytes. What comes after the collective stays in the queue.
func (j *Job) Play(ranks []int, cid uint64, plan []Msg) {
	steps := make([]step, len(plan))
	for i, m := range plan {
		steps[i] = step{Msg: m, from: ranks[m.Src], to: ranks[m.Dst], lsrank: m.Src, cid: cid + 1}
	}
	j.run(steps)
	j.T.Stop()
}

// Inter is a communicator with two groups, and what one of them sends to the other.
type Inter struct {
	A, B []int // world ranks
	CID  uint64
}

// Side is a message from rank Src of one group to rank Dst of the other.
type Side struct {
	Msg
	FromB bool
}

// PlayInter is Play on an intercommunicator: pk_lsrank is the rank in the sender's own group.
func (j *Job) PlayInter(x Inter, plan []Side) {
	steps := make([]step, len(plan))
	for i, m := range plan {
		src, dst := x.A, x.B
		if m.FromB {
			src, dst = dst, src
		}
		steps[i] = step{Msg: m.Msg, from: src[m.Src], to: dst[m.Dst], lsrank: m.Src, cid: x.CID + 1}
	}
	j.run(steps)
	j.T.Stop()
}

// run is Play's loop.
func (j *Job) run(steps []step) {
	for {
		moved, left := false, 0
		for i := range steps {
			if steps[i].state == done {
				continue
			}
			if j.advance(steps, i) {
				moved = true
			}
			if steps[i].state != done {
				left++
			}
		}
		if left == 0 {
			return
		}
		if moved {
			continue
		}
		j.mu.Lock()
		seen := len(j.queue) + len(j.syncs)
		j.mu.Unlock()
		j.early(steps)
		if err := j.wait(func() bool { return len(j.queue)+len(j.syncs) != seen || j.arrived(steps) }); err != nil {
			j.T.Stop()
			j.T.Fatalf("%s: %v", j.missing(steps), err)
		}
	}
}

// ready reports whether a message may be sent: what it depends on has been, and what its pair has to send before.
func ready(steps []step, i int) bool {
	for _, a := range steps[i].After {
		if steps[a].state != done {
			return false
		}
	}
	for k := range i {
		if steps[k].from == steps[i].from && steps[k].to == steps[i].to && steps[k].state == waiting {
			return false
		}
	}
	return true
}

// advance moves a message on if it can move.
func (j *Job) advance(steps []step, i int) bool {
	s := &steps[i]
	if s.state == waiting && !ready(steps, i) {
		return false
	}
	switch {
	case j.Ours(s.from) == j.Ours(s.to):
		s.state = done // not on our wire
	case !j.Ours(s.from):
		return j.receive(s)
	case s.state == waiting:
		s.first = j.first(s.from, s.to, int32(s.lsrank), s.Tag, s.cid, s.Data)
		j.Send(s.first)
		s.state = done
		if s.first.Type == wire.PkDataSync {
			s.state = awaiting
		}
	default:
		j.mu.Lock()
		drqid, ok := j.syncs[s.first.SrqID]
		j.mu.Unlock()
		if !ok {
			return false
		}
		j.Continue(s.first, drqid, s.Data[s.first.Len:], int(j.DataLen))
		s.state = done
	}
	return true
}

// is reports whether a packet can be this message.
func (s *step) is(p Packet) bool {
	return p.From == s.from && p.To == s.to && p.CID == s.cid && (p.Tag == s.Tag || s.Alt != 0 && p.Tag == s.Alt)
}

func (s *step) String() string {
	return fmt.Sprintf("message from process %d to process %d with tag %d, cid %d, %d bytes",
		s.from, s.to, s.Tag, s.cid, len(s.Data))
}

// receive takes a message of the client under test if it has come.
func (j *Job) receive(s *step) bool {
	j.mu.Lock()
	i := slices.IndexFunc(j.queue, s.is)
	if i < 0 {
		j.mu.Unlock()
		return false
	}
	p := j.queue[i]
	j.queue = slices.Delete(j.queue, i, i+1)
	j.mu.Unlock()
	s.state = done
	must := p.Header
	must.LSRank = int32(s.lsrank)
	j.T.Must(p, p.Header, must)
	j.T.Check(bytes.Equal(p.Data, s.Data), "%v: its data are %s, must be %s", p, shorten(p.Data), shorten(s.Data))
	j.T.Check(p.Type != wire.PkDataSync || p.MsgLen > uint64(j.DataLen),
		"%v: a short message of a collective is sent in standard mode", p)
	return true
}

func shorten(b []byte) string {
	const some = 64
	if len(b) > some {
		return fmt.Sprintf("%x... (%d bytes)", b[:some], len(b))
	}
	return fmt.Sprintf("%x (%d bytes)", b, len(b))
}

// early looks for messages that have come too early: their pair has nothing else to send on this tag first.
func (j *Job) early(steps []step) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range steps {
		s := &steps[i]
		if s.state != waiting || j.Ours(s.from) || !slices.ContainsFunc(j.queue, s.is) {
			continue
		}
		for _, a := range s.After {
			if steps[a].state != done {
				j.T.Errorf("the %v has come before the %v", s, &steps[a])
				j.broken = true
				return
			}
		}
	}
}

// arrived reports whether a message that is awaited has come. job.mu is held.
func (j *Job) arrived(steps []step) bool {
	for i := range steps {
		s := &steps[i]
		if s.state == waiting && !j.Ours(s.from) && ready(steps, i) && slices.ContainsFunc(j.queue, s.is) {
			return true
		}
		if _, ok := j.syncs[s.first.SrqID]; s.state == awaiting && ok {
			return true
		}
	}
	return false
}

// missing names what has not come, and what has.
func (j *Job) missing(steps []step) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []string
	for i := range steps {
		s := &steps[i]
		if s.state == awaiting {
			list = append(list, fmt.Sprintf("the SYNCACK of the %v", s))
		} else if s.state == waiting && !j.Ours(s.from) && ready(steps, i) {
			list = append(list, fmt.Sprintf("the %v", s))
		}
	}
	for _, p := range j.queue {
		list = append(list, fmt.Sprintf("there is %v", p))
	}
	return "missing: " + strings.Join(list, "; ")
}
