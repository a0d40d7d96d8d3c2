package script

import (
	"fmt"
	"reflect"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
)

// comm is a communicator with its ranks and context id.
type comm struct {
	*peer.Comm
	job   *peer.Job
	ranks []int
	cid   uint64
}

func newComm(j *peer.Job, ranks []int, cid uint64) (*comm, error) {
	if ranks == nil {
		ranks = j.World()
	}
	for _, r := range ranks {
		if r < 0 || r >= len(j.Procs) {
			return nil, fmt.Errorf("ranks: there is no process %d", r)
		}
	}
	return &comm{j.Comm(ranks), j, ranks, cid}, nil
}

// message is one of a plan.
type message struct{ peer.Side }

// planned are the messages of a collective.
func planned(list []peer.Msg) []*message {
	plan := make([]*message, len(list))
	for i, m := range list {
		plan[i] = &message{peer.Side{Msg: m}}
	}
	return plan
}

// valid reports what is wrong with a plan between groups of these sizes.
func valid(plan []*message, a, b int) error {
	for i, m := range plan {
		src, dst := a, b
		if m.FromB {
			src, dst = b, a
		}
		if m.Src < 0 || m.Src >= src || m.Dst < 0 || m.Dst >= dst {
			return fmt.Errorf("message %d goes from %d to %d, which do not exist", i, m.Src, m.Dst)
		}
		for _, k := range m.After {
			if k < 0 || k >= len(plan) {
				return fmt.Errorf("message %d is after message %d, which does not exist", i, k)
			}
		}
	}
	return nil
}

func (c *comm) play(plan []*message) error {
	if err := valid(plan, len(c.ranks), len(c.ranks)); err != nil {
		return err
	}
	list := make([]peer.Msg, len(plan))
	for i, m := range plan {
		list[i] = m.Msg
	}
	c.job.Play(c.ranks, c.cid, list)
	return nil
}

func playInter(j *peer.Job, a, b []int, cid uint64, plan []*message) error {
	if err := valid(plan, len(a), len(b)); err != nil {
		return err
	}
	list := make([]peer.Side, len(plan))
	for i, m := range plan {
		list[i] = m.Side
	}
	j.PlayInter(peer.Inter{A: a, B: b, CID: cid}, list)
	return nil
}

func commKind() *kind {
	return &kind{Name: "comm", About: "A communicator. Plans of its collectives are lists of messages.",
		of:         reflect.TypeFor[*comm](),
		Attributes: []attribute{{"size", "its processes", func(c *comm) int { return len(c.ranks) }, nil}},
		Methods: []function{{"play(messages)", "takes part in a collective: sends what our processes send, as soon as " +
			"they could, and takes what the client must send; other bytes are a problem, and a message that comes before its " +
			"sender could have the data", (*comm).play}}}
}

func messageKind() *kind {
	return &kind{Name: "message", About: "A message of a plan. Ranks are those of the communicator, or of the groups.",
		of: reflect.TypeFor[*message](),
		Attributes: []attribute{
			{"src", "the sender's rank", func(m *message) int { return m.Src }, nil},
			{"dst", "the receiver's rank", func(m *message) int { return m.Dst }, nil},
			{"tag", "its tag", func(m *message) int32 { return m.Tag }, nil},
			{"data", "its bytes", func(m *message) []byte { return m.Data }, nil},
			{"after", "the messages, by their place in the plan, without which it cannot be sent",
				func(m *message) []int { return m.After }, nil},
		}}
}

type (
	ofRank  = func(rank int) []byte
	ofRanks = func(ranks []int) []byte
	ofPair  = func(src, dst int) []byte
)

func planFunctions() []function {
	return []function{
		{"msg(src, dst, tag, data = b\"\", after = [], from_b = False)",
			"a message of a plan; from_b: from group b to group a",
			func(src, dst int, tag int32, data []byte, after []int, fromB bool) *message {
				return &message{peer.Side{Msg: peer.Msg{Src: src, Dst: dst, Tag: tag, Data: data, After: after}, FromB: fromB}}
			}},
		{"barrier(comm)", "messages of a barrier (4.10)",
			func(c *comm) []*message { return planned(peer.Barrier(c.Comm)) }},
		{"bcast(comm, root, data)", "messages of a broadcast (4.11)", func(c *comm, root int, data []byte) []*message {
			return planned(peer.Bcast(c.Comm, root, data))
		}},
		{"gather(comm, root, size, block)", "messages of a gather (4.12) of size bytes a rank; block(rank) returns them",
			func(c *comm, root, size int, b ofRank) []*message {
				return planned(peer.Gather(c.Comm, root, size, b))
			}},
		{"gatherv(comm, root, block)", "messages of a gatherv (4.13)",
			func(c *comm, root int, b ofRank) []*message { return planned(peer.Gatherv(c.Comm, root, b)) }},
		{"scatter(comm, root, size, block)", "messages of a scatter (4.14) of size bytes a rank",
			func(c *comm, root, size int, b ofRank) []*message {
				return planned(peer.Scatter(c.Comm, root, size, b))
			}},
		{"scatterv(comm, root, block)", "messages of a scatterv (4.15)",
			func(c *comm, root int, b ofRank) []*message { return planned(peer.Scatterv(c.Comm, root, b)) }},
		{"reduce(comm, root, value)",
			"messages of a reduction (4.16) that commutes; value(ranks) returns the result over ranks",
			func(c *comm, root int, v ofRanks) []*message {
				return planned(peer.Reduce(c.Comm, root, v))
			}},
		{"reduce_ordered(comm, root, value)", "messages of one that does not commute; value(rank) returns a rank's part",
			func(c *comm, root int, v ofRank) []*message {
				return planned(peer.ReduceOrdered(c.Comm, root, v))
			}},
		{"reduce_scatter(comm, value, block)",
			"messages of a reduce_scatter (4.17): value(ranks) returns the whole vector, " +
				"block(rank) a rank's part of the result",
			func(c *comm, v ofRanks, b ofRank) []*message { return planned(peer.ReduceScatter(c.Comm, v, b)) }},
		{"scan(comm, value)", "messages of a scan (4.18); value(rank) returns the result over ranks 0 to rank",
			func(c *comm, v ofRank) []*message {
				return planned(peer.Scan(c.Comm, v))
			}},
		{"allgather(comm, size, block)", "messages of an allgather (4.19) of size bytes a rank",
			func(c *comm, size int, b ofRank) []*message {
				return planned(peer.Allgather(c.Comm, size, b))
			}},
		{"allgatherv(comm, block)", "messages of an allgatherv (4.20)",
			func(c *comm, b ofRank) []*message { return planned(peer.Allgatherv(c.Comm, b)) }},
		{"allreduce(comm, value)", "messages of an allreduce (4.21)",
			func(c *comm, v ofRanks) []*message { return planned(peer.Allreduce(c.Comm, v)) }},
		{"alltoall(comm, size, block)", "messages of an alltoall (4.22) of size bytes a pair; block(src, dst) returns them",
			func(c *comm, size int, b ofPair) []*message {
				return planned(peer.Alltoall(c.Comm, size, b))
			}},
		{"alltoallv(comm, block)", "messages of an alltoallv (4.23)",
			func(c *comm, b ofPair) []*message { return planned(peer.Alltoallv(c.Comm, b)) }},
		{"agree(comm, max_cid)", "messages of the agreement on a context id (4.3.1); max_cid(rank) returns a rank's",
			func(c *comm, most func(int) uint64) []*message {
				return planned(peer.Agree(c.Comm, most))
			}},
		{"split(comm, max_cid, row)", "messages of a split (4.7); row(rank) returns its color, key and rank, 12 bytes",
			func(c *comm, most func(int) uint64, row ofRank) []*message {
				return planned(peer.Split(c.Comm, most, row))
			}},
	}
}
