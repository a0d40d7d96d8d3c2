package cases

import (
	"bytes"
	"fmt"
	"net"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

var (
	done = codec.Command(wire.CmdDone)
	fini = codec.Command(wire.CmdFini)
)

// serverAuth: starting the server, and who is let in (2.2, 2.3.3, 2.3.4).
var serverAuth = []conform.Case{
	{Name: "server/one-line", Rule: "2.2.1", Needs: conform.Server,
		About: "the server writes one line, address:port, and nothing else to stdout in a whole job",
		Run: func(t t) {
			s := peer.StartServer(t, 2, []string{"IMPI_AUTH_NONE=", "IMPI_AUTH_KEY=5678"})
			s.Finish(s.JoinAll(2)) // Exit looks at stdout
		}},
	{Name: "server/port", Rule: "2.2.1", Needs: conform.Server,
		About: "-port chooses the port",
		Run: func(t t) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Disturbed(err)
				t.Fatalf("the tester cannot listen: %v", err)
			}
			_, port, _ := net.SplitHostPort(l.Addr().String())
			l.Close()
			s := peer.StartServer(t, 1, nil, "-port", port)
			t.Check(strings.HasSuffix(s.Addr, ":"+port), "the server listens at %s, must be port %s", s.Addr, port)
			s.Finish(s.JoinAll(1))
		}},
	{Name: "server/count-impossible", Rule: "2.2.1, 2.3.5", Needs: conform.Server,
		About: "a number of clients that is no number from 1 to 32 is refused",
		Run: func(t t) {
			for _, n := range []string{"0", "33", "-1", "two", ""} {
				peer.LaunchServer(t, n, target.KeyEnv()).Exit(false)
			}
		}},
	{Name: "server/no-method", Rule: "2.3.3", Needs: conform.Server,
		About: "a server for which no authentication method is enabled ends with an error",
		Run: func(t t) {
			peer.LaunchServer(t, "2", nil).Exit(false)
			peer.LaunchServer(t, "2", target.KeyEnv(), "-auth", "0").Exit(false)
		}},
	{Name: "server/auth-choice", Rule: "2.3.3", Needs: conform.Server,
		About: "which method is chosen: what is enabled, by preference, of what the client offers; none in common closes",
		Run:   authChoice},
	{Name: "server/auth-none-warns", Rule: "2.3.3", Needs: conform.Server,
		About: "IMPI_AUTH_NONE: a warning with the client's address, not on stdout",
		Run: func(t t) {
			s := peer.StartServer(t, 1, []string{"IMPI_AUTH_NONE="})
			m := s.Dial()
			m.Say(codec.Auth(wire.AuthNoneMask))
			m.Reads(codec.I32(wire.AuthNone, 0))
			m.Say(codec.Impi(0))
			m.Reads(codec.Impi(1))
			s.Finish([]*peer.Member{m})
			host, _, _ := net.SplitHostPort(m.LocalAddr().String())
			t.Check(strings.Contains(s.Main.Stderr(), host), "no warning on stderr that names %s: %q", host, s.Main.Stderr())
		}},
	{Name: "server/key-right", Rule: "2.3.3", Needs: conform.Server,
		About: "the right key is answered with nothing",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			a, b := s.Join(0), s.Join(1)
			a.Reads(codec.Impi(2)) // Join has read the choice: no byte in between
			b.Reads(codec.Impi(2))
			s.Finish([]*peer.Member{a, b})
		}},
	{Name: "server/key-wrong", Rule: "2.3.3", Needs: conform.Server,
		About: "a wrong key closes the connection without a byte; others go on, and the right key is welcome afterwards",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			a := s.Join(0)
			for _, key := range []uint64{0, 5679, 1 << 63, target.Key << 32} {
				m := s.DialForKey()
				m.Say(codec.U64(key), codec.Impi(1))
				m.Closed(fmt.Sprintf("key %d", key))
			}
			b := s.Join(1)
			a.Reads(codec.Impi(2))
			b.Reads(codec.Impi(2))
			s.Finish([]*peer.Member{a, b})
		}},
	{Name: "server/auth-masks", Rule: "2.3.3", Needs: conform.Server,
		About: "AUTH with several masks is accepted, with none or parts of one refused",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			for _, n := range []int{0, 1, 3, 5} {
				refusedAtOnce(s, codec.Cmd{Cmd: int32(wire.CmdAuth), Data: make([]byte, n)}.Bytes())
			}
			for _, n := range []int32{-1, -4, 1<<31 - 4} {
				refusedAtOnce(s, codec.I32(int32(wire.CmdAuth), n))
			}
			m := s.Dial()
			m.Say(codec.Auth(wire.AuthKeyMask, 1<<31))
			m.Reads(codec.I32(wire.AuthKey, 0))
			m.Say(codec.U64(target.Key), codec.Impi(0))
			m.Reads(codec.Impi(1))
			s.Finish([]*peer.Member{m})
		}},
	{Name: "server/auth-first", Rule: "2.3.3", Needs: conform.Server,
		About: "who begins with another command than AUTH is turned away",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			for _, b := range [][]byte{codec.Impi(0), done, fini, codec.Coll(0x1000, codec.U32(0, 0)),
				codec.Cmd{Cmd: 5, Data: []byte("hello")}.Bytes(), []byte("GET / HTTP/1.1\r\n\r\n")} {
				refusedAtOnce(s, b)
			}
			s.Finish(s.JoinAll(1))
		}},
	{Name: "server/no-bypass", Rule: "2.3.3", Needs: conform.Server,
		About: "IMPI, or another AUTH, instead of the key is no key",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			for _, b := range [][]byte{codec.Impi(0), codec.Auth(wire.AuthNoneMask), done} {
				m := s.DialForKey()
				m.Say(b, make([]byte, 8))
				m.Closed(fmt.Sprintf("% x instead of a key", b))
			}
			s.Finish(s.JoinAll(1))
		}},
	{Name: "server/size-to-all", Rule: "2.3.4", Needs: conform.Server,
		About: "every client is told the number of clients when the last has joined, in whatever order they come",
		Run: func(t t) {
			s := peer.StartServer(t, 3, nil)
			c, a := s.Join(2), s.Join(0)
			c.Silent("one client is missing")
			b := s.Join(1)
			for _, m := range []*peer.Member{a, b, c} {
				m.Reads(codec.Impi(3))
			}
			s.Finish([]*peer.Member{a, b, c})
		}},
	{Name: "server/rank-impossible", Rule: "2.3.4", Needs: conform.Server,
		About: "a rank that is negative or too large, or an IMPI of another length, is turned away; the job goes on",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			a := s.Join(0)
			for _, rank := range []int{-1, 2, 1 << 30} {
				s.Join(rank).Closed(fmt.Sprintf("rank %d", rank))
			}
			for _, n := range []int{0, 3, 8} {
				m := s.DialForKey()
				m.Say(codec.U64(target.Key), codec.Cmd{Cmd: int32(wire.CmdImpi), Data: make([]byte, n)}.Bytes())
				m.Closed(fmt.Sprintf("IMPI with %d bytes", n))
			}
			b := s.Join(1)
			a.Reads(codec.Impi(2))
			b.Reads(codec.Impi(2))
			s.Finish([]*peer.Member{a, b})
		}},
	{Name: "server/rank-taken", Rule: "2.3.4, notes B.2", Needs: conform.Server,
		About: "two clients want the same rank: one is turned away, and the other goes on",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			a := peer.Either(s.Join(0), s.Join(0))
			b := s.Join(1)
			a.Reads(codec.Impi(2))
			b.Reads(codec.Impi(2))
			s.Finish([]*peer.Member{a, b})
		}},
}

// serverExchange: COLL, DONE, FINI (2.3.5 - 2.3.7).
var serverExchange = []conform.Case{
	{Name: "server/labels-1", Rule: "2.3.5", Needs: conform.Server,
		About: "all labels of one client are broadcast, byte by byte", Run: func(t t) { labels(t, 1) }},
	{Name: "server/labels-2", Rule: "2.3.5", Needs: conform.Server, About: "all labels of two clients in lock-step",
		Run: func(t t) { labels(t, 2) }},
	{Name: "server/labels-3", Rule: "2.3.5", Needs: conform.Server,
		About: "all labels of three clients with shares of different lengths", Run: func(t t) { labels(t, 3) }},
	{Name: "server/labels-32", Rule: "2.3.5", Needs: conform.Server, About: "all labels of 32 clients: bit 31 of the mask",
		Run: func(t t) { labels(t, 32) }},
	{Name: "server/label-omitted", Rule: "2.3.5, erratum D-4", Needs: conform.Server,
		About: "a client passes a label over: the others' values go to everybody when it submits a higher one",
		Run: func(t t) {
			s := peer.StartServer(t, 3, nil)
			m := s.JoinAll(3)
			m[0].Say(codec.Coll(0x1100, codec.U32(5)))
			m[2].Say(codec.Coll(0x1100, codec.U32(7)))
			m[0].Silent("client 1 may still submit label 0x1100")
			m[1].Say(codec.Coll(0x1200, codec.U32(8)))
			broadcast(m, 0x1100, 5, codec.U32(5, 7))
			m[0].Say(codec.Coll(0x1300, nil))
			m[2].Say(codec.Coll(0x1200, codec.U32(9)))
			broadcast(m, 0x1200, 6, codec.U32(8, 9))
			m[1].Say(done)
			m[2].Say(done)
			broadcast(m, 0x1300, 1, nil)
			m[0].Say(done)
			s.Fini(m)
		}},
	{Name: "server/label-unknown", Rule: "2.3.5", Needs: conform.Server,
		About: "the server looks at no label: unknown ones, below, between and above the others, are broadcast, " +
			"with any data",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			for _, l := range []uint32{1, 0x1001, 0x3101, 0x7fffffff} {
				a, b := bytes.Repeat([]byte{1}, int(l&7)), bytes.Repeat([]byte{2}, 3)
				m[0].Say(codec.Coll(l, a))
				m[1].Say(codec.Coll(l, b))
				broadcast(m, l, 3, append(a, b...))
			}
			s.Finish(m)
		}},
	{Name: "server/label-0", Rule: "2.3.5", Needs: conform.Server,
		About: "label 0 is taken and not broadcast",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			for _, x := range m {
				x.Say(codec.Coll(0, []byte{1, 2, 3}), codec.Coll(0x1000, []byte{byte(x.Rank)}))
			}
			broadcast(m, 0x1000, 3, []byte{0, 1})
			s.Finish(m)
		}},
	{Name: "server/label-big", Rule: "2.3.5", Needs: conform.Server,
		About: "a label with 1 MiB of each client's",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			a, b := bytes.Repeat([]byte{1}, 1<<20), bytes.Repeat([]byte{2}, 1<<20)
			m[0].Say(codec.Coll(0x4000, a))
			m[1].Say(codec.Coll(0x4000, b))
			broadcast(m, 0x4000, 3, append(a, b...))
			s.Finish(m)
		}},
	{Name: "server/pipelined", Rule: "2.3.5", Needs: conform.Server,
		About: "one client sends all labels and DONE at once and reads nothing, the other goes in lock-step",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			for _, l := range wire.Labels {
				m[0].Say(codec.Coll(uint32(l), codec.U32(uint32(l))))
			}
			m[0].Say(done)
			for _, l := range wire.Labels {
				m[1].Say(codec.Coll(uint32(l), codec.U32(1)))
				m[1].Reads(codec.Broadcast(uint32(l), 3, codec.U32(uint32(l), 1)))
			}
			m[1].Say(done)
			for _, l := range wire.Labels {
				m[0].Reads(codec.Broadcast(uint32(l), 3, codec.U32(uint32(l), 1)))
			}
			s.Fini(m)
		}},
	{Name: "server/all-at-once", Rule: "2.3", Needs: conform.Server,
		About: "a client sends everything from AUTH to DONE in one piece",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			m := s.Dial()
			m.Say(peer.Hello(0), codec.Coll(0x1000, []byte{1}), done)
			m.Reads(codec.I32(wire.AuthKey, 0))
			m.Reads(codec.Impi(1))
			m.Reads(codec.Broadcast(0x1000, 1, []byte{1}))
			s.Fini([]*peer.Member{m})
		}},
	{Name: "server/bytewise", Rule: "2.3", Needs: conform.Server,
		About: "a client sends everything byte by byte",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			m := s.Dial()
			for _, b := range append(append(peer.Hello(0), codec.Coll(0x1000, codec.U32(0, 0))...), done...) {
				m.Say([]byte{b})
			}
			m.Reads(codec.I32(wire.AuthKey, 0))
			m.Reads(codec.Impi(1))
			m.Reads(codec.Broadcast(0x1000, 1, codec.U32(0, 0)))
			s.Fini([]*peer.Member{m})
		}},
	{Name: "server/unknown-commands", Rule: "2.3.2", Needs: conform.Server,
		About: "unknown commands with 0, 1 and 2^20 bytes are discarded, before and after IMPI, and while the job runs",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			m := s.DialForKey()
			m.Rank = 0
			var junk [][]byte
			for i, n := range []int{0, 1, 1 << 20} {
				junk = append(junk, codec.Cmd{Cmd: []int32{-7, 0, 0x51554954}[i], Data: make([]byte, n)}.Bytes())
			}
			unknown := bytes.Join(junk, nil)
			m.Say(codec.U64(target.Key), unknown, codec.Impi(0), unknown, codec.Coll(0x1000, nil), unknown, done)
			m.Reads(codec.Impi(1))
			m.Reads(codec.Broadcast(0x1000, 1, nil))
			m.Reads(done)
			m.Say(unknown, fini)
			m.Closed("after FINI")
			s.Exit(true)
		}},
	{Name: "server/done", Rule: "2.3.6", Needs: conform.Server,
		About: "DONE is answered when all clients have said it; a second one, and one with a payload, do no harm",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			m[0].Say(done, done, fini)
			m[0].Silent("client 1 has not said DONE")
			m[1].Say(codec.Cmd{Cmd: int32(wire.CmdDone), Data: []byte("payload")}.Bytes())
			m[0].Reads(done)
			m[1].Reads(done)
			m[0].Say(done)
			m[1].Say(fini)
			m[0].Say(fini)
			m[0].Closed("after FINI")
			m[1].Closed("after FINI")
			s.Exit(true)
		}},
	{Name: "server/fini", Rule: "2.3.7, 2.4", Needs: conform.Server,
		About: "FINI is not answered, and the server ends when all have said it",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			m := s.JoinAll(2)
			s.Done(m)
			m[0].Say(fini)
			m[1].Silent("client 1 runs")
			m[1].Say(fini)
			m[0].Closed("after FINI")
			m[1].Closed("after FINI")
			s.Exit(true)
		}},
	{Name: "server/slow-reader", Rule: "2.3.5", Needs: conform.Server,
		About: "a client that does not read holds nobody up: 16 MiB of broadcasts reach the others",
		Run: func(t t) {
			s := peer.StartServer(t, 3, nil)
			m := s.JoinAll(3)
			data := make([]byte, 1<<20)
			for l := uint32(1); l <= 16; l++ {
				for _, x := range m {
					x.Say(codec.Coll(l, data[:1<<18]))
				}
				for _, x := range m[1:] {
					x.Reads(codec.Broadcast(l, 7, data[:3<<18]))
				}
			}
			for l := uint32(1); l <= 16; l++ {
				m[0].Reads(codec.Broadcast(l, 7, data[:3<<18]))
			}
			s.Finish(m)
		}},
}

// serverBad: clients that misbehave (notes B.2, E.1).
var serverBad = []conform.Case{
	{Name: "server/idle-strangers", Rule: "notes E.1 S13", Needs: conform.Server,
		About: "50 connections that say nothing, or three bytes, do not keep a job from starting",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			for i := range 50 {
				m := s.Dial()
				if i%2 == 0 {
					m.Say([]byte{0x41, 0x55, 0x54})
				}
			}
			s.Finish(s.JoinAll(2))
		}},
	{Name: "server/leaves-at-each-byte", Rule: "notes B.2", Needs: conform.Server,
		About: "connections that end after each byte of AUTH, key and IMPI, closed or reset, do not disturb the job",
		Run: func(t t) {
			s := peer.StartServer(t, 2, nil)
			hello := peer.Hello(1)
			for n := range hello {
				m := s.Dial()
				m.Say(hello[:n])
				if n%2 == 0 {
					m.Reset()
				} else {
					m.Close()
				}
			}
			s.Finish(s.JoinAll(2))
		}},
	{Name: "server/dies-in-exchange", Rule: "notes B.2", Needs: conform.Server,
		About: "a client leaves while labels are exchanged: the others are hung up on, the server ends badly and says who",
		Run: func(t t) {
			for _, what := range [][]byte{nil, codec.Coll(0x1000, []byte{1}), codec.Coll(0x1000, []byte{1})[:9], done} {
				s := peer.StartServer(t, 2, nil)
				m := s.JoinAll(2)
				m[1].Say(what)
				m[1].Close()
				m[0].Closed("client 1 has left")
				s.Exit(false)
			}
		}},
	{Name: "server/dies-running", Rule: "2.4", Needs: conform.Server,
		About: "a client leaves before FINI: reported; the other is served to its FINI, then the server ends badly",
		Run: func(t t) {
			for _, reset := range []bool{false, true} {
				s := peer.StartServer(t, 2, nil)
				m := s.JoinAll(2)
				s.Done(m)
				if reset {
					m[1].Reset()
				} else {
					m[1].Close()
				}
				m[0].Silent("the job runs")
				m[0].Say(fini)
				m[0].Closed("after FINI")
				s.Exit(false)
			}
		}},
	{Name: "server/labels-descend", Rule: "2.3.5", Needs: conform.Server,
		About: "a label that does not ascend: reported, the job ends, nobody hangs",
		Run: func(t t) {
			for _, second := range []uint32{0x1000, 0xfff, 1 << 31} {
				s := peer.StartServer(t, 2, nil)
				m := s.JoinAll(2)
				m[0].Say(codec.Coll(0x1000, nil), codec.Coll(second, nil))
				m[0].Closed(fmt.Sprintf("label %#x after 0x1000", second))
				m[1].Closed("client 0 has broken the protocol")
				s.Exit(false)
			}
		}},
	{Name: "server/lengths-impossible", Rule: "2.3.2, erratum D-81", Needs: conform.Server,
		About: "a command with a negative or huge length, or a COLL without a label: " +
			"reported, the job ends, no memory by that number",
		Run: func(t t) {
			for _, b := range [][]byte{codec.I32(int32(wire.CmdColl), -1), codec.I32(int32(wire.CmdColl), 3),
				codec.I32(int32(wire.CmdColl), 1<<31-1),
				codec.I32(77, -5), codec.I32(int32(wire.CmdDone), -1)} {
				s := peer.StartServer(t, 2, nil)
				m := s.JoinAll(2)
				m[0].Say(b, []byte{0, 0, 0})
				m[0].Closed(fmt.Sprintf("% x", b))
				m[1].Closed("client 0 has broken the protocol")
				s.Exit(false)
			}
		}},
	{Name: "server/late-comers", Rule: "notes B.2", Needs: conform.Server,
		About: "who comes when all have joined is not let in",
		Run: func(t t) {
			s := peer.StartServer(t, 1, nil)
			m := s.JoinAll(1)
			c, err := s.Connect()
			if err == nil {
				c.Write(peer.Hello(0))
				if n, _ := c.Read(make([]byte, 64)); n > 0 {
					t.Errorf("it is answered")
				}
				c.Close()
			}
			s.Finish(m)
		}},
}

// broadcast wants all clients to read a label's values.
func broadcast(list []*peer.Member, label, mask uint32, data []byte) {
	for _, m := range list {
		m.Reads(codec.Broadcast(label, mask, data))
	}
}

// refusedAtOnce says something to the server that it must hang up on.
func refusedAtOnce(s *peer.Server, b []byte) {
	m := s.Dial()
	m.Say(b, make([]byte, 16))
	m.Closed(fmt.Sprintf("% x", b))
}

// labels lets n clients submit all labels in lock-step; client i has i+1 words.
func labels(t t, n int) {
	s := peer.StartServer(t, n, nil)
	m := s.JoinAll(n)
	mask := uint32(1<<n - 1)
	for _, l := range wire.Labels {
		var whole []byte
		for i := range m {
			data := bytes.Repeat(codec.U32(uint32(l)+uint32(i)), i+1)
			whole = append(whole, data...)
			m[n-1-i].Silent("others have not submitted") // client n-1-i may have submitted, not all have
			m[i].Say(codec.Coll(uint32(l), data))
		}
		broadcast(m, uint32(l), mask, whole)
	}
	s.Finish(m)
}

// authChoice goes through what can be enabled, preferred and offered.
func authChoice(t t) {
	const none, key = "IMPI_AUTH_NONE=", "IMPI_AUTH_KEY=5678"
	for _, x := range []struct {
		env   []string
		auth  string           // "": the default preference
		offer map[uint32]int32 // by mask: the method, -1 for none
	}{
		{[]string{key}, "", map[uint32]int32{2: 1, 3: 1, 1: -1, 0: -1, 1 << 31: -1}},
		{[]string{none}, "", map[uint32]int32{1: 0, 3: 0, 2: -1}},
		{[]string{none, key}, "", map[uint32]int32{1: 0, 2: 1, 3: 1}},
		{[]string{none, key}, "0,1", map[uint32]int32{1: 0, 2: 1, 3: 0}},
		{[]string{none, key}, "1-0", map[uint32]int32{3: 1}},
		{[]string{none, key}, "0-1", map[uint32]int32{3: 0}},
		{[]string{none, key}, "3,1-0", map[uint32]int32{3: 1, 9: 0}},
		{[]string{none, key}, "1", map[uint32]int32{1: -1, 3: 1}},
	} {
		var more []string
		if x.auth != "" {
			more = []string{"-auth", x.auth}
		}
		s := peer.StartServer(t, 1, x.env, more...)
		for mask, want := range x.offer {
			m := s.Dial()
			m.Say(codec.Auth(mask))
			if want < 0 {
				m.Closed(fmt.Sprintf("%v, -auth %q, mask %#x", x.env, x.auth, mask))
				continue
			}
			m.Reads(codec.I32(want, 0))
			m.Close()
		}
		s.Finish(s.JoinWith(x.env))
	}
}
