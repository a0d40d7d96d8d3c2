package spawn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// others makes jobs on machines that do not exist. Each begins, or is refused, at once, and is over when it is doomed.
type others struct {
	refused *supervise.Cause
	made    chan Elsewhere
	doomed  chan supervise.Cause
	roused  chan struct{}
}

func (o *others) Job(_ *Spawner, j Elsewhere) Remote {
	o.made <- j
	return &other{o, make(chan struct{}), make(chan supervise.Cause, 1)}
}
func (o *others) Doom(c supervise.Cause) { o.doomed <- c }
func (o *others) Rouse()                 { o.roused <- struct{}{} }

type other struct {
	*others
	settled chan struct{}
	over    chan supervise.Cause
}

func (o *other) Serve() *supervise.Cause {
	close(o.settled)
	if o.refused != nil {
		return nil
	}
	c := <-o.over
	return &c
}
func (o *other) Settled() <-chan struct{}  { return o.settled }
func (o *other) Refused() *supervise.Cause { return o.refused }
func (o *other) Doom(c supervise.Cause)    { o.over <- c }

func newOthers() (*others, *Spawner) {
	o := &others{made: make(chan Elsewhere, 9), doomed: make(chan supervise.Cause, 9), roused: make(chan struct{}, 9)}
	return o, New(&options.Plan{}, nil, "j", 0, o)
}

// onTwo asks for a process on each of two machines, as a process of a node.
func onTwo(s *Spawner) *startup.Spawned {
	c := startup.Command{Program: "p", Procs: 2, Info: [][2]string{{"host", "a,b"}}}
	r := startup.Request{Spawn: &startup.Spawn{Parent: "port", Commands: []startup.Command{c}}}
	a, _ := s.Ask(r, &options.Program{})
	return a.Spawned
}

func TestAJobOnOtherMachinesIsWaitedFor(t *testing.T) {
	o, s := newOthers()
	if d := cmp.Diff(&startup.Spawned{Codes: []int32{0, 0}, Size: 2}, onTwo(s)); d != "" {
		t.Fatal(d)
	}
	j := <-o.made
	if len(j.Where) != 2 || j.Number != 1 || j.Parent != "port" || j.Plan.Size() != 2 {
		t.Errorf("%+v", j)
	}
	if s.Idle() {
		t.Error("a job runs")
	}
	s.Doom(supervise.Cause{Code: 7})
	<-o.roused
	if !s.Idle() {
		t.Error("no job runs")
	}
	if c := s.Finish(nil); c == nil || c.Code != 7 {
		t.Errorf("the end of the job is forgotten: %+v", c)
	}
	if a := onTwo(s); a.Size != 0 || a.Text != supervise.ErrOver.Error() {
		t.Errorf("a job after the end: %+v", a)
	}
}

func TestAJobThatCannotBeginOnOtherMachinesIsTheAnswer(t *testing.T) {
	o, s := newOthers()
	o.refused = &supervise.Cause{Code: 1, Text: "no such machine"}
	if d := cmp.Diff(&startup.Spawned{Codes: []int32{errSpawn, errSpawn}, Text: "no such machine"}, onTwo(s)); d != "" {
		t.Error(d)
	}
	<-o.roused
	if c := s.Finish(nil); c != nil {
		t.Errorf("%+v", c)
	}
}

func TestAJobThatEndsBadlyEndsAll(t *testing.T) {
	o, s := newOthers()
	s.Fail(supervise.Cause{Code: 3})
	if c := <-o.doomed; c.Code != 3 {
		t.Errorf("%+v", c)
	}
	if c := s.Finish(nil); c == nil || c.Code != 3 {
		t.Errorf("%+v", c)
	}
}
