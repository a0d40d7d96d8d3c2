package peer

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/transport/wire"
)

// Text is the configuration as canonical text, conform.Case.Job. It is "" for one that is not just values, or in which
// a case cannot begin where another has ended: the windows are not where they were at the start of the job if the
// case acknowledges, the environment is the job's, and so are further clients and their server. Nor can a case that
// makes communicators be one of several: the context ids go on.
func (s Setup) Text() string {
	if s.Contribute != nil || s.Around != nil || s.Invent != nil || s.Swallow || s.NoAcks || s.Env != nil ||
		s.Further != nil || s.TheirServer {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has only values
	}
	return string(text)
}

// ParseSetup is the configuration of a text.
func ParseSetup(text string) (s Setup, err error) {
	err = json.Unmarshal([]byte(text), &s)
	return s, err
}

// Queue is conform's: several cases in one job.
type Queue struct{}

// Open starts a job that waits for its first case.
func (Queue) Open(t *conform.T, c conform.Case) any {
	s, err := ParseSetup(c.Job)
	if err != nil {
		t.Disturbed(err)
		t.Fatalf("the case's job makes no sense: %v", err)
	}
	j := newJob(t, s)
	j.lasting = true
	up := false
	defer func() {
		if !up { // nobody else knows of it
			Queue{}.Abandon(j)
		}
	}()
	j.start()
	j.Join()
	j.Exchange()
	j.Mesh()
	up = true
	return j
}

// Begin makes the job that of a case, and lets the processes take its steps.
func (Queue) Begin(t *conform.T, job any, c conform.Case) {
	j := job.(*Job)
	if j.T != t {
		j.playFor(t)
		j.moveTo(t)
	}
	j.players.Begin(c.Name)
	j.players.Do(c.Steps...)
	for _, ours := range j.speakers() {
		j.players.Do(fmt.Sprintf("fence %d", ours))
	}
	j.players.End()
}

// speakers is a process of each host of ours.
func (j *Job) speakers() (ranks []int) {
	for r, p := range j.Procs {
		if j.Ours(r) && (r == 0 || j.Procs[r-1].Host != p.Host) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// fenceTag is the tag of an empty message behind all that a process sends in a case: the largest that every
// implementation has.
const fenceTag = 32767

// moveTo lets a case see what goes on in the job. In the windows stands what is outstanding; the rest is counted anew.
func (j *Job) moveTo(t *conform.T) {
	ids := make([]codec.ID, len(j.Procs))
	for r, p := range j.Procs {
		ids[r] = p.ID
	}
	t.Events().Processes(ids, func(rank int) bool { return !j.Ours(rank) })
	t.Events().Negotiated(j.AckMark, j.HiWater)
	j.players.Watch(j.handler())
	for _, c := range j.conns {
		c.MoveTo(t.Events())
		c.SetDeadline(t.Deadline())
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for pair, w := range j.window {
		w.outTotal, w.acked, w.inTotal = w.out, 0, 0
		t.Events().Outstanding(j.Procs[pair[0]].ID, j.Procs[pair[1]].ID, w.out)
		t.Events().Outstanding(j.Procs[pair[1]].ID, j.Procs[pair[0]].ID, w.unacked)
	}
}

// End wants that all processes have taken the steps, and that nothing more comes than was awaited: on every socket a
// message of each process marks the end of the case.
func (Queue) End(t *conform.T, job any) {
	j := job.(*Job)
	for r := range j.Procs {
		for _, ours := range j.speakers() {
			for !j.Ours(r) {
				p := j.Take(r, ours)
				if p.Tag == fenceTag && p.CID == wire.WorldCID {
					break
				}
				t.Errorf("%v should not have been sent", p)
			}
		}
	}
	j.Done()
	j.mu.Lock()
	for _, p := range j.queue {
		t.Errorf("%v should not have been sent", p)
	}
	j.mu.Unlock()
	t.Stop()
	for _, c := range j.conns {
		c.SetDeadline(time.Time{}) // until the next case
	}
}

// Close ends the job in order.
func (Queue) Close(t *conform.T, job any) {
	j := job.(*Job)
	for _, c := range j.conns {
		c.SetDeadline(t.Deadline())
	}
	j.players.Exit()
	j.Finish()
}

// Abandon closes all connections.
func (Queue) Abandon(job any) {
	j := job.(*Job)
	for len(j.undo) > 0 {
		n := len(j.undo) - 1
		f := j.undo[n]
		j.undo = j.undo[:n]
		f()
	}
}

var _ conform.Queue = Queue{}
