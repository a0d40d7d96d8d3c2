package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Rank is the communicator that a call gets: it records.
type Rank struct {
	*coll.Recorder
	sketch *coll.Sketch
	most   int64 // steps on memory that may come
	err    error
	layout *layout
}

// Buf returns a buffer of n bytes, each of which is an element. It has an address, and no memory.
func (r *Rank) Buf(n int64) coll.Buf {
	mem, err := r.sketch.Take(n)
	if err != nil {
		r.err = err
	}
	return coll.Bytes(mem)
}

// ErrData is what Record answers if a rank looks at data.
var ErrData = errors.New("the algorithm looks at data that it has received (Then), and a simulation has none")

// Then refuses: what comes next would depend on data.
func (r *Rank) Then(func() error) error { return ErrData }

// local counts a step on memory.
func (r *Rank) local() error {
	if r.most--; r.most < 0 {
		return ErrTooLong
	}
	return nil
}

// Copy implements coll.Local.
func (r *Rank) Copy(dst, src coll.Buf) error { return cmp.Or(r.local(), r.Recorder.Copy(dst, src)) }

// Combine implements coll.Local.
func (r *Rank) Combine(op coll.Op, in, inout coll.Buf) error {
	return cmp.Or(r.local(), r.Recorder.Combine(op, in, inout))
}

// Pack implements coll.Local.
func (r *Rank) Pack(dst []byte, src coll.Buf, rep datatype.Rep) error {
	return cmp.Or(r.local(), r.Recorder.Pack(dst, src, rep))
}

// Unpack implements coll.Local.
func (r *Rank) Unpack(dst coll.Buf, src []byte, rep datatype.Rep) error {
	return cmp.Or(r.local(), r.Recorder.Unpack(dst, src, rep))
}

// step is a step of a rank, in 16 bytes: 10^5 ranks have many of them.
type step struct {
	bytes int64  // of a message, of work; for a wait, where its requests stand in waits
	peer  int32  // of a message; for a wait, how many requests there are
	what  uint32 // kind, and tag + 1
}

// The kinds of steps.
const (
	send uint32 = iota << tagBits
	recv
	wait
	copied
	combined

	tagBits        = 29
	tagMask uint32 = 1<<tagBits - 1
)

// program is what a rank does.
type program struct {
	steps  []step
	waits  []int32 // numbers of messages, from 0
	count  int     // messages
	merged int64   // steps that are not there
}

// Schedules are those of all ranks in one call of an operation.
type Schedules struct {
	ranks []program
	Volume
}

// Volume is what a call moves, whatever the model.
type Volume struct {
	Messages       int64 // of all ranks
	Bytes          int64 // in all messages
	Sent, Received int64 // bytes, of the rank that has most
	Combined       int64 // bytes of results of the reduction, of the rank that has most
	Copied         int64 // bytes, of the rank that has most
	Steps          int64 // of all ranks
}

// Leaving returns how many messages, and how many bytes, leave a machine for another one: those of the machine that has
// most.
func (s *Schedules) Leaving(m *coll.Machines) (messages, bytes int64) {
	of := make([]struct{ messages, bytes int64 }, m.Count())
	for r := range s.ranks {
		here := &of[m.Of(r)]
		for _, st := range s.ranks[r].steps {
			if st.what&^tagMask == send && m.Of(int(st.peer)) != m.Of(r) {
				here.messages++
				here.bytes += st.bytes
			}
		}
	}
	for i := range of {
		messages, bytes = max(messages, of[i].messages), max(bytes, of[i].bytes)
	}
	return messages, bytes
}

// MostSteps bounds what Record keeps: a gigabyte or two.
const MostSteps = 64 << 20

// ErrTooLong is what Record answers if the ranks take more than the allowed number of steps.
var ErrTooLong = errors.New("the ranks take too many steps")

// addresses are those of all sketches: a tebibyte. Data is never written there. What an algorithm computes for itself
// and keeps in working memory is, and these pages become memory.
var addresses = sync.OnceValues(func() ([]byte, error) {
	return syscall.Mmap(-1, 0, 1<<40, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
})

// recording is held while a rank makes its call: all sketches lie at the same addresses.
var recording sync.Mutex

// Record has each of p ranks make the call. most bounds the steps of all ranks together: the last rank comes first, so
// that it is known soon if ranks take too many, and none may take more than a sixteenth of them on its own memory.
func Record(p int, most int64, call func(c *Rank) error) (*Schedules, error) {
	all, err := addresses()
	if err != nil {
		return nil, fmt.Errorf("no addresses for buffers: %w", err)
	}
	recording.Lock()
	defer recording.Unlock()
	s := &Schedules{ranks: make([]program, p)}
	sketch := coll.NewSketch(all)
	var now program
	var shared layout
	for i := range p {
		r := p - 1 - i
		sketch.Reset()
		schedule := coll.NewSchedule()
		schedule.Sketch(sketch)
		c := &Rank{Recorder: schedule.On(0, r, p, 0), sketch: sketch, most: most / 16, layout: &shared}
		if err := call(c); err != nil {
			return nil, fmt.Errorf("rank %d of %d: %w", r, p, err)
		}
		if c.err != nil {
			return nil, fmt.Errorf("rank %d of %d: %w", r, p, c.err)
		}
		now = program{steps: now.steps[:0], waits: now.waits[:0]}
		if err := s.read(&now, schedule, r); err != nil {
			return nil, err
		}
		schedule.Free()
		taken := int64(len(now.steps)) + now.merged
		s.Steps += taken
		if most -= taken; most < 0 || i == 0 && taken*int64(p-1) > most {
			return nil, ErrTooLong
		}
		s.ranks[r] = program{append([]step(nil), now.steps...), append([]int32(nil), now.waits...), now.count, 0}
	}
	return s, nil
}

// read makes a program of rank r's schedule, and adds up what it moves.
func (s *Schedules) read(to *program, schedule *coll.Schedule, r int) error {
	var sent, received, nCombined, nCopied int64
	schedule.Begin()
	for {
		st, err := schedule.Next()
		if err != nil {
			return err
		}
		if st == nil {
			break
		}
		n := st.A.Size()
		switch st.Kind {
		case coll.StepSend, coll.StepRecv:
			if err := s.check(st, r); err != nil {
				return err
			}
			kind := send
			if st.Kind == coll.StepSend {
				s.Messages++
				s.Bytes += n
				sent += n
			} else {
				kind = recv
				received += n
			}
			to.steps = append(to.steps, step{n, st.Peer, kind | tagOf(st.Tag)})
		case coll.StepWait:
			to.wait(schedule.Waits(st))
		case coll.StepCombine:
			nCombined += n
			to.work(combined, n)
		default:
			n = min(n, st.B.Size())
			nCopied += n
			to.work(copied, n)
		}
		schedule.Took()
	}
	to.count = schedule.Messages()
	s.Sent, s.Received = max(s.Sent, sent), max(s.Received, received)
	s.Combined, s.Copied = max(s.Combined, nCombined), max(s.Copied, nCopied)
	return nil
}

func (s *Schedules) check(st *coll.Step, r int) error {
	if p := len(s.ranks); st.Peer < 0 || int(st.Peer) >= p || int(st.Peer) == r {
		return fmt.Errorf("rank %d of %d names rank %d", r, p, st.Peer)
	}
	if st.Tag != abi.MPI_ANY_TAG && (st.Tag < 0 || tagOf(st.Tag) != uint32(st.Tag)+1) {
		return fmt.Errorf("rank %d uses tag %d", r, st.Tag)
	}
	return nil
}

// tagOf is a tag as a step has it; 0 stands for any.
func tagOf(tag int32) uint32 {
	if tag == abi.MPI_ANY_TAG {
		return 0
	}
	return uint32(tag+1) & tagMask
}

// wait adds messages to wait for, to those of the step before if that waits, too.
func (to *program) wait(reqs []coll.Req) {
	if last := len(to.steps) - 1; last >= 0 && to.steps[last].what == wait {
		to.steps[last].peer += int32(len(reqs))
		to.merged++
	} else {
		to.steps = append(to.steps, step{int64(len(to.waits)), int32(len(reqs)), wait})
	}
	for _, q := range reqs {
		to.waits = append(to.waits, int32(q)-1)
	}
}

// work adds n bytes of work, to the step before if that is of the same kind.
func (to *program) work(kind uint32, n int64) {
	if last := len(to.steps) - 1; last >= 0 && to.steps[last].what == kind {
		to.steps[last].bytes += n
		to.merged++
		return
	}
	to.steps = append(to.steps, step{bytes: n, what: kind})
}
