package startup

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
)

func TestARankTellsWhatItWaitsForWhenAsked(t *testing.T) {
	l, r, _ := welcomed(t, local)
	r.Watch(func(error) {})
	if !l.AskReport(1, time.Minute) {
		t.Fatal("it says that it does not answer")
	}
	if got := next[Report](t, l); got.Number != 1 || got.Process != nil {
		t.Errorf("nothing is known yet: %+v", got)
	}
	r.Describe(func() []byte {
		b, err := (&report.Process{Rank: 3, LastCall: "MPI_Send"}).Encode()
		if err != nil {
			t.Error(err)
		}
		return b
	})
	l.AskReport(2, time.Minute)
	if got := next[Report](t, l); got.Number != 2 || got.Process == nil || got.Process.LastCall != "MPI_Send" {
		t.Errorf("%+v", got)
	}
	r.Describe(func() []byte { return []byte(strings.Repeat("[", 100)) })
	l.AskReport(3, time.Minute)
	if got := next[Report](t, l); got.Number != 3 || got.Process != nil {
		t.Errorf("a report that makes no sense: %+v", got)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.AskReport(4, time.Minute) // it has ended, and does not answer
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// Several questions before an answer has left get one answer at least, and the last question gets one.
func TestTheLastOfSeveralQuestionsIsAnswered(t *testing.T) {
	l, r, _ := welcomed(t, local)
	r.Watch(func(error) {})
	asked := make(chan bool)
	r.Describe(func() []byte {
		<-asked
		return nil
	})
	for number := range uint32(5) {
		l.AskReport(number, time.Minute)
	}
	close(asked)
	for got := next[Report](t, l); got.Number != 4; got = next[Report](t, l) {
	}
}

func TestARankIsNotAskedBeforeItHasTheTables(t *testing.T) {
	l := &LauncherEnd{}
	if l.AskReport(1, time.Minute) {
		t.Error("a rank is asked that has not said hello")
	}
}
