package startup

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestARankHearsOfLossesInTheirOrder(t *testing.T) {
	w := local
	w.FT = true
	l, r, got := welcomed(t, w)
	if !got.FT {
		t.Error("the welcome does not say that the job is fault tolerant")
	}
	r.Watch(func(err error) { t.Error(err) })
	sent := []Lost{{Ranks: []int32{1}, Text: "was killed"}, {Ranks: []int32{4, 5}, Text: "machine b"},
		{Ranks: []int32{7}}}
	heard := make(chan Lost, len(sent))
	if !l.Lost(sent[0]) || !l.Lost(sent[1]) {
		t.Error("it does not hear")
	}
	r.Losses(func(n Lost) { heard <- n }) // of those before, too
	l.Lost(sent[2])
	for _, want := range sent {
		if got := <-heard; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.Lost(sent[0]) // crosses it, and does no harm
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// Nobody is told before it has the tables, or in a job that ends with a rank.
func TestOnlyAFaultTolerantJobTellsOfLosses(t *testing.T) {
	l, _, got := welcomed(t, local)
	if l.Lost(Lost{Ranks: []int32{1}}) || got.FT {
		t.Error("the job is not fault tolerant")
	}
	w := Welcome{LocalSize: 2, JobID: "j", Shared: -1, IMPI: true, Agent: true, FT: true}
	if l, _, _ = welcomed(t, w); l.Lost(Lost{Ranks: []int32{1}}) {
		t.Error("it has no tables")
	}
	if err := l.Job(job(0, 2), [2]int{-1, -1}); err != nil || !l.Lost(Lost{Ranks: []int32{1}}) {
		t.Errorf("it does not hear (%v)", err)
	}
}

func TestLossesThatMakeNoSenseEndTheLink(t *testing.T) {
	for name, tt := range map[string]struct {
		ft   bool
		body any
		want string
	}{
		"not fault tolerant": {false, Lost{Ranks: []int32{1}}, "not fault tolerant"},
		"no rank":            {true, Lost{Text: "x"}, "not which"},
		"below 0":            {true, Lost{Ranks: []int32{3, -1}}, "below 0"},
		"no body":            {true, nil, "says nothing"},
	} {
		w := local
		w.FT = tt.ft
		l, r, _ := welcomed(t, w)
		gone := make(chan error, 1)
		r.Losses(func(n Lost) { t.Errorf("%s: heard %+v", name, n) })
		r.Watch(func(err error) { gone <- err })
		if err := l.port.send(msgLost, tt.body, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := <-gone; !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
