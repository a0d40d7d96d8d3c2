package ports

import (
	"sync"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
)

// The processes of the suite call each other by their ranks there, which are numbers here. In the meeting they come in
// another order.
func TestConnectionsOfAMeetingConform(t *testing.T) {
	for name, sealed := range map[string]bool{"tcp": false, "tcp behind TLS": true} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
				return conform(t, rx, sealed)
			})
		})
	}
}

func conform(t *testing.T, rx []*conformance.Receiver, sealed bool) *conformance.World {
	const n = conformance.Processes
	place := [n]int{2, 0, 1} // of each rank
	list := transport.Participants{Cards: make([][]byte, n), Number: make([]int32, n)}
	var meetings [n]transport.Meeting
	for r := range n {
		var err error
		if meetings[r], err = New(Config{Bind: loopback, Rank: int32(r), Sealed: sealed}); err != nil {
			t.Fatal(err)
		}
		if list.Cards[place[r]], err = meetings[r].Card(); err != nil {
			t.Fatal(err)
		}
		list.Number[place[r]] = int32(r)
	}
	w := &conformance.World{Transports: make([]transport.Transport, n), Victim: 2}
	var joined sync.WaitGroup
	for r, m := range meetings {
		joined.Go(func() {
			mine := list
			mine.Me = place[r]
			links, err := m.Join(deadline(t), mine, rx[r], func() {})
			if err != nil || len(links) != n-1 || links[0].By != links[1].By {
				t.Errorf("%d: %v, %v", r, links, err)
				return
			}
			w.Transports[r] = links[0].By
			m.Close()
		})
	}
	joined.Wait()
	if t.Failed() {
		t.FailNow()
	}
	hosts := [n]*guests{}
	for r, x := range w.Transports {
		hosts[r] = x.(*guests)
	}
	w.Kill = hosts[2].Abort
	t.Cleanup(func() {
		for _, g := range hosts {
			g.Abort()
			<-g.done
		}
	})
	return w
}
