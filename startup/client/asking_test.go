package client_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestClientsAskEachOther(t *testing.T) {
	const n = 3
	_, sessions, result := watched(t, n)
	for i, x := range sessions {
		x.Watch(func(err error) { t.Error("lost:", err) })
		x.Answer(func(what []byte) []byte { return fmt.Appendf(nil, "%d on %s", i, what) })
	}
	for asker, x := range sessions {
		answers, complete := x.Ask([]byte("rest"), n, time.Minute)
		if !complete || len(answers) != n-1 {
			t.Errorf("%d has %v, complete: %v", asker, answers, complete)
		}
		for i, a := range answers {
			if want := fmt.Sprintf("%d on rest", i); i == asker || string(a) != want {
				t.Errorf("%d says %q, want %q", i, a, want)
			}
		}
	}
	finish(t, sessions, result)
}

// finish ends a job in order.
func finish(t *testing.T, sessions []*client.Session, result chan error) {
	t.Helper()
	for _, x := range sessions {
		if err := x.Fini(); err != nil {
			t.Error(err)
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestALongAnswerArrivesAndOneThatIsTooLongIsEmpty(t *testing.T) {
	_, sessions, result := watched(t, 2)
	for _, x := range sessions {
		x.Watch(func(err error) { t.Error("lost:", err) })
	}
	for length, want := range map[int]int{wire.ToldMax: wire.ToldMax, wire.ToldMax + 1: 0} {
		long := bytes.Repeat([]byte("x"), length)
		sessions[1].Answer(func([]byte) []byte { return long })
		answers, complete := sessions[0].Ask(nil, 2, time.Minute)
		if !complete || len(answers[1]) != want {
			t.Errorf("%d bytes, complete: %v", len(answers[1]), complete)
		}
	}
	finish(t, sessions, result)
}

func TestAQuestionEndsWithTheSessionAndWithoutClientsOfThisLibrary(t *testing.T) {
	_, sessions, result := watched(t, 2)
	never := make(chan struct{})
	for _, x := range sessions {
		x.Watch(func(error) {})
		x.Answer(func([]byte) []byte { <-never; return nil })
	}
	asked := make(chan bool)
	go func() {
		_, complete := sessions[0].Ask(nil, 2, time.Hour)
		asked <- complete
	}()
	finish(t, sessions, result)
	if <-asked {
		t.Error("it is complete")
	}
	close(never)
}
