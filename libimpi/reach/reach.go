// Package reach is what a user is told who asks by what ranks talk: a table of machine by machine, of which a row is a
// line. Rank 0 makes it: its own row of what it has found out, the others of the job's tables, which are the same for
// all.
package reach

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport"
)

// mostRows is the largest number of rows.
const mostRows = 32

// Report is what the table is made of.
type Report struct {
	Job     *transport.Job
	Near    []int32 // world ranks of this client's processes on this machine that share memory with this one, and its own
	Reads   int     // how many others of them it can read the memory of
	Agent   bool    // an agent carries what goes to other clients and machines
	Machine string  // what this machine is called
	Vendor  string  // another MPI library, by which those of this client talk that share no memory; "": none
	Apart   bool    // no two of them do
}

// row is some processes of one client on one machine.
type row struct {
	ranks []int32
	host  *transport.Host // of the first
	id    [16]byte        // the address of the machine
	near  bool            // it is that of this process
}

// rows are the machines, in the order of their first ranks.
func (r Report) rows() (rows []row) {
	type place struct {
		client int32
		id     [16]byte
		near   bool
	}
	near, at := map[int32]bool{}, map[place]int{}
	for _, w := range r.Near {
		near[w] = true
	}
	for w := range r.Job.Procs {
		p := &r.Job.Procs[w]
		key := place{p.Client, p.HostID, near[int32(w)]}
		i, known := at[key]
		if !known {
			i = len(rows)
			at[key] = i
			rows = append(rows, row{host: &r.Job.Hosts[p.Host], id: p.HostID, near: key.near})
		}
		rows[i].ranks = append(rows[i].ranks, int32(w))
	}
	return rows
}

// Lines returns the table.
func (r Report) Lines() []string {
	rows := r.rows()
	if len(rows) == 1 {
		if n := len(rows[0].ranks); n > 1 {
			return []string{fmt.Sprintf("%d ranks on %s talk by %s", n, r.Machine, r.inside(&rows[0]))}
		}
		return []string{fmt.Sprintf("1 rank on %s, which has nobody to talk to", r.Machine)}
	}
	own := slices.IndexFunc(rows, func(row row) bool { return row.near })
	list := []string{fmt.Sprintf("%d ranks, by machine, and by what they talk. Line %d is what rank %d has found out, "+
		"the others are what the tables of the job say:", len(r.Job.Procs), own, r.Job.Me)}
	for i := range rows[:min(len(rows), mostRows)] {
		list = append(list, fmt.Sprintf("%3d: %s: %s", i, r.who(&rows[i]), r.ways(rows, i)))
	}
	if more := len(rows) - mostRows; more > 0 {
		list = append(list, fmt.Sprintf("     and %d machines more, %d in all", more, len(rows)))
	}
	return list
}

// own reports whether the ranks of a row are of this client.
func (r Report) own(of *row) bool { return of.host.Client == r.Job.Procs[r.Job.Me].Client }

// who names the ranks of a row and their machine.
func (r Report) who(row *row) string {
	me := &r.Job.Procs[r.Job.Me]
	mine := &r.Job.Hosts[me.Host]
	text := "rank "
	if len(row.ranks) > 1 {
		text = "ranks "
	}
	text += spans(row.ranks) + " on "
	switch h := row.host; {
	case row.near, h.Machine != 0 && h.Machine == mine.Machine, h.Machine == 0 && row.id == me.HostID:
		text += r.Machine
	default:
		text += netip.AddrFrom16(row.id).Unmap().String()
	}
	if r.Job.Clients > 1 {
		text += fmt.Sprintf(", client %d", row.host.Client)
	}
	return text
}

// ways says by what the ranks of a row talk with each other and with those of all rows.
func (r Report) ways(rows []row, i int) string {
	var parts []string
	if len(rows[i].ranks) > 1 {
		parts = append(parts, r.inside(&rows[i]))
	}
	var order []string // in the order in which they come up
	with := map[string][]int32{}
	for k := range rows {
		if k == i {
			continue
		}
		way := r.between(&rows[i], &rows[k])
		if with[way] == nil {
			order = append(order, way)
		}
		with[way] = append(with[way], int32(k))
	}
	for _, way := range order {
		parts = append(parts, way+" with "+spans(with[way]))
	}
	return strings.Join(parts, "; ")
}

// inside is by what the ranks of a row talk with each other.
func (r Report) inside(row *row) string {
	const shared = "shared memory"
	others := len(row.ranks) - 1
	switch {
	case !r.Job.Hosts[r.Job.Procs[row.ranks[0]].Host].SameImpl && !r.own(row):
		return "what their own MPI has"
	case r.Apart && r.own(row):
		return r.Vendor
	case !row.near:
		return shared
	case r.Reads == others:
		return shared + ", and read each other's memory"
	case r.Reads == 0:
		return shared + ", and do not read each other's memory"
	}
	return fmt.Sprintf("%s, and rank %d reads the memory of %d of %d", shared, r.Job.Me, r.Reads, others)
}

// between is by what the ranks of two rows talk. What the tables say of a host is said of it and this process's.
func (r Report) between(a, b *row) string {
	if r.Vendor != "" && r.own(a) && r.own(b) {
		return r.Vendor
	}
	way := "tcp"
	if r.relayed(a) || r.relayed(b) {
		way = "tcp by an agent"
	}
	sealed, streams := a.host.Sealed && b.host.Sealed, min(a.host.Streams, b.host.Streams)
	if a.near || b.near {
		far := a.host
		if a.near {
			far = b.host
		}
		sealed, streams = far.Sealed, far.Streams
	}
	if sealed {
		way += " with TLS"
	}
	if streams > 1 {
		way += fmt.Sprintf(" (%d connections)", streams)
	}
	return way
}

// relayed reports whether an agent carries what the ranks of a row say to others.
func (r Report) relayed(row *row) bool { return row.near && r.Agent || row.host.Others > 0 }

// spans is a list of numbers, as in 0-3,5.
func spans(list []int32) string {
	set := hardware.Set{} // of any numbers
	for _, n := range list {
		set[int(n)] = true
	}
	return set.String()
}
