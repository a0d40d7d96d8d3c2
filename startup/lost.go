package startup

import (
	"errors"
	"fmt"
	"time"
)

// Ranks without which a fault-tolerant job goes on, for the others:
//
//	launcher                       rank
//	lost {ranks, text}          ->
//
// The welcome says whether a job is fault tolerant. A rank that hears of losses says so in its hello. It is told after
// it has the job's tables, of those before that, too, and until it has finalized.
//
// A rank that cannot reach another, or finds that it breaks the protocol, goes on without it. Everybody has to do so
// then, so it tells the launcher:
//
//	rank                              launcher
//	suspect {ranks, text, ...}    ->
//
// The launcher hears of most of these deaths before or at the same time. If the rank is alive it is ended, or, if two
// sides suspect each other, one of the two is, as one place decides (docs/failure.md).

// Lost is ranks that are lost.
type Lost struct {
	Ranks []int32 `json:"ranks"`         // in MPI_COMM_WORLD
	Text  string  `json:"text"`          // why, after the words "rank 3 is lost: "
	Job   string  `json:"job,omitempty"` // whose ranks, by Welcome.JobID, as they spawn each other; "": the own
}

// Suspects are ranks that a rank takes for lost.
type Suspects struct {
	Lost
	Breach bool `json:"breach,omitempty"` // they have broken the protocol; otherwise they cannot be reached
}

// maxLost bounds the ranks of one message.
const maxLost = 1 << 20

// check checks ranks that a message has, and cuts its text. what is what it says of them.
func (n *Lost) check(what string) error {
	if len(n.Ranks) == 0 || len(n.Ranks) > maxLost {
		return fmt.Errorf("it says that ranks are %s, and not which", what)
	}
	for _, r := range n.Ranks {
		if r < 0 {
			return fmt.Errorf("it says that a rank below 0 is %s", what)
		}
	}
	n.Text = cut(n.Text)
	return nil
}

// Suspect tells the launcher of ranks that this one takes for lost. In a job that is not fault tolerant it ignores it.
func (l *Link) Suspect(s Suspects) error {
	s.Text = cut(s.Text)
	return l.port.send(msgSuspect, s, time.Now().Add(sendTime))
}

// suspectsOf reads a rank's message about others.
func suspectsOf(m message) (Message, error) {
	s, err := decode[Suspects](m)
	if err != nil {
		return nil, err
	}
	if err := s.check("to be given up"); err != nil {
		return nil, fmt.Errorf("the process: %w", err)
	}
	return s, nil
}

// Losses makes the link hand ranks that are lost to a function, in the order in which the launcher tells of them: at
// once those of which it has told already. The function is called on the link's goroutine, and must not wait for the
// launcher. Before Watch nobody hears of any.
func (l *Link) Losses(hear func(Lost)) {
	l.hearing.Lock()
	defer l.hearing.Unlock()
	l.losses = hear
	for _, n := range l.unheard {
		hear(n)
	}
	l.unheard = nil
}

// lose takes a message of ranks that are lost.
func (l *Link) lose(m message) error {
	b, err := decode[Lost](m)
	if err != nil {
		return err
	}
	if !l.ft {
		return errors.New("it says that ranks are lost, and the job is not fault tolerant")
	}
	if err := b.check("lost"); err != nil {
		return err
	}
	l.hearing.Lock()
	defer l.hearing.Unlock()
	if l.losses == nil {
		l.unheard = append(l.unheard, b)
		return nil
	}
	l.losses(b)
	return nil
}

// Lost tells the rank of others. It returns false if the rank did not hear it: it has not the job's tables yet, or does
// not hear of losses, or has ended.
func (l *LauncherEnd) Lost(n Lost) bool {
	n.Text = cut(n.Text)
	if !l.hears.Load() || !l.tabled.Load() {
		return false
	}
	err := l.port.send(msgLost, n, time.Now().Add(sendTime))
	if err != nil {
		l.hears.Store(false) // half a message may be under way
	}
	return err == nil
}
