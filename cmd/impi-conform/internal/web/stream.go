package web

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// Of a stream.
const (
	batch      = 100 * time.Millisecond // what changes within it is told at once
	heartbeat  = 15 * time.Second       // so that a connection that is gone is noticed
	maxInBatch = 1000                   // cases
)

// news is what a stream tells: how the session stands, and the cases that have changed.
type news struct {
	Run     int                   `json:"run"` // 0: none
	Kind    string                `json:"kind,omitempty"`
	Phase   session.Phase         `json:"phase,omitempty"`
	Done    int                   `json:"done"`
	Total   int                   `json:"total"`
	Count   map[session.State]int `json:"count,omitempty"`
	Cases   []caseNews            `json:"cases,omitempty"`
	Prompts []int                 `json:"prompts"` // numbers of what is to be done
}

type caseNews struct {
	Name    string        `json:"name"`
	State   session.State `json:"state"`
	Seconds float64       `json:"seconds"`
	Events  int           `json:"events"`
}

// stream tells what changes in a session, by server-sent events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	x := s.find(r)
	if x == nil {
		w.WriteHeader(http.StatusNoContent) // tells the browser not to come again
		return
	}
	changed, stop, err := x.Listen()
	if err != nil {
		s.guard.Note("%s from %s: %v", r.URL.Path, r.RemoteAddr, err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer stop()
	s.guard.Stream(w, r, func(to *webguard.Stream) { tell(to, x, changed) })
}

func tell(to *webguard.Stream, x *session.Session, changed <-chan struct{}) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	run, seq := 0, 0
	for !x.Over() {
		b, err := json.Marshal(look(x, &run, &seq))
		if err != nil || to.Send("", b) != nil {
			return
		}
		select {
		case <-to.Left():
			return
		case <-to.Ending():
			return
		case <-changed:
		case <-beat.C:
		}
		select {
		case <-to.Left():
			return
		case <-to.Ending():
			return
		case <-time.After(batch):
		}
	}
}

// look says how a session stands, and what has changed of its newest run since the last look.
func look(x *session.Session, run, seq *int) (n news) {
	n.Prompts = []int{}
	for _, p := range x.Prompts() {
		n.Prompts = append(n.Prompts, p.ID)
	}
	r := newest(x)
	if r == nil {
		*run, *seq = 0, 0
		return n
	}
	if r.ID != *run {
		*run, *seq = r.ID, 0
	}
	snap := r.Snapshot(*seq)
	*seq = snap.Seq
	n.Run, n.Kind, n.Phase, n.Count = r.ID, r.Kind, snap.Phase, snap.Count
	for state, k := range snap.Count {
		n.Total += k
		if state != session.Queued && state != session.Going && state != session.NotRun {
			n.Done += k
		}
	}
	for _, c := range snap.Cases {
		if len(n.Cases) < maxInBatch {
			n.Cases = append(n.Cases, caseNews{c.Name, c.State, c.Seconds, c.Events})
		}
	}
	return n
}

// newest is the newest run of a session that is no record, nil if there is none.
func newest(x *session.Session) *session.Run {
	if x == nil {
		return nil
	}
	for _, r := range x.Runs() {
		if r.Kind != "record" {
			return r
		}
	}
	return nil
}
