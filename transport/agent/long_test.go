package agent

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bundle"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// continuation is a packet with n bytes of a message that is longer.
func (h *house) continuation(src, dst int32, n int) []byte {
	b := h.packet(transport.Data, src, dst, strings.Repeat("c", n))
	wire.Packet(b).SetMsgLen(uint64(2 * n))
	return b
}

// housed is a house whose agent has agreed on continuations of some length with hosts 0 and 2.
func housed(t *testing.T, datalen uint32, stream [2]uint32) *house {
	return furnished(t, datalen, 0, func(c *Config) {
		c.Job.Hosts[0].Stream, c.Job.Hosts[2].Stream = stream[0], stream[1]
	})
}

func TestContinuationsPassThatAreLongerThanOtherPackets(t *testing.T) {
	h := housed(t, 1000, [2]uint32{200_000, 100_000})
	for _, tt := range []struct {
		src, dst int32
		n        int
	}{{0, 1, 200_000}, {4, 3, 100_000}, {1, 0, 200_000}, {2, 4, 100_000}, {0, 2, 1001}} {
		from, to := h.ends(tt.src, tt.dst)
		p := h.continuation(tt.src, tt.dst, tt.n)
		done := make(chan struct{})
		go func() { from.Write(p); close(done) }()
		expect(t, to, p, "a continuation")
		<-done
	}
}

// A host that is reached by several connections, which are one stream at either end.
func TestAnAgentRelaysOverSeveralConnections(t *testing.T) {
	var others *bundle.Bundle
	h := furnished(t, 1000, 100_000, func(c *Config) {
		c.Job.Hosts[0].Stream = 1 << 20
		unix.Close(c.Peers[0][0])
		var ours, theirs []int
		for range 3 {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs = append(ours, pair[0]), append(theirs, pair[1])
		}
		c.Peers[0], others = ours, bundle.New(theirs)
	})
	t.Cleanup(others.Close)
	process := h.procs[0][0] // process 1, to lower ranks
	in, out := h.continuation(0, 1, 900_000), h.continuation(1, 0, 900_000)
	fini := make([]byte, wire.PacketSize)
	wire.Packet(fini).Encode(&transport.Header{Kind: transport.Fini}, &wire.ProcID{}, &wire.ProcID{})
	written := make(chan struct{})
	go func() {
		defer close(written)
		process.Write(out)
		for _, pair := range h.procs {
			for _, c := range pair {
				c.Write(fini)
			}
		}
		h.hosts[2].Write(fini)
	}()
	arrived := make(chan []byte)
	go func() {
		got := make([]byte, len(in)+len(fini))
		n, _ := io.ReadFull(process, got)
		arrived <- got[:n]
	}()
	send := append(bytes.Clone(in), fini...)
	var got []byte
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Microsecond) {
		for k := range 3 {
			others.Writable(k)
		}
		if len(send) > 0 {
			n, _ := others.Send(send, nil, nil)
			send = send[n:]
		}
		room := make([]byte, 1<<20)
		n, err := others.Receive(nil, room)
		if got = append(got, room[:n]...); len(got) == len(out)+len(fini) && len(send) == 0 {
			others.CloseWrite()
		}
		if err == io.EOF {
			break
		} else if err != nil && err != unix.EAGAIN || time.Now().After(end) {
			t.Fatalf("%d bytes are here: %v", len(got), err)
		}
	}
	if want := append(bytes.Clone(out), fini...); !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, not the %d that were sent", len(got), len(want))
	}
	if b := <-arrived; !bytes.Equal(b, append(bytes.Clone(in), fini...)) {
		t.Errorf("%d bytes arrived at the process", len(b))
	}
	<-written
}

func TestTheLossOfOneConnectionOfSeveralIsTheLossOfTheHost(t *testing.T) {
	var others []int
	h := furnished(t, 1000, 0, func(c *Config) {
		fd, end := tcpPair(t)
		c.Peers[0] = append(c.Peers[0], fd)
		end.Close()
		others = c.Peers[0]
	})
	if err := <-h.lost; !strings.Contains(err.Error(), "connection 1 of 2 closed") || len(others) != 2 {
		t.Error(err)
	}
}

func TestAContinuationLongerThanAgreedOnEndsItsLink(t *testing.T) {
	for _, tt := range []struct {
		stream   [2]uint32
		src, dst int32
		n        int
		whole    bool
	}{
		{[2]uint32{200_000, 0}, 4, 3, 1001, false},        // a host with which nothing was agreed on
		{[2]uint32{200_000, 0}, 0, 1, 200_001, false},     // longer than with that host
		{[2]uint32{200_000, 0}, 0, 1, 1001, true},         // no continuation
		{[2]uint32{200_000, 0}, 2, 4, 1001, false},        // to a host that does not take it
		{[2]uint32{200_000, 100}, 2, 4, 1001, false},      // nor this one
		{[2]uint32{200_000, 5_000}, 2, 0, 200_001, false}, // longer than any takes
	} {
		h := housed(t, 1000, tt.stream)
		from, _ := h.ends(tt.src, tt.dst)
		p := h.continuation(tt.src, tt.dst, tt.n)
		if tt.whole {
			p = h.packet(transport.Data, tt.src, tt.dst, strings.Repeat("w", tt.n))
		}
		go from.Write(p)
		select {
		case err := <-h.lost:
			if !strings.Contains(err.Error(), "longer than the agreed maximum") {
				t.Errorf("%+v: %v", tt, err)
			}
		case text := <-h.warns:
			if !strings.Contains(text, "longer than") {
				t.Errorf("%+v: %s", tt, text)
			}
		case <-time.After(patience):
			t.Fatalf("%+v: passed", tt)
		}
	}
}

func TestAProcessSeesWhatAllHostsOnASideTake(t *testing.T) {
	j := makeJob(1000)
	j.Hosts[0].Stream, j.Hosts[2].Stream = 5000, 3000
	j.Me = 1
	if v := View(j); v.Hosts[0].Stream != 5000 || v.Hosts[2].Stream != 3000 || v.Hosts[2].StreamIn != 3000 {
		t.Errorf("beside the agent's own processes: %+v", v.Hosts)
	}
	j.Me, j.Hosts[1].Stream = 0, 9000
	if v := View(j); v.Hosts[2].Stream != 3000 || v.Hosts[2].StreamIn != 9000 {
		t.Errorf("two hosts: %+v", v.Hosts)
	}
	j.Hosts[1].Stream = 0
	j.Me = 3
	if v := View(j); v.Hosts[0].Stream != 5000 || v.Hosts[2].Stream != 3000 {
		t.Errorf("the last of the agent's: %+v", v.Hosts)
	}
	j.Me, j.Hosts[2].Stream = 0, 0
	j.Hosts[1].Stream = 9000
	if v := View(j); v.Hosts[2].Stream != 0 || v.Hosts[2].StreamIn != 9000 {
		t.Errorf("one that takes none: %+v", v.Hosts)
	}
}

func TestAHostThatIsSilentForTooLongIsLost(t *testing.T) {
	h := furnished(t, 1000, 0, nil)
	fd := -1
	h.agent.heard = func(n int, d time.Duration) error {
		if fd < 0 {
			fd = n
		}
		if n == fd {
			return errors.New("silent")
		}
		return nil
	}
	h.agent.config.Silence = 4 * time.Millisecond
	go h.agent.guard()
	select {
	case err := <-h.lost:
		if !strings.Contains(err.Error(), "host 0 (client 0") || !strings.Contains(err.Error(), "silent") {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("not lost")
	}
	p := h.packet(transport.Data, 4, 1, "goes on")
	h.hosts[2].Write(p)
	expect(t, h.procs[0][1], p, "another host's packet")
}
