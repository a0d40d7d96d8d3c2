package job

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// Others are ranks of other clients, of which ours may say that they cannot reach them. The server decides about these.
// When it has gone each client decides for itself, unless it has gone with all others: then it is this client that is
// cut off, for all that it can know, and the others go on without it. If it is the network that has failed, one other
// client is enough: this one may be on the side of a few, and the server on the other. A part of a client is not, as
// the way to the rest works, and its processes may die for other reasons. Several goroutines may use one. The
// zero value is ready.
type Others struct {
	mu     sync.Mutex // guards what follows
	open   map[int32]string
	said   map[int32]bool // about these the server has said its word, or we ours
	since  time.Time      // when the first of open was suspected
	parted time.Time      // when the server has gone; zero: it has not
	cut    bool           // it may not have gone: the network to it does not work, or has not worked
}

// Ruling is what a client makes of others without the server.
type Ruling struct {
	startup.Lost       // ranks without which it goes on; none: it says nothing about any
	CutOff       error // why it ends; nil: it goes on
}

// Suspect notes ranks of other clients, by their ranks in the world, that some of ours suspect. The server is asked, if
// there is one.
func (o *Others) Suspect(session *client.Session, tables *transport.Job, by []int32, s startup.Suspects,
	silence time.Duration) Ruling {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		o.open = map[int32]string{}
	}
	if len(o.open) == 0 {
		o.since = time.Now()
	}
	for _, r := range s.Ranks {
		if !o.said[r] {
			o.open[r] = fmt.Sprintf("rank %d says: %s", by[0], s.Text)
		}
	}
	if o.parted.IsZero() {
		ask(session, tables, by, s)
		return Ruling{}
	}
	return o.rule(tables, tables.Procs[by[0]].Client, silence)
}

// Part notes that the server of client me has gone, and how the connection to it has ended. tables is nil if there are
// none yet.
func (o *Others) Part(tables *transport.Job, me int32, silence time.Duration, why error) Ruling {
	o.mu.Lock()
	defer o.mu.Unlock()
	var broken *net.OpError // and not the end of the stream, which a process that ends leaves behind
	o.parted, o.cut = time.Now(), errors.As(why, &broken)
	if tables == nil {
		return Ruling{}
	}
	return o.rule(tables, me, silence)
}

// Hear notes ranks about which the server has said its word.
func (o *Others) Hear(ranks []int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle(ranks)
}

func (o *Others) settle(ranks []int32) {
	if o.said == nil {
		o.said = map[int32]bool{}
	}
	for _, r := range ranks {
		o.said[r] = true
		delete(o.open, r)
	}
}

// togetherTime is the least time within which the server and others are taken to be lost together.
const togetherTime = 5 * time.Second

// rule decides about the ranks that are open, for client me. mu is held.
func (o *Others) rule(tables *transport.Job, me int32, silence time.Duration) (r Ruling) {
	for rank, text := range o.open {
		r.Ranks, r.Text = append(r.Ranks, rank), text
	}
	slices.Sort(r.Ranks)
	o.settle(r.Ranks)
	open := func(rank int32) bool { return !o.said[rank] }
	all := !slices.ContainsFunc(RanksBut(tables, me), open)
	whole := func(rank int32) bool {
		return !slices.ContainsFunc(RanksOf(tables, tables.Procs[rank].Client), open)
	}
	if together := o.parted.Sub(o.since).Abs() < max(2*silence, togetherTime); len(r.Ranks) > 0 && together {
		switch {
		case all:
			r.CutOff = fmt.Errorf("the IMPI server and all other clients are lost at a time, so they may go on without "+
				"this client: %s", r.Text)
		case o.cut && slices.ContainsFunc(r.Ranks, whole):
			r.CutOff = fmt.Errorf("the network to the IMPI server and to other clients has failed, so these may go on "+
				"without this client: %s", r.Text)
		}
	}
	return r
}

// Cause is why a client ends that is cut off.
func (r *Ruling) Cause() supervise.Cause { return supervise.Cause{Code: 1, Text: r.CutOff.Error()} }

// RanksBut are the world ranks of all clients but one.
func RanksBut(tables *transport.Job, me int32) (ranks []int32) {
	for r, proc := range tables.Procs {
		if proc.Client != me {
			ranks = append(ranks, int32(r))
		}
	}
	return ranks
}

// ask asks the server to decide about ranks of other clients.
func ask(session *client.Session, tables *transport.Job, by []int32, s startup.Suspects) {
	of := map[int32][]int32{}
	for _, r := range s.Ranks {
		c := tables.Procs[r].Client
		of[c] = append(of[c], numberIn(tables, r))
	}
	for c, ranks := range of {
		for _, b := range by {
			session.Suspect(numberIn(tables, b), c, ranks, s.Breach, s.Text)
		}
	}
}

// numberIn is a rank of the world, counted within its client.
func numberIn(tables *transport.Job, rank int32) int32 {
	return int32(slices.Index(RanksOf(tables, tables.Procs[rank].Client), rank))
}
