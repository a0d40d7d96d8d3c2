package jobtest

import (
	"os"
	"path/filepath"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// Epoch is when jobs of this package begin, in nanoseconds.
const Epoch = 1_700_000_000_000_000_000

// Write writes the trace of a job into a folder, as its processes would. Hostile, if not empty, is part of all names.
func Write(dir string, j *job.Job, id uint64, hostile string) error {
	for r := range j.Ranks {
		if j.Ranks[r].Missing {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, trace.FileName(int32(r), "")), File(j, r, id, hostile), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// File is the trace of a rank.
func File(j *job.Job, rank int, id uint64, hostile string) []byte {
	r := &j.Ranks[rank]
	items, bytes := itemsOf(r), int64(0)
	for i := range r.Calls {
		bytes += trace.EventHeader + 40*int64(len(items[i]))
	}
	size, _ := trace.Size(bytes + bytes/16 + trace.Least)
	b := make([]byte, size)
	w := trace.NewWriter(b, trace.Header{Rank: int32(rank), Size: int32(len(j.Ranks)), PID: int64(1000 + rank), Job: id,
		Clock: trace.Clock{PerSecond: 1e9, AtStart: trace.Align{Offset: Epoch, Known: true, At: 1}}})
	w.Machine(r.Machine + hostile)
	w.Boot(r.Machine)
	w.Program("/home/someone/" + j.Program + hostile)
	w.Calls(j.Names)
	w.Mapping(trace.Mapping{Start: 0x1000, End: 0x2000, File: "/no/such/solver" + hostile})
	for i := range j.Comms {
		c := &trace.Comm{ID: uint32(i + 1), Context: uint64(100 + i), Name: j.Comms[i].Name + hostile}
		c.Local = trace.RunsOf(j.Comms[i].Members)
		w.Comm(c)
	}
	t := w.Thread(0)
	for i := range r.Calls {
		c := &r.Calls[i]
		t.Event(c.Function, uint64(0x1000+1+c.Site), uint64(c.Start), uint64(c.End), items[i]...)
	}
	last := trace.Reading{Ticks: uint64(r.End), Monotonic: r.End}
	used := w.End(last, trace.Align{Offset: Epoch, Known: true, At: r.End})
	return b[:used]
}

// itemsOf are the items of each call.
func itemsOf(r *job.Rank) [][]trace.Item {
	items := make([][]trace.Item, len(r.Calls))
	add := func(call int32, i trace.Item) { items[call] = append(items[call], i) }
	for k := range r.Receives {
		h := &r.Receives[k]
		i := trace.Item{Kind: trace.Recv, ID: uint32(h.Comm + 1), Peer: h.Peer, Tag: h.Tag, Bytes: h.Bytes}
		if k%2 == 1 { // a wildcard
			i.Peer, i.Tag = -1, -1
		}
		if h.Done != h.Call {
			i.Request, i.Flags = uint64(2*k+2), trace.FlagNonblocking
		}
		add(h.Call, i)
		if h.Done >= 0 {
			add(h.Done, trace.Item{Kind: trace.Got, Peer: h.Peer, Tag: h.Tag, Bytes: h.Bytes, Request: i.Request})
		}
	}
	for k := range r.Sends {
		h := &r.Sends[k]
		i := trace.Item{Kind: trace.Send, ID: uint32(h.Comm + 1), Peer: h.Peer, Tag: h.Tag, Bytes: h.Bytes}
		switch h.Way {
		case job.Rendezvous:
			i.Flags |= trace.FlagSynchronous
		case job.Eager:
			i.Flags |= trace.FlagBuffered
		}
		if h.Done != h.Call {
			i.Request = uint64(2*k + 3)
			i.Flags |= trace.FlagNonblocking
			add(h.Done, trace.Item{Kind: trace.Got, Peer: -1, Tag: -1, Request: i.Request})
		}
		add(h.Call, i)
	}
	for k := range r.Parts {
		p := &r.Parts[k]
		root := int32(trace.None)
		if root = p.Root; p.Comm == 1 && root >= 0 {
			root /= 2
		}
		add(p.Call, trace.Item{Kind: trace.Collective, ID: uint32(p.Comm + 1), Peer: root, Tag: trace.None})
	}
	return items
}
