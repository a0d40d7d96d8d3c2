package startup

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

func TestARankTellsItsTrafficWhenAsked(t *testing.T) {
	l, r, _ := welcomed(t, local)
	gone := make(chan error, 1)
	r.Watch(func(err error) { gone <- err })
	if !l.AskTraffic() {
		t.Fatal("it says that it does not answer")
	}
	if got := next[Traffic](t, l); got.Rows != nil {
		t.Errorf("nothing is known yet: %+v", got)
	}
	rows := []wire.Traffic{{Ours: 1, Theirs: 2, BytesIn: 1 << 50}, {Ours: 1, Theirs: 3, Silence: 4}}
	r.Report(func() []wire.Traffic { return rows })
	l.AskTraffic()
	if got := next[Traffic](t, l); !reflect.DeepEqual(got.Rows, rows) {
		t.Errorf("%+v", got)
	}
	r.Report(func() []wire.Traffic { return make([]wire.Traffic, wire.TrafficMax+1) })
	l.AskTraffic()
	if got := next[Traffic](t, l); len(got.Rows) != wire.TrafficMax {
		t.Errorf("%d rows", len(got.Rows))
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.AskTraffic() // it has ended, and does not answer
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// A question that comes just before the acknowledgement of the end is no end, also where nobody watches.
func TestAQuestionBeforeTheEndDoesNoHarm(t *testing.T) {
	l, r, _ := welcomed(t, local)
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.AskTraffic()
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// An answer may come after the rank has finalized, and one of a strange length ends the link.
func TestAnswersAtTheEndAndOfStrangeLengths(t *testing.T) {
	for rows, well := range map[int]bool{0: true, wire.TrafficSize: true, wire.TrafficSize + 1: false,
		(wire.TrafficMax + 1) * wire.TrafficSize: false} {
		l, r, _ := welcomed(t, local)
		send := func() error { return r.port.send(msgTraffic, trafficBody{make([]byte, rows)}, time.Time{}) }
		if err := errors.Join(r.port.send(msgFinalized, nil, time.Time{}), send()); err != nil {
			t.Fatal(err)
		}
		next[Finalized](t, l)
		if _, err := l.Next(); (err == nil) != well {
			t.Errorf("%d bytes: %v", rows, err)
		}
	}
}
