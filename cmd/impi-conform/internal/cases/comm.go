package cases

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// all is the same max_cid of everybody.
func all(cid uint64) func(int) uint64 { return func(int) uint64 { return cid } }

// agree plays the agreement on a context id in MPI_COMM_WORLD.
func agree(j *peer.Job, maxCID func(rank int) uint64) {
	j.Play(j.World(), wire.WorldCID, peer.Agree(j.Comm(j.World()), maxCID))
}

// split plays a split of MPI_COMM_WORLD.
func split(j *peer.Job, maxCID func(int) uint64, color, key func(rank int) int32) {
	j.Play(j.World(), wire.WorldCID, peer.Split(j.Comm(j.World()), maxCID, func(r int) []byte {
		return codec.I32(color(r), key(r), int32(r))
	}))
}

// closes plays the barrier of MPI_Comm_free, and any other.
func closes(j *peer.Job, ranks []int, cid uint64) { j.Play(ranks, cid, peer.Barrier(j.Comm(ranks))) }

// communicators: context ids, constructors and attributes (2.5, 4.3 - 4.9). The client is ranks 0 and 1, unless
// stated, and we are the rest.
var communicators = []conform.Case{
	{Name: "comm/dup", Rule: "4.5, 4.3.1", Needs: conform.Client,
		About: "MPI_Comm_dup: the first new communicator has context ids 2 and 3, the next 4 and 5, also after one was freed",
		Run: job(setup{Procs: 2, Others: [][]int{{1}}},
			steps("dup 1", "comm 1", "barrier", "comm 0", "dup 2", "free 1", "dup 3", "comm 3", "barrier"), func(_ t,
				j *peer.Job) {
				agree(j, all(1))
				closes(j, j.World(), 2)
				agree(j, all(3))
				closes(j, j.World(), 2)
				agree(j, all(5))
				closes(j, j.World(), 6)
			})},
	{Name: "comm/max-cid", Rule: "4.3.1", Needs: conform.Client,
		About: "others have used more context ids: the highest counts, and is the start of the next agreement",
		Run: job(setup{Procs: 2, Others: [][]int{{1}}},
			steps("dup 1", "comm 1", "barrier", "comm 0", "dup 2", "comm 2", "barrier"), func(_ t, j *peer.Job) {
				agree(j, func(r int) uint64 { return []uint64{1, 1, 1001}[r] })
				closes(j, j.World(), 1002)
				agree(j, func(r int) uint64 { return []uint64{1003, 1003, 5}[r] })
				closes(j, j.World(), 1004)
			})},
	{Name: "comm/wide-cid", Rule: "3.5, 4.3.1", Needs: conform.Client,
		About: "a context id of more than 32 bits",
		Run: func(t t) {
			const wide = 1<<40 + 1
			j := peer.Start(t, setup{Others: two}, "dup 1", "comm 1", "send 1 5 10", "recv 1 6 10", "free 1")
			agree(j, func(r int) uint64 { return []uint64{1, wide}[r] })
			p := j.Take(0, 1)
			t.Check(p.CID == wide+1, "%v must have cid %d", p, uint64(wide+1))
			j.SendMessage(1, 0, 1, 6, wide+1, peer.Pattern(6, 10))
			closes(j, j.World(), wide+1)
			j.Finish()
		}},
	{Name: "comm/create", Rule: "4.4", Needs: conform.Client,
		About: "MPI_Comm_create of some ranks: everybody agrees on the context id, also who is not in it",
		Run: job(setup{Procs: 2, Others: [][]int{{2}}},
			steps("create 1 2 1", "@1 comm 1", "@1 rank", "@1 barrier", "@0-1 comm 0", "create 0 3 2", "comm 2", "barrier"),
			func(_ t, j *peer.Job) {
				agree(j, all(1))
				closes(j, []int{1, 2}, 2)
				agree(j, all(3))
				closes(j, j.World(), 4)
				j.Line(1, "rank 0 of 2")
			})},
	{Name: "comm/create-empty", Rule: "4.4", Needs: conform.Client,
		About: "MPI_Comm_create of nobody costs a context id all the same",
		Run: job(setup{Procs: 2, Others: [][]int{{1}}},
			steps("create 0 -1 1", "dup 2", "comm 2", "barrier"), func(_ t, j *peer.Job) {
				agree(j, all(1))
				agree(j, all(3))
				closes(j, j.World(), 4)
			})},
	{Name: "comm/split", Rule: "4.7", Needs: conform.Client,
		About: "MPI_Comm_split: colors across clients share one context id; order by key, then rank",
		Run: job(setup{Procs: 2, Others: [][]int{{2}}},
			steps("@0 split 5 10 1", "@1 split 6 10 1", "comm 1", "rank", "barrier"), func(_ t, j *peer.Job) {
				split(j, all(1), func(r int) int32 {
					return []int32{5, 6, 5, 6}[r]
				}, func(r int) int32 { return []int32{10, 10, -1, 10}[r] })
				closes(j, []int{2, 0}, 2)
				closes(j, []int{1, 3}, 2)
				j.Line(0, "rank 1 of 2")
				j.Line(1, "rank 0 of 2")
			})},
	{Name: "comm/split-undefined", Rule: "4.7, erratum D-39", Needs: conform.Client,
		About: "who has no color is in no communicator, whatever negative number its implementation calls that",
		Run: job(setup{Procs: 2, Others: [][]int{{3}}},
			steps("@0 split 5 0 1", "@1 split 5 1 1", "comm 1", "rank", "barrier"), func(_ t, j *peer.Job) {
				split(j, all(1), func(r int) int32 {
					return []int32{5, 5, -1, -32766, 5}[r]
				}, func(r int) int32 { return int32(r) })
				closes(j, []int{0, 1, 4}, 2)
				j.Line(1, "rank 1 of 3")
			})},
	{Name: "comm/split-ours-undefined", Rule: "4.7, erratum D-39", Needs: conform.Client,
		About: "the client sends a negative color for MPI_UNDEFINED",
		Run: job(setup{Rank: 1, Others: two}, steps("split -1 0 1"), func(t t, j *peer.Job) {
			agree(j, all(1))
			p := j.Take(1, 0) // the row for the allgather
			if len(p.Data) != 12 || int32(codec.GetU32(p.Data)) >= 0 {
				t.Fatalf("%v carries %x, must be a negative color, key 0, rank 1", p, p.Data)
			}
			j.SendMessage(0, 1, 0, wire.TagBcast, wire.WorldCollCID, append(codec.I32(-1, 0, 0), p.Data...))
		})},
	{Name: "comm/split-tree", Rule: "4.7, 4.16", Needs: conform.Client,
		About: "MPI_Comm_split among 6 clients: reduction and broadcast go by the tree",
		Run: func(t t) {
			s := shapeOf(6, 3)
			j := peer.Start(t, s.setup(), "split 0 0 1", "comm 1", "barrier")
			split(j, all(1), func(int) int32 { return 0 }, func(int) int32 { return 0 })
			closes(j, j.World(), 2)
			j.Finish()
		}},
	{Name: "comm/free", Rule: "4.5", Needs: conform.Client,
		About: "MPI_Comm_free is a barrier on the communicator, and one of a single client's makes no traffic",
		Run: job(setup{Procs: 2, Others: [][]int{{1}}},
			steps("split 0 0 1", "free 1", "dup 2", "free 2"), func(_ t, j *peer.Job) {
				split(j, all(1), func(r int) int32 { return []int32{0, 0, 1}[r] }, func(int) int32 { return 0 })
				agree(j, all(3))
				closes(j, j.World(), 4)
			})},
	{Name: "comm/exhausted", Rule: "4.3.1", Needs: conform.Client,
		About: "the context ids are used up: an error on all, no hang",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two}, "dup 1", "send 1 5 0")
			j.Play(j.World(), wire.WorldCID, peer.Agree(j.Comm(j.World()), func(r int) uint64 {
				return []uint64{1, wire.MaxCID - 1}[r]
			}))
			if code, ended := j.GoesOn(); ended {
				t.Check(code != 0, "the client ends as if nothing had happened")
				return
			}
			j.Message(0, 1, 5, 0) // MPI_ERRORS_RETURN: the program has gone on
			j.Finish()
		}},
	{Name: "comm/intercomm", Rule: "4.8", Needs: conform.Client,
		About: "MPI_Intercomm_create between clients: 16 bytes, then the ranks, " +
			"on the collective context id with the user's tag",
		Run: func(t t) {
			j, x := inter(t, 0, 2, "comm 2", "rank", "@0 send 1 5 10", "@1 recv 0 6 10", "free 2")
			p := j.Take(0, x.B[1])
			t.Check(p.CID == x.CID && p.LSRank == 0 && p.Tag == 5, "%v must have cid %d, lsrank 0, tag 5", p, x.CID)
			j.SendMessage(x.B[0], 1, 0, 6, x.CID, peer.Pattern(6, 10))
			interFree(j, x)
			j.Finish()
		}},
	{Name: "comm/intercomm-leader", Rule: "4.8", Needs: conform.Client,
		About: "the local leader is not the lowest rank",
		Run: func(t t) {
			j, x := inter(t, 1, 3, "comm 2", "@0 send 1 5 10", "free 2")
			j.Take(0, x.B[1])
			interFree(j, x)
			j.Finish()
		}},
	{Name: "comm/intercomm-p2p", Rule: "4.8, erratum D-63", Needs: conform.Client,
		About: "the other leader takes the parent's point-to-point context id instead of the collective one: understood, too",
		Run: func(t t) {
			const tag = 77
			j := peer.Start(t, setup{Procs: 2, Others: [][]int{{1, 1}}}, "split 0 0 1", "comm 1",
				fmt.Sprintf("inter 0 2 %d 2", tag), "comm 2", "rank")
			split(j, all(1), func(r int) int32 { return int32(r / 2) }, func(int) int32 { return 0 })
			for _, data := range [][]byte{codec.U64(3, 2), codec.I32(2, 3)} {
				j.SendMessage(2, 0, 2, tag, wire.WorldCID, data)
				p := j.Take(0, 2)
				t.Check(p.Tag == tag && (p.CID == wire.WorldCID || p.CID == wire.WorldCID+1) && len(p.Data) == len(data),
					"%v must have tag %d, and %d bytes", p, tag, len(data))
			}
			j.Line(0, "rank 0 of 2")
			j.Line(1, "rank 1 of 2")
			j.Finish()
		}},
	{Name: "comm/attributes-inter", Rule: "2.5, notes C.12", Needs: conform.Client,
		About: "in an intercommunicator the clients and hosts of both groups count",
		Run: func(t t) {
			j, _ := inter(t, 0, 2, "comm 2", "attributes")
			counted(j, 1, 2, 0, len(j.Hosts), j.Procs[1].Host)
			j.Finish()
		}},
	{Name: "comm/merge", Rule: "4.9", Needs: conform.Client,
		About: "MPI_Intercomm_merge: the group that is not high comes first; a follower's max_cid counts",
		Run: func(t t) {
			j, x := inter(t, 0, 2, "comm 2", "merge 0 3", "comm 3", "rank", "barrier")
			merge(j, x, 0, 1, 901)
			closes(j, []int{0, 1, 2, 3}, 902)
			j.Line(0, "rank 0 of 4")
			j.Finish()
		}},
	{Name: "comm/merge-high", Rule: "4.9", Needs: conform.Client,
		About: "the client's group is high and comes last",
		Run: func(t t) {
			j, x := inter(t, 0, 2, "comm 2", "merge 1 3", "comm 3", "rank", "barrier")
			merge(j, x, 1, 0, 5)
			closes(j, []int{2, 3, 0, 1}, 6)
			j.Line(0, "rank 2 of 4")
			j.Finish()
		}},
	{Name: "comm/merge-equal", Rule: "4.9", Needs: conform.Client,
		About: "both groups are high: that of the leader with the smaller rank in MPI_COMM_WORLD comes first",
		Run: func(t t) {
			j, x := inter(t, 0, 2, "comm 2", "merge 1 3", "comm 3", "rank", "barrier")
			merge(j, x, 1, 1, 5)
			closes(j, []int{0, 1, 2, 3}, 6)
			j.Line(1, "rank 1 of 4")
			j.Finish()
		}},
	{Name: "comm/dup-inter", Rule: "4.5", Needs: conform.Client,
		About: "MPI_Comm_dup of an intercommunicator: " +
			"followers to the remote leader, leaders, leaders to the remote followers",
		Run: func(t t) {
			j, x := inter(t, 0, 2, "comm 2", "dup 3", "comm 3", "@1 send 1 5 10")
			j.PlayInter(x, exchange(x, wire.TagDup, func(b bool, r int) []byte {
				return codec.U64([]uint64{5, 5, 5, 77}[side(b, r)])
			}, [2][]byte{codec.U64(77), codec.U64(5)}, [2][]byte{codec.U64(77), codec.U64(77)}))
			p := j.Take(1, x.B[1])
			t.Check(p.CID == 78 && p.LSRank == 1, "%v must have cid 78, lsrank 1", p)
			j.Finish()
		}},
	{Name: "comm/attributes-world", Rule: "2.5", Needs: conform.Client,
		About: "clients and hosts in MPI_COMM_WORLD are counted, and numbered in the order of ranks",
		Run: job(setup{Rank: 1, Procs: 2, Others: [][]int{{2}, {1, 1}}}, steps("attributes"), func(_ t, j *peer.Job) {
			counted(j, 2, 3, 1, len(j.Hosts), 1)
			counted(j, 3, 3, 1, len(j.Hosts), j.Procs[3].Host)
		})},
	{Name: "comm/attributes-split", Rule: "2.5", Needs: conform.Client,
		About: "in a part of it only the clients and hosts in that part count, numbered as in MPI_COMM_WORLD",
		Run: job(setup{Rank: 2, Others: [][]int{{1}, {1}, {1}}},
			steps("split 0 0 1", "comm 1", "attributes"), func(_ t, j *peer.Job) {
				// Without client 1, and in reverse order of the ranks: colors stay in the order of the world.
				split(j, all(1), func(r int) int32 {
					return []int32{0, 1, 0, 0}[r]
				}, func(r int) int32 { return []int32{3, 0, 0, 0}[r] })
				counted(j, 2, 3, 1, 3, 1)
			})},
	{Name: "comm/attributes-native", Rule: "2.5", Needs: conform.Client,
		About: "a communicator of one client has the attributes, too",
		Run: job(setup{Others: two}, steps("split 0 0 1", "comm 1", "attributes"), func(_ t, j *peer.Job) {
			split(j, all(1), func(r int) int32 { return int32(r) }, func(int) int32 { return 0 })
			counted(j, 0, 1, 0, 1, 0)
		})},
}

// counted awaits the values of the four attributes that rank says.
func counted(j *peer.Job, rank, clients, client, hosts, host int) {
	j.Line(rank, fmt.Sprintf("client_size %d", clients))
	j.Line(rank, fmt.Sprintf("client_color %d", client))
	j.Line(rank, fmt.Sprintf("host_size %d", hosts))
	j.Line(rank, fmt.Sprintf("host_color %d", host))
}

// inter makes an intercommunicator of the client's two processes and our two, in slot 2: its context id is 4.
func inter(t t, ourLeader, theirLeader int, steps ...string) (*peer.Job, peer.Inter) {
	const tag = 77
	first := []string{"split 0 0 1", "comm 1", fmt.Sprintf("inter %d %d %d 2", ourLeader, theirLeader, tag)}
	j := peer.Start(t, setup{Procs: 2, Others: [][]int{{1, 1}}}, append(first, steps...)...)
	split(j, all(1), func(r int) int32 { return int32(r / 2) }, func(int) int32 { return 0 })
	msg := func(src, dst int, data []byte) peer.Msg { return peer.Msg{Src: src, Dst: dst, Tag: tag, Data: data} }
	j.Play(j.World(), wire.WorldCID, []peer.Msg{
		msg(ourLeader, theirLeader, codec.U64(3, 2)), msg(theirLeader, ourLeader, codec.U64(3, 2)),
		msg(ourLeader, theirLeader, codec.I32(0, 1)), msg(theirLeader, ourLeader, codec.I32(2, 3)),
	})
	return j, peer.Inter{A: []int{0, 1}, B: []int{2, 3}, CID: 4}
}

func side(b bool, r int) int {
	if b {
		return 2 + r
	}
	return r
}

// exchange is the pattern of 4.5 and 4.9: followers to the remote leader, leaders to each other, leaders to the
// remote followers.
func exchange(x peer.Inter, tag int32, own func(b bool, r int) []byte, leaders, result [2][]byte) (list []peer.Side) {
	add := func(b bool, src, dst int, data []byte, after []int) int {
		list = append(list, peer.Side{Msg: peer.Msg{Src: src, Dst: dst, Tag: tag, Data: data, After: after}, FromB: b})
		return len(list) - 1
	}
	size := map[bool]int{false: len(x.A), true: len(x.B)}
	heard := map[bool][]int{} // by the receiving side: what its leader has got
	for _, b := range []bool{false, true} {
		for r := 1; r < size[b]; r++ {
			heard[!b] = append(heard[!b], add(b, r, 0, own(b, r), nil))
		}
	}
	got := map[bool]int{}
	for i, b := range []bool{false, true} {
		got[!b] = add(b, 0, 0, leaders[i], heard[b])
	}
	for i, b := range []bool{false, true} {
		for r := 1; r < size[!b]; r++ {
			add(b, 0, r, result[i], []int{got[b]})
		}
	}
	return list
}

// merge plays MPI_Intercomm_merge; most is the max_cid of our follower, the others' is 5.
func merge(j *peer.Job, x peer.Inter, theirHigh, ourHigh uint64, most uint64) {
	own := func(b bool, r int) []byte {
		if b {
			return codec.U64(most)
		}
		return codec.U64(5)
	}
	// A leader hears the followers of the other group: the client's leader has our follower's.
	j.PlayInter(x, exchange(x, wire.TagMerge, own,
		[2][]byte{codec.U64(max(5, most), theirHigh), codec.U64(5, ourHigh)},
		[2][]byte{codec.U64(max(5, most), theirHigh), codec.U64(max(5, most), ourHigh)}))
}

// interFree plays MPI_Comm_free of an intercommunicator.
func interFree(j *peer.Job, x peer.Inter) {
	nothing := func(bool, int) []byte { return nil }
	j.PlayInter(x, exchange(x, wire.TagCommFree, nothing, [2][]byte{}, [2][]byte{}))
}
