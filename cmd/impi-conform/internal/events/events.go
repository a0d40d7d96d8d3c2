// Package events records what happens in a case, whoever makes it happen: every command and packet that goes either
// way, connections made and closed, lines of programs, their start and end, and problems.
//
//	events.go    what a trace is
//	recorder.go  how one grows: bounded, by any goroutine
//	conn.go      a connection whose traffic is recorded
//	text.go      text of others, made harmless and short
package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
)

// Kind is what an event is: one of codec's kinds of units, or one of these.
type Kind = codec.Kind

const (
	Opened  Kind = "connection made"
	Closed  Kind = "connection closed"
	Started Kind = "program started"
	Line    Kind = "line"
	Ended   Kind = "program ended"
	Problem Kind = "problem"
)

// Event is one thing that happened.
type Event struct {
	N     int           `json:"n"`  // from 1; a gap: events were left out
	At    time.Duration `json:"at"` // since the case began, in nanoseconds
	From  string        `json:"from,omitempty"`
	To    string        `json:"to,omitempty"`
	Kind  Kind          `json:"kind"`
	Name  string        `json:"name,omitempty"` // of the command or packet
	Text  string        `json:"text,omitempty"` // a line, a command line, how a program or connection ended
	Bytes codec.Hex     `json:"bytes,omitempty"`
	Total int           `json:"total,omitempty"` // bytes that travelled
	Whole int           `json:"whole,omitempty"` // bytes that should have, if more
	// Window is how many packets from From to To count and are not acknowledged after this one (IMPI 0.0, 3.6), if known;
	// for a PROTOACK, from To to From.
	Window *int `json:"window,omitempty"`
}

// Unit is the command or packet that an event is; without Bytes it is none.
func (e Event) Unit() codec.Unit {
	return codec.Unit{Kind: e.Kind, Bytes: e.Bytes, Total: e.Total, Whole: max(e.Whole, e.Total)}
}

// MarshalJSON adds the fields, which follow from the bytes.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	whole := struct {
		plain
		Fields []codec.Field `json:"fields,omitempty"`
	}{plain: plain(e)}
	if len(e.Bytes) > 0 {
		whole.Fields = e.Unit().Fields()
	}
	return json.Marshal(whole)
}

// Column is a party of a case.
type Column struct {
	Name           string `json:"name"`           // "server", "client 1", "host 1.0", "process 3"
	Implementation bool   `json:"implementation"` // it belongs to the implementation under test
}

// Trace is what was recorded of a case.
type Trace struct {
	Columns []Column `json:"columns"`
	Events  []Event  `json:"events"`
	Left    int      `json:"left_out,omitempty"` // events between the first ones and the last that were not kept
	AckMark uint32   `json:"ackmark,omitempty"`  // negotiated; 0: not known
	HiWater uint32   `json:"hiwater,omitempty"`
}

// Shorten returns the trace without its middle if it has more than limit events.
func (t *Trace) Shorten(limit int) *Trace {
	n := len(t.Events) - limit
	if n <= 0 {
		return t
	}
	short := *t
	short.Events = slices.Concat(t.Events[:limit/2], t.Events[limit/2+n:])
	short.Left += n
	return &short
}

// rank orders columns: the server, clients, hosts, processes, others.
func (c Column) rank() (kind int, a, b int) {
	for i, format := range []string{"server", "client %d", "host %d.%d", "process %d"} {
		var n [2]int
		if c.Name == format || i == 2 && scan(c.Name, format, &n[0], &n[1]) || i != 2 && scan(c.Name, format, &n[0]) {
			return i, n[0], n[1]
		}
	}
	return 4, 0, 0
}

func scan(text, format string, into ...any) bool {
	n, _ := fmt.Sscanf(text, format, into...)
	return n == len(into)
}
