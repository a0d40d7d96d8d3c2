// Package inquire is what the launcher of a job says of ranks that wait: when a signal or impi-stat asks, when the time
// of the job is over, and by itself when it can prove that no rank will ever go on.
//
// Flow: Open -> a signal (Config.Signal), a client (package inquiry) or the launcher (Report) asks -> all ranks are
// asked (Config.States) -> package stat makes a text of it. Meanwhile watch looks every few seconds whether all
// processes are at rest, which costs their processes nothing; only then are they asked, twice, and stat.Prove compares.
package inquire

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/inquiry"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
)

// Config is what an Inquiry needs. Functions may be called by any goroutine.
type Config struct {
	Name string // of the job, for people
	// States asks all ranks of this launcher, and waits for their answers, up to limit. whole is false if there are some
	// that it cannot ask, such as those of jobs that were spawned on other machines.
	States func(limit time.Duration) (ranks []stat.Rank, whole bool)
	// Rest reports whether all processes of the job are at rest, since it was called before. It is called by one
	// goroutine, and costs little.
	Rest     func() bool
	Say      func(text string) // prints whole lines
	Objects  bool              // reports are objects (-output json)
	Abort    func(why string)  // ends the job
	Signal   syscall.Signal    // at which a report is made; 0: none
	Deadlock options.Deadlock
	Others   Others        // nil: no client has another launcher
	Second   bool          // another launcher looks for deadlocks
	After    time.Duration // for which all threads have to wait before that is called a deadlock
}

// Times.
const (
	answerTime = 2 * time.Second         // in which ranks have to answer
	againTime  = 100 * time.Millisecond  // between the first question and the one that counts
	leastLook  = 10 * time.Millisecond   // between two looks at processes, in which the kernel counts one tick
	mostLook   = 2500 * time.Millisecond // if a job is busy
	mostTime   = time.Minute             // between looks if ranks rest, and it is no deadlock
)

// LookTime is how long it takes from one look at the processes of a job to the next, if a deadlock is one after some
// time.
func LookTime(after time.Duration) time.Duration { return min(max(after/2, leastLook), mostLook) }

// AtTimeout is the title of the report at the end of a job's time.
const AtTimeout = "what ranks do as the timeout is over"

// Inquiry is what Open makes.
type Inquiry struct {
	config  Config
	door    io.Closer // nil: clients cannot ask
	signals chan os.Signal
	ended   chan struct{}
	over    sync.WaitGroup
	atRest  atomic.Bool // so were all processes of this launcher when it has looked last
}

// Open begins to listen and to watch.
func Open(c Config) *Inquiry {
	q := &Inquiry{config: c, signals: make(chan os.Signal, 1), ended: make(chan struct{})}
	if c.Signal != 0 {
		signal.Notify(q.signals, c.Signal)
		q.over.Go(q.hear)
	}
	// Without a door there is no impi-stat, and the job runs all the same.
	q.door, _ = inquiry.Listen(q.answer)
	if c.Others != nil {
		c.Others.Answer(q.tell)
	}
	if c.Deadlock != options.DeadlockIgnore {
		q.over.Go(q.watch)
	}
	return q
}

// Close ends both.
func (q *Inquiry) Close() {
	signal.Stop(q.signals)
	close(q.ended)
	if q.door != nil {
		q.door.Close()
	}
	q.over.Wait()
}

// hear makes a report at each signal.
func (q *Inquiry) hear() {
	for {
		select {
		case <-q.signals:
			q.Report("what ranks do")
		case <-q.ended:
			return
		}
	}
}

// Report says what all ranks do, below a title. If none has called MPI_Init, it says nothing.
func (q *Inquiry) Report(title string) {
	ranks, _ := q.states()
	if began(ranks) {
		q.say(title, stat.Make(ranks), nil)
	}
}

// object is a report for programs.
type object struct {
	Report struct {
		Time     time.Time      `json:"time"`
		Message  string         `json:"message"`
		Deadlock *stat.Deadlock `json:"deadlock,omitempty"` // it is proven
		*stat.Report
	} `json:"report"`
}

// say prints a report, of a deadlock unless d is nil.
func (q *Inquiry) say(title string, r *stat.Report, d *stat.Deadlock) {
	if !q.config.Objects {
		q.config.Say("impirun: " + title + ":\n" + r.Text())
		return
	}
	var o object
	o.Report.Time, o.Report.Message, o.Report.Deadlock, o.Report.Report = time.Now(), title, d, r
	if b, err := json.Marshal(o); err == nil {
		q.config.Say(string(b) + "\n")
	}
}

// began reports whether a rank has called MPI_Init.
func began(ranks []stat.Rank) bool {
	for i := range ranks {
		if s := ranks[i].State; s != stat.Outside && s != stat.Ended {
			return true
		}
	}
	return false
}

// answer makes a report for a client.
func (q *Inquiry) answer(f inquiry.Format) []byte {
	ranks, _ := q.states()
	r := stat.Make(ranks)
	if f == inquiry.Text {
		return []byte(fmt.Sprintf("%s, %d ranks:\n%s", q.config.Name, len(ranks), r.Text()))
	}
	b, err := json.MarshalIndent(struct {
		Job string `json:"job"`
		PID int    `json:"pid"`
		*stat.Report
	}{q.config.Name, os.Getpid(), r}, "", "  ")
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// watch looks for a deadlock until one has been said, or the job ends.
func (q *Inquiry) watch() {
	pause := LookTime(q.config.After)
	shortest := pause
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-q.ended:
			timer.Stop()
			return
		}
		rest := q.config.Rest()
		if q.atRest.Store(rest); !rest || q.config.Second || !q.othersRest() {
			pause = shortest
			continue
		}
		d, ranks, soon := q.look()
		switch {
		case soon > 0:
			pause = soon
			continue
		case d == nil:
			pause = min(2*max(pause, shortest), mostTime)
			continue
		}
		table := stat.Make(ranks)
		table.Circle = "" // it has been said
		q.say(d.Text(), table, d)
		if q.config.Deadlock == options.DeadlockAbort {
			q.config.Abort("the job is in a deadlock (-deadlock abort)")
		}
		return
	}
}

// look asks twice, and compares. If all ranks wait, and have not waited for long enough, soon is when they will have.
func (q *Inquiry) look() (d *stat.Deadlock, ranks []stat.Rank, soon time.Duration) {
	first, whole := q.states()
	since, all := stat.Blocked(first)
	if whole && !all { // the first question wakes threads, which look for their way into the call
		time.Sleep(againTime)
		first, whole = q.states()
		since, all = stat.Blocked(first)
	}
	if !whole || !all {
		return nil, nil, 0
	}
	if since < q.config.After {
		return nil, nil, q.config.After - since
	}
	second, _ := q.states()
	return stat.Prove(first, second), second, 0
}
