package peer

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/transport/wire"
)

// linked is a job of two processes: 0 is of the implementation under test, whose end of the connection it returns.
func linked(t *conform.T) (j *Job, theirs net.Conn) {
	j = &Job{T: t, Clients: 2, DataLen: 100, AckMark: 10, HiWater: 20, links: map[[2]int]*Link{},
		syncs: map[uint64]uint64{}, window: map[[2]int]*window{}, Hosts: []Host{{Client: 0, N: 1}, {Client: 1, N: 1}},
		Procs: []Proc{{ID: codec.ID{PID: 1}}, {ID: codec.ID{PID: 2}, Host: 1, Client: 1}}}
	j.cond = sync.NewCond(&j.mu)
	j.current.Store(t)
	t.Events().Processes([]codec.ID{j.Procs[0].ID, j.Procs[1].ID}, func(rank int) bool { return rank == 0 })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { theirs.Close() })
	c := j.dialled(ours.(*net.TCPConn), 1, 0)
	c.Write(codec.U32(1))
	j.Adopt(1, 0, c)
	return j, theirs
}

func TestAProblemNamesThePacketThatShowsIt(t *testing.T) {
	var result conform.Result
	run := func(t *conform.T) {
		j, theirs := linked(t)
		h := codec.Header{Type: wire.PkData, Len: 3, MsgLen: 3, Src: j.Procs[0].ID, Dst: j.Procs[1].ID, Tag: 5}
		theirs.Write(codec.Packet{Header: h, Data: []byte("abc")}.Bytes())
		p := j.Take(0, 1)
		must := p.Header
		must.Tag = 6
		t.Must(p, p.Header, must)
		t.Check(p.CID == 1, "%v has another cid", p)
		h.Dst.PID = 77
		theirs.Write(codec.Packet{Header: h, Data: []byte("abc")}.Bytes())
		<-j.Link(1, 0).over
	}
	conform.Run(context.Background(), []conform.Case{{Name: "a/b", Run: run}},
		conform.Options{Timeout: time.Minute, Trace: true}, func(r conform.Result) { result = r })
	if len(result.Problems) != 3 || result.Outcome != conform.Fail {
		t.Fatalf("got %v %+v", result.Outcome, result.Problems)
	}
	var tags, processes []string
	for _, p := range result.Problems {
		for _, e := range result.Trace.Events {
			if e.N == p.Event {
				tags = append(tags, e.Name)
				processes = append(processes, e.From+" to "+e.To)
			}
		}
	}
	want := []string{"process 0 to process 1", "process 0 to process 1", "process 0 to host 1.0"}
	for i := range want {
		if len(tags) != 3 || tags[i] != "DATA" || processes[i] != want[i] {
			t.Fatalf("the problems are of %q between %q", tags, processes)
		}
	}
	if m := result.Problems[0].Must; len(m) != 1 || m[0].Name != "pk_tag" || m[0].Value != "6" {
		t.Errorf("it must have %+v", m)
	}
}
