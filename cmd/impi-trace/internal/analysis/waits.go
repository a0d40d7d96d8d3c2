package analysis

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Cause is why a process waited.
type Cause uint8

const (
	None         Cause = iota
	LateSender         // a receive waited, since the message was sent later
	LateReceiver       // a send waited, since the receive was posted later
	LateMember         // a collective operation waited for its last member, or its root
	Handshake          // a send waited, since the receiver computed between posting the receive and its next call
	Pressure           // a send waited for room: too many messages were on their way to the receiver
)

// Causes are all of them.
var Causes = []Cause{LateSender, LateReceiver, LateMember, Handshake, Pressure}

var causeNames = [...]string{"", "late sender", "late receiver", "late at collective", "rendezvous", "back-pressure"}

func (c Cause) String() string { return causeNames[c] }

// Wait is what a process lost in a call because of another process: from the call's start until the other had come.
type Wait struct {
	Start, End int64
	Call       int32 // of the rank that waited
	By         int32 // the rank that came late
	ByCall     int32 // its call, with which it came
	Cause      Cause
}

// Length is how long it was.
func (w *Wait) Length() int64 { return w.End - w.Start }

// found is a wait, and whose.
type found struct {
	rank int32
	Wait
}

// waits finds what each process waited for. Of several reasons for which a call waited, the last counts.
func waits(j *job.Job, messages []Message, ops *Operations) [][]Wait {
	all := chunks(len(messages), func(all []found, i int) []found { return appendMessageWaits(all, j, &messages[i]) })
	all = append(all, chunks(ops.Len(), func(all []found, i int) []found {
		return appendOperationWaits(all, j, ops.At(i))
	})...)
	return last(all, len(j.Ranks))
}

// chunks collects what a function appends for all numbers below n, in their order, by several goroutines.
func chunks(n int, add func(all []found, i int) []found) []found {
	const size = 1 << 15
	parts := make([][]found, (n+size-1)/size)
	each(len(parts), func(part int) {
		for i := part * size; i < min(n, (part+1)*size); i++ {
			parts[part] = add(parts[part], i)
		}
	})
	return slices.Concat(parts...)
}

// last sorts waits by rank and call, and keeps the last of a call.
func last(all []found, ranks int) [][]Wait {
	byRank := make([][]Wait, ranks)
	count := make([]int, ranks)
	for i := range all {
		count[all[i].rank]++
	}
	for rank, n := range count {
		byRank[rank] = make([]Wait, 0, n)
	}
	for i := range all {
		byRank[all[i].rank] = append(byRank[all[i].rank], all[i].Wait)
	}
	each(ranks, func(rank int) {
		w := byRank[rank]
		slices.SortStableFunc(w, func(a, b Wait) int {
			if c := cmp.Compare(a.Call, b.Call); c != 0 {
				return c
			}
			return cmp.Compare(b.End, a.End)
		})
		byRank[rank] = slices.CompactFunc(w, func(a, b Wait) bool { return a.Call == b.Call })
	})
	return byRank
}

// wait appends a wait in a call until something that another rank did at a time.
func wait(all []found, j *job.Job, rank, call int32, until int64, by, byCall int32, cause Cause) []found {
	if call < 0 || by == rank {
		return all
	}
	c := &j.Ranks[rank].Calls[call]
	until = min(until, c.End)
	if until <= c.Start || !j.Class(c).Blocks() {
		return all
	}
	return append(all, found{rank, Wait{c.Start, until, call, by, byCall, cause}})
}

// short is the time below which a send is not said to have waited: the transfer itself takes that long, whether or not
// the receiver is late.
const short = 2000

// perhapsEager is the size below which a message is taken for eager if the trace does not say how it travelled: libimpi
// sends at least that much in the first packet.
const perhapsEager = 16 << 10

// appendMessageWaits appends what both sides of a message waited.
func appendMessageWaits(all []found, j *job.Job, m *Message) []found {
	from, to := &j.Ranks[m.From], &j.Ranks[m.To]
	send, receive := &from.Sends[m.Send], &to.Receives[m.Receive]
	sent := from.Calls[send.Call].Start
	all = wait(all, j, m.To, receive.Done, sent, m.From, send.Call, LateSender)
	if send.Done < 0 {
		return all
	}
	done := &from.Calls[send.Done]
	posted := to.Calls[receive.Call].Start
	way := send.Way
	if way == job.Unknown && send.Bytes < perhapsEager {
		way = job.Eager
	}
	alone := send.Call == send.Done && !strings.Contains(j.Name(done), "endrecv")
	switch {
	case done.End-done.Start < short || job.Immediate(j.Name(done)):
		return all
	case way == job.Eager: // a send that needs no receiver waits for room only
		if back := returns(to, done.Start); alone && back >= 0 && to.Calls[back].Start < done.End {
			return wait(all, j, m.From, send.Done, to.Calls[back].Start, m.To, back, Pressure)
		}
		return all
	case posted > done.Start && posted < done.End:
		return wait(all, j, m.From, send.Done, posted, m.To, receive.Call, LateReceiver)
	case posted <= done.Start:
		back := returns(to, done.Start)
		if back >= 0 && to.Calls[back].Start < done.End && (receive.Done < 0 || back <= receive.Done) {
			return wait(all, j, m.From, send.Done, to.Calls[back].Start, m.To, back, Handshake)
		}
	}
	return all
}

// returns is the next call of a rank that computes at a time; -1: the rank is in a call, or makes none any more.
func returns(r *job.Rank, at int64) int32 {
	i := sort.Search(len(r.Calls), func(i int) bool { return r.Calls[i].Start > at })
	if i == len(r.Calls) || i > 0 && r.Calls[i-1].End > at {
		return -1
	}
	return int32(i)
}

// entered is one member of an operation: who, with which call, when; and in which call it waits for the others.
type entered struct {
	rank, call, done int32
	start            int64
}

// appendOperationWaits appends what the members of an operation waited.
func appendOperationWaits(all []found, j *job.Job, members []Member) []found {
	if len(members) < 2 {
		return all
	}
	at := func(m Member) entered {
		p := &j.Ranks[m.Rank].Parts[m.Part]
		return entered{m.Rank, p.Call, p.Done, j.Ranks[m.Rank].Calls[p.Call].Start}
	}
	first := &j.Ranks[members[0].Rank].Parts[members[0].Part]
	class := j.Class(&j.Ranks[members[0].Rank].Calls[first.Call])
	latest, root := at(members[0]), first.Root
	for _, m := range members {
		e := at(m)
		switch class {
		case job.Prefix:
			all = wait(all, j, e.rank, e.done, latest.start, latest.rank, latest.call, LateMember)
			fallthrough
		case job.All, job.ToRoot:
			if e.start > latest.start {
				latest = e
			}
		case job.FromRoot:
			if e.rank == root {
				latest = e
			}
		default:
			return all
		}
	}
	if class == job.Prefix || class == job.FromRoot && latest.rank != root {
		return all
	}
	for _, m := range members {
		if e := at(m); class != job.ToRoot || e.rank == root {
			all = wait(all, j, e.rank, e.done, latest.start, latest.rank, latest.call, LateMember)
		}
	}
	return all
}
