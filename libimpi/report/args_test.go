package report

import "testing"

func TestArgumentsAreThoseOfTheCall(t *testing.T) {
	p := Process{Comms: []Comm{{ID: 0, Name: "MPI_COMM_WORLD", Size: 4}, {ID: 2, Size: 3}, {ID: 4, Size: 1, Remote: 2}}}
	message := Message{Kind: "recv", Comm: NameOf(0), Peer: -1, Tag: -2, Count: 5, Type: "MPI_INT"}
	for _, c := range []struct {
		thread Thread
		want   string
	}{
		{Thread{Call: "MPI_Recv", Comm: NameOf(0), Waits: []Message{message}},
			"count=5 datatype=MPI_INT source=MPI_ANY_SOURCE tag=MPI_ANY_TAG comm=MPI_COMM_WORLD "},
		{Thread{Call: "MPI_Ssend_c", Comm: NameOf(2), Waits: []Message{{Peer: 2, Tag: 7, Count: 1, Type: "MPI_INT"}}},
			"count=1 datatype=MPI_INT dest=2 tag=7 comm=communicator of size 3 "},
		{Thread{Call: "MPI_Mrecv", Comm: NameOf(0), Waits: []Message{message}}, "count=5 datatype=MPI_INT "},
		{Thread{Call: "MPI_Recv", Comm: NameOf(0)}, "comm=MPI_COMM_WORLD "},
		{Thread{Call: "MPI_Mprobe", Comm: NameOf(4), Peer: procNull, Tag: None},
			"source=MPI_PROC_NULL tag=? comm=intercommunicator of sizes 1 and 2 "},
		{Thread{Call: "MPI_Waitall", Comm: NameOf(0), Requests: 9}, "count=9 "},
		{Thread{Call: "MPI_Wait", Comm: NameOf(0), Requests: 1}, ""},
		{Thread{Call: "MPI_Win_fence", Comm: NameOf(2), Object: "a b"}, `win="a b" `},
		{Thread{Call: "MPI_File_close", Object: "data"}, `fh="data" `},
		{Thread{Call: "MPI_Barrier", Comm: NameOf(0)}, "comm=MPI_COMM_WORLD "},
		{Thread{Call: "MPI_Barrier", Comm: NameOf(8)}, ""},
		{Thread{}, ""},
	} {
		p.Threads = []Thread{c.thread}
		p.AddArgs()
		got := ""
		for _, a := range p.Threads[0].Args {
			got += a.Name + "=" + a.Text + " "
		}
		if got != c.want {
			t.Errorf("%s: %q, and not %q", c.thread.Call, got, c.want)
		}
	}
	if got := Rank(3) + Rank(None) + Tag(4); got != "3?4" {
		t.Error(got)
	}
}
