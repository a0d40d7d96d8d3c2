package tcp

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

func TestHostsConform(t *testing.T) {
	for name, tune := range map[string]func(*transport.Job){
		"tcp":                 func(*transport.Job) {},
		"tcp behind TLS":      keyed(1, true),
		"short windows":       func(j *transport.Job) { j.AckMark, j.HiWater, j.MaxDataLen = 1, 1, 100 },
		"several connections": several(3, false),
		"several behind TLS":  several(3, true),
		"short headers":       brief,
		"several and short":   func(j *transport.Job) { several(3, false)(j); brief(j) },
	} {
		if testing.Short() && !slices.Contains([]string{"tcp", "several behind TLS", "several and short"}, name) {
			continue // these have the same parts
		}
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
				return conform(t, rx, func(j *transport.Job) {
					for i := range j.Hosts {
						j.Hosts[i].Stream = 256 << 10
					}
					tune(j)
				})
			})
		})
	}
}

// conform makes a world of three hosts.
func conform(t *testing.T, rx []*conformance.Receiver, tune func(*transport.Job)) *conformance.World {
	lay := layout{{1}, {1}, {1}}
	ls, at := listen(t, lay)
	hosts := make([]*Host, len(ls))
	var wg sync.WaitGroup
	for i := range ls {
		wg.Go(func() {
			job := makeJob(lay, at, tune)
			h, err := Connect(deadline(t), job, int32(i), ls[i], rx[i], func() {}, Options{})
			if hosts[i] = h; err != nil {
				t.Errorf("host %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, h := range hosts {
			h.Abort()
			<-h.watch.done
		}
	})
	w := &conformance.World{Victim: 2, Kill: hosts[2].Abort, Traitor: 2, Treason: map[string]func(){}}
	for _, h := range hosts {
		w.Transports = append(w.Transports, h)
	}
	job := hosts[2].job
	if job.Hosts[0].Streams > 1 {
		noise := bytes.Repeat([]byte{0xff}, 4096)
		w.Treason["bytes that are no piece of a stream"] = func() { say(t, hosts[2].links[0], noise) }
		return w
	}
	if job.Hosts[0].Short {
		w.Treason["no short header"] = func() { say(t, hosts[2].links[0], []byte("GET / HTTP/1.1")) }
		w.Treason["half a header"] = func() {
			say(t, hosts[2].links[0], shortPacket(transport.Header{Kind: transport.Data}, "")[:9])
			hosts[2].Abort()
		}
		return w
	}
	good := packet(job, transport.Header{Kind: transport.Data, Src: 2, Dst: 0, Tag: 1}, "evil")
	for name, spoil := range map[string]func(p wire.Packet){
		"no kind":                 func(p wire.Packet) { p.SetType(8) },
		"more than the message":   func(p wire.Packet) { p.SetMsgLen(3) },
		"longer than all may be":  func(p wire.Packet) { p.SetLen(1 << 31); p.SetMsgLen(1 << 40) },
		"a stranger's name":       func(p wire.Packet) { p.SetSrc(wire.ProcID{PID: 77}) },
		"another's name":          func(p wire.Packet) { p.SetSrc(idOf(job, 1)) },
		"another destination":     func(p wire.Packet) { p.SetDst(idOf(job, 1)) },
		"what was never received": func(p wire.Packet) { p.SetType(wire.PkProtoAck); p.SetLen(0) },
	} {
		w.Treason[name] = func() {
			b := bytes.Clone(good)
			spoil(wire.Packet(b))
			say(t, hosts[2].links[0], b)
		}
	}
	w.Treason["half a packet"] = func() {
		say(t, hosts[2].links[0], good[:100])
		hosts[2].Abort()
	}
	w.Treason["words"] = func() { say(t, hosts[2].links[0], []byte(strings.Repeat("GET / HTTP/1.1\r\n", 20))) }
	return w
}

// say writes to a link what its host would not.
func say(t *testing.T, l *link, b []byte) {
	t.Helper()
	if n, err := unix.Write(l.fd, b); n != len(b) {
		t.Fatalf("%d of %d bytes: %v", n, len(b), err)
	}
}
