package startup

import (
	"errors"
	"time"
)

// Ranks without which a fault-tolerant job goes on, for the others:
//
//	launcher                       rank
//	lost {ranks, text}          ->
//
// The welcome says whether a job is fault tolerant. A rank that hears of losses says so in its hello. It is told after
// it has the job's tables, of those before that, too, and until it has finalized.

// Lost is ranks that are lost.
type Lost struct {
	Ranks []int32 `json:"ranks"` // in MPI_COMM_WORLD
	Text  string  `json:"text"`  // why, after the words "rank 3 is lost: "
}

// maxLost bounds the ranks of one message.
const maxLost = 1 << 20

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
	if len(b.Ranks) == 0 || len(b.Ranks) > maxLost {
		return errors.New("it says that ranks are lost, and not which")
	}
	for _, r := range b.Ranks {
		if r < 0 {
			return errors.New("it says that a rank below 0 is lost")
		}
	}
	b.Text = cut(b.Text)
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
