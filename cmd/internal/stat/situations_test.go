package stat

import (
	"github.com/libimpi/libimpi/libimpi/report"
)

// situations are what programs get into: deadlocks, and what looks like one. testdata/situations.txt has what is said
// of each. those of dead are deadlocks, and nothing else may be called one.
var situations = []struct {
	name string
	dead bool
	make func() *situation
}{
	{"two ranks receive from each other", true, func() *situation {
		s := world(2)
		s.recv(0, 1, 7).Site = "ring.c:12"
		s.recv(1, 0, 7).Site = "ring.c:12"
		return s
	}},
	{"three ranks receive in a ring", true, func() *situation {
		s := world(3)
		for i := range 3 {
			s.recv(i, (i+1)%3, 0)
		}
		return s
	}},
	{"sixteen ranks receive from the next", true, func() *situation {
		s := world(16)
		for i := range 16 {
			t := s.recv(i, (i+1)%16, 3)
			t.Since, t.Site = int64(40+i)*second, "ring.c:40"
			t.Args = []report.Arg{{Name: "buf", Text: "0x1"}, {Name: "count", Text: "8"}, {Name: "datatype", Text: "MPI_DOUBLE"},
				{Name: "source", Text: "x"}}
		}
		return s
	}},
	{"two ranks send long messages to each other", true, func() *situation {
		s := world(2)
		s.send(0, 1, 1)
		s.send(1, 0, 1)
		s.arrived(0, 1, 1, 0)
		s.arrived(1, 0, 1, 0)
		return s
	}},
	{"five ranks send long messages around", true, func() *situation {
		s := world(5)
		for i := range 5 {
			s.send(i, (i+1)%5, 9)
			s.arrived((i+1)%5, i, 9, 0)
		}
		return s
	}},
	{"a barrier against a receive", true, func() *situation {
		s := world(4)
		s.coll(0, 5, "MPI_Barrier", nil, 0, 1, 2)
		s.recv(3, 0, 7).Site = "solver.c:118"
		return s
	}},
	{"a broadcast against a receive from its root", true, func() *situation {
		s := world(3)
		s.coll(0, 2, "MPI_Bcast", []string{"count", "4", "datatype", "MPI_INT", "root", "0"}, 0, 2)
		s.recv(1, 0, 0)
		return s
	}},
	{"a rank is missing in an allreduce since it has ended", true, func() *situation {
		s := world(4)
		s.coll(0, 1, "MPI_Allreduce", []string{"count", "1", "datatype", "MPI_INT", "op", "MPI_SUM"}, 0, 1, 2)
		s.silent(3, Ended, "")
		return s
	}},
	{"a rank is missing in an allreduce that has called MPI_Finalize and may begin a session", false, func() *situation {
		s := world(4)
		s.coll(0, 1, "MPI_Allreduce", []string{"count", "1", "datatype", "MPI_INT", "op", "MPI_SUM"}, 0, 1, 2)
		s.silent(3, Finalized, "")
		return s
	}},
	{"a rank computes while all others wait in a barrier", false, func() *situation {
		s := world(64)
		for i := range 64 {
			if i != 4 {
				s.coll(0, 1, "MPI_Barrier", nil, i)
			}
		}
		s.p(4).LastCall = "MPI_Isend"
		return s
	}},
	{"different collectives", true, func() *situation {
		s := world(4)
		s.coll(0, 1, "MPI_Barrier", nil, 0, 1, 3)
		s.coll(0, 1, "MPI_Bcast", []string{"root", "2"}, 2)
		return s
	}},
	{"different roots", true, func() *situation {
		s := world(4)
		s.coll(0, 3, "MPI_Bcast", []string{"root", "0"}, 1, 2)
		s.coll(0, 3, "MPI_Bcast", []string{"root", "1"}, 0, 3)
		return s
	}},
	{"different operations of a reduction", true, func() *situation {
		s := world(3)
		s.coll(0, 3, "MPI_Allreduce", []string{"op", "MPI_SUM"}, 0, 1)
		s.coll(0, 3, "MPI_Allreduce", []string{"op", "MPI_MAX"}, 2)
		return s
	}},
	{"a wrong tag", true, func() *situation {
		s := world(2)
		s.recv(0, 1, 7)
		s.arrived(0, 1, 8, 0)
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a wrong communicator", true, func() *situation {
		s := world(2)
		s.comm(4, "grid", 0, 1)
		s.recv(0, 1, 7)
		s.arrived(0, 1, 7, 4)
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a duplicate of the communicator", true, func() *situation {
		s := world(2)
		s.comm(4, "MPI_COMM_WORLD", 0, 1)
		s.recv(0, 1, 7)
		s.arrived(0, 1, 7, 4)
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a wrong source", true, func() *situation {
		s := world(3)
		s.recv(0, 1, 7)
		s.arrived(0, 2, 7, 0)
		s.coll(0, 1, "MPI_Barrier", nil, 1, 2)
		return s
	}},
	{"a message to the wrong rank", true, func() *situation {
		s := world(3)
		s.recv(0, 1, 7)
		s.arrived(2, 1, 7, 0)
		s.coll(0, 1, "MPI_Barrier", nil, 1, 2)
		return s
	}},
	{"a long message with the wrong tag", true, func() *situation {
		s := world(2)
		s.recv(0, 1, 7)
		s.send(1, 0, 70)
		s.arrived(0, 1, 70, 0)
		return s
	}},
	{"all receive from any source", true, func() *situation {
		s := world(3)
		for i := range 3 {
			s.recv(i, anySource, anyTag)
		}
		return s
	}},
	{"any source, and a rank computes", false, func() *situation {
		s := world(3)
		s.recv(0, anySource, anyTag)
		s.recv(1, 0, 1)
		return s
	}},
	{"probes", true, func() *situation {
		s := world(2)
		for i := range 2 {
			s.thread(i, report.Thread{Call: "MPI_Probe", For: report.ForMessage, Comm: report.NameOf(0), Peer: 1 - i,
				World: 1 - i, Tag: 5})
		}
		return s
	}},
	{"a message is under way", false, func() *situation {
		s := world(2)
		s.recv(0, 1, 7)
		s.recv(1, 0, 7)
		s.p(1).Sends = []report.Message{s.msg(1, "send", 0, 7, 0)}
		s.p(1).SendCount, s.p(1).Sent = 1, 1
		return s
	}},
	{"MPI_Waitall of a receive that comes and one that does not", true, func() *situation {
		s := world(3)
		s.call(0, "MPI_Waitall", s.msg(0, "recv", 1, 1, 0), s.msg(0, "recv", 2, 2, 0)).WaitCount = 2
		s.recv(1, 0, 1)
		s.recv(2, 0, 2)
		return s
	}},
	{"MPI_Waitany of which one may come", false, func() *situation {
		s := world(3)
		s.anyOf(0, "MPI_Waitany", s.msg(0, "recv", 1, 1, 0), s.msg(0, "recv", 2, 2, 0))
		s.recv(1, 0, 1)
		return s
	}},
	{"MPI_Waitany of which none can come", true, func() *situation {
		s := world(3)
		s.anyOf(0, "MPI_Waitany", s.msg(0, "recv", 1, 1, 0), s.msg(0, "recv", 2, 2, 0))
		s.recv(1, 0, 1)
		s.recv(2, 1, 1)
		return s
	}},
	{"a generalized request", false, func() *situation {
		s := world(2)
		s.call(0, "MPI_Wait", report.Message{Kind: "general", Peer: report.None, World: report.None, Tag: report.None})
		s.p(0).Open = "a generalized request, which the program completes"
		s.recv(1, 0, 1)
		return s
	}},
	{"a port, at which another job may connect", false, func() *situation {
		s := world(2)
		s.thread(0, report.Thread{Call: "MPI_Comm_accept", For: report.ForConnection, Peer: report.None, World: report.None})
		s.p(0).Open = "a port"
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a port, and two ranks that do not need it", true, func() *situation {
		s := world(3)
		s.thread(0, report.Thread{Call: "MPI_Comm_accept", For: report.ForConnection, Peer: report.None, World: report.None})
		s.p(0).Open = "a port"
		s.recv(1, 2, 1)
		s.recv(2, 1, 1)
		return s
	}},
	{"spawn under way", false, func() *situation {
		s := world(2)
		for i := range 2 {
			s.thread(i, report.Thread{Call: "MPI_Comm_spawn", For: report.ForConnection, Comm: report.NameOf(0),
				Peer: report.None, World: report.None})
			s.p(i).Open = "a job that is being spawned"
		}
		return s
	}},
	{"a spawned job and its parents receive from each other", true, func() *situation {
		s := world(1)
		child := world(1)
		child.ranks[0].Job = 1
		for _, o := range []*situation{s, child} {
			o.p(0).Comms = append(o.p(0).Comms, report.Comm{ID: 9, Rank: 0, Size: 1, Remote: 1,
				Members: []report.Run{{First: 1, Count: 1}}})
			o.call(0, "MPI_Recv", o.msg(0, "recv", 0, 3, 9))
		}
		s.ranks = append(s.ranks, child.ranks[0])
		return s
	}},
	{"threads of which one computes", false, func() *situation {
		s := world(2)
		s.recv(0, 1, 1)
		s.p(0).Open = "threads that are not in MPI"
		s.recv(1, 0, 1)
		return s
	}},
	{"threads that all wait", true, func() *situation {
		s := world(2)
		s.recv(0, 1, 1)
		s.recv(0, 1, 2)
		s.recv(1, 0, 1)
		return s
	}},
	{"a lock that a rank holds that waits", true, func() *situation {
		s := world(3)
		s.window(0, "MPI_Win_lock", 2)
		s.epoch(1, "has locked rank 2 by MPI_Win_lock", 2)
		s.recv(1, 0, 4)
		s.coll(0, 1, "MPI_Barrier", nil, 2)
		return s
	}},
	{"a lock of all ranks by one that waits", true, func() *situation {
		s := world(3)
		s.window(0, "MPI_Win_lock", report.None).Args = []report.Arg{{Name: "lock_type", Text: "MPI_LOCK_EXCLUSIVE"},
			{Name: "rank", Text: "2"}}
		s.epoch(1, "is locked at all ranks by MPI_Win_lock_all")
		s.recv(1, 0, 4)
		s.recv(2, 0, 4)
		return s
	}},
	{"a collective whose messages come from a rank that waits", true, func() *situation {
		s := world(4)
		s.coll(0, 0, "MPI_Bcast", []string{"root", "0"}, 1, 3)
		s.p(1).Threads[0].Peer, s.p(1).Threads[0].World = 0, 0
		s.p(3).Threads[0].Peer, s.p(3).Threads[0].World = 1, 1
		s.recv(0, 1, 5)
		s.recv(2, 0, 5)
		return s
	}},
	{"a collective whose messages come from a rank that computes", false, func() *situation {
		s := world(4)
		s.coll(0, 0, "MPI_Bcast", []string{"root", "0"}, 1, 3)
		s.p(1).Threads[0].Peer, s.p(1).Threads[0].World = 0, 0
		s.p(3).Threads[0].Peer, s.p(3).Threads[0].World = 1, 1
		return s
	}},
	{"a collective by numbered slots against one by messages", true, func() *situation {
		s := world(3)
		s.coll(0, 8, "MPI_Barrier", nil, 0, 2)
		s.coll(0, 0, "MPI_Allreduce", []string{"op", "MPI_SUM"}, 1)
		return s
	}},
	{"a lock whose holder computes", false, func() *situation {
		s := world(3)
		s.window(0, "MPI_Win_lock", 2)
		s.epoch(1, "has locked rank 2 by MPI_Win_lock", 2)
		s.coll(0, 1, "MPI_Barrier", nil, 2)
		return s
	}},
	{"a fence against a barrier", true, func() *situation {
		s := world(2)
		s.window(0, "MPI_Win_fence", report.None)
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a collective write that one rank does not call", true, func() *situation {
		s := world(2)
		s.thread(0, report.Thread{Call: "MPI_File_write_all", For: report.ForMembers, Object: "out.dat",
			Comm: report.NameOf(0), Peer: report.None, World: report.None, Number: 1})
		s.p(0).Files = []report.File{{Name: "out.dat", Pending: 1}}
		s.recv(1, 0, 1)
		return s
	}},
	{"a write under way", false, func() *situation {
		s := world(2)
		s.thread(0, report.Thread{Call: "MPI_File_write", For: report.ForFile, Object: "out.dat", Peer: report.None,
			World: report.None})
		s.p(0).Open = "accesses of out.dat"
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"a stopped rank", false, func() *situation {
		s := world(3)
		s.coll(0, 1, "MPI_Barrier", nil, 0, 1)
		s.silent(2, Stopped, "SIGSTOP, process 1002 on node")
		return s
	}},
	{"ranks that are swapped out, that compute without answering, and that never began", false, func() *situation {
		s := world(6)
		s.recv(0, 1, 1)
		s.silent(1, Disk, "in folio_wait_bit")
		s.silent(2, Running, "12.1 s of processor time in the last 12.1 s")
		s.silent(3, Outside, "")
		s.silent(4, Mute, "process 1004")
		s.silent(5, Entering, "")
		return s
	}},
	{"a blocking and a nonblocking barrier", true, func() *situation {
		s := world(2)
		s.coll(0, 1, "MPI_Barrier", nil, 0)
		s.icoll(0, 1, "MPI_Ibarrier", 1)
		s.waitFor(0, "MPI_Ibarrier", 1)
		return s
	}},
	{"a nonblocking collective in which one is missing", true, func() *situation {
		s := world(3)
		s.icoll(0, 4, "MPI_Iallreduce", 0, 1)
		s.waitFor(0, "MPI_Iallreduce", 0, 1)
		s.recv(2, 1, 6)
		return s
	}},
	{"a nonblocking collective that all have begun", false, func() *situation {
		s := world(2)
		s.icoll(0, 4, "MPI_Ibarrier", 0, 1)
		s.waitFor(0, "MPI_Ibarrier", 0)
		s.coll(0, 1, "MPI_Barrier", nil, 1)
		s.p(0).Open = "a test"
		return s
	}},
	{"collectives of two communicators in opposite order", true, func() *situation {
		s := world(2)
		s.comm(2, "rows", 0, 1)
		s.coll(0, 1, "MPI_Barrier", nil, 0)
		s.coll(2, 1, "MPI_Barrier", nil, 1)
		return s
	}},
	{"communicators with one context and other members", false, func() *situation {
		s := world(4)
		s.comm(2, "half", 0, 1)
		s.comm(2, "half", 2, 3)
		s.coll(2, 1, "MPI_Barrier", nil, 0)
		s.coll(2, 1, "MPI_Barrier", nil, 2)
		return s
	}},
	{"a rank that is through with a broadcast", false, func() *situation {
		s := world(3)
		s.coll(0, 4, "MPI_Bcast", []string{"root", "0"}, 1, 2)
		return s
	}},
	{"ranks of a communicator with names of its own", true, func() *situation {
		s := world(6)
		s.comm(8, "odd ranks", 5, 3, 1)
		s.call(5, "MPI_Recv", s.msg(5, "recv", 2, 1, 8))
		s.call(1, "MPI_Ssend", s.msg(1, "ssend", 1, 1, 8))
		s.call(3, "MPI_Recv", s.msg(3, "recv", 0, 1, 8))
		s.coll(0, 1, "MPI_Barrier", nil, 0, 2, 4)
		return s
	}},
	{"a rank that receives from itself", true, func() *situation {
		s := world(2)
		s.recv(0, 0, 1)
		s.recv(1, 0, 1)
		return s
	}},
	{"MPI_Sendrecv in a circle with a wrong tag", true, func() *situation {
		s := world(2)
		for i := range 2 {
			s.call(i, "MPI_Sendrecv", s.msg(i, "send", 1-i, 1, 0), s.msg(i, "recv", 1-i, 2, 0))
			s.arrived(i, 1-i, 1, 0)
		}
		return s
	}},
	{"packets between machines that have not arrived", false, func() *situation {
		s := world(2)
		s.recv(0, 1, 1)
		s.recv(1, 0, 1)
		s.p(0).Sent = 3
		s.p(1).Received = 2
		return s
	}},
	{"a thread that has just been woken", false, func() *situation {
		s := world(2)
		s.recv(0, 1, 1)
		t := s.recv(1, 0, 1)
		t.Settled, t.Since = false, second/100
		return s
	}},
	{"ranks with hostile texts", false, func() *situation {
		s := world(2)
		t := s.recv(0, 1, 1)
		t.Call, t.Site = "MPI_Recv\x1b[31m\nrank 1: fine", "\u202egnp.c:1"
		s.p(1).LastCall = string(make([]byte, 400))
		return s
	}},
}
