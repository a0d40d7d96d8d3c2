package cases

import (
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// finish: 2.4, 3.8 (notes B.9).
var finish = []conform.Case{
	{Name: "finish/fini-first", Rule: "3.8", Needs: conform.Client,
		About: "our FINI comes before the client has sent its own",
		Run: func(t t) {
			j := peer.Start(t, setup{Rank: 1, Others: two})
			j.Play(j.World(), wire.WorldCID, peer.Barrier(j.Comm(j.World())))
			j.SayFini()
			j.AwaitFini()
			j.End()
		}},
	{Name: "finish/fini-twice", Rule: "3.8", Needs: conform.Client,
		About: "a second FINI is no error",
		Run: func(t t) {
			j := ended(t, setup{Others: two})
			j.SayFini()
			j.SayFini()
			j.End()
		}},
	{Name: "finish/all-processes", Rule: "3.8", Needs: conform.Client,
		About: "every socket carries one FINI, and the server hears FINI when all have ended, not before",
		Run: func(t t) {
			j := ended(t, setup{Procs: 2, Others: [][]int{{1}, {1}}})
			j.ServerSilent()
			j.SayFini()
			j.End()
		}},
	{Name: "finish/late-messages", Rule: "3.8", Needs: conform.Client,
		About: "after its FINI the client acknowledges what still comes, and answers DATASYNC and CANCEL, until our FINI",
		Run: func(t t) {
			j := ended(t, setup{Others: two})
			for range 100 {
				j.Send(j.Data(1, 0, 7, 1000))
			}
			p := j.Data(1, 0, 7, 10)
			p.Type = wire.PkDataSync
			j.Send(p)
			j.Synced(p.SrqID)
			j.Control(wire.PkCancel, 1, 0, 99, 0)
			q := j.Take(0, 1)
			t.Check(q.Type == wire.PkCancelNo, "%v must be CANCELNO", q)
			j.Acks(1, 0, 100/int(j.AckMark))
			j.SayFini()
			j.End()
		}},
	{Name: "finish/unreceived", Rule: "3.8", Needs: conform.Client,
		About: "messages that nobody has received do not disturb the end",
		Run: job(setup{Others: two}, nil, func(_ t, j *peer.Job) {
			for range 50 {
				j.Send(j.Data(1, 0, 7, 1000))
			}
		})},
	{Name: "finish/close-at-once", Rule: "3.8", Needs: conform.Client,
		About: "we close as soon as both FINIs are through: no error",
		Run: func(t t) {
			j := ended(t, setup{Others: two})
			j.SayFini()
			j.LinkOf(1, 0).Cut()
			j.Fini()
			j.Exit(0)
		}},
	{Name: "finish/closed-while-running", Rule: "3.8", Needs: conform.Client,
		About: "a connection ends without FINI while the client waits for a message: it ends badly, soon",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two}, "say there", "recv 1 5 0")
			j.Line(0, "there")
			j.LinkOf(1, 0).Cut()
			j.ExitBadly()
			neverFini(t, j)
		}},
	{Name: "finish/reset-while-running", Rule: "3.8", Needs: conform.Client,
		About: "a connection is reset while the client waits for a message: it ends badly, soon",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two}, "say there", "recv 1 5 0")
			j.Line(0, "there")
			j.LinkOf(1, 0).Reset()
			j.ExitBadly()
			neverFini(t, j)
		}},
	{Name: "finish/closed-in-finalize", Rule: "3.8", Needs: conform.Client,
		About: "a connection ends without FINI while the client is in MPI_Finalize: it ends badly, soon",
		Run: func(t t) {
			j := ended(t, setup{Others: two})
			j.LinkOf(1, 0).Cut()
			j.ExitBadly()
		}},
	{Name: "finish/closed-before-barrier", Rule: "3.8, 4.10", Needs: conform.Client,
		About: "a connection ends without FINI while the client is in the barrier of MPI_Finalize: it ends badly, soon",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two}, "say there")
			j.Line(0, "there")
			j.LinkOf(1, 0).Cut()
			j.ExitBadly()
		}},
	{Name: "finish/abort", Rule: "notes B.9", Needs: conform.Client,
		About: "MPI_Abort: connections end without FINI, also the server's; the exit code is the program's",
		Run: func(t t) {
			j := peer.Start(t, setup{Procs: 2, Others: [][]int{{1}, {1}}}, "recv 2 5 0", "@0 abort 7", "@1 recv 2 6 0")
			for _, l := range j.Links() {
				l.Ignore()
			}
			j.Send(j.Data(2, 0, 5, 0))
			j.Exit(7)
			neverFini(t, j)
			t.Check(!j.HeardFini(), "a host says FINI after MPI_Abort")
		}},
	{Name: "finish/died", Rule: "notes B.9", Needs: conform.Client,
		About: "a process ends without MPI_Finalize: connections end without FINI, also the server's",
		Run: func(t t) {
			j := peer.Start(t, setup{Procs: 2, Others: [][]int{{1}}}, "recv 2 5 0", "@0 exit 9", "@1 recv 2 6 0")
			for _, l := range j.Links() {
				l.Ignore()
			}
			j.Send(j.Data(2, 0, 5, 0))
			j.Exit(9)
			neverFini(t, j)
			t.Check(!j.HeardFini(), "a host says FINI though a process has died")
		}},
}

// ended starts a job without messages, up to the client's FINI.
func ended(t t, s setup) *peer.Job {
	j := peer.Start(t, s)
	j.Play(j.World(), wire.WorldCID, peer.Barrier(j.Comm(j.World())))
	j.AwaitFini()
	return j
}

// neverFini reads the server's connection to its end.
func neverFini(t t, j *peer.Job) {
	for {
		c, err := codec.ReadCmd(j.Server(), 1<<20)
		if err != nil {
			return
		}
		t.Check(c.Cmd != int32(wire.CmdFini), "the client says FINI to the server as if it had finished")
	}
}
