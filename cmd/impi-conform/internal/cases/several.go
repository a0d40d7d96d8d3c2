package cases

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// several: two clients under test, of one implementation or of two, and clients of ours (2.3, 3, 4). What the two say
// to each other is not seen, but what follows from it is.
var several = []conform.Case{
	{Name: "several/smallest-job", Rule: "2.3, 2.4, 3.8", Needs: conform.Client,
		About: "two clients under test and one of ours, in each order of the ranks, start and finish",
		Run: func(t t) {
			for ours := range 3 {
				peer.Start(t, among(3, 1, 1, (ours+1)%3, (ours+2)%3)).Finish()
			}
		}},
	{Name: "several/point-to-point", Rule: "3.2, 3.7", Needs: conform.Client,
		About: "short, synchronous and long messages between all processes, those of the two clients under test included",
		Run:   everyPair},
	{Name: "several/collective-3", Rule: "4.10-4.23", Needs: conform.Client,
		About: "all collectives among 3 clients, of which the first and the last are tested",
		Run:   func(t t) { playSeveral(t, among(3, 2, 1, 0, 2)) }},
	{Name: "several/collective-5", Rule: "4.10-4.23", Needs: conform.Client,
		About: "all collectives among 5 clients, by trees, of which two are tested",
		Run:   func(t t) { playSeveral(t, among(5, 2, 1, 1, 3)) }},
	{Name: "several/communicators", Rule: "4.3.1, 4.5, 4.7", Needs: conform.Client,
		About: "MPI_Comm_dup, and MPI_Comm_split into the clients under test and a process of each",
		Run: func(t t) {
			s := among(3, 2, 1, 0, 1) // ranks 0 and 1, 2, 3
			j := peer.Start(t, s, "dup 1", "comm 1", "barrier", "comm 0", "@0-1 split 0 0 2", "@2 split 0 0 2", "comm 2",
				"allreduce 3", "comm 0", "@0 split 5 3 3", "@1 split 6 0 3", "@2 split 5 2 3", "comm 3", "rank", "barrier",
				"comm 0", "free 1")
			agree(j, all(1))
			closes(j, j.World(), 2)
			split(j, all(3), func(r int) int32 { return int32(r / 3) }, func(int) int32 { return 0 }) // 0 to 2, 3
			split(j, all(5), func(r int) int32 { return []int32{5, 6, 5, 5}[r] }, func(r int) int32 {
				return []int32{3, 0, 2, 1}[r]
			})
			closes(j, []int{3, 2, 0}, 6)
			closes(j, j.World(), 2)
			j.Line(0, "rank 2 of 3")
			j.Line(2, "rank 1 of 3")
			j.Finish()
		}},
	{Name: "several/finish", Rule: "3.8, 2.4", Needs: conform.Client,
		About: "each client under test sends one FINI a socket, acknowledges until ours, and then ends",
		Run: func(t t) {
			j := ended(t, among(3, 1, 2, 0, 2))
			j.ServerSilent()
			for range 50 {
				j.Send(j.Data(1, 0, 7, 1000))
				j.Send(j.Data(1, 3, 7, 1000))
			}
			j.Acks(1, 0, 50/int(j.AckMark))
			j.Acks(1, 3, 50/int(j.AckMark))
			j.SayFini()
			j.End()
		}},
}

// among is a job of some clients, of which two with these ranks are tested, with so many processes; ours have one.
func among(clients, procs, furtherProcs, rank, further int) setup {
	s := setup{Rank: rank, Procs: procs, Further: []peer.Further{{Rank: further, Procs: furtherProcs}}}
	for range clients - 2 {
		s.Others = append(s.Others, []int{1})
	}
	return s
}

// playSeveral plays all collectives.
func playSeveral(t t, s setup) {
	var acts []act
	for _, op := range operations(s.Procs + s.Further[0].Procs + len(s.Others)) {
		acts = append(acts, op.acts...)
	}
	playAll(t, s, acts)
}

// everyPair sends from everybody to everybody. Ranks 0 and 1 are one client under test, 2 is the other, 3 is ours.
func everyPair(t t) {
	const ours = 3
	var steps []string
	each := func(do func(from, to int)) {
		for from := range 4 {
			for to := range 4 {
				if from != to {
					do(from, to)
				}
			}
		}
	}
	tag := func(from, to int) int { return 100 + 10*from + to }
	each(func(from, to int) {
		if from != ours {
			steps = append(steps, fmt.Sprintf("@%d issend %d %d 10", from, to, tag(from, to)),
				fmt.Sprintf("@%d isend %d %d 3000", from, to, tag(from, to)))
		}
	})
	each(func(from, to int) {
		if to != ours {
			steps = append(steps, fmt.Sprintf("@%d recv %d %d 10", to, from, tag(from, to)),
				fmt.Sprintf("@%d recv %d %d 3000", to, from, tag(from, to)))
		}
	})
	s := among(3, 2, 1, 0, 1)
	s.DataLen = 1024
	j := peer.Start(t, s, append(steps, "wait")...)
	for from := range ours {
		j.Message(from, ours, tag(from, ours), 10)
		j.Message(from, ours, tag(from, ours), 3000)
	}
	for to := range ours {
		n := tag(ours, to)
		p := j.Data(ours, to, n, 10)
		p.Type = wire.PkDataSync
		j.Send(p)
		j.Synced(p.SrqID)
		j.SendMessage(ours, to, ours, int32(n), wire.WorldCID, peer.Pattern(n, 3000))
	}
	for to := range ours {
		for from := range 4 {
			if from != to {
				j.Line(to, fmt.Sprintf("recv %d %d 3000", from, tag(from, to)))
				j.Line(to, fmt.Sprintf("recv %d %d 10", from, tag(from, to)))
			}
		}
	}
	j.Finish()
}
