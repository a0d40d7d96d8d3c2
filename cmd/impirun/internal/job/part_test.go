package job

import (
	"slices"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/shm"
)

func TestMoreRanksThanCanShareMemoryAreRefusedBeforeOneIsStarted(t *testing.T) {
	if _, err := New(layout.Share{N: shm.MaxLocal + 1}, "j", nil, nil); err == nil {
		t.Error("accepted")
	}
}

func TestRanksWithTheSameProcessIDAreToldApart(t *testing.T) {
	pids := make([]uint32, 4)
	for i, pid := range []uint32{1, 1, 7, 1} {
		pids[i] = distinct(pids, i, pid)
	}
	if pids[0] != 1 || pids[2] != 7 { // ids that nobody else has stay
		t.Errorf("%d", pids)
	}
	slices.Sort(pids)
	if len(slices.Compact(pids)) != 4 {
		t.Errorf("%d", pids)
	}
}

// holding is a spawner whose answers come when it is told so.
type holding struct{ answer chan struct{} }

func (h holding) Answer(*Part, int, startup.Request) startup.Answer {
	<-h.answer
	return startup.Answer{}
}
func (holding) Running(*supervise.Job)   {}
func (holding) Lost(*Part, startup.Lost) {}
func (holding) Doom(supervise.Cause)     {}

func TestARankMayNotAskForMoreThanTheLauncherKeeps(t *testing.T) {
	end, child, err := startup.NewLauncherEnd()
	if err != nil {
		t.Fatal(err)
	}
	p, spawner := Attended(end, "j"), holding{make(chan struct{})}
	p.ServeBy(spawner, &options.Plan{Programs: []options.Program{{N: 1}}}, 0)
	for i := range maxRequests {
		if err := p.request(0, end, startup.Request{}); err != nil {
			t.Fatal(i, err)
		}
	}
	if p.request(0, end, startup.Request{}) == nil {
		t.Error("one more is accepted")
	}
	child.Close() // nobody reads the answers
	close(spawner.answer)
	for left := maxRequests; left > 0; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		left = p.asked[0]
		p.mu.Unlock()
	}
	if err := p.request(0, end, startup.Request{}); err != nil {
		t.Errorf("after all answers: %v", err)
	}
}
