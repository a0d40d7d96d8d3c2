package stat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/libimpi/libimpi/libimpi/report"
)

// mostText bounds a text of another process, in characters.
const mostText = 120

// clean makes a text of another process fit to stand in a line: without control characters and characters that
// reverse the direction of writing, and cut.
func clean(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > mostText {
			b.WriteString("...")
			break
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mostSpans bounds the runs of a list of ranks.
const mostSpans = 24

// spans is a list of ranks, such as "0-2,5": ascending, each once. A list of many runs is cut.
func spans(ranks []int) string {
	list := slices.Clone(ranks)
	slices.Sort(list)
	list = slices.Compact(list)
	var b strings.Builder
	runs := 0
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if runs++; runs > mostSpans {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(list[i]))
		if k > i {
			sep := "-"
			if k == i+1 {
				sep = ","
			}
			b.WriteString(sep + strconv.Itoa(list[k]))
		}
		i = k + 1
	}
	return b.String()
}

// MPI's constants, as reports have them (mpi.h of MPI 5.0).
const (
	anySource = -1
	anyTag    = -2
	procNull  = -3
)

// commOf returns the communicator that a thread or message names; nil if it is not known.
func (r *Rank) commOf(name uint64) *report.Comm {
	if r.Process == nil {
		return nil
	}
	return r.Process.Find(name)
}

// commName is what a user calls a communicator.
func commName(c *report.Comm) string {
	switch {
	case c == nil:
		return ""
	case c.Name != "":
		return clean(c.Name)
	case c.Remote > 0:
		return fmt.Sprintf("an intercommunicator of %d and %d ranks", c.Size, c.Remote)
	}
	return fmt.Sprintf("a communicator of %d ranks", c.Size)
}

// commKey tells communicators apart: context ids alone are not enough, since communicators without common members may
// have the same one. The two groups of an intercommunicator have one key each, and messages between them, which the
// context names, have it alone.
type commKey struct {
	id      uint64
	size    int
	members string
}

// comm is the number of a commKey; 0: the communicator is not known.
type comm int

// key is what all members know a communicator by.
func (j *job) key(c *report.Comm) comm {
	if c == nil {
		return 0
	}
	id, ok := j.keys[c]
	if ok {
		return id
	}
	k := commKey{id: c.ID, size: c.Size + c.Remote}
	if c.Remote == 0 {
		// Few communicators have more than one run of members, and 16 tell them apart.
		var b []byte
		for _, r := range c.Members[:min(len(c.Members), 16)] {
			b = strconv.AppendInt(append(b, ','), int64(r.First), 10)
			b = strconv.AppendInt(append(b, '+'), int64(r.Count), 10)
		}
		k.members = string(b)
	}
	if id, ok = j.ids[k]; !ok {
		id = comm(len(j.ids) + 1)
		j.ids[k] = id
	}
	j.keys[c] = id
	return id
}

// keyOf is the key of a communicator that a rank names.
func (j *job) keyOf(r *Rank, name uint64) comm { return j.key(r.commOf(name)) }

// members calls each with the world ranks of a communicator's members that are ranks of this job.
func (j *job) members(c *report.Comm, each func(world int)) {
	for _, r := range c.Members {
		if r.Count > len(j.ranks) { // it cannot be true of this job alone: look at ours
			for _, o := range j.ranks {
				if o.Rank >= r.First && o.Rank-r.First < r.Count {
					each(o.Rank)
				}
			}
			continue
		}
		for i := range r.Count {
			if j.at[r.First+i] != nil {
				each(r.First + i)
			}
		}
	}
}

// all are a communicator's members that are ranks of this job. The list is not to be changed.
func (j *job) all(c *report.Comm) []int {
	k := j.key(c)
	list, ok := j.groups[k]
	if !ok || c.Remote > 0 { // of an intercommunicator, each side names the other
		list = nil
		j.members(c, func(world int) { list = append(list, world) })
		j.groups[k] = list
	}
	return list
}

// known is how many members of a communicator its list has.
func known(c *report.Comm) (n int) {
	for _, r := range c.Members {
		n += r.Count
	}
	return n
}

// guests reports whether a communicator has members that are no ranks of this job, or that are not known.
func (j *job) guests(c *report.Comm) bool {
	size := c.Size
	if c.Remote > 0 {
		size = c.Remote
	}
	return len(j.all(c)) < max(known(c), size)
}
