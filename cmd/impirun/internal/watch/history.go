package watch

import (
	"slices"
	"time"

	"github.com/libimpi/libimpi/startup/server"
)

// history is what the page remembers of earlier views: for rates, and for the diagram. Pure.
type history struct {
	last    server.View // of the last reports
	before  server.View // Clients[i] is what client i had reported before that
	samples []series    // by host
	totals  []uint64    // by host: bytes so far
}

// take takes a view, and returns its page.
func (h *history) take(v server.View) Page {
	if len(h.last.Clients) != len(v.Clients) {
		h.last.Clients, h.before.Clients = slices.Clone(v.Clients), make([]server.ClientView, len(v.Clients))
	}
	if n := min(len(v.Hosts), maxLanes); len(h.samples) < n {
		h.samples, h.totals = make([]series, n), make([]uint64, n)
	}
	h.before.Hosts = v.Hosts
	for i, c := range v.Clients {
		if old := h.last.Clients[i]; !c.Heard.Equal(old.Heard) {
			h.sample(&c, old.Heard)
			h.before.Clients[i], h.last.Clients[i] = old, c
		}
	}
	return pageOf(&v, &h.before, diagramOf(&v, h.samples))
}

// sample adds what the hosts of a client have sent and received since its report before.
func (h *history) sample(c *server.ClientView, before time.Time) {
	totals := map[int32]uint64{}
	full := map[int32]bool{}
	for i := range c.Traffic {
		r := &c.Traffic[i]
		totals[r.Ours] += r.BytesOut + r.BytesIn
		full[r.Ours] = full[r.Ours] || r.Blocked || r.Waits
	}
	for host, n := range totals {
		if int(host) >= len(h.samples) {
			continue
		}
		if !before.IsZero() && n >= h.totals[host] {
			h.samples[host] = h.samples[host].add(sample{before, c.Heard, n - h.totals[host], full[host]})
		}
		h.totals[host] = n
	}
}
