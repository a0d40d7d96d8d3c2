package cases

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// packets: each packet type, short and long, synchronous and not (3.5, 3.7). The client is rank 0, we are rank 1.
var packets = []conform.Case{
	{Name: "packet/short", Rule: "3.7.1", Needs: conform.Client,
		About: "a standard short message, also an empty one, is one DATA with all fields right and the rest 0",
		Run: job(setup{Others: two, Manual: true}, steps("send 1 7 100", "send 1 8 0"), func(t t, j *peer.Job) {
			for i, n := range []int{100, 0} {
				p := j.Message(0, 1, 7+i, n)
				header(t, p, wire.PkData, n, n)
			}
		})},
	{Name: "packet/ready-buffered", Rule: "3.7.1", Needs: conform.Client,
		About: "short messages in ready and buffered mode are DATA",
		Run: job(setup{Others: two, Manual: true},
			steps("buffer 10000", "bsend 1 7 100", "rsend 1 8 5"), func(t t, j *peer.Job) {
				header(t, j.Message(0, 1, 7, 100), wire.PkData, 100, 100)
				header(t, j.Message(0, 1, 8, 5), wire.PkData, 5, 5)
			})},
	{Name: "packet/short-sync", Rule: "3.7.3", Needs: conform.Client,
		About: "a short synchronous message is one DATASYNC, and the send ends with its SYNCACK and not before",
		Run: job(setup{Others: two, Manual: true}, steps("issend 1 7 100", "send 1 8 0", "wait"), func(t t, j *peer.Job) {
			p := j.Message(0, 1, 7, 100)
			header(t, p, wire.PkDataSync, 100, 100)
			j.Message(0, 1, 8, 0)
			t.Check(!j.Said(0, "sent 7 success"), "the send is done and nobody has received the message")
			j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 0)
			j.Line(0, "sent 7 success")
		})},
	{Name: "packet/short-sync-drqid", Rule: "3.7.3", Needs: conform.Client,
		About: "whatever drqid the SYNCACK of a short message has does not matter",
		Run: job(setup{Others: two, Manual: true}, steps("ssend 1 7 100"), func(_ t, j *peer.Job) {
			j.Control(wire.PkSyncAck, 1, 0, j.Message(0, 1, 7, 100).SrqID, 1<<63)
			j.Line(0, "ssend 1 7 success")
		})},
	{Name: "packet/long", Rule: "3.7.2", Needs: conform.Client,
		About: "a message above IMPI_Pk_maxdatalen: DATASYNC with that many bytes, the rest after SYNCACK, drqid echoed",
		Run: func(t t) {
			for i, drqid := range []uint64{1, 0, 1<<64 - 1} {
				long(t, 1000+i, 2500, drqid)
			}
		}},
	{Name: "packet/lengths", Rule: "3.7", Needs: conform.Client,
		About: "messages around one and two packets: 1, D-1, D, D+1, 2D, 2D+1 bytes, D being 64, 7 and 1",
		Run: func(t t) {
			for _, d := range []int{64, 7, 1} {
				var steps []string
				sizes := []int{1, d - 1, d, d + 1, 2 * d, 2*d + 1}
				for i, n := range sizes {
					steps = append(steps, fmt.Sprintf("send 1 %d %d", i, n), fmt.Sprintf("recv 1 %d %d", 10+i, n))
				}
				j := peer.Start(t, setup{Others: two, DataLen: uint32(d)}, steps...)
				for i, n := range sizes {
					p := j.Message(0, 1, i, n)
					if long := p.Type == wire.PkDataSync; long != (n > d) {
						t.Errorf("D is %d: a message of %d bytes begins with %s", d, n, codec.TypeName(p.Type))
					}
					j.SendMessage(1, 0, 1, int32(10+i), wire.WorldCID, peer.Pattern(10+i, n))
					j.Line(0, fmt.Sprintf("recv 1 %d %d", 10+i, n))
				}
				j.Finish()
			}
		}},
	{Name: "packet/long-modes", Rule: "3.7.2", Needs: conform.Client,
		About: "a long message is the same in all modes",
		Run: job(setup{Others: two, DataLen: 1000},
			steps("buffer 100000", "send 1 1 5000", "bsend 1 2 5000", "ssend 1 3 5000", "rsend 1 4 5000"), func(t t,
				j *peer.Job) {
				for tag := 1; tag <= 4; tag++ {
					p := j.Message(0, 1, tag, 5000)
					t.Check(p.Type == wire.PkDataSync && len(p.Data) == 5000, "%v must begin with DATASYNC", p)
				}
			})},
	{Name: "packet/long-10MiB", Rule: "3.7.2", Needs: conform.Client,
		About: "10 MiB in both directions",
		Run: func(t t) {
			const n = 10 << 20
			j := peer.Start(t, setup{Others: two}, fmt.Sprintf("send 1 1 %d", n), fmt.Sprintf("recv 1 2 %d", n))
			j.Message(0, 1, 1, n)
			j.SendMessage(1, 0, 1, 2, wire.WorldCID, peer.Pattern(2, n))
			j.Line(0, fmt.Sprintf("recv 1 2 %d", n))
			j.Finish()
		}},
	{Name: "packet/syncack-posted", Rule: "3.7.3", Needs: conform.Client,
		About: "a DATASYNC that matches a posted receive is answered with SYNCACK: processes swapped, srqid copied",
		Run: job(setup{Others: two, Manual: true}, steps("irecv 1 7 100", "send 1 1 0", "wait"), func(t t, j *peer.Job) {
			j.Message(0, 1, 1, 0)
			syncAck(t, j)
			j.Line(0, "recv 1 7 100")
		})},
	{Name: "packet/syncack-unexpected", Rule: "3.7.3", Needs: conform.Client,
		About: "a DATASYNC that nobody receives yet is answered when it is matched, not when it arrives",
		Run: job(setup{Others: two, Manual: true},
			steps("recv 1 8 0", "send 1 1 0", "recv 1 7 100"), func(t t, j *peer.Job) {
				p := j.Data(1, 0, 7, 100)
				p.Type, p.SrqID = wire.PkDataSync, 0xabcdef0123456789
				j.Send(p)
				j.Send(j.Data(1, 0, 8, 0))
				j.Message(0, 1, 1, 0) // no SYNCACK before it
				answer(t, j, p.Header, wire.PkSyncAck)
				j.Line(0, "recv 1 7 100")
			})},
	{Name: "packet/syncack-truncated", Rule: "3.7.2, MPI 3.2.6", Needs: conform.Client,
		About: "short and long messages into too small buffers: MPI_ERR_TRUNCATE, the sender completes, " +
			"the next message is whole",
		Run: job(setup{Others: two, DataLen: 100},
			steps("recv 1 1 10", "recv 1 2 10", "recv 1 3 150", "recv 1 4 50"), func(_ t, j *peer.Job) {
				for i, n := range []int{50, 1000, 1000, 50} {
					j.SendMessage(1, 0, 1, int32(i+1), wire.WorldCID, peer.Pattern(i+1, n))
				}
				for i, want := range []string{"truncate", "truncate", "truncate", "50"} {
					j.Line(0, fmt.Sprintf("recv 1 %d %s", i+1, want))
				}
			})},
	{Name: "packet/uneven-chunks", Rule: "3.7.2", Needs: conform.Client,
		About: "the rest of a long message comes in packets of any length",
		Run: job(setup{Others: two, DataLen: 1000}, steps("recv 1 7 5000"), func(_ t, j *peer.Job) {
			p := j.Data(1, 0, 7, 5000)
			j.Send(p)
			drqid, rest := j.Synced(p.SrqID), peer.Pattern(7, 5000)[1000:]
			for _, n := range []int{1, 999, 1000, 3, 997, 500, 499, 1} {
				j.Continue(p, drqid, rest[:n], n)
				rest = rest[n:]
			}
			j.Line(0, "recv 1 7 5000")
		})},
	{Name: "packet/interleaved", Rule: "3.7.2", Needs: conform.Client,
		About: "two long messages of one pair come in turns, with short ones between their packets",
		Run: job(setup{Others: two, DataLen: 100, HiWater: 200, AckMark: 5},
			steps("irecv 1 1 1000", "irecv 1 2 1000", "irecv 1 3 10", "irecv 1 3 10", "wait"), func(_ t, j *peer.Job) {
				a, b := j.Data(1, 0, 1, 1000), j.Data(1, 0, 2, 1000)
				j.Send(a)
				j.Send(b)
				da, db := j.Synced(a.SrqID), j.Synced(b.SrqID)
				ra, rb := peer.Pattern(1, 1000)[100:], peer.Pattern(2, 1000)[100:]
				for i := range 9 {
					j.Continue(a, da, ra[100*i:][:100], 100)
					if i == 2 || i == 5 {
						j.Send(j.Data(1, 0, 3, i))
					}
					j.Continue(b, db, rb[100*i:][:100], 100)
				}
				for _, line := range []string{"recv 1 1 1000", "recv 1 2 1000", "recv 1 3 2", "recv 1 3 5"} {
					j.Line(0, line)
				}
			})},
	{Name: "packet/bytewise", Rule: "3.5", Needs: conform.Client,
		About: "packets come byte by byte",
		Run: job(setup{Others: two}, steps("recv 1 1 20", "recv 1 2 0"), func(_ t, j *peer.Job) {
			for tag, n := range []int{1: 20, 2: 0} {
				if tag > 0 {
					for _, b := range j.Data(1, 0, tag, n).Bytes() {
						j.LinkOf(1, 0).Bytes([]byte{b})
					}
					j.Sent(1, 0, 1)
				}
			}
			j.Line(0, "recv 1 2 0")
		})},
	{Name: "packet/junk-in-control", Rule: "3.5, erratum D-17", Needs: conform.Client,
		About: "SYNCACK, PROTOACK, CANCEL and FINI with junk in all fields they do not use, pk_len 128: nothing follows them",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two, Manual: true, NoAcks: true}, "ssend 1 7 100", "recv 1 8 10")
			p := j.Message(0, 1, 7, 100)
			junk := func(kind uint32, srqid uint64) codec.Packet {
				h := codec.Header{Type: kind, Len: 128, MsgLen: 128, LSRank: -1, Tag: -1, CID: 77, SeqNum: 5, Count: -1, Dtype: 9,
					Reserved: 1 << 63, Src: j.Procs[1].ID, Dst: j.Procs[0].ID, SrqID: srqid}
				return codec.Packet{Header: h}
			}
			j.Send(junk(wire.PkSyncAck, p.SrqID))
			j.Send(junk(wire.PkCancel, 12345))
			p = j.TakeType(wire.PkCancelNo, 0, 1)
			j.Send(j.Data(1, 0, 8, 10))
			j.Line(0, "recv 1 8 10")
			j.Play(j.World(), wire.WorldCID, peer.Barrier(j.Comm(j.World())))
			j.AwaitFini()
			fini := junk(wire.PkFini, 3)
			fini.Src, fini.Dst = codec.ID{PID: -1}, codec.ID{PID: -1}
			j.LinkOf(1, 0).Bytes(fini.Bytes())
			j.End()
		}},
	{Name: "packet/qos-ignored", Rule: "3.5", Needs: conform.Client,
		About: "pk_seqnum, pk_count, pk_dtype and pk_reserved of a message may hold anything",
		Run: job(setup{Others: two}, steps("recv 1 7 10"), func(_ t, j *peer.Job) {
			p := j.Data(1, 0, 7, 10)
			p.SeqNum, p.Count, p.Dtype, p.Reserved, p.DrqID = 1<<63, -7, 99, 1<<64-1, 42
			j.Send(p)
			j.Line(0, "recv 1 7 10")
		})},
	{Name: "packet/qos", Rule: "3.5", Needs: conform.Client,
		About: "pk_count, pk_dtype and pk_seqnum, if they are used: the elements sent, one value for each type, another " +
			"for each message",
		Run: qos},
	{Name: "packet/packed", Rule: "4.1, erratum D-38", Needs: conform.Client,
		About: "MPI_Pack on a communicator of several clients makes external32 without a header, " +
			"MPI_Pack_size says its length",
		Run: job(setup{Others: two}, steps("sendpacked 1 7", "recvpacked 1 8"), func(t t, j *peer.Job) {
			want := append(codec.U32(1<<32-2, 300), codec.U64(0x4004000000000000)...)
			p := j.Take(0, 1)
			t.Check(bytes.Equal(p.Data, want), "packed are %x, must be %x", p.Data, want)
			j.SendMessage(1, 0, 1, 8, wire.WorldCID, want)
			j.Line(0, "packed 16")
			j.Line(0, "unpacked -2 300 2.5")
		})},
	{Name: "packet/same-srqid", Rule: "3.7.4, errata D.0", Needs: conform.Client,
		About: "short standard messages that all have srqid 0",
		Run: job(setup{Others: two}, steps("recv 1 1 1", "recv 1 2 2", "recv 1 3 3"), func(_ t, j *peer.Job) {
			for _, tag := range []int{3, 2, 1} {
				p := j.Data(1, 0, tag, tag)
				p.SrqID = 0
				j.Send(p)
			}
			j.Line(0, "recv 1 3 3")
		})},
	{Name: "packet/order", Rule: "3.7, MPI 3.5", Needs: conform.Client,
		About: "messages match in the order of their first packets, wildcards too, long before short",
		Run: job(setup{Others: [][]int{{1, 1}}, DataLen: 100},
			steps("recv 1 9 0", "recv -1 5 1000", "recv 1 -1 1000", "recv -1 -1 10", "recv 2 5 10"), func(_ t, j *peer.Job) {
				first := j.Data(1, 0, 5, 1000)
				j.Send(first)
				j.Send(j.Data(1, 0, 5, 7))
				j.Send(j.Data(1, 0, 6, 8))
				j.Send(j.Data(1, 0, 9, 0))
				j.Line(0, "recv 1 9 0")
				j.Continue(first, j.Synced(first.SrqID), peer.Pattern(5, 1000)[100:], 100)
				j.Send(j.Data(2, 0, 5, 3))
				for _, line := range []string{"recv 1 5 1000", "recv 1 5 7", "recv 1 6 8", "recv 2 5 3"} {
					j.Line(0, line)
				}
			})},
	{Name: "packet/lsrank", Rule: "3.5, erratum D-24", Needs: conform.Client,
		About: "in a communicator where ranks are reversed, pk_lsrank is the rank there; " +
			"who says its world rank is known by pk_src",
		Run: job(setup{Procs: 2, Others: [][]int{{1}}},
			steps("@0 split 0 2 1", "@1 split 0 1 1", "comm 1", "@0 send 0 5 10", "@0 recv 0 6 10", "@0 recv 0 7 10",
				"free 1"), func(t t, j *peer.Job) {
				// The new ranks: we (world 2) are 0, world 1 is 1, world 0 is 2.
				key := map[int]int32{0: 2, 1: 1, 2: 0}
				world := j.World()
				j.Play(world, wire.WorldCID, peer.Split(j.Comm(world), firstMax, func(r int) []byte {
					return codec.I32(0, key[r], int32(r))
				}))
				sub := []int{2, 1, 0}
				p := j.Take(0, 2)
				t.Check(p.LSRank == 2 && p.CID == 2 && p.Tag == 5, "%v must have lsrank 2, cid 2, tag 5", p)
				j.SendMessage(2, 0, 0, 6, 2, peer.Pattern(6, 10))
				j.Line(0, "recv 0 6 10")
				j.SendMessage(2, 0, 2, 7, 2, peer.Pattern(7, 10))
				j.Line(0, "recv 0 7 10")
				j.Play(sub, 2, peer.Barrier(j.Comm(sub)))
			})},
	{Name: "packet/early-communicator", Rule: "4.3", Needs: conform.Client,
		About: "a message of a communicator that the receiver has not built yet is kept for it",
		Run: job(setup{Others: two},
			steps("recv 1 9 0", "dup 1", "comm 1", "recv 1 5 10", "free 1"), func(_ t, j *peer.Job) {
				j.SendMessage(1, 0, 1, 5, 2, peer.Pattern(5, 10))
				j.Send(j.Data(1, 0, 9, 0))
				world := j.World()
				j.Play(world, wire.WorldCID, peer.Agree(j.Comm(world), firstMax))
				j.Line(0, "recv 1 5 10")
				j.Play(world, 2, peer.Barrier(j.Comm(world)))
			})},
	{Name: "packet/probe", Rule: "3.7, MPI 3.8", Needs: conform.Client,
		About: "probe sees a message when its first packet is complete, and not before; a long one has its whole length",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two, DataLen: 100}, "recv 1 9 0", "iprobe 1 5", "send 1 1 0", "probe 1 5",
				"iprobe -1 -1", "recv 1 5 1000", "iprobe -1 -1", "iprobe 1 9")
			first := j.Data(1, 0, 5, 1000)
			b := first.Bytes()
			j.Send(j.Data(1, 0, 9, 0))
			link := j.LinkOf(1, 0)
			link.Bytes(b[:len(b)-1])
			j.Line(0, "probe none")
			j.Message(0, 1, 1, 0)
			link.Bytes(b[len(b)-1:])
			j.Sent(1, 0, 1)
			j.Line(0, "probe 1 5 1000")
			j.Continue(first, j.Synced(first.SrqID), peer.Pattern(5, 1000)[100:], 100)
			j.Line(0, "recv 1 5 1000")
			j.Finish()
			t.Check(j.Times(0, "probe none") == 3 && j.Times(0, "probe 1 5 1000") == 2, "the probes found other messages")
		}},
	{Name: "packet/external32", Rule: "1.2.2, MPI 14.5.2", Needs: conform.Client,
		About: "every basic type travels in external32, both ways: MPI_LONG has 4 bytes, long double 16, pairs no gaps",
		Run:   external32},
	{Name: "packet/pairs", Rule: "3.2", Needs: conform.Client,
		About: "two processes of each client: every pair both ways, synchronous and long, from every host to every other",
		Run: func(t t) {
			var steps []string
			for to := 2; to < 4; to++ {
				steps = append(steps, fmt.Sprintf("ssend %d 1 10", to), fmt.Sprintf("send %d 2 3000", to))
			}
			for from := 2; from < 4; from++ {
				steps = append(steps, fmt.Sprintf("recv %d 3 10", from), fmt.Sprintf("recv %d 4 3000", from))
			}
			j := peer.Start(t, setup{Procs: 2, Others: [][]int{{1, 1}}, DataLen: 1024}, steps...)
			for to := 2; to < 4; to++ {
				for from := range 2 {
					j.Message(from, to, 1, 10)
					j.Message(from, to, 2, 3000)
				}
			}
			for from := 2; from < 4; from++ {
				for to := range 2 {
					j.Send(j.Data(from, to, 3, 10))
					j.SendMessage(from, to, int32(from), 4, wire.WorldCID, peer.Pattern(4, 3000))
				}
			}
			j.Finish()
		}},
}

// firstMax is every process's max_cid before it has made a communicator.
func firstMax(int) uint64 { return 1 }

// header compares the first packet of a message with table 3.1: fields that have no use are 0.
func header(t t, p peer.Packet, kind uint32, n, total int) {
	must := p.Header
	must.Type, must.Len, must.MsgLen, must.DrqID, must.Reserved = kind, uint32(n), uint64(total), 0, 0
	t.Must(p, p.Header, must)
}

// long takes a long message packet by packet.
func long(t t, d, n int, drqid uint64) {
	j := peer.Start(t, setup{Others: two, Manual: true, DataLen: uint32(d)},
		fmt.Sprintf("isend 1 7 %d", n), "send 1 8 0", "wait")
	p := j.Message(0, 1, 7, n)
	header(t, p, wire.PkDataSync, d, n)
	j.Message(0, 1, 8, 0) // nothing of the rest before it
	data := p.Data
	j.Control(wire.PkSyncAck, 1, 0, p.SrqID, drqid)
	for len(data) < n {
		c := j.TakeType(wire.PkData, 0, 1)
		want := p.Header
		want.Type, want.DrqID, want.Len = wire.PkData, drqid, uint32(min(d, n-len(data)))
		want.SeqNum, want.Count, want.Dtype = c.SeqNum, c.Count, c.Dtype
		t.Must(c, c.Header, want)
		t.Stop()
		data = append(data, c.Data...)
	}
	t.Check(bytes.Equal(data, peer.Pattern(7, n)), "the message has other data than were sent")
	j.Finish()
}

// qos checks the optional fields that are not 0: they must say what the standard says they do.
func qos(t t) {
	const d = 64
	sent := []struct {
		name    string
		count   int64
		packets int
	}{{"int", 3, 1}, {"double", 3, 1}, {"int", 3, 1}, {"", 1000, 16}, {"", 10, 1}}
	var steps []string
	for i, s := range sent {
		if s.name == "" {
			steps = append(steps, fmt.Sprintf("send 1 %d %d", i, s.count))
		} else {
			steps = append(steps, fmt.Sprintf("sendtype %s 1 %d", s.name, i))
		}
	}
	j := peer.Start(t, setup{Others: two, Manual: true, DataLen: d}, steps...)
	types, numbers := map[string]uint64{}, map[uint64]bool{}
	for _, s := range sent {
		first := j.Take(0, 1)
		if first.Type == wire.PkDataSync {
			j.Control(wire.PkSyncAck, 1, 0, first.SrqID, 1)
		}
		if first.Count != 0 || first.SeqNum != 0 || first.Dtype != 0 {
			t.Check(first.Count == s.count, "%v: pk_count is %d, must be %d", first, first.Count, s.count)
			t.Check(!numbers[first.SeqNum], "%v: pk_seqnum %d is another message's", first, first.SeqNum)
			if old, ok := types[s.name]; ok {
				t.Check(first.Dtype == old, "%v: pk_dtype is %#x, was %#x", first, first.Dtype, old)
			}
			for name, dtype := range types {
				t.Check(name == s.name || dtype == 0 || dtype != first.Dtype,
					"%v: pk_dtype %#x is that of another type", first, dtype)
			}
		}
		types[s.name], numbers[first.SeqNum] = first.Dtype, true
		for range s.packets - 1 {
			p := j.TakeType(wire.PkData, 0, 1)
			t.Check(p.SeqNum == first.SeqNum && p.Count == first.Count && p.Dtype == first.Dtype,
				"%v continues %v and differs in pk_seqnum, pk_count or pk_dtype", p, first)
		}
	}
	j.Finish()
}

// syncAck sends a DATASYNC and takes its answer.
func syncAck(t t, j *peer.Job) {
	p := j.Data(1, 0, 7, 100)
	p.Type = wire.PkDataSync
	j.Send(p)
	answer(t, j, p.Header, wire.PkSyncAck)
}

// answer takes the answer to a packet of ours: swapped processes, srqid copied, the rest 0.
func answer(t t, j *peer.Job, to codec.Header, kind uint32) {
	p := j.TakeType(kind, 0, 1)
	want := codec.Header{Type: kind, Src: to.Dst, Dst: to.Src, SrqID: to.SrqID, DrqID: p.DrqID}
	t.Must(p, p.Header, want)
}

// external holds, for each type of the player's, what its three values are on the wire.
var external = []struct{ name, hex string }{
	{"char", "417aff"}, {"schar", "807fff"}, {"uchar", "00ff07"},
	{"short", "fffe012c8000"}, {"ushort", "0001012cffff"},
	{"int", "fffffffe0001117080000000"}, {"uint", "0000000100011170ffffffff"},
	{"long", "fffffffe0001117080000000"}, {"ulong", "0000000100011170ffffffff"},
	{"llong", "fffffffffffffffe00000100000000008000000000000000"},
	{"float", "3fc00000ff80000000000001"},
	{"double", "bfb999999999999a7ff00000000000000000000000000001"},
	{"ldouble", "3fff8000000000000000000000000000" + "c0000000000000000000000000000000" +
		"00000000000000000000000000000000"},
	{"wchar", "004120acffff"},
	{"2int", "00000001fffffffe0000000300000004fffffffb00000006"},
	{"float_int", "3fc00000fffffffe" + "c040000000000004" + "40a0000000000006"},
	{"double_int", "3ff8000000000000fffffffe" + "c00800000000000000000004" + "401400000000000000000006"},
	{"short_int", "0001fffffffe" + "fffd00000004" + "000500000006"},
}

func external32(t t) {
	var steps []string
	for i, x := range external {
		steps = append(steps, fmt.Sprintf("sendtype %s 1 %d", x.name, i), fmt.Sprintf("recvtype %s 1 %d", x.name, i))
	}
	j := peer.Start(t, setup{Others: two}, steps...)
	for i, x := range external {
		want, _ := hex.DecodeString(x.hex)
		p := j.Take(0, 1)
		t.Check(bytes.Equal(p.Data, want), "%s: %x must be %s", x.name, p.Data, x.hex)
		j.SendMessage(1, 0, 1, int32(i), wire.WorldCID, want)
	}
	j.Finish()
}
