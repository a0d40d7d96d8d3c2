package main

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
	up       *frames
	l        *launching
	turns    chan func() // what is done by the thread that stays, with which our children would end
	branches []*branch
	left     int // branches that are not over
	ending   bool
}

// runRelay is the whole of a relay. It answers the exit code.
func runRelay(up *frames, start *startFrame) int {
	// A resource manager, or a terminal, tells those whom it concerns, and our end comes from above.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	r := &relay{up: up, turns: make(chan func())}
	r.l = newLaunching(r, *start, start.Limit, os.Stderr)
	defer r.l.end()
	own := start.Members[0]
	own.Local = true
	r.grow([]member{own})
	for _, g := range groups(start.Members[1:], start.Plan.Branches) {
		r.grow(g)
	}
	go r.listen(start.Plan.Grace)
	for r.left > 0 {
		(<-r.turns)()
	}
	return 0
}

// grow starts a branch.
func (r *relay) grow(members []member) {
	b := r.l.newBranch(members)
	r.branches = append(r.branches, b)
	r.left++
	go b.follow()
}

// run starts a command by the thread that stays.
func (r *relay) run(cmd *exec.Cmd) (command, error) {
	done := make(chan error, 1)
	r.turns <- func() { done <- cmd.Start() }
	return child{cmd}, <-done
}

func (r *relay) hello(b *branch) {
	r.turns <- func() { b.reached = true }
	if !b.members[0].Local { // whoever has reached us knows of that
		r.say(b.members[0].Number, frame{Reached: true})
	}
}

// letter passes a letter up.
func (r *relay) letter(b *branch, x letter) error {
	if !b.has(x.machine) {
		return fmt.Errorf("a letter of machine %d, which is not there", x.machine)
	}
	r.up.pass(x)
	return nil
}

func (r *relay) ended(b *branch, why error) {
	r.say(b.members[0].Number, frame{Lost: &lostFrame{Machines: numbers(b.members), Text: why.Error()}})
	r.turns <- func() { b.over = true; r.left-- }
}

// missed says that a machine was not reached. The others of its branch are started without it, if there is time.
func (r *relay) missed(b *branch, why error) {
	lost, others := b.members, []member(nil)
	if !r.l.isOver() {
		lost, others = b.members[:1], b.members[1:]
	}
	r.say(lost[0].Number, frame{Lost: &lostFrame{Machines: numbers(lost), Text: why.Error(), Missed: true}})
	r.turns <- func() {
		b.over = true
		r.left--
		if len(others) > 0 {
			r.grow(others)
		}
	}
}

func numbers(list []member) (all []int) {
	for _, m := range list {
		all = append(all, m.Number)
	}
	return all
}

// say sends a frame of ours up, in the name of a machine.
func (r *relay) say(machine int, m frame) {
	if x, err := letterOf(machine, m); err == nil {
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
			if m, err := x.frame(); x.machine == everyone && err == nil && m.End != nil {
				r.end(grace, func(to *mailbox) { to.put(x) })
				return
			}
			for _, b := range r.branches {
				if x.machine == everyone || b.has(x.machine) {
					b.mail.put(x)
				}
			}
		}
	}
}

// end ends all branches, which tell has them told of, and kills those that have not ended in time.
func (r *relay) end(grace time.Duration, tell func(*mailbox)) {
	r.l.end()
	for _, b := range r.branches {
		tell(b.mail)
	}
	if r.ending {
		return
	}
	r.ending = true
	time.AfterFunc(grace+endTime, func() {
		r.turns <- func() {
			for _, b := range r.branches {
				b.kill()
			}
		}
	})
}
