package job

import (
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// welcomed makes rank i of a part enter MPI, on a link of its own.
func welcomed(t *testing.T, p *Part, i int, hears chan<- startup.Lost) {
	end, child, err := startup.NewLauncherEnd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	fd, err := syscall.Dup(int(child.Fd())) // Attach takes over the number
	if child.Close(); err != nil {
		t.Fatal(err)
	}
	attached := make(chan *startup.Link, 1)
	go func() {
		link, _, err := startup.Attach(func(name string) (string, bool) { return strconv.Itoa(fd), name == startup.EnvFD })
		if err != nil {
			t.Error(err)
		}
		attached <- link
	}()
	if _, err := end.Next(); err != nil {
		t.Fatal(err)
	}
	job := startup.OneClient(1, 2)
	job.Me = int32(i)
	if err := end.Welcome(startup.Welcome{LocalRank: int32(i), LocalSize: 2, Shared: -1, Job: job, FT: true}); err != nil {
		t.Fatal(err)
	}
	link := <-attached
	t.Cleanup(func() { link.Close() })
	link.Losses(func(n startup.Lost) { hears <- n })
	link.Watch(func(error) {})
	p.mu.Lock()
	p.seats[i].inside = end
	p.mu.Unlock()
	p.catchUp(i)
}

func TestAllRanksHearOfEachLossOnceAndInOrder(t *testing.T) {
	p := partOf(layout.Share{N: 2}, "j", nil)
	var said []outcome.Loss
	p.Tolerate(func(_ startup.Lost, l outcome.Loss) { said = append(said, l) })
	hears := []chan startup.Lost{make(chan startup.Lost, 8), make(chan startup.Lost, 8)}
	welcomed(t, p, 0, hears[0])
	p.TellLost(startup.Lost{Ranks: []int32{5}, Text: "x"})
	p.TellLost(startup.Lost{Ranks: []int32{6}, Text: "y"})
	welcomed(t, p, 1, hears[1]) // later
	p.Lost(1, supervise.Loss{Origin: supervise.Origin{Rank: 1, Machine: "a", PID: os.Getpid()}, Did: "z"}, []*Part{p})
	for i, c := range hears {
		for k, want := range []int32{5, 6, 1} {
			if got := <-c; !slices.Equal(got.Ranks, []int32{want}) || got.Text != []string{"x", "y", "z"}[k] {
				t.Errorf("rank %d: %+v, want %d", i, got, want)
			}
		}
	}
	if len(said) != 1 || !slices.Equal(said[0].Ranks, []int{1}) {
		t.Errorf("said %+v", said)
	}
}

func TestTheLossOfAClientIsThatOfItsRanksOnce(t *testing.T) {
	p := partOf(layout.Share{N: 2}, "j", &join.Plan{})
	var said []outcome.Loss
	p.Tolerate(func(_ startup.Lost, l outcome.Loss) { said = append(said, l) })
	p.begins(0, &transport.Job{Procs: []transport.Proc{{}, {}, {Client: 1}, {Client: 2}, {Client: 1}}})
	p.lostRanks(&client.RanksError{Client: 1, Ranks: []int32{1, 7}, Text: "killed"})
	for range 2 {
		p.lostClient(&client.LostError{Client: 1, Text: "it has hung up"})
	}
	if len(said) != 2 || !slices.Equal(said[0].Ranks, []int{4}) || !slices.Equal(said[1].Ranks, []int{2}) ||
		said[0].Text != "ranks of client 1 are lost: killed" || said[1].Text != "client 1 is lost: it has hung up" {
		t.Errorf("said %+v", said)
	}
	if len(p.losses.list) != 2 {
		t.Errorf("told %+v", p.losses.list)
	}
}
