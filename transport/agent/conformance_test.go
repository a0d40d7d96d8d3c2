package agent

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Two processes behind an agent, and one that is a host of its own.
func TestProcessesBehindAnAgentConform(t *testing.T) {
	for name, limits := range map[string]struct{ datalen, stream uint32 }{
		"long continuations": {4000, 256 << 10}, "short packets": {100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
				job := &transport.Job{Clients: 2, MaxDataLen: limits.datalen, AckMark: 5, HiWater: 20}
				for host, n := range []int32{2, 1} {
					job.Hosts = append(job.Hosts, transport.Host{Client: int32(host), First: int32(len(job.Procs)), NProcs: n,
						Stream: limits.stream, SameImpl: true})
					for range n {
						job.Procs = append(job.Procs, transport.Proc{HostID: [16]byte{15: byte(host)},
							PID: int64(len(job.Procs)) + 1, Host: int32(host), Client: int32(host)})
					}
				}
				return conform(t, job, rx)
			})
		})
	}
}

func conform(t *testing.T, job *transport.Job, rx []*conformance.Receiver) *conformance.World {
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	must(err)
	behind, err := unix.FcntlInt(uintptr(pair[1]), unix.F_DUPFD_CLOEXEC, 0) // by which the third process lies
	must(err)
	w := &conformance.World{Victim: 2, Traitor: 2, Treason: map[string]func(){}, Together: true}
	w.Linked = func(a, b int32) bool { return job.Procs[a].Host != job.Procs[b].Host }
	var pipes [][2]*pipe.End
	var hosts []*tcp.Host
	for r := range int32(2) {
		mine := *job
		mine.Me = r
		ours, theirs, err := Pipes(job, r)
		must(err)
		pipes = append(pipes, ours)
		h, err := tcp.Adopt(View(&mine), ViewHost, ViewSockets(theirs), rx[r], func() {}, tcp.Options{Pipes: true})
		must(err)
		hosts = append(hosts, h)
	}
	direct, err := tcp.Adopt(job, 1, [][]int{{pair[1]}, nil}, rx[2], func() {}, tcp.Options{})
	must(err)
	hosts = append(hosts, direct)
	lost := make(chan struct{})
	a, err := New(Config{Job: job, Host: 0, Peers: [][]int{nil, {pair[0]}},
		Lost: func(int32, error) { close(lost) }}, pipes)
	must(err)
	t.Cleanup(func() {
		for _, h := range hosts {
			h.Abort()
		}
		a.Close()
		unix.Close(behind)
	})
	// Whoever started the agent ends it when a host is lost.
	w.Between = func() {
		select {
		case <-lost:
			a.Close()
		default:
		}
	}
	for _, h := range hosts {
		w.Transports = append(w.Transports, h)
	}
	w.Kill = func() {
		direct.Abort()
		unix.Shutdown(behind, unix.SHUT_RDWR)
	}
	name := func(r int) *wire.ProcID { return &wire.ProcID{HostID: job.Procs[r].HostID, PID: job.Procs[r].PID} }
	good := make([]byte, wire.PacketSize)
	h := transport.Header{Kind: transport.Data, Len: 4, MsgLen: 4}
	if !wire.Packet(good).Encode(&h, name(2), name(0)) {
		t.Fatal("no packet")
	}
	good = append(good, "evil"...)
	for what, spoil := range map[string]func(p wire.Packet){
		"no kind":               func(p wire.Packet) { p.SetType(8) },
		"more than the message": func(p wire.Packet) { p.SetMsgLen(3) },
		"longer than all":       func(p wire.Packet) { p.SetLen(1 << 31); p.SetMsgLen(1 << 40) },
		"a stranger's name":     func(p wire.Packet) { p.SetSrc(wire.ProcID{PID: 77}) },
		"another's name":        func(p wire.Packet) { p.SetSrc(*name(1)) },
		"another destination":   func(p wire.Packet) { p.SetDst(*name(2)) },
	} {
		w.Treason[what] = func() {
			b := bytes.Clone(good)
			spoil(wire.Packet(b))
			if n, err := unix.Write(behind, b); n != len(b) {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
	}
	return w
}
