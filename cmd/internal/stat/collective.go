package stat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/libimpi/report"
)

// operation is one collective operation in which threads are blocked, or for which they wait.
type operation struct {
	comm        *report.Comm
	window      string // or file; "": none
	nonblocking bool
	number      uint64
	calls       []call
	in          map[int]bool // the ranks of calls
	missing     []int        // members that are not in it, as far as is known
	parties     []party
	of          map[int]int // by rank, its party
}

// call is the part of one rank in an operation.
type call struct {
	rank    int
	name    string // MPI_Bcast
	details string // what must be equal at all members beside the name: " root 0"
}

func (c *call) text() string { return c.name + c.details }

// operationKey is the same at all members.
type operationKey struct {
	comm        comm
	window      string
	nonblocking bool
	number      uint64
}

func (k operationKey) numbered(n uint64) operationKey {
	k.number = n
	return k
}

// operations are the collective operations of a job in which ranks wait, in the order of their first ranks.
func (j *job) operations() (list []*operation) {
	found := map[operationKey]*operation{}
	alone := map[operationKey]*operation{} // the first on a communicator, without its number
	enter := func(k operationKey, c *report.Comm, in call) {
		op := found[k]
		if first := alone[k.numbered(0)]; op == nil && first != nil && (k.number == 0 || first.number == 0) {
			// Only some ways of doing it have numbers.
			op = first
			op.number = max(op.number, k.number)
			found[k] = op
		}
		if op == nil {
			op = &operation{comm: c, window: k.window, nonblocking: k.nonblocking, number: k.number,
				in: map[int]bool{}, of: map[int]int{}}
			found[k] = op
			list = append(list, op)
			if alone[k.numbered(0)] == nil {
				alone[k.numbered(0)] = op
			}
		}
		if !op.in[in.rank] {
			op.in[in.rank] = true
			op.calls = append(op.calls, in)
		}
	}
	awaited := map[operationKey]bool{}
	for _, r := range j.ranks {
		if r.Process == nil {
			continue
		}
		for i := range r.Process.Threads {
			t := &r.Process.Threads[i]
			if c := r.commOf(t.Comm); c != nil && blocksTogether(t) {
				enter(operationKey{j.key(c), t.Object, false, t.Number}, c,
					call{r.Rank, clean(cmp.Or(t.Call, t.Routine)), details(t, c)})
			}
			if m := pending(t); m != nil {
				if k, c, ok := j.nonblocking(r, m); ok {
					awaited[k] = true
					enter(k, c, call{rank: r.Rank, name: clean(m.Routine)})
				}
			}
		}
	}
	for _, r := range j.ranks { // those who have begun it, and wait for something else
		if r.Process == nil {
			continue
		}
		for i := range r.Process.Collectives {
			o := &r.Process.Collectives[i]
			if c := r.commOf(o.Comm); c != nil {
				if k := (operationKey{j.key(c), "", true, o.Number}); awaited[k] {
					enter(k, c, call{rank: r.Rank, name: clean(o.Routine)})
				}
			}
		}
	}
	for _, op := range list {
		j.miss(op)
		op.split()
	}
	return list
}

// nonblocking is the operation that a request stands for: the first of its routine that is under way.
func (j *job) nonblocking(r *Rank, m *report.Message) (k operationKey, c *report.Comm, ok bool) {
	for i := range r.Process.Collectives {
		o := &r.Process.Collectives[i]
		if o.Comm == m.Comm && o.Routine == m.Routine {
			if c = r.commOf(o.Comm); c != nil {
				return operationKey{j.key(c), "", true, o.Number}, c, true
			}
		}
	}
	return k, nil, false
}

// blocksTogether reports whether a thread waits in a blocking call of all members of a communicator.
func blocksTogether(t *report.Thread) bool {
	switch t.For {
	case report.ForMembers:
		return true
	case report.ForWindow:
		return t.Call == "MPI_Win_fence" || t.Call == "MPI_Win_free" || strings.HasPrefix(t.Call, "MPI_Win_create") ||
			strings.HasPrefix(t.Call, "MPI_Win_allocate")
	case report.ForFile:
		return strings.HasSuffix(t.Call, "_all") || strings.HasSuffix(t.Call, "_ordered") ||
			t.Call == "MPI_File_open" || t.Call == "MPI_File_close"
	}
	return false
}

// vectors are operations of which all members give the same count of the same type.
var vectors = map[string]bool{"MPI_Reduce": true, "MPI_Allreduce": true, "MPI_Scan": true, "MPI_Exscan": true,
	"MPI_Reduce_scatter_block": true}

// details are the arguments that must be equal at all members. Roots of an intercommunicator differ.
func details(t *report.Thread, c *report.Comm) (text string) {
	names := []string{"root", "op"}
	if vectors[t.Call] && argument(t, "datatype") != "" {
		names = append(names, "count", "datatype")
	}
	for _, name := range names {
		if a := argument(t, name); a != "" && (name != "root" || c.Remote == 0) {
			text += " " + name + " " + clean(a)
		}
	}
	return text
}

// miss finds the members that are not in an operation.
func (j *job) miss(op *operation) {
	seen := maps.Clone(op.in)
	key := j.key(op.comm)
	look := func(world int) {
		if !seen[world] {
			seen[world] = true
			op.missing = append(op.missing, world)
		}
	}
	j.members(op.comm, look)
	if op.comm.Remote > 0 { // those members are of the other group: who is in that knows our own
		for _, c := range op.calls {
			r := j.at[c.rank]
			for i := range r.Process.Comms {
				if c := &r.Process.Comms[i]; j.key(c) == key {
					j.members(c, look)
				}
			}
		}
	}
	slices.Sort(op.missing)
}

// name is what the ranks of an operation call, if they agree, or else its first ranks.
func (op *operation) name() string {
	name := op.calls[0].name
	if op.window != "" {
		return name + " of " + clean(op.window)
	}
	return name + onOf(op.comm)
}

// party is the ranks of an operation whose calls agree.
type party struct {
	text  string
	ranks []int
}

// split makes parties of the calls, of which the one with most ranks comes first.
func (op *operation) split() {
	at := map[string]int{}
	for i := range op.calls {
		text := op.calls[i].text()
		k, ok := at[text]
		if !ok {
			k = len(op.parties)
			at[text] = k
			op.parties = append(op.parties, party{text: text})
		}
		op.parties[k].ranks = append(op.parties[k].ranks, op.calls[i].rank)
	}
	slices.SortStableFunc(op.parties, func(a, b party) int { return len(b.ranks) - len(a.ranks) })
	for k := range op.parties {
		for _, rank := range op.parties[k].ranks {
			op.of[rank] = k
		}
	}
}

// synchronizes reports whether nobody leaves the operation before all are in it.
func synchronizes(name string) bool {
	name = strings.TrimPrefix(name, "MPI_")
	name = strings.TrimPrefix(name, "I")
	for _, start := range []string{"Barrier", "barrier", "Allreduce", "allreduce", "Allgather", "allgather", "Alltoall",
		"alltoall", "Comm_", "Win_", "File_"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// odd says who is missing in operations, and which calls do not agree.
func (j *job) odd(ops []*operation) (texts []string) {
	for _, op := range ops {
		if list := op.parties; len(list) > 1 {
			var words []string
			for _, p := range list[:min(len(list), mostWords)] {
				words = append(words, j.names(p.ranks)+": "+p.text)
			}
			if len(list) > mostWords {
				words = append(words, fmt.Sprintf("and %d more", len(list)-mostWords))
			}
			texts = append(texts, "calls that do not agree"+onOf(op.comm)+": "+strings.Join(words, "; "))
		}
		if len(op.missing) == 0 {
			continue
		}
		head := "missing in "
		if !synchronizes(op.calls[0].name) {
			head = "not in, or through with, "
		}
		texts = append(texts, head+op.name()+": "+j.whereabouts(op.missing))
	}
	return texts
}

// whereabouts is where ranks are: "rank 3 (computing), ranks 4,5 (MPI_Recv from rank 3 tag 1)".
func (j *job) whereabouts(ranks []int) string {
	at := map[string]int{}
	var where []string
	var who [][]int
	for _, rank := range ranks {
		text := j.at[rank].where()
		k, ok := at[text]
		if !ok {
			k = len(where)
			at[text] = k
			where, who = append(where, text), append(who, nil)
		}
		who[k] = append(who[k], rank)
	}
	var words []string
	for k := range where[:min(len(where), mostWords)] {
		words = append(words, j.names(who[k])+" ("+where[k]+")")
	}
	if n := len(where) - mostWords; n > 0 {
		words = append(words, fmt.Sprintf("and ranks in %d other places", n))
	}
	return strings.Join(words, "; ")
}

// where is what a rank does, and its line.
func (r *Rank) where() string {
	a := r.acts()[0]
	if a.site != "" {
		return a.what() + ", " + a.site
	}
	return a.what()
}
