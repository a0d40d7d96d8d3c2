package coll

import (
	"fmt"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/datatype"
)

// A Schedule is what one rank does in an operation, recorded step by step, to be carried out later and as often as
// wanted. It holds the working memory of the operation. Whoever carries it out takes the steps from Next, in order; a
// step that Then has recorded appends others, which come before those that follow it.
//
//	algorithm -> Recorder -> Schedule -> the engine's progress (nonblocking, persistent); tests and simulations
type Schedule struct {
	steps    []Step
	waits    []Req             // of StepWait
	messages int               // that the steps have started, numbered from 1
	onBoard  []board.Operation // of StepBoard
	scratch  []*Scratch
	sketch   *Sketch

	// Where the execution is: steps from at on, up to end; then the outer ones.
	at, end  int
	outer    []section
	recorded extent
}

// section is a range of steps, or of waits.
type section struct{ at, end int }

// extent is how much was recorded before the first execution.
type extent struct{ steps, waits, messages int }

// Kind says what a step does.
type Kind uint8

// The kinds of steps.
const (
	StepSend    Kind = iota // starts message Req with A to Peer
	StepRecv                // starts message Req from Peer into A
	StepWait                // waits for messages
	StepCopy                // A = B
	StepCombine             // A = B op A
	StepPack                // bytes A = packed B
	StepUnpack              // A = unpacked bytes B
	StepBoard               // makes an operation on the board
	stepThen
)

// Step is one step of a Schedule.
type Step struct {
	Kind      Kind
	Of        uint8 // the communicator: that of the Recorder, or of one that On has answered
	rep       datatype.Rep
	Exact     bool // the message has to fill A
	Written   bool // receive: see Writable
	Peer, Tag int32
	Req       Req
	A, B      Buf
	Op        Op
	Length    *int64 // receive: gets the bytes of the message; may be nil
	waits     section
	then      func() error
}

// schedules are empty ones, with the memory of earlier ones.
var schedules = sync.Pool{New: func() any { return new(Schedule) }}

// NewSchedule returns an empty Schedule.
func NewSchedule() *Schedule { return schedules.Get().(*Schedule) }

// Recorder is a Comm that records what an algorithm does.
type Recorder struct {
	s          *Schedule
	rank, size int
	of         uint8
	shift      int
	machines   *Machines
	seating    Seating
}

// On returns a Comm that records for communicator number of, in which the caller has the given rank. shift is added
// to all tags but MPI_ANY_TAG.
func (s *Schedule) On(of uint8, rank, size, shift int) *Recorder {
	r := new(Recorder)
	r.Init(s, of, rank, size, shift)
	return r
}

// Init is On without an allocation.
func (r *Recorder) Init(s *Schedule, of uint8, rank, size, shift int) {
	*r = Recorder{s: s, rank: rank, size: size, of: of, shift: shift}
}

// Rank implements Comm.
func (r *Recorder) Rank() int { return r.rank }

// Size implements Comm.
func (r *Recorder) Size() int { return r.size }

// Machines are those of the communicator, if Place has named them.
func (r *Recorder) Machines() *Machines { return r.machines }

// Place says where the ranks are.
func (r *Recorder) Place(m *Machines) { r.machines = m }

// Offer says that the communicator has a board: see Boarded.
func (r *Recorder) Offer(on Seating) { r.seating = on }

// Board implements Boarded.
func (r *Recorder) Board() Seating { return r.seating }

// Operate implements Boarded.
func (r *Recorder) Operate(o *board.Operation) error {
	r.s.onBoard = append(r.s.onBoard, *o)
	r.s.add(Step{Kind: StepBoard, Req: Req(len(r.s.onBoard) - 1)})
	return nil
}

// OnBoard are the operations on a board that have been recorded, by the Req of their steps. Whoever carries one out
// copies it.
func (s *Schedule) OnBoard() []board.Operation { return s.onBoard }

// IsOneOnBoard reports whether one operation on a board is all that has been recorded.
func (s *Schedule) IsOneOnBoard() bool { return len(s.steps) == 1 && len(s.onBoard) == 1 }

func (s *Schedule) add(st Step) { s.steps = append(s.steps, st) }

// next adds an empty step for the caller to fill field by field: a Step that was just made, and is copied into the list
// as a whole, is read before the processor has stored it. What stands behind the list is empty (Begin, Free).
func (s *Schedule) next() *Step {
	if len(s.steps) == cap(s.steps) {
		s.steps = slices.Grow(s.steps, 1)
	}
	s.steps = s.steps[:len(s.steps)+1]
	return &s.steps[len(s.steps)-1]
}

func (r *Recorder) message(kind Kind, b Buf, peer, tag int) *Step {
	r.s.messages++
	if tag != abi.MPI_ANY_TAG {
		tag += r.shift
	}
	st := r.s.next()
	st.Kind, st.Of, st.Peer, st.Tag, st.Req = kind, r.of, int32(peer), int32(tag), Req(r.s.messages)
	st.A.Base, st.A.Count, st.A.Type = b.Base, b.Count, b.Type
	return st
}

// Send implements Comm.
func (r *Recorder) Send(b Buf, to, tag int) error {
	return r.Wait(r.message(StepSend, b, to, tag).Req)
}

// Recv implements Comm.
func (r *Recorder) Recv(b Buf, from, tag int) error {
	return r.Wait(r.message(StepRecv, b, from, tag).Req)
}

// RecvLen is Recv that leaves the length of the message in *n.
func (r *Recorder) RecvLen(b Buf, from, tag int, n *int64) error {
	m := r.message(StepRecv, b, from, tag)
	m.Length = n
	return r.Wait(m.Req)
}

// RecvExactly is Recv of a message that has to fill the buffer.
func (r *Recorder) RecvExactly(b Buf, from, tag int) error {
	m := r.message(StepRecv, b, from, tag)
	m.Exact = true
	return r.Wait(m.Req)
}

// Isend implements Comm.
func (r *Recorder) Isend(b Buf, to, tag int) (Req, error) {
	return r.message(StepSend, b, to, tag).Req, nil
}

// Irecv implements Comm.
func (r *Recorder) Irecv(b Buf, from, tag int) (Req, error) {
	return r.message(StepRecv, b, from, tag).Req, nil
}

// IrecvWritten implements Writable.
func (r *Recorder) IrecvWritten(b Buf, from, tag int) (Req, error) {
	m := r.message(StepRecv, b, from, tag)
	m.Written = true
	return m.Req, nil
}

// Wait implements Comm.
func (r *Recorder) Wait(reqs ...Req) error {
	from := len(r.s.waits)
	r.s.waits = append(r.s.waits, reqs...)
	st := r.s.next()
	st.Kind, st.waits.at, st.waits.end = StepWait, from, len(r.s.waits)
	return nil
}

// Copy implements Local.
func (r *Recorder) Copy(dst, src Buf) error {
	moves, err := buffer.Copies(dst, src)
	switch {
	case err != nil:
		return r.Then(func() error { return err }) // which may go on, see Truncated
	case moves:
		st := r.s.next()
		st.Kind, st.A, st.B = StepCopy, dst, src
	}
	return nil
}

// Combine implements Local.
func (r *Recorder) Combine(op Op, in, inout Buf) error {
	if inout.Count > 0 {
		r.s.add(Step{Kind: StepCombine, A: inout, B: in, Op: op})
	}
	return nil
}

// Pack implements Local.
func (r *Recorder) Pack(dst []byte, src Buf, rep datatype.Rep) error {
	if src.Count > 0 {
		r.s.add(Step{Kind: StepPack, A: Bytes(dst), B: src, rep: rep})
	}
	return nil
}

// Unpack implements Local.
func (r *Recorder) Unpack(dst Buf, src []byte, rep datatype.Rep) error {
	if dst.Count > 0 && len(src) > 0 {
		r.s.add(Step{Kind: StepUnpack, A: dst, B: Bytes(src), rep: rep})
	}
	return nil
}

// Then implements Local.
func (r *Recorder) Then(f func() error) error {
	r.s.add(Step{Kind: stepThen, then: f})
	return nil
}

// Scratch implements Local.
func (r *Recorder) Scratch() *Scratch {
	s := NewScratch()
	s.kept, s.sketch = true, r.s.sketch
	r.s.scratch = append(r.s.scratch, s)
	return s
}

// Begin starts the execution anew, at the first step. All messages of an earlier one are done.
func (s *Schedule) Begin() {
	if s.recorded == (extent{}) {
		s.recorded = extent{len(s.steps), len(s.waits), s.messages}
	}
	clear(s.steps[s.recorded.steps:])
	s.steps, s.waits = s.steps[:s.recorded.steps], s.waits[:s.recorded.waits]
	s.messages = s.recorded.messages
	s.at, s.end, s.outer = 0, len(s.steps), s.outer[:0]
}

// Next returns the step to take, nil after the last one. It is the same one until Took. An error is that of a function
// of Then, which is a step of its own.
func (s *Schedule) Next() (*Step, error) {
	for {
		for s.at == s.end {
			n := len(s.outer)
			if n == 0 {
				return nil, nil
			}
			s.at, s.end, s.outer = s.outer[n-1].at, s.outer[n-1].end, s.outer[:n-1]
		}
		st := &s.steps[s.at]
		if st.Kind != stepThen {
			return st, nil
		}
		inner := len(s.steps)
		if err := st.then(); err != nil {
			return nil, err
		}
		s.outer = append(s.outer, section{s.at + 1, s.end})
		s.at, s.end = inner, len(s.steps)
	}
}

// Took says that the step that Next has answered is done.
func (s *Schedule) Took() { s.at++ }

// Messages is how many messages all steps that are known have.
func (s *Schedule) Messages() int { return s.messages }

// Waits are the messages that a StepWait waits for.
func (s *Schedule) Waits(st *Step) []Req { return s.waits[st.waits.at:st.waits.end] }

// Do takes a step on the rank's own memory.
func (st *Step) Do() error {
	switch st.Kind {
	case StepCopy:
		return Copy(st.A, st.B)
	case StepCombine:
		return buffer.Combine(st.Op, st.B, st.A)
	case StepPack:
		return Pack(st.A.Mem(), st.B, st.rep)
	case StepUnpack:
		return Unpack(st.A, st.B.Mem(), st.rep)
	}
	return nil
}

// Arrived notes what a receive has got, and returns an error if it is not what it must be.
func (st *Step) Arrived(bytes int64) error {
	if st.Length != nil {
		*st.Length = bytes
	}
	if st.Exact {
		return Exactly(st.A, bytes, int(st.Peer), int(st.Tag))
	}
	return nil
}

// Exactly is the error of a message that does not fill a buffer, nil if it does.
func Exactly(b Buf, bytes int64, from, tag int) error {
	if want := b.Size(); bytes != want {
		return &Error{Class: abi.MPI_ERR_COUNT,
			Msg: fmt.Sprintf("message of %d bytes from rank %d with tag %d, want %d bytes", bytes, from, tag, want)}
	}
	return nil
}

// Free gives all memory back. No message is under way, and the Schedule is not used any more.
func (s *Schedule) Free() {
	for i, m := range s.scratch {
		m.release()
		s.scratch[i] = nil
	}
	clear(s.steps)
	clear(s.onBoard)
	*s = Schedule{steps: s.steps[:0], onBoard: s.onBoard[:0], waits: s.waits[:0], scratch: s.scratch[:0],
		outer: s.outer[:0]}
	schedules.Put(s)
}
