package stat

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/libimpi/report"
)

// act is what one thread of a rank does, in parts: those that must be equal for two to do the same, and the peer, which
// may follow from the rank.
type act struct {
	before, after string // around the peer
	peer          int    // as a rank of the communicator; used if moves
	own           int    // our rank there
	size          int    // of that communicator; 0: not known
	moves         bool   // a peer stands between before and after
	world         int    // the peer's rank in MPI_COMM_WORLD, if that is another; else none
	site          string
	since         int64 // nanoseconds; 0: not known
}

func (a *act) what() string {
	if !a.moves {
		return a.before + a.after
	}
	if a.world >= 0 && a.world != a.peer {
		return fmt.Sprintf("%s%d (rank %d of MPI_COMM_WORLD)%s", a.before, a.peer, a.world, a.after)
	}
	return a.before + fmt.Sprint(a.peer) + a.after
}

// acts is what a rank does: one for each blocked thread, or one of the rank.
func (r *Rank) acts() []act {
	p := r.Process
	if p == nil {
		return []act{{before: silence(r)}}
	}
	if len(p.Threads) == 0 {
		what := "computing"
		if p.LastCall != "" {
			what += "; its last call was " + clean(p.LastCall)
		}
		return []act{{before: what}}
	}
	list := make([]act, 0, len(p.Threads))
	for i := range p.Threads {
		a := r.act(&p.Threads[i])
		if n := max(p.ThreadCount, len(p.Threads)); n > 1 {
			a.after += fmt.Sprintf(" (one of %d threads that wait)", n)
		}
		list = append(list, a)
	}
	return list
}

// silence is what is known of a rank that has not answered.
func silence(r *Rank) string {
	text := "it does not answer"
	switch r.State {
	case Outside:
		text = "has not called MPI_Init"
	case Entering:
		text = "in MPI_Init, which waits for other ranks"
	case Finalized:
		text = "has called MPI_Finalize"
	case Ended:
		text = "has ended"
	case Stopped:
		text = "stopped by a signal or a debugger"
	case Disk:
		text = "waits in the kernel for a disk, or is swapped out"
	case Running:
		text = "computing; it does not answer"
	}
	if r.Detail != "" {
		text += ", " + clean(r.Detail)
	}
	return text
}

// act describes a blocked thread.
func (r *Rank) act(t *report.Thread) act {
	a := act{site: clean(t.Site), since: max(0, t.Since)}
	call := cmp.Or(clean(t.Call), "an MPI call")
	c := r.commOf(t.Comm)
	on := onOf(c)
	args := arguments(t)
	if op := pending(t); op != nil {
		a.before = call + " for " + clean(op.Routine) + onOf(r.commOf(op.Comm)) + args
		return a
	}
	if m, ok := single(t); ok {
		if mc := r.commOf(m.Comm); mc != nil {
			c, on = mc, onOf(mc)
		}
		r.message(&a, call+" ", m, c)
		a.after += on + args
		return a
	}
	switch t.For {
	case report.ForRequests, report.ForAny:
		a.before = call + r.requests(t) + args
	case report.ForWindow, report.ForFile:
		if t.Object != "" {
			on = " on " + clean(t.Object)
		}
		a.before = call + on + peerOf(t) + args
	case report.ForRoom:
		a.before = call + ", until attached buffers are empty" + args
	case report.ForConnection:
		a.before = call + ", for processes of another job" + on + args
	case report.ForEnd:
		a.before = call + ", for messages that are still to leave or arrive"
	default:
		if a.before = call + on + args; t.Bytes > 0 && args == "" {
			a.before += fmt.Sprintf(" (%d bytes)", t.Bytes)
		}
	}
	return a
}

func onOf(c *report.Comm) string {
	if c == nil {
		return ""
	}
	return " on " + commName(c)
}

// pending is the nonblocking collective operation that a thread waits for, if it waits for one thing, and that is one.
func pending(t *report.Thread) *report.Message {
	if t.For == report.ForRequests && len(t.Waits) == 1 && t.WaitCount <= 1 && t.Waits[0].Routine != "" {
		return &t.Waits[0]
	}
	return nil
}

// single is the one message that a thread waits for, if there is one.
func single(t *report.Thread) (m report.Message, ok bool) {
	switch {
	case t.For == report.ForMessage:
		return report.Message{Kind: "recv", Comm: t.Comm, Peer: t.Peer, World: t.World, Tag: t.Tag}, true
	case t.For == report.ForRequests && len(t.Waits) == 1 && t.WaitCount <= 1 && isMessage(&t.Waits[0]):
		return t.Waits[0], true
	case t.For == report.ForRequests && len(t.Waits) == 0 && t.Peer != report.None && t.Call != "":
		kind := "recv"
		if strings.Contains(t.Call, "send") || strings.Contains(t.Call, "Send") {
			kind = "send"
		}
		return report.Message{Kind: kind, Comm: t.Comm, Peer: t.Peer, World: t.World, Tag: t.Tag}, true
	}
	return m, false
}

// isMessage reports whether a request is a message of the program's own.
func isMessage(m *report.Message) bool {
	return m.Routine == "" && !m.Internal && (sends(m) || m.Kind == "recv")
}

func sends(m *report.Message) bool {
	return m.Kind == "send" || m.Kind == "ssend" || m.Kind == "bsend" || m.Kind == "rsend"
}

// message describes a message with its peer apart: "MPI_Recv from rank", 4, " tag 7".
func (r *Rank) message(a *act, call string, m report.Message, c *report.Comm) {
	a.before += call + direction(&m)
	a.after = tagOf(&m)
	switch {
	case m.Peer == report.None:
	case m.Peer == anySource:
		a.before += " any rank"
	case m.Peer == procNull:
		a.before += " MPI_PROC_NULL"
	default:
		a.before += " rank "
		a.moves, a.peer, a.world = true, m.Peer, m.World
		if c != nil && c.Remote == 0 {
			a.own, a.size = c.Rank, c.Size
		} else if c != nil {
			a.world = report.None // it may be of another job
		}
	}
}

// direction is "to" or "from".
func direction(m *report.Message) string {
	if sends(m) {
		return "to"
	}
	return "from"
}

func tagOf(m *report.Message) string {
	switch m.Tag {
	case report.None:
		return ""
	case anyTag:
		return " any tag"
	}
	return fmt.Sprintf(" tag %d", m.Tag)
}

// inWords is a message in a list: "send to rank 4 tag 7".
func (r *Rank) inWords(m *report.Message) string {
	switch {
	case m.Routine != "":
		return clean(m.Routine) + onOf(r.commOf(m.Comm))
	case m.Kind == "general":
		return "a generalized request"
	case m.Kind == "psend", m.Kind == "precv":
		return r.partitioned(m)
	case !isMessage(m):
		return "a request (" + clean(m.Kind) + ")"
	}
	a := act{}
	kind := "receive "
	if sends(m) {
		kind = "send "
	}
	r.message(&a, kind, *m, r.commOf(m.Comm))
	return a.what() + onOf(r.commOf(m.Comm))
}

// partitioned is a partitioned request: "partitioned send to rank 4 tag 7 (1 partition not ready)".
func (r *Rank) partitioned(m *report.Message) string {
	of, kind, ready := *m, "partitioned receive ", ""
	if of.Kind = "recv"; m.Kind == "psend" {
		of.Kind, kind = "send", "partitioned send "
	}
	if m.State == "unready" {
		ready = fmt.Sprintf(" (partitions that are not ready: %d)", m.Missing)
	}
	a := act{}
	r.message(&a, kind, of, r.commOf(m.Comm))
	return a.what() + onOf(r.commOf(m.Comm)) + ready
}

// mostWords bounds the requests of one call that are listed.
const mostWords = 4

// requests lists what a call with several requests waits for.
func (r *Rank) requests(t *report.Thread) string {
	n := max(t.WaitCount, len(t.Waits))
	if n == 0 {
		return ""
	}
	var words []string
	for i := range t.Waits[:min(len(t.Waits), mostWords)] {
		words = append(words, r.inWords(&t.Waits[i]))
	}
	text := strings.Join(words, "; ")
	if n > len(words) {
		text += fmt.Sprintf("; and %d more", n-len(words))
	}
	switch {
	case n == 1:
		return " for " + text
	case t.For == report.ForAny:
		return fmt.Sprintf(" for any of %d requests: %s", n, text)
	}
	return fmt.Sprintf(" for %d requests: %s", n, text)
}

// targetOf is the target of a window's call, as a rank of the window; report.None: there is none.
func targetOf(t *report.Thread) int {
	if t.Peer >= 0 {
		return t.Peer
	}
	for _, name := range []string{"rank", "target_rank"} {
		if n, err := strconv.Atoi(argument(t, name)); err == nil {
			return n
		}
	}
	return report.None
}

func peerOf(t *report.Thread) string {
	if n := targetOf(t); n >= 0 && t.Call != "MPI_Win_fence" { // which waits for all
		return fmt.Sprintf(", rank %d", n)
	}
	return ""
}

// said are arguments that stand elsewhere in the line, or that say nothing to a user.
var said = map[string]bool{"source": true, "dest": true, "tag": true, "comm": true, "request": true, "status": true,
	"buf": true, "sendtag": true, "recvtag": true, "rank": true, "target_rank": true, "win": true, "fh": true,
	"array_of_requests": true,
	"array_of_statuses": true, "sendbuf": true, "recvbuf": true, "buffer": true}

// arguments are the other arguments of a call: " (count 8, datatype MPI_INT)".
func arguments(t *report.Thread) string {
	var words []string
	for _, a := range t.Args {
		if !said[a.Name] && a.Text != "" {
			words = append(words, clean(a.Name)+" "+clean(a.Text))
		}
	}
	if len(words) == 0 {
		return ""
	}
	if len(words) > 2*mostWords {
		words = append(words[:2*mostWords], "...")
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// argument is one argument of a call, or "".
func argument(t *report.Thread, name string) string {
	for _, a := range t.Args {
		if a.Name == name {
			return a.Text
		}
	}
	return ""
}
