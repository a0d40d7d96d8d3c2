// Package jobtest makes jobs for tests: a small simulator of ranks that send, receive, wait and take part in collective
// operations, with a clock for each. It knows what each call waited for, since it made it wait.
package jobtest

import (
	"fmt"
	"math/rand"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Functions that jobs of this package call, in the order of job.Names.
const (
	Init = iota
	Send
	Recv
	Isend
	Irecv
	Waitall
	Barrier
	Bcast
	Reduce
	Scan
	Allreduce
	Finalize
)

var names = []string{"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Barrier",
	"MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Allreduce", "MPI_Finalize"}

// Costs in nanoseconds: of a call, and of a message's way.
const (
	Cost = 300
	Way  = 500
	Long = 3000 // a rendezvous
)

// Truth is what a simulated job waited: by rank and call, until when for whom.
type Truth struct {
	Rank, Call, By int32
	Length         int64
}

// Sim is a job in the making. Calls are given in an order in which they can be carried out.
type Sim struct {
	Job    *job.Job
	Waits  []Truth
	Pairs  [][4]int32 // messages as they were made: from, its send, to, its receive
	clocks []int64
}

// New begins a job.
func New(ranks int) *Sim {
	j := &job.Job{Program: "solver", Names: names, Ranks: make([]job.Rank, ranks)}
	s := &Sim{Job: j, clocks: make([]int64, ranks)}
	for _, name := range names {
		s.Job.Classes = append(s.Job.Classes, job.ClassOf(name))
		s.Job.Sites = append(s.Job.Sites, job.Site{File: "solver.c", Function: "main", Line: 10 + len(s.Job.Sites)})
	}
	s.Job.Comms = []job.Comm{{Name: "MPI_COMM_WORLD"}, {Name: "rows"}}
	for r := range s.Job.Ranks {
		for i := range s.Job.Comms[:2-r%2] {
			s.Job.Comms[i].Members = append(s.Job.Comms[i].Members, int32(r))
		}
		s.Job.Ranks[r].Machine = fmt.Sprintf("node%d", r/2)
		s.call(int32(r), Init, -1, 1000)
	}
	return s
}

// Compute lets a rank compute.
func (s *Sim) Compute(rank int, time int64) { s.clocks[rank] += time }

// call appends a call that ends at a time, or after a cost if that is 0 or more than now.
func (s *Sim) call(rank int32, function uint16, comm int32, end int64) int32 {
	r := &s.Job.Ranks[rank]
	c := job.Call{Start: s.clocks[rank], Function: function, Site: int32(function), Comm: comm, Peer: -1, Tag: -1}
	c.End = max(end, c.Start+Cost)
	s.clocks[rank] = c.End
	r.Calls = append(r.Calls, c)
	r.End = c.End
	return int32(len(r.Calls) - 1)
}

func (s *Sim) start(rank, call int32) int64 { return s.Job.Ranks[rank].Calls[call].Start }

// wait notes the truth.
func (s *Sim) wait(rank, call, by int32, until int64) {
	if length := until - s.start(rank, call); length > 0 {
		s.Waits = append(s.Waits, Truth{rank, call, by, length})
	}
}

// Message sends a message from one rank to another with blocking calls; a rendezvous waits for the receiver.
func (s *Sim) Message(from, to int, bytes int64, tag int32, rendezvous bool) {
	f, t := int32(from), int32(to)
	here, there := s.clocks[from], s.clocks[to]
	way, left := job.Eager, here+Cost
	arrived := here + Cost + Way
	if rendezvous {
		way, left = job.Rendezvous, max(here, there)+Long
		arrived = left
	}
	sender := s.call(f, Send, 0, left)
	receiver := s.call(t, Recv, 0, arrived)
	s.halves(f, sender, sender, t, receiver, receiver, bytes, tag, way)
	s.wait(t, receiver, f, here)
	if rendezvous {
		s.wait(f, sender, t, there)
	}
}

func (s *Sim) halves(f, send, sent, t, receive, received int32, bytes int64, tag int32, way job.Way) {
	from, to := &s.Job.Ranks[f], &s.Job.Ranks[t]
	s.Pairs = append(s.Pairs, [4]int32{f, int32(len(from.Sends)), t, int32(len(to.Receives))})
	from.Sends = append(from.Sends, job.Half{Bytes: bytes, Call: send, Done: sent, Peer: t, Tag: tag, Way: way})
	to.Receives = append(to.Receives, job.Half{Bytes: bytes, Call: receive, Done: received, Peer: f, Tag: tag, Way: way})
	for _, c := range []*job.Call{&from.Calls[send], &to.Calls[receive]} {
		c.Bytes, c.Tag, c.Peer = bytes, tag, t
	}
	to.Calls[receive].Peer = f
}

// Exchange lets all ranks send a message to the next with nonblocking calls, compute, and wait for both.
func (s *Sim) Exchange(bytes int64, compute func(rank int) int64) {
	n := int32(len(s.Job.Ranks))
	posted, sent := make([]int32, n), make([]int32, n)
	for r := range n {
		posted[r] = s.call(r, Irecv, 0, 0)
		sent[r] = s.call(r, Isend, 0, 0)
		s.Compute(int(r), compute(int(r)))
	}
	for r := range n {
		left := (r + n - 1) % n
		arrived := s.start(left, sent[left]) + Cost + Way
		waited := s.call(r, Waitall, -1, arrived)
		s.wait(r, waited, left, s.start(left, sent[left]))
	}
	for r := range n {
		left, waited := (r+n-1)%n, int32(len(s.Job.Ranks[r].Calls)-1)
		s.halves(left, sent[left], int32(len(s.Job.Ranks[left].Calls)-1), r, posted[r], waited, bytes, 7, job.Eager)
	}
}

// Collective lets the members of communicator 0 (all) or 1 (even ranks) take part in an operation.
func (s *Sim) Collective(function uint16, comm int32, root int) {
	var members []int32
	for r := range s.Job.Ranks {
		if comm == 0 || r%2 == 0 {
			members = append(members, int32(r))
		}
	}
	start := make([]int64, len(s.clocks))
	copy(start, s.clocks)
	latest := members[0]
	for _, r := range members {
		if start[r] > start[latest] {
			latest = r
		}
	}
	so := members[0] // the latest of the lower ranks
	for _, r := range members {
		by := latest
		switch function {
		case Bcast:
			by = int32(root)
		case Reduce:
			if r != int32(root) {
				by = r
			}
		case Scan:
			by = so
			if start[r] > start[so] {
				so = r
			}
		}
		call := s.call(r, function, comm, start[by]+Cost)
		rank := &s.Job.Ranks[r]
		rank.Parts = append(rank.Parts, job.Part{Call: call, Done: call, Comm: comm, Root: int32(root)})
		if by != r {
			s.wait(r, call, by, start[by])
		}
	}
}

// Finish ends the job.
func (s *Sim) Finish() *job.Job {
	for r := range s.Job.Ranks {
		s.call(int32(r), Finalize, -1, 0)
	}
	return s.Job
}

// Random is a job of random steps.
func Random(random *rand.Rand, ranks, steps int) *Sim {
	s := New(ranks)
	for range steps {
		r := random.Intn(ranks)
		switch random.Intn(8) {
		case 0, 1:
			s.Compute(r, random.Int63n(100000))
		case 2, 3, 4:
			if to := random.Intn(ranks); to != r {
				s.Message(r, to, random.Int63n(1<<uint(random.Intn(24))), int32(random.Intn(3)), random.Intn(2) == 0)
			}
		case 5:
			s.Exchange(random.Int63n(5000), func(int) int64 { return random.Int63n(20000) })
		default:
			comm := int32(random.Intn(2))
			root := random.Intn(ranks)
			if comm == 1 {
				root -= root % 2
			}
			s.Collective([]uint16{Barrier, Bcast, Reduce, Scan, Allreduce}[random.Intn(5)], comm, root)
		}
	}
	s.Finish()
	return s
}

// Uneven is a job of an imbalance: all ranks exchange messages and take part in an operation, and one computes longer.
func Uneven(ranks, rounds, late int) *job.Job {
	s := New(ranks)
	for i := range rounds {
		s.Exchange(int64(8<<(i%12)), func(r int) int64 {
			if r == late {
				return 60000
			}
			return 20000 + int64(r*7+i*13)%1000
		})
		s.Collective(Allreduce, 0, -1)
	}
	return s.Finish()
}
