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
	if !l.AskReport() {
		t.Fatal("it says that it does not answer")
	}
	if got := next[Report](t, l); got.Text != nil {
		t.Errorf("nothing is known yet: %s", got.Text)
	}
	for text, want := range map[string]string{`{"rank":3}`: `{"rank":3}`, "": "", "no JSON": "",
		`"` + strings.Repeat("x", MaxReport) + `"`: ""} {
		r.Tell(func() []byte { return []byte(text) })
		l.AskReport()
		if got := next[Report](t, l); string(got.Text) != want {
			t.Errorf("%.20q became %.20q", text, got.Text)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	l.AskReport() // it has ended, and does not answer
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
}

// While an answer is being made, no other one is begun. Questions that come meanwhile get one afterwards.
func TestARankAnswersOneQuestionAtATime(t *testing.T) {
	l, r, _ := welcomed(t, local)
	r.Watch(func(error) {})
	asked, answer := make(chan bool), make(chan bool)
	r.Tell(func() []byte {
		asked <- true
		<-answer
		return []byte("1")
	})
	l.AskReport()
	<-asked
	l.AskReport()
	l.AskReport()
	l.AskTraffic() // is answered meanwhile, when the question before it has been read
	next[Traffic](t, l)
	select {
	case <-asked:
		t.Error("it has begun another answer")
	default:
	}
	answer <- true
	next[Report](t, l)
	<-asked
	answer <- true
	next[Report](t, l)
	l.AskReport() // the two have had one answer, and this one is answered next
	<-asked
	answer <- true
	next[Report](t, l)
}

// A rank of another release does not know the question, and is not asked.
func TestARankThatDoesNotTellIsNotAsked(t *testing.T) {
	l, _, _ := welcomed(t, local)
	l.tells.Store(false)
	if l.AskReport() {
		t.Error("it has been asked")
	}
}

// An answer may come after the rank has finalized, and one that is too long ends the link.
func TestReportsAtTheEndAndThoseThatAreTooLong(t *testing.T) {
	for text, well := range map[string]bool{"7": true, `"` + strings.Repeat("x", MaxReport) + `"`: false} {
		l, r, _ := welcomed(t, local)
		sent := make(chan error, 1)
		go func() {
			sent <- errors.Join(r.port.send(msgFinalized, nil, time.Time{}),
				r.port.send(msgReport, reportBody{[]byte(text)}, time.Time{}))
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
