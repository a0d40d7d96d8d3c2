package cases

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// cancel: 3.7.4, notes B.8. The client is rank 0, we are rank 1.
var cancel = []conform.Case{
	{Name: "cancel/queued", Rule: "3.7.4", Needs: conform.Client,
		About: "a message that waits for its window: if the cancellation succeeds nothing of it is ever sent",
		Run: job(setup{Others: two, AckMark: 1, HiWater: 2, NoAcks: true, Manual: true},
			steps("isends 1 7 0 2", "isend 1 9 0", "cancel", "say asked", "wait", "send 1 10 0"), func(t t, j *peer.Job) {
				j.Line(0, "asked")
				j.AutoAcks()
				j.Message(0, 1, 7, 0)
				j.Message(0, 1, 7, 0)
				if p := j.Take(0, 1); p.Tag == 9 { // it could not be cancelled
					j.Message(0, 1, 10, 0)
					t.Check(!j.Said(0, "cancelled 9"), "%v has been cancelled", p)
				} else {
					j.Line(0, "cancelled 9") // what it says comes another way than the packet, and may be later
				}
			})},
	{Name: "cancel/short-sync-yes", Rule: "3.7.4", Needs: conform.Client,
		About: "a short synchronous message: CANCEL with its processes and srqid; CANCELYES cancels the send",
		Run:   func(t t) { cancelled(t, 100) }},
	{Name: "cancel/long-yes", Rule: "3.7.4", Needs: conform.Client,
		About: "a long message: after CANCELYES no continuation is sent",
		Run:   func(t t) { cancelled(t, 3000) }},
	{Name: "cancel/short-sync-no", Rule: "3.7.4", Needs: conform.Client,
		About: "CANCELNO after SYNCACK: the send succeeds",
		Run:   func(t t) { refused(t, 100) }},
	{Name: "cancel/long-no", Rule: "3.7.4", Needs: conform.Client,
		About: "SYNCACK crosses CANCEL: the rest is sent, and CANCELNO is honoured",
		Run:   func(t t) { refused(t, 3000) }},
	{Name: "cancel/after-syncack", Rule: "3.7.4", Needs: conform.Client,
		About: "a message that has been received cannot be cancelled any more, whether the client asks or not",
		Run: job(setup{Others: two, Manual: true},
			steps("issend 1 7 10", "recv 1 8 0", "cancel", "wait", "send 1 10 0"), func(_ t, j *peer.Job) {
				p := j.Message(0, 1, 7, 10)
				j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 0)
				j.Send(j.Data(1, 0, 8, 0))
				if p = j.Take(0, 1); p.Type == wire.PkCancel {
					j.Control(wire.PkCancelNo, 1, 0, p.SrqID, 0)
					j.Message(0, 1, 10, 0)
				}
				j.Line(0, "sent 7 success")
			})},
	{Name: "cancel/short-standard", Rule: "3.7.4", Needs: conform.Client,
		About: "a short standard message: done when it was sent, or CANCEL with its srqid, whose answer counts",
		Run: job(setup{Others: two, Manual: true},
			steps("isend 1 7 10", "cancel", "wait", "send 1 10 0"), func(t t, j *peer.Job) {
				sent := j.Message(0, 1, 7, 10)
				if p := j.Take(0, 1); p.Type == wire.PkCancel {
					t.Check(p.SrqID == sent.SrqID, "%v must have the srqid of %v", p, sent)
					j.Control(wire.PkCancelYes, 1, 0, p.SrqID, 0)
					j.Line(0, "cancelled 7")
					j.Message(0, 1, 10, 0)
				} else {
					j.Line(0, "sent 7 success")
				}
			})},
	{Name: "cancel/unexpected", Rule: "3.7.4", Needs: conform.Client,
		About: "we cancel a message that waits unmatched: CANCELYES, and no receive gets it",
		Run: job(setup{Others: two, Manual: true}, steps("recv 1 8 0", "recv 1 7 100"), func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 50)
			j.Send(p)
			j.Control(wire.PkCancel, 1, 0, p.SrqID, 0)
			q := j.TakeType(wire.PkCancelYes, 0, 1)
			t.Check(q.SrqID == p.SrqID, "%v must have srqid %d", q, p.SrqID)
			j.Send(j.Data(1, 0, 8, 0))
			j.Send(j.Data(1, 0, 7, 60))
			j.Line(0, "recv 1 7 60")
		})},
	{Name: "cancel/unexpected-sync", Rule: "3.7.4", Needs: conform.Client,
		About: "we cancel a DATASYNC, short and long, that waits unmatched: CANCELYES, and no SYNCACK comes",
		Run: job(setup{Others: two, Manual: true, DataLen: 1000},
			steps("recv 1 8 0", "recv 1 7 100"), func(_ t, j *peer.Job) {
				for _, n := range []int{50, 5000} {
					p := j.Data(1, 0, 7, n)
					p.Type = wire.PkDataSync
					j.Send(p)
					j.Control(wire.PkCancel, 1, 0, p.SrqID, 0)
					j.TakeType(wire.PkCancelYes, 0, 1)
				}
				j.Send(j.Data(1, 0, 8, 0))
				j.Send(j.Data(1, 0, 7, 60))
				j.Line(0, "recv 1 7 60")
			})},
	{Name: "cancel/matched", Rule: "3.7.4", Needs: conform.Client,
		About: "we cancel messages that have been received, also a long one under way: CANCELNO",
		Run: job(setup{Others: two, Manual: true, DataLen: 1000},
			steps("irecv 1 7 5000", "recv 1 8 10", "send 1 1 0", "wait"), func(t t, j *peer.Job) {
				short, long := j.Data(1, 0, 8, 10), j.Data(1, 0, 7, 5000)
				j.Send(long)
				ack := j.TakeType(wire.PkSyncAck, 0, 1)
				j.Send(short)
				j.Message(0, 1, 1, 0)
				for _, p := range []uint64{long.SrqID, short.SrqID} {
					j.Control(wire.PkCancel, 1, 0, p, 0)
					q := j.TakeType(wire.PkCancelNo, 0, 1)
					t.Check(q.SrqID == p, "%v must have srqid %d", q, p)
				}
				j.Continue(long, ack.DrqID, peer.Pattern(7, 5000)[1000:], 1000)
				j.Line(0, "recv 1 7 5000")
			})},
	{Name: "cancel/unknown", Rule: "3.7.4, erratum D-28", Needs: conform.Client,
		About: "we cancel a message that was never sent: CANCELNO",
		Run: job(setup{Others: two, Manual: true}, steps("recv 1 8 0"), func(t t, j *peer.Job) {
			j.Control(wire.PkCancel, 1, 0, 1<<64-1, 0)
			q := j.TakeType(wire.PkCancelNo, 0, 1)
			t.Check(q.SrqID == 1<<64-1, "%v must have srqid %d", q, uint64(1<<64-1))
			j.Send(j.Data(1, 0, 8, 0))
		})},
	{Name: "cancel/newest", Rule: "3.7.4, notes B.8", Needs: conform.Client,
		About: "of two waiting messages with the same srqid the newer is cancelled; that of another process stays",
		Run: job(setup{Others: [][]int{{2}}, Manual: true},
			steps("recv 1 8 0", "recv 1 7 100", "recv 2 7 100", "recv 1 7 100"), func(_ t, j *peer.Job) {
				for _, m := range [][3]int{{1, 7, 10}, {1, 7, 20}, {2, 7, 30}} {
					p := j.Data(m[0], 0, m[1], m[2])
					p.SrqID = 5
					j.Send(p)
				}
				j.Control(wire.PkCancel, 1, 0, 5, 0)
				j.TakeType(wire.PkCancelYes, 0, 1)
				j.Send(j.Data(1, 0, 7, 40))
				j.Send(j.Data(1, 0, 8, 0))
				j.Line(0, "recv 1 7 10")
				j.Line(0, "recv 2 7 30")
				j.Line(0, "recv 1 7 40")
			})},
}

// asked starts a client that sends n bytes synchronously and cancels that.
func asked(t t, size int) (*peer.Job, peer.Packet) {
	j := peer.Start(t, setup{Others: two, Manual: true, DataLen: 1000}, fmt.Sprintf("issend 1 7 %d", size), "recv 1 8 0",
		"cancel", "wait")
	p := j.Message(0, 1, 7, size)
	j.Send(j.Data(1, 0, 8, 0))
	c := j.TakeType(wire.PkCancel, 0, 1)
	t.Check(c.SrqID == p.SrqID, "%v must have the srqid of %v", c, p)
	return j, p
}

func cancelled(t t, size int) {
	j, p := asked(t, size)
	j.Control(wire.PkCancelYes, 1, 0, p.SrqID, 0)
	j.Line(0, "cancelled 7")
	j.Finish() // finds whatever else was sent
}

func refused(t t, size int) {
	j, p := asked(t, size)
	j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 7)
	j.Control(wire.PkCancelNo, 1, 0, p.SrqID, 0)
	for n := len(p.Data); n < size; {
		c := j.TakeType(wire.PkData, 0, 1)
		n += len(c.Data)
	}
	j.Line(0, "sent 7 success")
	j.Finish()
}
