package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/control"
)

// handler takes what the players say: it is recorded, and what is wrong ends all waiting.
func (j *Job) handler() control.Handler {
	t, party := j.T, j.T.Events().Party(clientName(j.Setup.Rank), true)
	over := func() {
		j.mu.Lock()
		j.broken = true
		j.mu.Unlock()
		j.cond.Broadcast()
	}
	return control.Handler{
		Said: func(rank int, text string) {
			line := fmt.Sprintf("[%d] %s", rank, text)
			t.Events().Line(party, "player", line, len(line))
		},
		Wrong: func(text string) {
			t.Errorf("%s", text)
			over()
		},
		Undelivered: func(text string) {
			t.Disturbed(fmt.Errorf("%s", text))
			t.Errorf("%s", text)
			over()
		},
	}
}

// Line waits until rank has said a line.
func (j *Job) Line(rank int, text string) {
	ctx, cancel := j.whileRunning()
	defer cancel()
	if err := j.players.Await(ctx, rank, text); err != nil {
		j.T.Stop()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		j.T.Fatalf("rank %d should have said %q: %v", rank, text, err)
	}
}

// Said reports whether rank has said a line.
func (j *Job) Said(rank int, text string) bool { return j.Times(rank, text) > 0 }

// Times is how often rank has said a line.
func (j *Job) Times(rank int, text string) int { return j.players.Count(rank, text) }

// Go ends the step compute: the program goes back to MPI.
func (j *Job) Go() { j.players.Go() }

// Done waits until all processes have taken all steps, and none has found an error.
func (j *Job) Done() {
	ctx, cancel := j.whileRunning()
	defer cancel()
	level, err := j.players.Done(ctx)
	if err != nil {
		j.T.Stop()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		j.T.Fatalf("the processes should have taken all steps: %v", err)
	}
	j.T.Check(level < control.WrongOne, "the processes have taken all steps with an error of level %d", level)
}

// whileRunning ends with the case, and soon after a client has ended and all that its processes have said was read. One
// of them may have connected and not been seen yet.
func (j *Job) whileRunning() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(j.T.Context())
	for _, x := range j.tested() {
		if x.Main == nil || x.Main.ByHand() {
			continue
		}
		go func() {
			select {
			case <-x.Main.Ended():
			case <-ctx.Done():
				return
			}
			j.players.Over(ctx)
			select {
			case <-time.After(soon):
				cancel(errEnded)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}
