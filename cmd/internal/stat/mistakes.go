package stat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/libimpi/report"
)

// A receive that waits, and a message that nobody receives, that would match but for one thing, are a likely mistake of
// the program.

// mail is a message to a rank that no receive has taken.
type mail struct {
	from, to int // world ranks
	comm     *report.Comm
	key      comm
	tag      int
}

// post is all mail, by receiver and by sender.
type post struct{ to, from map[int][]mail }

// mostMail bounds the messages to one rank, and from one rank, that are looked at.
const mostMail = 256

// mistakes are the likely ones.
func (j *job) mistakes(ops []*operation) (texts []string) {
	texts = j.mixed(ops)
	all := j.mail()
	for _, r := range j.ranks {
		for _, want := range r.wanted() {
			if text := j.nearMiss(r, &want, all); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return alike(texts)
}

// alike keeps one of equal texts.
func alike(texts []string) (list []string) {
	seen := map[string]bool{}
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	return list
}

// wanted are the receives for which the threads of a rank wait.
func (r *Rank) wanted() (list []report.Message) {
	if r.Process == nil {
		return nil
	}
	for i := range r.Process.Threads {
		t := &r.Process.Threads[i]
		if m, ok := single(t); ok {
			if !sends(&m) {
				list = append(list, m)
			}
			continue
		}
		for k := range t.Waits {
			if m := &t.Waits[k]; isMessage(m) && !sends(m) {
				list = append(list, *m)
			}
		}
	}
	return list
}

// mail is what has arrived and was not received, and what senders say has not.
func (j *job) mail() *post {
	if j.post != nil {
		return j.post
	}
	all := &post{map[int][]mail{}, map[int][]mail{}}
	type envelope struct {
		from, to, tag int
		key           comm
	}
	seen := map[envelope]bool{} // a long message is in the queues of both
	put := func(from, to, tag int, c *report.Comm) {
		m := mail{from, to, c, j.key(c), tag}
		e := envelope{from, to, tag, m.key}
		if seen[e] || len(all.to[to]) >= mostMail || len(all.from[from]) >= mostMail {
			return
		}
		seen[e] = true
		all.to[to], all.from[from] = append(all.to[to], m), append(all.from[from], m)
	}
	for _, r := range j.ranks {
		if r.Process == nil {
			continue
		}
		for i := range r.Process.Unexpected {
			if m := &r.Process.Unexpected[i]; m.Routine == "" && !m.Internal && j.at[m.World] != nil {
				put(m.World, r.Rank, m.Tag, r.commOf(m.Comm))
			}
		}
		for i := range r.Process.Sends {
			if m := &r.Process.Sends[i]; m.Routine == "" && !m.Internal && m.State != "flows" && j.at[m.World] != nil {
				put(r.Rank, m.World, m.Tag, r.commOf(m.Comm))
			}
		}
	}
	j.post = all
	return all
}

// nearMiss says which message a receive may be meant for.
func (j *job) nearMiss(r *Rank, want *report.Message, all *post) string {
	c := r.commOf(want.Comm)
	var best *mail
	rank := 0
	why := func(k int, m *mail) {
		if best == nil || k < rank {
			best, rank = m, k
		}
	}
	for i := range all.to[r.Rank] {
		m := &all.to[r.Rank][i]
		tag := want.Tag == anyTag || want.Tag == m.tag
		source := want.Peer == anySource || want.World == m.from
		comm := c == nil || m.comm == nil || j.key(c) == m.key
		switch {
		case tag && source && comm:
			return "" // it is about to match
		case source && comm:
			why(1, m)
		case tag && source:
			why(2, m)
		case tag && comm:
			why(3, m)
		}
	}
	switch rank {
	case 1:
		return fmt.Sprintf("%s waits for tag %d from %s, which has sent tag %d%s", j.name(r.Rank), want.Tag,
			j.name(best.from), best.tag, onOf(c))
	case 2:
		return fmt.Sprintf("%s waits for tag %s from %s%s, which has sent it%s", j.name(r.Rank), tagWord(want.Tag),
			j.name(best.from), onOf(c), other(best.comm, c))
	case 3:
		return fmt.Sprintf("%s waits for tag %s from %s, and %s has sent it%s", j.name(r.Rank), tagWord(want.Tag),
			j.name(want.World), j.name(best.from), onOf(c))
	}
	return j.astray(r, want, all)
}

// other is a communicator beside another, which may have the same name.
func other(c, beside *report.Comm) string {
	if commName(c) == commName(beside) {
		return " on another communicator of the same name or size"
	}
	return onOf(c)
}

func tagWord(tag int) string {
	if tag == anyTag {
		return "MPI_ANY_TAG"
	}
	return fmt.Sprint(tag)
}

// astray looks for the message that a receive waits for among those to other ranks.
func (j *job) astray(r *Rank, want *report.Message, all *post) string {
	if want.Peer == anySource || want.Tag == anyTag {
		return ""
	}
	c := r.commOf(want.Comm)
	for i := range all.from[want.World] {
		m := &all.from[want.World][i]
		if m.to != r.Rank && m.tag == want.Tag && m.key == j.key(c) && !j.wants(j.at[m.to], m) {
			return fmt.Sprintf("%s waits for tag %d from %s, which has sent it to %s%s", j.name(r.Rank), want.Tag,
				j.name(m.from), j.name(m.to), onOf(c))
		}
	}
	return ""
}

// wants reports whether a rank has a receive for a message.
func (j *job) wants(r *Rank, m *mail) bool {
	takes := func(w report.Message) bool {
		return !sends(&w) && (w.Tag == anyTag || w.Tag == m.tag) && (w.Peer == anySource || w.World == m.from) &&
			j.keyOf(r, w.Comm) == m.key
	}
	return r.Process != nil && slices.ContainsFunc(r.Process.Receives, takes) || slices.ContainsFunc(r.wanted(), takes)
}

// mixed are calls that look as if they were meant for each other, and do not match: a receive of what others broadcast,
// and blocking operations with nonblocking ones.
func (j *job) mixed(ops []*operation) (texts []string) {
	for _, op := range ops {
		if op.nonblocking {
			continue
		}
		name := op.calls[0].name
		for _, rank := range op.missing {
			r := j.at[rank]
			if r.Process == nil {
				continue
			}
			if o := j.twin(r, op); o != "" {
				texts = append(texts, fmt.Sprintf("%s has called %s, which does not match %s%s", j.name(rank), o, name,
					onOf(op.comm)))
				continue
			}
			for _, want := range r.wanted() {
				if want.Peer != anySource && op.in[want.World] && moves(name) {
					texts = append(texts, fmt.Sprintf("%s waits to receive from %s, which is in %s%s: all members must call it",
						j.name(rank), j.name(want.World), name, onOf(op.comm)))
					break
				}
			}
		}
	}
	return texts
}

// twin is the nonblocking form of an operation if a rank has begun that, and those in the operation have not; else "".
func (j *job) twin(r *Rank, op *operation) string {
	for i := range r.Process.Collectives {
		o := &r.Process.Collectives[i]
		c := r.commOf(o.Comm)
		if c != nil && j.key(c) == j.key(op.comm) &&
			strings.EqualFold(strings.TrimPrefix(o.Routine, "MPI_I"), strings.TrimPrefix(op.calls[0].name, "MPI_")) &&
			!slices.ContainsFunc(op.calls, func(c call) bool { return j.has(c.rank, j.key(op.comm), o) }) {
			return clean(o.Routine)
		}
	}
	return ""
}

// has reports whether a rank has begun a nonblocking operation, too.
func (j *job) has(rank int, key comm, o *report.Collective) bool {
	r := j.at[rank]
	return slices.ContainsFunc(r.Process.Collectives, func(own report.Collective) bool {
		return own.Routine == o.Routine && own.Number == o.Number && j.keyOf(r, own.Comm) == key
	})
}

// moves reports whether an operation hands on data, which a program might try to receive.
func moves(name string) bool {
	for _, word := range []string{"Bcast", "Scatter", "Gather", "Reduce"} {
		if strings.HasPrefix(name, "MPI_"+word) {
			return true
		}
	}
	return false
}
