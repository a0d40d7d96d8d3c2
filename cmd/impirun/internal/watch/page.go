package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/startup/server"
)

// What the page says, as texts: the template writes it into the first page, and the script into the page that stands,
// cell by cell. Pure.

// Page is the whole of it.
type Page struct {
	Title   string  `json:"title"`
	Status  []Item  `json:"status"`
	Diagram Diagram `json:"diagram"`
	Tables  []Table `json:"tables"`
	Over    bool    `json:"over"`
}

// Item is a name and what stands for it.
type Item struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Table is a table. The first cell of a row names it.
type Table struct {
	ID      string     `json:"id"`
	Caption string     `json:"caption"`
	Note    string     `json:"note"`
	Head    []string   `json:"head"`
	Numbers []bool     `json:"numbers"` // the column has numbers
	Rows    [][]string `json:"rows"`
}

// maxRows bounds the rows of a table.
const maxRows = 500

// add adds a row, if there is room for it.
func (t *Table) add(cells ...string) {
	if len(t.Rows) < maxRows {
		t.Rows = append(t.Rows, cells)
	}
}

// bound says how many rows there are if not all are shown.
func (t *Table) bound(all int) {
	if all > len(t.Rows) {
		t.Note = strings.TrimSpace(fmt.Sprintf("%s The first %d of %d are shown.", t.Note, len(t.Rows), all))
	}
}

// tableOf makes an empty table; the names of columns with numbers begin with #.
func tableOf(id, caption, note string, head ...string) Table {
	t := Table{ID: id, Caption: caption, Note: note, Rows: [][]string{}}
	for _, h := range head {
		name, number := strings.CutPrefix(h, "#")
		t.Head, t.Numbers = append(t.Head, name), append(t.Numbers, number)
	}
	return t
}

// pageOf is the page of a view. before is what was known some time before, and tells rates.
func pageOf(v, before *server.View, d Diagram) Page {
	p := Page{Title: "IMPI job: " + v.Phase, Over: v.Over, Diagram: d}
	ended := v.Now
	if v.Over {
		ended = v.Since
		p.Title = "IMPI job: ended well"
		if v.Failed {
			p.Title = "IMPI job: ended badly"
		}
	}
	p.Status = []Item{{"State", v.Phase}, {"Server started", v.Began.Format("2006-01-02 15:04:05 MST")},
		{"Age of the job", span(ended.Sub(v.Began))}}
	if !v.Over {
		p.Status = append(p.Status, Item{"In this state for", span(v.Now.Sub(v.Since))})
	}
	if v.Waiting != "" {
		_, who, _ := strings.Cut(v.Waiting, ": ") // behind the phase
		p.Status = append(p.Status, Item{"Waiting for", strings.TrimSuffix(who, " missing")})
	}
	if v.Over {
		p.Status = append(p.Status, Item{"Outcome", v.Outcome})
	}
	if v.AllHosts > 0 {
		p.Status = append(p.Status, Item{"Hosts", fmt.Sprint(v.AllHosts)}, Item{"Processes", fmt.Sprint(v.Procs)})
	}
	p.Tables = []Table{clientTable(v), betweenClients(v, before), hostTable(v), betweenHosts(v, before), valueTable(v),
		logTable(v)}
	return p
}

func clientTable(v *server.View) Table {
	t := tableOf("clients", "Clients", "", "Client", "State", "Since", "Connected from", "Authentication",
		"Implementation", "#Hosts", "#Processes", "Traffic told", "What went wrong")
	hosts, procs := make([]int, len(v.Clients)), make([]int, len(v.Clients))
	for _, h := range v.Hosts {
		hosts[h.Client]++
		procs[h.Client] += h.Procs
	}
	for i, c := range v.Clients {
		made := ""
		switch {
		case c.Own:
			made = "libimpi"
		case len(v.Hosts) > 0:
			made = "another one"
		}
		since, counts := "", [2]string{}
		if !c.Since.IsZero() {
			since = c.Since.Format(time.TimeOnly)
		}
		if len(v.Hosts) > 0 {
			counts = [2]string{fmt.Sprint(hosts[i]), fmt.Sprint(procs[i])}
		}
		t.add(fmt.Sprintf("client %d", c.Rank), c.Stage, since, c.Peer, c.Auth, made, counts[0], counts[1], told(v, &c),
			c.Why)
	}
	return t
}

// told says when a client has reported its traffic.
func told(v *server.View, c *server.ClientView) string {
	switch {
	case !c.Heard.IsZero() && v.Over:
		return c.Heard.Format(time.TimeOnly)
	case !c.Heard.IsZero():
		return span(v.Now.Sub(c.Heard)) + " ago"
	case len(v.Hosts) > 0 && !c.Own:
		return "never: it is not libimpi"
	case len(v.Hosts) > 0:
		return "not yet"
	}
	return ""
}

// sum is what one client's hosts have sent to another's.
type sum struct {
	packets, bytes, acks uint64
	outstanding          int64
	highWater            uint32
	silence              int64
	blocked, waits, open int
	rows                 int
}

// sums adds up rows, by client and client.
func sums(v *server.View) map[[2]int]sum {
	all := map[[2]int]sum{}
	for _, c := range v.Clients {
		for i := range c.Traffic {
			r := &c.Traffic[i]
			at := [2]int{c.Rank, v.Hosts[r.Theirs].Client}
			s := all[at]
			if s.rows == 0 {
				s.outstanding, s.silence = -1, -1
			}
			s.rows++
			s.packets, s.bytes, s.acks = s.packets+r.PacketsOut, s.bytes+r.BytesOut, s.acks+r.AcksIn
			s.outstanding, s.highWater = max(s.outstanding, r.Outstanding), max(s.highWater, r.HighWater)
			s.silence = max(s.silence, r.Silence)
			if r.Blocked {
				s.blocked++
			}
			if r.Waits {
				s.waits++
			}
			if !r.Ended {
				s.open++
			}
			all[at] = s
		}
	}
	return all
}

func betweenClients(v, before *server.View) Table {
	t := tableOf("between-clients", "Traffic between clients",
		"As the sender says. The fullest window and the longest silence of all connections.", "From and to", "#Packets",
		"#Bytes", "#Bytes per second", "#Acknowledgements", "#Fullest window", "#Silence", "State")
	now, earlier := sums(v), map[[2]int]sum{}
	if before != nil {
		earlier = sums(before)
	}
	for i := range v.Clients {
		for k := range v.Clients {
			s, known := now[[2]int{i, k}]
			if !known {
				continue
			}
			t.add(fmt.Sprintf("client %d to client %d", i, k), number(s.packets), amount(s.bytes),
				rate(v, before, i, s.bytes, earlier[[2]int{i, k}].bytes), number(s.acks), window(s.outstanding, s.highWater),
				silence(s.silence), stateOf(s.blocked, s.waits, s.open, s.rows))
		}
	}
	return t
}

// rate is how many bytes have left in a second, between two reports of client i.
func rate(v, before *server.View, i int, now, earlier uint64) string {
	if before == nil || i >= len(before.Clients) || before.Clients[i].Heard.IsZero() || now < earlier {
		return ""
	}
	d := v.Clients[i].Heard.Sub(before.Clients[i].Heard)
	if d <= 0 {
		return ""
	}
	return amount(uint64(float64(now-earlier) / d.Seconds()))
}

// stateOf says in words how connections are.
func stateOf(blocked, waits, open, all int) string {
	var list []string
	for _, x := range []struct {
		n    int
		text string
	}{{blocked, "socket full"}, {waits, "window full"}, {all - open, "closed"}} {
		switch {
		case x.n > 0 && all > 1:
			list = append(list, fmt.Sprintf("%s (%d of %d)", x.text, x.n, all))
		case x.n > 0:
			list = append(list, x.text)
		}
	}
	if list == nil {
		return "open"
	}
	return strings.Join(list, ", ")
}

func hostTable(v *server.View) Table {
	t := tableOf("hosts", "Hosts", "Numbered as in the tables of the job (IMPI 0.0, 2.3.5).", "Host", "Client", "Address",
		"Ranks", "#Processes", "Process ids")
	for i, h := range v.Hosts {
		pids := make([]string, len(h.PIDs))
		for k, pid := range h.PIDs {
			pids[k] = strconv.FormatInt(pid, 10)
		}
		if h.Procs > len(h.PIDs) {
			pids = append(pids, "...")
		}
		t.add(fmt.Sprintf("host %d", i), fmt.Sprint(h.Client), h.Addr, ranks(h), fmt.Sprint(h.Procs), strings.Join(pids, " "))
	}
	t.bound(v.AllHosts)
	return t
}

// ranks are those of a host in MPI_COMM_WORLD.
func ranks(h server.HostView) string {
	switch h.Procs {
	case 0:
		return "none"
	case 1:
		return fmt.Sprint(h.First)
	}
	return fmt.Sprintf("%d to %d", h.First, h.First+h.Procs-1)
}

func betweenHosts(v, before *server.View) Table {
	t := tableOf("between-hosts", "Traffic between hosts", "Each row is what one host says of a connection.",
		"Host with host", "#Packets out", "#Packets in", "#Bytes out", "#Bytes in", "#Bytes out per second",
		"#Acknowledgements out", "#Acknowledgements in", "#Fullest window", "#Silence", "State")
	all := 0
	for i, c := range v.Clients {
		var earlier []server.Row
		if before != nil && i < len(before.Clients) {
			earlier = before.Clients[i].Traffic
		}
		all += c.Rows
		for k, r := range c.Traffic {
			old := uint64(0)
			if k < len(earlier) && earlier[k].Ours == r.Ours && earlier[k].Theirs == r.Theirs {
				old = earlier[k].BytesOut
			}
			t.add(fmt.Sprintf("host %d with host %d", r.Ours, r.Theirs), number(r.PacketsOut), number(r.PacketsIn),
				amount(r.BytesOut), amount(r.BytesIn), rate(v, before, i, r.BytesOut, old), number(r.AcksOut), number(r.AcksIn),
				window(r.Outstanding, r.HighWater), silence(r.Silence),
				stateOf(one(r.Blocked), one(r.Waits), 1-one(r.Ended), 1))
		}
	}
	t.bound(all)
	return t
}

func valueTable(v *server.View) Table {
	t := tableOf("values", "Negotiated values", "IMPI 0.0, 2.3.5.", "Value", "#Agreed on")
	for _, x := range v.Values {
		t.add(x.Name, x.Text)
	}
	return t
}

// logTable is the log, the newest line first.
func logTable(v *server.View) Table {
	t := tableOf("log", "The server's log", "The newest line is the first.", "Time", "Line")
	for _, l := range slices.Backward(v.Log) {
		t.add(l.At.Format(time.TimeOnly), l.Text)
	}
	t.bound(len(v.Log) + v.Dropped)
	return t
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number is a number with a space between thousands.
func number(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// amount is a number of bytes, in a unit.
func amount(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	f, i := float64(n), 0
	for ; f >= 1024 && i < len(units)-1; i++ {
		f /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// window is how many packets are not acknowledged, and how many may be.
func window(outstanding int64, highWater uint32) string {
	if outstanding < 0 {
		return fmt.Sprintf("? of %d", highWater)
	}
	return fmt.Sprintf("%d of %d", outstanding, highWater)
}

// silence is a time in milliseconds; -1: not known.
func silence(ms int64) string {
	if ms < 0 {
		return "?"
	}
	return span(time.Duration(ms) * time.Millisecond)
}

// span is a time, as exact as anybody wants to know it.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}
