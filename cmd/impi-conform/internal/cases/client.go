package cases

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

type (
	t     = *conform.T
	setup = peer.Setup
)

// two is the other client of most jobs: one host, one process.
var two = [][]int{{1}}

// job is the run of a case that is one job: the client takes these steps, we play our part, and all finish.
func job(s setup, steps []string, play func(t t, j *peer.Job)) func(t t) {
	return func(t t) {
		j := peer.Start(t, s, steps...)
		play(t, j)
		j.Finish()
	}
}

// steps are what a client's program does.
func steps(list ...string) []string { return list }

// client: the start-up of a client (2.2, 2.3).
var client = []conform.Case{
	{Name: "client/smallest-job", Rule: "2.3, 2.4, 3.8", Needs: conform.Client,
		About: "two clients of one process start, and finish in order",
		Run:   func(t t) { peer.Start(t, setup{Others: two}).Finish() }},
	{Name: "client/alone", Rule: "2.3", Needs: conform.Client,
		About: "a job of one client starts and finishes",
		Run: func(t t) {
			j := peer.Start(t, setup{Procs: 2}, "barrier")
			j.Fini()
			j.Exit(0)
		}},
	{Name: "client/mask-key", Rule: "2.3.3", Needs: conform.Client,
		About: "IMPI_AUTH_KEY alone: the mask has bit 1 and not bit 0",
		Run:   func(t t) { mask(t, 2, "IMPI_AUTH_KEY=5678") }},
	{Name: "client/mask-none", Rule: "2.3.3", Needs: conform.Client,
		About: "IMPI_AUTH_NONE alone, even empty: the mask has bit 0 and not bit 1",
		Run:   func(t t) { mask(t, 1, "IMPI_AUTH_NONE=") }},
	{Name: "client/mask-both", Rule: "2.3.3", Needs: conform.Client,
		About: "both variables: the mask has both bits",
		Run:   func(t t) { mask(t, 3, "IMPI_AUTH_KEY=5678", "IMPI_AUTH_NONE=1") }},
	{Name: "client/no-method", Rule: "2.3.3", Needs: conform.Client,
		About: "with neither variable the client ends with an error",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two, Env: []string{}})
			j.ExitBadly()
		}},
	{Name: "client/auth-none", Rule: "2.3.3", Needs: conform.Client,
		About: "the server chooses IMPI_AUTH_NONE: IMPI follows at once",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two, Env: []string{"IMPI_AUTH_NONE=", "IMPI_AUTH_KEY=5678"}})
			j.Accept()
			j.Expect(wire.CmdAuth)
			j.Say(codec.I32(wire.AuthNone, 0))
			complete(j)
		}},
	{Name: "client/auth-data", Rule: "2.3.3", Needs: conform.Client,
		About: "bytes of the method that the server's choice announces are taken before the key is sent",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two})
			j.Accept()
			j.Expect(wire.CmdAuth)
			j.Say(append(codec.I32(wire.AuthKey, 5), 1, 2, 3, 4, 5))
			j.Raw(8)
			complete(j)
		}},
	{Name: "client/auth-not-offered", Rule: "2.3.3", Needs: conform.Client,
		About: "the server chooses a method that was not offered: an error",
		Run:   func(t t) { chosen(t, wire.AuthNone) }},
	{Name: "client/auth-unknown", Rule: "2.3.3", Needs: conform.Client,
		About: "the server chooses a method that does not exist: an error",
		Run:   func(t t) { chosen(t, 17); chosen(t, -1) }},
	{Name: "client/wrong-key", Rule: "2.3.3", Needs: conform.Client,
		About: "the server hangs up on the key: an error",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two})
			j.Authenticate()
			j.Server().Close()
			j.ExitBadly()
		}},
	{Name: "client/size-impossible", Rule: "2.3.4", Needs: conform.Client,
		About: "a job of no more clients than the client's rank, of none, or of more than 32: an error",
		Run: func(t t) {
			for _, size := range []int32{0, 1, -1, 33, 1 << 30} {
				j := peer.Begin(t, setup{Rank: 1, Others: two})
				j.Authenticate()
				j.ReadRank()
				j.Say(codec.Impi(size))
				j.Refused()
			}
		}},
	{Name: "client/size-length", Rule: "2.3.4", Needs: conform.Client,
		About: "an answer to IMPI of another length than 4: an error",
		Run: func(t t) {
			for _, data := range [][]byte{nil, {0, 0, 2}, {0, 0, 0, 2, 0}} {
				j := peer.Begin(t, setup{Others: two})
				j.Authenticate()
				j.ReadRank()
				j.Say(codec.Cmd{Cmd: int32(wire.CmdImpi), Data: data}.Bytes())
				j.Refused()
			}
		}},
	{Name: "client/server-leaves", Rule: "2.3", Needs: conform.Client,
		About: "the server hangs up, at each step of the start-up: an error, soon",
		Run: func(t t) {
			for step := range 7 {
				leave(t, step)
				t.Stop()
			}
		}},
	{Name: "client/server-leaves-later", Rule: "2.4", Needs: conform.Client,
		About: "the server hangs up while the job runs: the job goes on, and ends well",
		Run: func(t t) {
			j := peer.Start(t, setup{Others: two}, "barrier")
			j.Server().Close()
			for range 2 { // the program's, and that of MPI_Finalize
				j.Play(j.World(), wire.WorldCID, peer.Barrier(j.Comm(j.World())))
			}
			j.AwaitFini()
			j.SayFini()
			j.AwaitEnd()
			j.Exit(0)
		}},
	{Name: "client/bytewise", Rule: "2.3", Needs: conform.Client,
		About: "what the server says comes byte by byte",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two})
			j.Slowly()
			j.Join()
			j.Exchange()
			j.Mesh()
			j.Finish()
		}},
	{Name: "client/unknown-commands", Rule: "2.3.2", Needs: conform.Client,
		About: "commands that do not exist are skipped with their payload, in every phase",
		Run: func(t t) {
			foo := codec.Cmd{Cmd: 0x464f4f21, Data: make([]byte, 70000)}.Bytes()
			bar := codec.Cmd{Cmd: -1}.Bytes()
			j := peer.Begin(t, setup{Others: two, Around: func(wire.Label) (before, behind []byte) { return foo, bar }})
			j.Authenticate()
			j.ReadRank()
			j.Say(append(append([]byte(nil), foo...), codec.Impi(2)...))
			j.Exchange()
			j.Say(foo)
			j.Mesh()
			j.Finish()
		}},
	{Name: "client/unknown-labels", Rule: "2.3.5", Needs: conform.Client,
		About: "labels that the client has not submitted are skipped, between and above its own",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two, Around: func(l wire.Label) (before, behind []byte) {
				return codec.Broadcast(uint32(l)-1, 2, []byte("other")), codec.Broadcast(uint32(l)+1, 2, nil)
			}})
			j.Join()
			j.Exchange()
			j.Mesh()
			j.Finish()
		}},
	{Name: "client/own-labels", Rule: "2.3.5, erratum D-5", Needs: conform.Client,
		About: "labels of the client's own, if it has any, may be broadcast with its data alone, or swallowed by the server",
		Run: func(t t) {
			for _, swallow := range []bool{false, true} {
				peer.Start(t, setup{Others: two, Swallow: swallow}).Finish()
			}
		}},
	{Name: "client/label-of-others", Rule: "2.3.5, erratum D-5", Needs: conform.Client,
		About: "under a label of the client's own, if it has any, comes what it does not understand: " +
			"it is as if nothing came",
		Run: func(t t) {
			for _, invent := range []func(own []byte) (mask uint32, data []byte){
				func(own []byte) (uint32, []byte) {
					return 3, append(own[:len(own):len(own)], make([]byte, len(own))...)
				},
				func(own []byte) (uint32, []byte) {
					return 3, append(own[:len(own):len(own)], make([]byte, len(own)-1)...)
				},
				func(own []byte) (uint32, []byte) { return 3, append(own[:len(own):len(own)], make([]byte, 70000)...) },
				func(own []byte) (uint32, []byte) { return 3, own },
				func(own []byte) (uint32, []byte) { return 1, own[1:] },
				func(own []byte) (uint32, []byte) { return 2, []byte("another meaning") },
				func(own []byte) (uint32, []byte) { return 2, own },
				func([]byte) (uint32, []byte) { return 0, nil },
				func(own []byte) (uint32, []byte) { return 1<<32 - 1, own },
			} {
				j := peer.Start(t, setup{Others: two, Invent: invent}, "send 1 7 100000", "recv 1 8 100000")
				j.Message(0, 1, 7, 100000)
				j.SendMessage(1, 0, 1, 8, wire.WorldCID, peer.Pattern(8, 100000))
				j.Finish()
			}
		}},
	{Name: "client/done-with-data", Rule: "2.3.6", Needs: conform.Client,
		About: "a DONE with a payload is a DONE",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two})
			j.Join()
			j.DoneData = []byte("more")
			j.Exchange()
			j.Mesh()
			j.Finish()
		}},
	{Name: "client/versions", Rule: "2.3.5 C_VERSION", Needs: conform.Client,
		About: "others speak further versions; the lists have no length and are told apart by their order",
		Run: func(t t) {
			peer.Start(t, setup{Rank: 1, Others: [][]int{{1}, {1}}, Versions: []uint32{0, 0, 0, 1, 2, 7}}).Finish()
		}},
	{Name: "client/tag-ub", Rule: "2.3.5 C_TAGUB", Needs: conform.Client,
		About: "MPI_TAG_UB is the smallest of all clients'",
		Run: job(setup{Others: two, TagUB: 40000}, steps("attributes"), func(_ t, j *peer.Job) {
			j.Line(0, "tag_ub 40000")
		})},
	{Name: "client/defaults-agree", Rule: "2.3.5 C_COLL_XSIZE", Needs: conform.Client,
		About: "-1 and the explicit default of crossover and linear limit are the same value",
		Run: func(t t) {
			x, lin := wire.DefaultXSize, wire.DefaultMaxLinear
			peer.Start(t, setup{Others: two, XSize: &x, MaxLinear: &lin}).Finish()
		}},
	{Name: "client/world-ranks", Rule: "2.3.5", Needs: conform.Client,
		About: "ranks follow clients, hosts, processes: (3 x 2), the client's, (2 x 3, 1)",
		Run: job(setup{Rank: 1, Procs: 2, Others: [][]int{{2, 2, 2}, {3, 3, 1}}}, steps("rank"), func(_ t, j *peer.Job) {
			j.Line(6, "rank 6 of 15")
			j.Line(7, "rank 7 of 15")
		})},
	{Name: "client/many-clients", Rule: "2.3.5", Needs: conform.Client,
		About: "a job of 32 clients, the client under test being the last: bit 31 of the mask",
		Run: func(t t) {
			others := make([][]int, 31)
			for i := range others {
				others[i] = []int{1}
			}
			j := peer.Start(t, setup{Rank: 31, Others: others}, "rank")
			j.Line(31, "rank 31 of 32")
			j.Finish()
		}},
}

// complete goes on after authentication.
func complete(j *peer.Job) {
	j.ReadRank()
	j.Say(codec.Impi(int32(j.Clients)))
	j.Exchange()
	j.Mesh()
	j.Finish()
}

// mask checks what the client offers when these variables are set.
func mask(t t, want uint32, env ...string) {
	j := peer.Begin(t, setup{Others: two, Env: env})
	j.Accept()
	auth := j.Expect(wire.CmdAuth)
	if len(auth.Data) != 4 {
		t.Fatalf("AUTH has %d bytes, must be 4 as no method above 31 exists", len(auth.Data))
	}
	if got := codec.GetU32(auth.Data) & 3; got != want {
		t.Errorf("with %s the mask has %#x, must have %#x", strings.Join(env, " "), got, want)
	}
	j.Server().Close()
	j.ExitBadly()
}

// chosen lets the server choose a method that it must not.
func chosen(t t, which int32) {
	j := peer.Begin(t, setup{Others: two})
	j.Accept()
	j.Expect(wire.CmdAuth)
	j.Say(codec.I32(which, 0))
	j.Refused()
}

// leave hangs up at one step.
func leave(t t, step int) {
	j := peer.Begin(t, setup{Others: two})
	j.Accept()
	j.Expect(wire.CmdAuth)
	switch step {
	case 0:
	case 1:
		j.Say(codec.I32(wire.AuthKey)) // half of it
	default:
		j.Say(codec.I32(wire.AuthKey, 0))
		j.Raw(8)
		j.ReadRank()
	}
	if step >= 3 {
		j.Say(codec.Impi(2))
		j.Submit(wire.CVersion)
	}
	switch step {
	case 4:
		j.Say(codec.Broadcast(uint32(wire.CVersion), 3, codec.U32(0, 0, 0))) // it announces what it sends
	case 5:
		b := codec.Broadcast(uint32(wire.CVersion), 3, codec.U32(0, 0, 0, 0))
		j.Say(b[:len(b)-3])
	case 6:
		j.Say(codec.Broadcast(uint32(wire.CVersion), 3, codec.U32(0, 0, 0, 0)))
		j.Submit(wire.CNHosts)
	}
	j.Server().Close()
	j.ExitBadly()
	if t.Failed() {
		t.Fatalf("when the server hung up at step %d of 0 to 6", step)
	}
}

// tables: what a client must not accept from the others (2.3.5, notes A.3).
func tables() (list []conform.Case) {
	bad := []struct {
		name, about string
		label       wire.Label
		data        []byte // of the other client, nil: none
	}{
		{"nhosts-0", "a client has no host", wire.CNHosts, codec.U32(0)},
		{"nhosts-huge", "a client has 2^32-1 hosts", wire.CNHosts, codec.U32(1<<32 - 1)},
		{"nprocs-0", "a client has no process", wire.CNProcs, codec.U32(0)},
		{"nprocs-huge", "a client has 2^31 processes", wire.CNProcs, codec.U32(1 << 31)},
		{"datalen-0", "packets have no room for data", wire.CDataLen, codec.U32(0)},
		{"tagub-small", "the tag bound is below MPI's 32767", wire.CTagUB, codec.I32(32766)},
		{"tagub-negative", "the tag bound is negative", wire.CTagUB, codec.I32(-5)},
		{"xsize-differs", "the crossover is 7 and the client's the default", wire.CCollXSize, codec.I32(7)},
		{"xsize-negative", "the crossover is -2", wire.CCollXSize, codec.I32(-2)},
		{"maxlinear-differs", "the linear limit is 7 and the client's the default", wire.CCollMaxLinear, codec.I32(7)},
		{"port-0", "a host's port is 0", wire.HPort, codec.U32(0)},
		{"port-65536", "a host's port is 65536", wire.HPort, codec.U32(65536)},
		{"port-short", "a host's port has 2 bytes", wire.HPort, []byte{1, 2}},
		{"hnprocs-more", "the hosts have more processes than the client", wire.HNProcs, codec.U32(2)},
		{"hnprocs-fewer", "the hosts have fewer processes than the client", wire.HNProcs, codec.U32(0)},
		{"ackmark-0", "ackmark is 0", wire.HAckMark, codec.U32(0)},
		{"hiwater-low", "hiwater is below ackmark", wire.HHiWater, codec.U32(9)},
		{"pid-32-bit", "a pid has 4 bytes, as in the draft", wire.PPID, codec.U32(1)},
		{"version-none", "the other client speaks only 1.0", wire.CVersion, codec.U32(1, 0)},
		{"version-cut", "C_VERSION is no multiple of 8 bytes", wire.CVersion, codec.U32(0)},
		{"label-missing", "the other client submits no C_NPROCS", wire.CNProcs, nil},
		{"ipv6-long", "H_IPV6 has an address too many", wire.HIPv6, make([]byte, 32)},
	}
	for _, b := range bad {
		list = append(list, conform.Case{Name: "table/" + b.name, Rule: fmt.Sprintf("2.3.5 %v", b.label),
			Needs: conform.Client,
			About: "an error: " + b.about,
			Run: func(t t) {
				refuse(t, b.label, b.data)
			}})
	}
	return append(list, conform.Case{Name: "table/same-process", Rule: "3.2", Needs: conform.Client,
		About: "an error: two processes have the same name",
		Run: func(t t) {
			var j *peer.Job
			j = peer.Begin(t, setup{Others: two, Contribute: func(l wire.Label, _ int, data []byte) []byte {
				if l == wire.PIPv6 || l == wire.PPID {
					return j.Labels[l]
				}
				return data
			}})
			j.Join()
			j.Refused()
		}})
}

// refuse changes what the other client contributes to a label, after which the client under test must give up.
func refuse(t t, label wire.Label, other []byte) {
	j := peer.Begin(t, setup{Others: two, Contribute: func(l wire.Label, _ int, data []byte) []byte {
		if l == label {
			return other
		}
		return data
	}})
	j.Join()
	j.Refused()
}
