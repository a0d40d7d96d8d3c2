package tree

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
)

// A relay is a node that stands for several machines. It starts a node of its own beside it, which runs this machine's
// ranks, and the others through the remote shell, and passes letters on between them and who has started it.
//
// It ends when all of these have ended. When nobody above is there any more, or the job is over, those below hear it,
// and are killed if they do not end in time.
type relay struct {
	up       *Frames
	l        *Launching
	turns    chan func() // what is done by the thread that stays, with which our children would end
	branches []*Branch
	left     int // branches that are not over
	ending   bool
}

// RunRelay is the whole of a relay, which has been started with these words. It returns the exit code.
func RunRelay(up *Frames, start *StartFrame) int {
	// A resource manager, or a terminal, tells those whom it concerns, and our end comes from above.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	r := &relay{up: up, turns: make(chan func())}
	r.l = NewLaunching(r, *start, start.Limit, os.Stderr)
	defer r.l.End()
	own := start.Members[0]
	own.Local = true
	r.grow([]Member{own})
	for _, g := range Groups(start.Members[1:], start.Plan.Branches) {
		r.grow(g)
	}
	go r.listen(start.Plan.Grace)
	for r.left > 0 {
		(<-r.turns)()
	}
	return 0
}

// grow starts a branch.
func (r *relay) grow(members []Member) {
	b := r.l.NewBranch(members)
	r.branches = append(r.branches, b)
	r.left++
	go b.Follow()
}

// Run starts a command by the thread that stays.
func (r *relay) Run(cmd *exec.Cmd) (Command, error) {
	done := make(chan error, 1)
	r.turns <- func() { done <- cmd.Start() }
	return Child{cmd}, <-done
}

func (r *relay) Hello(b *Branch) {
	r.turns <- func() { b.Reached = true }
	if !b.Members[0].Local { // whoever has reached us knows of that
		r.say(b.Members[0].Number, Frame{Reached: true})
	}
}

// Letter passes a letter up.
func (r *relay) Letter(b *Branch, x Letter) error {
	if !b.Has(x.Machine) {
		return fmt.Errorf("a letter of machine %d, which is not there", x.Machine)
	}
	r.up.pass(x)
	return nil
}

func (r *relay) Ended(b *Branch, why error) {
	r.say(b.Members[0].Number, Frame{Lost: &LostFrame{Machines: Numbers(b.Members), Text: why.Error()}})
	r.turns <- func() { b.Over = true; r.left-- }
}

// Missed says that a machine was not reached. The others of its branch are started without it, if there is time.
func (r *relay) Missed(b *Branch, why error) {
	lost, others := b.Members, []Member(nil)
	if !r.l.Over() {
		lost, others = b.Members[:1], b.Members[1:]
	}
	r.say(lost[0].Number, Frame{Lost: &LostFrame{Machines: Numbers(lost), Text: why.Error(), Missed: true}})
	r.turns <- func() {
		b.Over = true
		r.left--
		if len(others) > 0 {
			r.grow(others)
		}
	}
}

// Numbers returns the numbers of machines.
func Numbers(list []Member) (all []int) {
	for _, m := range list {
		all = append(all, m.Number)
	}
	return all
}

// say sends a frame of ours up, in the name of a machine.
func (r *relay) say(machine int, m Frame) {
	if x, err := LetterOf(machine, m); err == nil {
		r.up.pass(x)
	}
}

// listen passes on what comes from above, until the end of it.
func (r *relay) listen(grace time.Duration) {
	for {
		x, err := r.up.letter()
		if err != nil {
			if err != io.EOF {
				outcome.Complain("the launcher: %v", err)
			}
			r.turns <- func() { r.end(grace, (*mailbox).finish) }
			return
		}
		r.turns <- func() {
			if m, err := x.Frame(); x.Machine == Everyone && err == nil && m.End != nil {
				r.end(grace, func(to *mailbox) { to.put(x) })
				return
			}
			for _, b := range r.branches {
				if x.Machine == Everyone || b.Has(x.Machine) {
					b.mail.put(x)
				}
			}
		}
	}
}

// end ends all branches, which tell has them told of, and kills those that have not ended in time.
func (r *relay) end(grace time.Duration, tell func(*mailbox)) {
	r.l.End()
	for _, b := range r.branches {
		tell(b.mail)
	}
	if r.ending {
		return
	}
	r.ending = true
	time.AfterFunc(grace+EndTime, func() {
		r.turns <- func() {
			for _, b := range r.branches {
				b.Kill()
			}
		}
	})
}
