package stat

import (
	"slices"

	"github.com/libimpi/libimpi/libimpi/report"
)

// situation is ranks of a job as tests set them up.
type situation struct {
	ranks []Rank
}

const second = int64(1e9)

// world makes n ranks that compute.
func world(n int) *situation {
	s := &situation{}
	for i := range n {
		s.ranks = append(s.ranks, Rank{Rank: i, Process: &report.Process{Rank: i, PID: 1000 + i, Machine: "node",
			Computing: true, LastCall: "MPI_Comm_rank", Moves: 7}})
	}
	s.comm(0, "MPI_COMM_WORLD", seq(0, n)...)
	return s
}

func seq(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// comm adds a communicator, which all processes know that are its members.
func (s *situation) comm(id uint64, name string, members ...int) {
	for i, w := range members {
		c := report.Comm{ID: id, Name: name, Rank: i, Size: len(members),
			Members: report.Runs(len(members), func(i int) int { return members[i] })}
		s.p(w).Comms = append(s.p(w).Comms, c)
	}
}

func (s *situation) p(rank int) *report.Process { return s.ranks[rank].Process }

// thread blocks a rank in a call.
func (s *situation) thread(rank int, t report.Thread) *report.Thread {
	p := s.p(rank)
	if t.Since == 0 {
		t.Since = 42 * second
	}
	t.Settled = true
	if t.WaitCount == 0 {
		t.WaitCount = len(t.Waits)
	}
	p.Computing, p.LastCall = false, ""
	p.Threads = append(p.Threads, t)
	p.ThreadCount = len(p.Threads)
	for _, m := range t.Waits {
		switch {
		case m.Routine != "":
		case sends(&m):
			p.Sends = append(p.Sends, m)
			p.SendCount++
		case m.Kind == "recv":
			p.Receives = append(p.Receives, m)
			p.ReceiveCount++
		}
	}
	return &p.Threads[len(p.Threads)-1]
}

// msg is a message of rank on a communicator; peer is a rank of that.
func (s *situation) msg(rank int, kind string, peer, tag int, comm uint64) report.Message {
	m := report.Message{Kind: kind, Comm: report.NameOf(comm), Peer: peer, World: report.None, Tag: tag, Bytes: 8,
		State: "posted"}
	if sends(&m) {
		m.State, m.Bytes = "asked", 1<<20
	}
	if c := s.p(rank).Find(m.Comm); c != nil && peer >= 0 {
		m.World = c.World(peer)
	}
	return m
}

func (s *situation) recv(rank, from, tag int) *report.Thread {
	return s.call(rank, "MPI_Recv", s.msg(rank, "recv", from, tag, 0))
}

func (s *situation) send(rank, to, tag int) *report.Thread {
	return s.call(rank, "MPI_Send", s.msg(rank, "send", to, tag, 0))
}

// call blocks a rank until all requests are done.
func (s *situation) call(rank int, name string, waits ...report.Message) *report.Thread {
	t := report.Thread{Call: name, For: report.ForRequests, Peer: report.None, World: report.None, Tag: report.None,
		Waits: waits}
	if len(waits) == 1 {
		t.Comm, t.Peer, t.World, t.Tag = waits[0].Comm, waits[0].Peer, waits[0].World, waits[0].Tag
	}
	return s.thread(rank, t)
}

func (s *situation) anyOf(rank int, name string, waits ...report.Message) *report.Thread {
	t := s.call(rank, name, waits...)
	t.For = report.ForAny
	return t
}

// coll blocks ranks in a collective call; words are pairs of names and texts of arguments.
func (s *situation) coll(comm uint64, number uint64, name string, words []string, ranks ...int) {
	for _, r := range ranks {
		t := report.Thread{Call: name, For: report.ForMembers, Comm: report.NameOf(comm), Peer: report.None,
			World: report.None, Tag: report.None, Routine: name, Number: number}
		for w := range slices.Chunk(words, 2) {
			t.Args = append(t.Args, report.Arg{Name: w[0], Text: w[1]})
		}
		s.thread(r, t)
	}
}

// icoll makes a nonblocking collective run at ranks.
func (s *situation) icoll(comm uint64, number uint64, name string, ranks ...int) {
	for _, r := range ranks {
		s.p(r).Collectives = append(s.p(r).Collectives, report.Collective{Comm: report.NameOf(comm), Routine: name,
			Number: number})
	}
}

// waitFor blocks ranks in MPI_Wait for a nonblocking collective.
func (s *situation) waitFor(comm uint64, name string, ranks ...int) {
	for _, r := range ranks {
		s.call(r, "MPI_Wait", report.Message{Kind: "collective", Comm: report.NameOf(comm), Peer: report.None,
			World: report.None, Tag: report.None, Routine: name})
	}
}

// arrived puts a message into the queue of unexpected ones.
func (s *situation) arrived(at, from, tag int, comm uint64) {
	s.p(at).Unexpected = append(s.p(at).Unexpected, s.msg(at, "send", from, tag, comm))
	s.p(at).UnexpectedCount++
}

// window blocks a rank in a call on window "halo" of MPI_COMM_WORLD.
func (s *situation) window(rank int, call string, target int) *report.Thread {
	return s.thread(rank, report.Thread{Call: call, For: report.ForWindow, Object: "halo", Comm: report.NameOf(0),
		Peer: target, World: target, Tag: report.None})
}

// epoch says in which epoch a rank's window is.
func (s *situation) epoch(rank int, words string, targets ...int) {
	s.p(rank).Windows = append(s.p(rank).Windows, report.Window{Name: "halo", Comm: report.NameOf(0), Epoch: words,
		Targets: targets})
}

// silent makes a rank say nothing.
func (s *situation) silent(rank int, state State, detail string) {
	s.ranks[rank].Process, s.ranks[rank].State, s.ranks[rank].Detail = nil, state, detail
}

// later is what the ranks tell some seconds later, if nothing has happened.
func (s *situation) later() []Rank {
	list := slices.Clone(s.ranks)
	for i := range list {
		if p := list[i].Process; p != nil {
			q := *p
			q.Threads = slices.Clone(p.Threads)
			for k := range q.Threads {
				q.Threads[k].Since += 5 * second
			}
			list[i].Process = &q
		}
	}
	return list
}
