package cases

import (
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
)

// joint: the implementation's server, which its client and ours join (2.2, 2.3).
var joint = []conform.Case{
	{Name: "joint/smallest-job", Rule: "2.3, 2.4", Needs: conform.Both,
		About: "the implementation's server and client, and a client of ours: what the server broadcasts makes a job",
		Run: func(t t) {
			for rank := range 2 {
				peer.Start(t, setup{Rank: rank, Others: two, TheirServer: true}).Finish()
			}
		}},
	{Name: "joint/three-clients", Rule: "2.3.5", Needs: conform.Both,
		About: "its client of two processes in the middle, ours with several hosts around it: ranks, and messages to all",
		Run: func(t t) {
			j := peer.Start(t, setup{Rank: 1, Procs: 2, Others: [][]int{{1, 2}, {2}}, TheirServer: true}, "rank",
				"@3 send 0 1 10", "@4 send 6 2 3000", "@3 recv 5 3 10")
			j.Line(3, "rank 3 of 7")
			j.Line(4, "rank 4 of 7")
			j.Message(3, 0, 1, 10)
			j.Message(4, 6, 2, 3000)
			j.Send(j.Data(5, 3, 3, 10))
			j.Line(3, "recv 5 3 10")
			j.Finish()
		}},
	{Name: "joint/collective", Rule: "4.11, 4.16, 4.21", Needs: conform.Both,
		About: "broadcasts, reductions and both in one among 5 clients that have met at the implementation's server",
		Run: func(t t) {
			s := shapeOf(5, 2)
			set := s.setup()
			set.TheirServer = true
			var acts []act
			for _, op := range operations(s.size) {
				if op.name == "bcast" || op.name == "reduce" || op.name == "allreduce" {
					acts = append(acts, op.acts...)
				}
			}
			playAll(t, set, acts)
		}},
}
