// Package perfetto writes a job as a file that Perfetto opens (ui.perfetto.dev, trace_processor): protobuf, as
// described in perfetto/protos/perfetto/trace.
//
// Flow: a track for each thread of each rank, and one for the critical path -> for each rank a sequence of packets:
// what numbers stand for, then the begin and the end of each call. A wait is a slice within its call, whose name is the
// cause: Perfetto colours slices by their names. A message is a flow from the call that began to send it to that in
// which it was received. A file has about 70 bytes a call, and nothing of it is kept in memory.
package perfetto

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/load"
)

// Numbers of arguments.
const (
	argBytes = iota + 1
	argPeer
	argTag
	argComm
	argLine
	argFor
)

var arguments = []string{"bytes", "peer", "tag", "communicator", "line", "waits for rank"}

// Numbers of tracks.
const (
	root    = 1
	path    = 2
	threads = 16 // the first of a rank's
)

// Write writes the file.
func Write(out io.Writer, r *analysis.Result) error {
	w := &writer{out: bufio.NewWriterSize(out, 1<<20), r: r, j: r.Job, flows: newFlows(r)}
	w.track(root, 0, w.j.Program+" (ranks)", 0)
	w.track(path, root, "critical path", 0)
	for rank := range w.j.Ranks {
		w.rank(int32(rank))
	}
	w.path()
	return w.out.Flush()
}

type writer struct {
	out     *bufio.Writer
	r       *analysis.Result
	j       *job.Job
	flows   flows
	packets message // one at a time
	packet  message
	event   message
	part    message
}

func (w *writer) send() {
	w.packets = w.packets[:0]
	w.packets.inner(tracePacket, w.packet)
	w.out.Write(w.packets)
	w.packet = w.packet[:0]
}

func (w *writer) track(uuid, parent uint64, name string, order int) {
	var t message
	t.number(trackUUID, uuid)
	t.text(trackName, name)
	if parent != 0 {
		t.number(trackParent, parent)
		t.number(trackRank, uint64(order))
	} else {
		t.number(trackOrdering, explicit)
	}
	w.packet.inner(packetTrack, t)
	w.send()
}

// uuid is the number of the track of a thread.
func uuid(rank int32, thread uint16) uint64 { return uint64(threads+rank)<<16 | uint64(thread) }

// begins says what the numbers of a sequence stand for: packets of a rank have one.
func (w *writer) begins(sequence uint64, track uint64) {
	var t, d, e, i message
	e.number(eventTrack, track)
	d.inner(defaultsEvent, e)
	entry := func(field int, number int, name string) {
		t = t[:0]
		t.number(1, uint64(number))
		t.text(2, name)
		i.inner(field, t)
	}
	entry(internedCategories, 1, "call")
	entry(internedCategories, 2, "wait")
	for k, name := range w.j.Names {
		entry(internedNames, 16+k, name)
	}
	for _, c := range analysis.Causes {
		entry(internedNames, int(c), c.String())
	}
	for k, name := range arguments {
		entry(internedArguments, k+1, name)
	}
	for k := range w.j.Sites {
		entry(internedStrings, 2*k+1, load.Text(w.j.Sites[k]))
	}
	for k := range w.j.Comms {
		entry(internedStrings, 2*k+2, w.j.Comms[k].Name)
	}
	w.packet.number(packetSequence, sequence)
	w.packet.number(packetFlags, cleared)
	w.packet.inner(packetDefaults, d)
	w.packet.inner(packetInterned, i)
	w.send()
}

// open is a call, or the wait in it, that has not ended.
type open struct {
	end  int64
	wait bool
}

func (w *writer) rank(rank int32) {
	r := &w.j.Ranks[rank]
	if r.Missing {
		return
	}
	stacks := map[uint16][]open{}
	for i := range r.Calls {
		thread := r.Calls[i].Thread
		if _, known := stacks[thread]; !known {
			name := fmt.Sprintf("rank %d on %s", rank, r.Machine)
			if thread > 0 {
				name += fmt.Sprintf(", thread %d", thread)
			}
			w.track(uuid(rank, thread), root, name, 1+int(rank))
			stacks[thread] = nil
		}
	}
	w.begins(uint64(rank)+2, uuid(rank, 0))
	at := cursor{flows: &w.flows, rank: rank, waits: w.r.Waits[rank]}
	for i := range r.Calls {
		c := &r.Calls[i]
		stack := w.close(rank, c.Thread, stacks[c.Thread], c.Start)
		until := c.End
		if n := len(stack); n > 0 {
			until = min(until, stack[n-1].end)
		}
		at.next(int32(i))
		w.call(rank, c, &at)
		stack = append(stack, open{until, false})
		if at.wait != nil {
			w.wait(rank, c.Thread, at.wait)
			stack = append(stack, open{min(at.wait.End, until), true})
		}
		stacks[c.Thread] = stack
	}
	for thread, stack := range stacks {
		w.close(rank, thread, stack, 1<<63-1)
	}
}

// close ends the calls that have ended at a time, the innermost first. A wait in which another call begins ends there.
func (w *writer) close(rank int32, thread uint16, stack []open, at int64) []open {
	for n := len(stack); n > 0 && (stack[n-1].end <= at || stack[n-1].wait); n = len(stack) {
		w.end(rank, thread, min(stack[n-1].end, at))
		stack = stack[:n-1]
	}
	return stack
}

func (w *writer) head(rank int32, at int64) {
	w.packet.number(packetTimestamp, uint64(at))
	w.packet.number(packetSequence, uint64(rank)+2)
	w.packet.number(packetFlags, needed)
	w.event = w.event[:0]
}

func (w *writer) finish(rank int32, thread uint16) {
	if thread > 0 {
		w.event.number(eventTrack, uuid(rank, thread))
	}
	w.packet.inner(packetEvent, w.event)
	w.send()
}

func (w *writer) end(rank int32, thread uint16, at int64) {
	w.head(rank, at)
	w.event.number(eventType, end)
	w.finish(rank, thread)
}

func (w *writer) argument(name int, v int64) {
	w.part = w.part[:0]
	w.part.number(argumentName, uint64(name))
	w.part.number(argumentNumber, uint64(v))
	w.event.inner(eventArgument, w.part)
}

func (w *writer) interned(name int, number uint64) {
	w.part = w.part[:0]
	w.part.number(argumentName, uint64(name))
	w.part.number(argumentText, number)
	w.event.inner(eventArgument, w.part)
}

func (w *writer) call(rank int32, c *job.Call, at *cursor) {
	w.head(rank, c.Start)
	w.event.number(eventType, begin)
	w.event.number(eventName, 16+uint64(c.Function))
	w.event.number(eventCategory, 1)
	if c.Bytes > 0 || c.Tag >= 0 {
		w.argument(argBytes, c.Bytes)
	}
	if c.Peer >= 0 {
		w.argument(argPeer, int64(c.Peer))
	}
	if c.Tag >= 0 {
		w.argument(argTag, int64(c.Tag))
	}
	if c.Comm >= 0 {
		w.interned(argComm, 2*uint64(c.Comm)+2)
	}
	if c.Site >= 0 {
		w.interned(argLine, 2*uint64(c.Site)+1)
	}
	for _, flow := range at.sent {
		w.event.fixed(eventFlow, flow)
	}
	for _, flow := range at.received {
		w.event.fixed(eventFlowsEnd, flow)
	}
	w.finish(rank, c.Thread)
}

func (w *writer) wait(rank int32, thread uint16, wait *analysis.Wait) {
	w.head(rank, wait.Start)
	w.event.number(eventType, begin)
	w.event.number(eventName, uint64(wait.Cause))
	w.event.number(eventCategory, 2)
	w.argument(argFor, int64(wait.By))
	w.finish(rank, thread)
}

// path writes the critical path.
func (w *writer) path() {
	sequence := int32(len(w.j.Ranks))
	w.begins(uint64(sequence)+2, path)
	for i := range w.r.Path {
		s := &w.r.Path[i]
		w.head(sequence, s.From)
		w.event.number(eventType, begin)
		w.event.text(eventNameText, fmt.Sprintf("rank %d", s.Rank))
		w.finish(sequence, 0)
		w.end(sequence, 0, s.To)
	}
}

// flows are the messages, by the calls at their ends: of each rank, pairs of a call and a message, in that order.
type flows struct{ sent, received [][]flow }

type flow struct{ call, message int32 }

func newFlows(r *analysis.Result) flows {
	f := flows{make([][]flow, len(r.Job.Ranks)), make([][]flow, len(r.Job.Ranks))}
	for i := range r.Messages {
		m := &r.Messages[i]
		done := r.Job.Ranks[m.To].Receives[m.Receive].Done
		if done < 0 {
			continue
		}
		sent := r.Job.Ranks[m.From].Sends[m.Send].Call
		f.sent[m.From] = append(f.sent[m.From], flow{sent, int32(i)})
		f.received[m.To] = append(f.received[m.To], flow{done, int32(i)})
	}
	for _, side := range [][][]flow{f.sent, f.received} {
		for _, list := range side {
			slices.SortFunc(list, func(a, b flow) int {
				return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.message, b.message))
			})
		}
	}
	return f
}

// cursor goes through what belongs to the calls of a rank.
type cursor struct {
	flows          *flows
	rank           int32
	waits          []analysis.Wait
	wait           *analysis.Wait
	sent, received []uint64
	nSent, nGot    int
}

func (c *cursor) next(call int32) {
	c.sent, c.nSent = take(c.flows.sent[c.rank], c.nSent, call, c.sent[:0])
	c.received, c.nGot = take(c.flows.received[c.rank], c.nGot, call, c.received[:0])
	c.wait = nil
	if len(c.waits) > 0 && c.waits[0].Call == call {
		c.wait, c.waits = &c.waits[0], c.waits[1:]
	}
}

func take(list []flow, at int, call int32, to []uint64) ([]uint64, int) {
	for at < len(list) && list[at].call == call {
		to = append(to, uint64(list[at].message)+1)
		at++
	}
	return to, at
}
