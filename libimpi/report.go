package libimpi

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport"
)

// What a user is told who asks by what ranks talk: a table of machine by machine, of which a row is a line. Rank 0
// makes it: its own row of what it has found out, the others of the job's tables, which are the same for all.

// reportRows is the largest number of rows.
const reportRows = 32

// Report is the lines of that table, as this process sees it. name is what this machine is called.
func (e *Engine) Report(name string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	reads := 0
	for _, w := range e.home.World {
		if p := &e.peers[w]; p.direct != nil && p.direct.CanRead(w) {
			reads++
		}
	}
	r := reach{job: e.job, near: e.home.World, reads: reads, agent: e.position.others > 0, name: name,
		vendor: e.ways.library.name}
	if e.ways.vendor.connected() {
		r.near = nil
		for w := range e.job.Procs {
			if e.job.Procs[w].Client == e.job.Procs[e.me].Client {
				r.near = append(r.near, int32(w))
			}
		}
	}
	return r.lines()
}

// reach is what the report is made of.
type reach struct {
	job   *transport.Job
	near  []int32 // world ranks of the processes that share memory with this one, or talk by vendor, and its own
	reads int     // how many others of them it can read the memory of
	agent bool    // an agent carries what goes to other clients and machines
	name  string  // of this machine

	vendor string // another MPI library, by which the ranks of near talk, wherever they are; "": none
}

// reachRow is some processes of one client on one machine.
type reachRow struct {
	ranks []int32
	host  *transport.Host // of the first
	id    [16]byte        // the address of the machine
	near  bool            // it is that of this process
}

// rows are the machines, in the order of their first ranks.
func (r reach) rows() (rows []reachRow) {
	type place struct {
		client int32
		id     [16]byte
		near   bool
	}
	near, at := map[int32]bool{}, map[place]int{}
	for _, w := range r.near {
		near[w] = true
	}
	for w := range r.job.Procs {
		p := &r.job.Procs[w]
		key := place{p.Client, p.HostID, near[int32(w)]}
		i, known := at[key]
		if !known {
			i = len(rows)
			at[key] = i
			rows = append(rows, reachRow{host: &r.job.Hosts[p.Host], id: p.HostID, near: key.near})
		}
		rows[i].ranks = append(rows[i].ranks, int32(w))
	}
	return rows
}

func (r reach) lines() []string {
	rows := r.rows()
	if len(rows) == 1 {
		if n := len(rows[0].ranks); n > 1 {
			return []string{fmt.Sprintf("%d ranks on %s talk by %s", n, r.name, r.inside(&rows[0]))}
		}
		return []string{fmt.Sprintf("1 rank on %s, which has nobody to talk to", r.name)}
	}
	list := []string{fmt.Sprintf("%d ranks, by machine, and by what they talk. Line %d is what rank %d has found out, "+
		"the others are what the tables of the job say:", len(r.job.Procs), r.own(rows), r.job.Me)}
	for i := range rows[:min(len(rows), reportRows)] {
		list = append(list, fmt.Sprintf("%3d: %s: %s", i, r.who(&rows[i]), r.row(rows, i)))
	}
	if more := len(rows) - reportRows; more > 0 {
		list = append(list, fmt.Sprintf("     and %d machines more, %d in all", more, len(rows)))
	}
	return list
}

// own is the number of this process's row.
func (r reach) own(rows []reachRow) int {
	for i := range rows {
		if r.here(&rows[i]) {
			return i
		}
	}
	return -1
}

// here reports whether this process's machine is that of a row.
func (r reach) here(row *reachRow) bool {
	return row.near && (r.vendor == "" || row.id == r.job.Procs[r.job.Me].HostID)
}

// who names the ranks of a row and their machine.
func (r reach) who(row *reachRow) string {
	me := &r.job.Procs[r.job.Me]
	mine := &r.job.Hosts[me.Host]
	text := "rank "
	if len(row.ranks) > 1 {
		text = "ranks "
	}
	text += spans(row.ranks) + " on "
	switch h := row.host; {
	case r.here(row), h.Machine != 0 && h.Machine == mine.Machine, h.Machine == 0 && row.id == me.HostID:
		text += r.name
	default:
		text += netip.AddrFrom16(row.id).Unmap().String()
	}
	if r.job.Clients > 1 {
		text += fmt.Sprintf(", client %d", row.host.Client)
	}
	return text
}

// row says by what the ranks of a row talk with each other and with those of all rows.
func (r reach) row(rows []reachRow, i int) string {
	var parts []string
	if len(rows[i].ranks) > 1 {
		parts = append(parts, r.inside(&rows[i]))
	}
	var ways []string // in the order in which they come up
	with := map[string][]int32{}
	for k := range rows {
		if k == i {
			continue
		}
		way := r.between(&rows[i], &rows[k])
		if with[way] == nil {
			ways = append(ways, way)
		}
		with[way] = append(with[way], int32(k))
	}
	for _, way := range ways {
		parts = append(parts, way+" with "+spans(with[way]))
	}
	return strings.Join(parts, "; ")
}

// inside is by what the ranks of a row talk with each other.
func (r reach) inside(row *reachRow) string {
	const shared = "shared memory"
	others := len(row.ranks) - 1
	switch {
	case !r.job.Hosts[r.job.Procs[row.ranks[0]].Host].SameImpl && row.host.Client != r.job.Procs[r.job.Me].Client:
		return "what their own MPI has"
	case !row.near:
		return shared
	case r.vendor != "":
		return r.vendor
	case r.reads == others:
		return shared + ", and read each other's memory"
	case r.reads == 0:
		return shared + ", and do not read each other's memory"
	}
	return fmt.Sprintf("%s, and rank %d reads the memory of %d of %d", shared, r.job.Me, r.reads, others)
}

// between is by what the ranks of two rows talk. What the tables say of a host is said of it and this process's.
func (r reach) between(a, b *reachRow) string {
	if a.near && b.near {
		return r.vendor // of several machines
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
func (r reach) relayed(row *reachRow) bool { return row.near && r.agent || row.host.Others > 0 }

// spans is a list of numbers, as in 0-3,5.
func spans(list []int32) string {
	set := hardware.Set{} // of any numbers
	for _, n := range list {
		set[int(n)] = true
	}
	return set.String()
}
