package server

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// What somebody who watches a job sees: a copy of what the machine knows, and of what it keeps for this only
// (rules.Clock): the values of the labels that it has broadcast, when things happened, and the last lines of its log.
// The server understands nothing of these values. If they make no sense the view has none, and the job goes on.

// View is a job as the server sees it. Nothing in it changes afterwards.
type View struct {
	Began   time.Time    `json:"began"`
	Now     time.Time    `json:"now"`
	Phase   string       `json:"phase"`
	Since   time.Time    `json:"since"`   // of the phase
	Met     time.Time    `json:"met"`     // all clients had joined; zero: not yet, or never
	Started time.Time    `json:"started"` // all had said what they had to say; the same
	Waiting string       `json:"waiting"` // which clients keep the job in its phase; "": it is over
	Over    bool         `json:"over"`
	Failed  bool         `json:"failed"`  // Over
	Outcome string       `json:"outcome"` // Over: how it ended
	Clients []ClientView `json:"clients"` // by rank
	Tables               // nothing as long as the job does not run
	Log     []Line       `json:"log"`
	Dropped int          `json:"dropped"` // older lines of the log
}

// ClientView is a client.
type ClientView struct {
	Rank    int       `json:"rank"`
	Peer    string    `json:"peer"` // the address that it has connected from; "": it has not joined
	Auth    string    `json:"auth"` // how it has proved who it is
	Stage   string    `json:"stage"`
	Joined  time.Time `json:"joined"` // zero: it has not
	Since   time.Time `json:"since"`  // it has joined, or ended
	Why     string    `json:"why"`    // it is lost, or will not come
	Own     bool      `json:"own"`    // it is libimpi
	Heard   time.Time `json:"heard"`  // when it has reported its traffic last; zero: never
	Rows    int       `json:"rows"`   // how many rows it has, which may be more than are in Traffic
	Traffic []Row     `json:"traffic"`
}

// Tables are what the clients have told each other.
type Tables struct {
	Hosts    []HostView `json:"hosts"` // by global host rank, ViewHosts of them at most
	AllHosts int        `json:"allHosts"`
	Procs    int        `json:"procs"`
	Values   []Value    `json:"values"`
}

// HostView is a host.
type HostView struct {
	Client int     `json:"client"`
	Addr   string  `json:"addr"`
	First  int     `json:"first"` // its first rank in MPI_COMM_WORLD
	Procs  int     `json:"procs"`
	PIDs   []int64 `json:"pids"` // of its first ViewPIDs processes, as their system has them if that is known
}

// Value is a value that the clients have negotiated.
type Value struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Line is a line of the server's log.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Limits of a view.
const (
	ViewHosts = 1 << 10
	ViewPIDs  = 64
	viewLines = 200
	viewLine  = 1 << 10 // bytes of a line
	viewBytes = 8 << 20 // of labels
)

// watched is what a machine keeps for views.
type watched struct {
	clock   func() time.Time
	began   time.Time
	since   time.Time
	met     time.Time
	started time.Time
	labels  map[wire.Label][][]byte // by client
	bytes   int                     // in labels
	tables  Tables
	log     []Line
	dropped int
}

func newWatched(clock func() time.Time) *watched {
	now := clock()
	return &watched{clock: clock, began: now, since: now, labels: map[wire.Label][][]byte{}}
}

// say keeps a line of the log.
func (w *watched) say(text string) {
	if len(w.log) == viewLines {
		w.log = slices.Delete(w.log, 0, 1)
		w.dropped++
	}
	w.log = append(w.log, Line{w.clock(), text[:min(len(text), viewLine)]})
}

// keep keeps what client i has contributed to a label, which nobody changes from now on.
func (w *watched) keep(l wire.Label, clients, i int, data []byte) {
	if l.Index() < 0 || w.bytes+len(data) > viewBytes {
		return
	}
	if w.labels[l] == nil {
		w.labels[l] = make([][]byte, clients)
	}
	w.bytes += len(data)
	w.labels[l][i] = data
}

// settle makes the tables of what has been kept, which is of no more use.
func (w *watched) settle(clients int) {
	w.tables = tablesOf(w.labels, clients)
	w.labels, w.bytes = nil, 0
}

var be = binary.BigEndian

// tablesOf makes tables of the labels' values. What is missing, or has another length than it should, is left out.
func tablesOf(labels map[wire.Label][][]byte, clients int) (t Tables) {
	of := func(l wire.Label, i int) []byte {
		if labels[l] == nil {
			return nil
		}
		return labels[l][i]
	}
	number := func(l wire.Label, i, k int) int {
		if b := of(l, i); 4*k+4 <= len(b) {
			return int(be.Uint32(b[4*k:]))
		}
		return 0
	}
	for i := range clients {
		addrs, pids := of(wire.HIPv6, i), of(wire.PPID, i)
		for k := range len(addrs) / 16 {
			h := HostView{Client: i, First: t.Procs, Procs: min(number(wire.HNProcs, i, k), len(pids)/8),
				Addr: netip.AddrPortFrom(wire.DecodeAddr([16]byte(addrs[16*k:])), uint16(number(wire.HPort, i, k))).String()}
			for p := range h.Procs {
				if p < ViewPIDs {
					h.PIDs = append(h.PIDs, systemPID(int32(i), int64(be.Uint64(pids[8*p:]))))
				}
			}
			pids = pids[8*h.Procs:]
			t.Procs += h.Procs
			t.AllHosts++
			if len(t.Hosts) < ViewHosts {
				t.Hosts = append(t.Hosts, h)
			}
		}
	}
	t.Values = valuesOf(labels, clients)
	return t
}

// systemPID is the process id that the system knows, where the id of a client's process contains it (wire.ProcPID).
func systemPID(client int32, pid int64) int64 {
	if low := uint32(pid); wire.ProcPID(client, low) == pid {
		return int64(low)
	}
	return pid
}

// valuesOf are the values that the clients agree on (2.3.5): the highest common version, the least of most others.
func valuesOf(labels map[wire.Label][][]byte, clients int) (list []Value) {
	if text := commonVersion(labels[wire.CVersion]); text != "" {
		list = append(list, Value{"IMPI version", text})
	}
	for _, l := range []wire.Label{wire.CDataLen, wire.CTagUB, wire.HAckMark, wire.HHiWater, wire.CCollXSize,
		wire.CCollMaxLinear} {
		least, some := int64(math.MaxInt64), false
		for _, b := range labels[l] {
			for ; len(b) >= 4; b = b[4:] {
				n := int64(be.Uint32(b))
				if l == wire.CCollXSize || l == wire.CCollMaxLinear || l == wire.CTagUB {
					n = int64(int32(n))
				}
				least, some = min(least, n), true
			}
		}
		if text := strconv.FormatInt(least, 10); some {
			if least < 0 {
				text = "default"
			}
			list = append(list, Value{l.String(), text})
		}
	}
	return list
}

func commonVersion(lists [][]byte) string {
	in := map[wire.Version]int{}
	var best wire.Version
	for _, b := range lists {
		for v, ok := wire.ParseVersion(b); ok; v, ok = wire.ParseVersion(b) {
			if in[v]++; in[v] == len(lists) && best.Less(v) {
				best = v
			}
			b = b[wire.VersionSize:]
		}
	}
	if in[best] != len(lists) {
		return ""
	}
	return best.String()
}

// stamp notes that something has become of a client.
func (m *machine) stamp(c *conn) {
	if m.watched != nil {
		c.since = m.watched.clock()
	}
}

// enter begins a phase.
func (m *machine) enter(p phase) {
	m.phase = p
	if w := m.watched; w != nil {
		w.since = w.clock()
		switch p {
		case exchanging:
			w.met = w.since
		case running:
			w.started = w.since
			w.settle(len(m.clients))
		}
	}
}

// View returns a copy of what is known; the zero View if nothing is kept for that.
func (m *machine) View() (v View) {
	w := m.watched
	if w == nil {
		return v
	}
	v = View{Began: w.began, Now: w.clock(), Phase: m.phase.String(), Since: w.since, Met: w.met,
		Started: w.started, Over: m.phase == over,
		Tables: w.tables, Log: slices.Clone(w.log), Dropped: w.dropped}
	if !v.Over {
		v.Waiting = m.waitingFor()
	} else {
		v.Outcome, v.Failed = m.outcome()
	}
	for i, c := range m.clients {
		v.Clients = append(v.Clients, m.clientView(i, c))
	}
	return v
}

// outcome says how the job has ended.
func (m *machine) outcome() (text string, failed bool) {
	if err := m.Err(); err != nil {
		return err.Error(), true
	}
	if len(m.withdrawn) == len(m.clients) {
		return "no client wanted to join", false
	}
	return "all clients have finished", false
}

func (m *machine) clientView(i int, c *conn) ClientView {
	v := ClientView{Rank: i, Stage: "not joined"}
	if c == nil {
		if gone := m.withdrawn[i]; gone != nil {
			v.Stage, v.Peer, v.Why = "will not join", gone.peer, gone.why
		}
		return v
	}
	v.Peer, v.Auth, v.Own, v.Why = c.peer, methodName(c.which), c.sameImpl, c.end
	v.Joined, v.Since = c.joinedAt, c.since
	v.Heard, v.Rows, v.Traffic = c.reported, c.rows, c.traffic
	switch {
	case c.end != "":
		v.Stage = "lost"
	case c.fini:
		v.Stage = "finished"
	case m.phase == over:
		v.Stage = "ended with the job"
	case m.phase == exchanging:
		v.Stage = "exchanging, " + c.step()
	case m.phase == running:
		v.Stage = "running"
	default:
		v.Stage = "joined"
	}
	return v
}

func methodName(which int32) string {
	switch which {
	case wire.AuthNone:
		return "none (IMPI_AUTH_NONE)"
	case wire.AuthKey:
		return "key (IMPI_AUTH_KEY)"
	case wire.AuthHMAC:
		return "secret (HMAC)"
	case wire.AuthTLS:
		return "TLS"
	}
	return fmt.Sprint("method ", which)
}
