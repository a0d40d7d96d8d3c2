package startup

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestARankTellsWhatItDoesWhenAsked(t *testing.T) {
	l, r, _ := welcomed(t, local)
	gone := make(chan error, 1)
	r.Watch(func(err error) { gone <- err })
	if !l.AskReport(1, time.Minute) {
		t.Fatal("it says that it does not answer")
	}
	if got := next[Report](t, l); got.Number != 1 || got.Text != nil {
		t.Errorf("nothing is known yet: %s", got.Text)
	}
	number := uint32(1)
	for text, want := range map[string]string{`{"rank":3}`: `{"rank":3}`, "": "", "no JSON": "",
		`"` + strings.Repeat("x", MaxReport) + `"`: ""} {
		r.Tell(func() []byte { return []byte(text) })
		number++
		l.AskReport(number, time.Minute)
		if got := next[Report](t, l); string(got.Text) != want || got.Number != number {
			t.Errorf("%.20q became %.20q", text, got.Text)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.AskReport(99, time.Minute) // it has ended, and does not answer
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// While an answer is being made, no other one is begun. Of the questions meanwhile, the last is answered then.
func TestARankAnswersOneQuestionAtATimeAndTheLast(t *testing.T) {
	l, r, _ := welcomed(t, local)
	r.Watch(func(error) {})
	asked, answer := make(chan bool), make(chan bool)
	r.Tell(func() []byte {
		asked <- true
		<-answer
		return []byte("1")
	})
	l.AskReport(1, time.Minute)
	<-asked
	l.AskReport(2, time.Minute)
	l.AskReport(3, time.Minute)
	l.AskTraffic() // is answered meanwhile, when the questions before it have been read
	next[Traffic](t, l)
	select {
	case <-asked:
		t.Error("it has begun another answer")
	default:
	}
	answer <- true
	if got := next[Report](t, l); string(got.Text) != "1" || got.Number != 1 {
		t.Errorf("%d %q", got.Number, got.Text)
	}
	<-asked
	answer <- true
	if got := next[Report](t, l); got.Number != 3 {
		t.Errorf("question %d is answered", got.Number)
	}
}

// A rank of another release does not know the question, and one that waits for the tables does not read it.
func TestARankThatDoesNotTellIsNotAsked(t *testing.T) {
	l, _, _ := welcomed(t, local)
	l.tells.Store(false)
	if l.AskReport(1, time.Minute) {
		t.Error("one of another release has been asked")
	}
	l.tells.Store(true)
	l.tabled.Store(false)
	if l.AskReport(1, time.Minute) {
		t.Error("one without tables has been asked")
	}
}

// An answer may come after the rank has finalized, and one that is too long ends the link.
func TestReportsAtTheEndAndThoseThatAreTooLong(t *testing.T) {
	for text, well := range map[string]bool{"7": true, `"` + strings.Repeat("x", MaxReport) + `"`: false} {
		l, r, _ := welcomed(t, local)
		sent := make(chan error, 1)
		go func() {
			sent <- errors.Join(r.port.send(msgFinalized, nil, time.Time{}),
				r.port.send(msgReport, reportBody{1, []byte(text)}, time.Time{}))
		}()
		next[Finalized](t, l)
		if _, err := l.Next(); (err == nil) != well {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}
