package cases

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// flow: the window of each ordered pair of processes (3.6, notes B.7). That no window is ever overrun, and that no
// PROTOACK too many or too few is sent, is checked in all cases of all groups.
var flow = append(windows(), []conform.Case{
	{Name: "flow/minimum", Rule: "3.6, erratum D-20", Needs: conform.Client,
		About: "hosts contribute different marks: the smallest of all hold for all",
		Run: func(t t) {
			j := peer.Start(t,
				setup{Others: [][]int{{1, 1}, {1}}, NoAcks: true, Contribute: func(l wire.Label, c int, b []byte) []byte {
					switch {
					case l == wire.HAckMark && c == 1:
						return []byte{0, 0, 0, 9, 0, 0, 0, 4}
					case l == wire.HHiWater && c == 2:
						return []byte{0, 0, 0, 11}
					}
					return b
				}}, "isends 1 7 0 30", "wait")
			j.AckMark, j.HiWater = 4, 11
			throttled(t, j, 30)
			j.Finish()
		}},
	{Name: "flow/continuations", Rule: "3.6, erratum D-22", Needs: conform.Client,
		About: "every packet of a long message counts",
		Run: job(setup{Others: two, DataLen: 10, AckMark: 2, HiWater: 5, NoAcks: true, Manual: true},
			steps("send 1 7 200"), func(_ t, j *peer.Job) {
				p := j.Message(0, 1, 7, 200)
				j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 1)
				for n := 5; n < 20; n += 2 {
					j.Arrived(0, 1, n)
					j.Acknowledge(1, 0)
				}
				j.Arrived(0, 1, 20)
				for range 19 {
					j.TakeType(wire.PkData, 0, 1)
				}
				j.AutoAcks()
				j.Line(0, "send 1 7 success")
			})},
	{Name: "flow/control-counts", Rule: "3.6, erratum D-22", Needs: conform.Client,
		About: "SYNCACK and CANCELNO wait for the window like data",
		Run: job(setup{Others: two, AckMark: 2, HiWater: 2, NoAcks: true, Manual: true},
			steps("irecv 1 7 0", "send 1 1 0", "send 1 2 0", "recv 1 8 0", "wait"), func(_ t, j *peer.Job) {
				j.Message(0, 1, 1, 0)
				j.Message(0, 1, 2, 0)
				p := j.Data(1, 0, 7, 0)
				p.Type = wire.PkDataSync
				j.Send(p)
				j.Control(wire.PkCancel, 1, 0, 12345, 0)
				j.Send(j.Data(1, 0, 8, 0))
				j.Acks(1, 0, 1) // what we sent has come; were an answer sent, the window would be overrun
				j.Line(0, "recv 1 8 0")
				j.Acknowledge(1, 0)
				j.TakeType(wire.PkSyncAck, 0, 1)
				j.TakeType(wire.PkCancelNo, 0, 1)
				j.AutoAcks()
			})},
	{Name: "flow/acks-while-computing", Rule: "3.6, erratum D-21", Needs: conform.Client,
		About: "packets are acknowledged on arrival: while the program computes and has posted no receive",
		Run:   func(t t) { computing(t, 200) }},
	{Name: "flow/unexpected-20000", Rule: "3.6, erratum D-21", Needs: conform.Client,
		About: "20000 unexpected messages do not stop the acknowledging",
		Run:   func(t t) { computing(t, 20000) }},
	{Name: "flow/full-window", Rule: "3.6, erratum D-21", Needs: conform.Client,
		About: "messages that nobody receives fill the window, and yet a SYNCACK comes behind them",
		Run: job(setup{Others: two, Manual: true, AckMark: 7, HiWater: 9},
			steps("say there", "ssend 1 7 10", "recvs 1 8 0 9"), func(_ t, j *peer.Job) {
				j.Line(0, "there")
				for range 9 {
					j.Send(j.Data(1, 0, 8, 0))
				}
				p := j.Message(0, 1, 7, 10)
				j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 0)
				j.Line(0, "ssend 1 7 success")
			})},
	{Name: "flow/pairs-apart", Rule: "3.6, erratum D-32", Needs: conform.Client,
		About: "a pair that waits for its window holds up no other pair on the same socket",
		Run: job(setup{Others: [][]int{{2}}, NoAcks: true},
			steps("isends 1 7 0 50", "send 2 8 10", "recv 2 9 10", "wait"), func(t t, j *peer.Job) {
				j.Arrived(0, 1, int(j.HiWater))
				j.Message(0, 2, 8, 10)
				j.Send(j.Data(2, 0, 9, 10))
				j.Line(0, "recv 2 9 10")
				throttled(t, j, 50)
			})},
	{Name: "flow/both-blast", Rule: "3.6, notes B.6", Needs: conform.Client,
		About: "while nobody reads what the client sends, it reads what it is sent: two full sockets are no deadlock",
		Run: func(t t) {
			const procs, each, size = 8, 20, 65536
			var steps []string
			for p := 1; p <= procs; p++ {
				steps = append(steps, fmt.Sprintf("isends %d 7 %d %d", p, size, each))
			}
			steps = append(steps, "say sending")
			for p := 1; p <= procs; p++ {
				steps = append(steps, fmt.Sprintf("recvs %d 8 %d %d", p, size, each))
			}
			j := peer.Start(t, setup{Others: [][]int{{procs}}}, append(steps, "wait")...)
			l := j.Link(1, 0)
			l.Conn.SetReadBuffer(1 << 16)
			resume := l.Pause()
			for p := 1; p <= procs; p++ {
				for range each {
					j.Send(j.Data(p, 0, 8, size))
				}
			}
			resume()
			for p := 1; p <= procs; p++ {
				for range each {
					j.Message(0, p, 7, size)
				}
			}
			j.Finish()
		}},
}...)

// windows lets the client run into windows of several sizes.
func windows() (list []conform.Case) {
	for _, w := range [][2]uint32{{1, 1}, {1, 2}, {5, 5}, {7, 9}, {10, 20}, {3, 20}} {
		list = append(list, conform.Case{Name: fmt.Sprintf("flow/window-%d-%d", w[0], w[1]), Rule: "3.6",
			Needs: conform.Client,
			About: fmt.Sprintf("ackmark %d, hiwater %d: the client stops at hiwater, and goes on by ackmark with every "+
				"PROTOACK; and acknowledges what it gets", w[0], w[1]),
			Run: job(setup{Others: two, AckMark: w[0], HiWater: w[1], NoAcks: true},
				steps("isends 1 7 0 50", "wait", "recvs 1 8 0 50"), func(t t, j *peer.Job) {
					throttled(t, j, 50)
					for range 50 {
						j.Send(j.Data(1, 0, 8, 0))
					}
					j.Acks(1, 0, 50/int(w[0]))
				})})
	}
	return list
}

// throttled takes n empty messages from process 0 to process 1, acknowledging only when the client has filled the
// window. The links see to it that it is not overrun.
func throttled(t t, j *peer.Job, n int) {
	a, h := int(j.AckMark), int(j.HiWater)
	for sent := h; sent < n; sent += a {
		j.Arrived(0, 1, sent)
		j.Acknowledge(1, 0)
	}
	j.Arrived(0, 1, n)
	j.AutoAcks()
	for range n {
		j.Message(0, 1, 7, 0)
	}
}

// computing sends n messages to a program that is not in MPI.
func computing(t t, n int) {
	j := peer.Start(t, setup{Others: two}, "compute", fmt.Sprintf("recvs 1 7 8 %d", n))
	for range n {
		j.Send(j.Data(1, 0, 7, 8))
	}
	j.Acks(1, 0, n/int(j.AckMark))
	j.Go()
	j.Finish()
}
