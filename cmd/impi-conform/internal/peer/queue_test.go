package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// fake is client 0 of two, and its only process, in a few lines: it knows as much of IMPI as a job in order needs.
type fake struct {
	server, mesh net.Conn
	us, them     codec.ID
	control      *bufio.Reader
	tester       net.Conn
}

// run is the whole life of the client that a command line starts.
func (f *fake) run(words []string) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
		for _, c := range []net.Conn{f.mesh, f.server, f.tester} {
			if c != nil {
				c.Close()
			}
		}
	}()
	measured := dial(words[1]).(*net.TCPConn) // it says nothing, and is nobody's
	measured.SetLinger(0)
	measured.Close()
	f.server = dial(words[1])
	f.startUp()
	f.play(words[2], words[3])
	f.finish()
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func dial(address string) net.Conn {
	c, err := net.DialTimeout("tcp", address, time.Minute)
	must(err)
	c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

func (f *fake) startUp() {
	f.server.Write(codec.Auth(wire.AuthKeyMask))
	io.ReadFull(f.server, make([]byte, 8))
	f.server.Write(append(codec.U64(target.Key), codec.Impi(0)...))
	codec.ReadCmd(f.server, maxCmd)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer l.Close()
	ip := l.Addr().(*net.TCPAddr).IP.To16()
	f.us = codec.ID{HostID: [16]byte(ip), PID: 7}
	values := map[wire.Label][]byte{wire.CVersion: codec.U32(0, 0), wire.CNHosts: codec.U32(1), wire.CNProcs: codec.U32(1),
		wire.CDataLen: codec.U32(1000), wire.CTagUB: codec.U32(1 << 20), wire.CCollXSize: codec.I32(-1),
		wire.CCollMaxLinear: codec.I32(-1), wire.HIPv6: ip, wire.HPort: codec.U32(uint32(l.Addr().(*net.TCPAddr).Port)),
		wire.HNProcs: codec.U32(1), wire.HAckMark: codec.U32(10), wire.HHiWater: codec.U32(20), wire.PIPv6: ip,
		wire.PPID: codec.U64(7)}
	for _, label := range wire.Labels {
		f.server.Write(codec.Coll(uint32(label), values[label]))
		c, err := codec.ReadCmd(f.server, maxCmd)
		must(err)
		switch label {
		case wire.PIPv6:
			copy(f.them.HostID[:], c.Data[24:])
		case wire.PPID:
			f.them.PID = int64(codec.GetU64(c.Data[16:]))
		}
	}
	f.server.Write(codec.Command(wire.CmdDone))
	codec.ReadCmd(f.server, maxCmd)
	f.mesh, err = l.Accept()
	must(err)
	io.ReadFull(f.mesh, make([]byte, 4))
}

func (f *fake) say(format string, args ...any) { fmt.Fprintf(f.tester, format+"\n", args...) }

// play takes what the tester sends: "send TAG N", "junk", which sends a message that is not to be, "wrong" and "leave".
func (f *fake) play(address, token string) {
	f.tester = dial(address)
	f.control = bufio.NewReader(f.tester)
	f.say("impi-conform 1 %s 0 2", token)
	for {
		line, err := f.control.ReadString('\n')
		must(err)
		line = strings.TrimSuffix(line, "\n")
		var tag int32
		var n int
		switch {
		case strings.HasPrefix(line, "text "):
			f.say("%s", line)
		case line == "end":
			f.say("done 0")
		case line == "exit":
			return
		case line == "do fence 1":
			f.send(fenceTag, wire.WorldCID, nil)
		case line == "do junk":
			f.send(99, wire.WorldCID, nil)
		case line == "do wrong":
			f.say("wrong 2 a value is wrong")
		case line == "do leave":
			panic("it leaves")
		case strings.HasPrefix(line, "do send "):
			fmt.Sscanf(line, "do send %d %d", &tag, &n)
			f.send(tag, wire.WorldCID, Pattern(int(tag), n))
			f.say("say send %d", tag)
		}
	}
}

func (f *fake) send(tag int32, cid uint64, data []byte) {
	f.mesh.Write(codec.Packet{Header: codec.Header{Type: wire.PkData, Len: uint32(len(data)), MsgLen: uint64(len(data)),
		Src: f.us, Dst: f.them, Tag: tag, CID: cid}, Data: data}.Bytes())
}

// finish is the barrier of two clients, of which ours is the master with number 0, and FINI.
func (f *fake) finish() {
	until := func(kind uint32) {
		for {
			p, err := codec.ReadPacket(f.mesh, 1000)
			must(err)
			if p.Type == kind {
				return
			}
		}
	}
	until(wire.PkData)
	f.send(wire.TagBarrier, wire.WorldCollCID, nil)
	f.mesh.Write(codec.Packet{Header: codec.Header{Type: wire.PkFini}}.Bytes())
	until(wire.PkFini)
	f.mesh.Close()
	f.server.Write(codec.Command(wire.CmdFini))
}

// faked runs cases one after the other with fakes, and returns how they ended, and how many fakes were started.
func faked(t *testing.T, cases []conform.Case, skip func(conform.Case) string) (results []conform.Result,
	started int) {
	t.Helper()
	return fakedBy(t, cases, skip, 10*time.Second, func() {})
}

// fakedBy is faked by a person who does something first, with this deadline of a case.
func fakedBy(t *testing.T, cases []conform.Case, skip func(conform.Case) string, deadline time.Duration,
	first func()) (results []conform.Result, started int) {
	t.Helper()
	place, err := target.ParsePlace("127.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	at, err := target.NewByHand("", "fake {server} {args} {rank} {n}", "", "", place,
		func(ctx context.Context, p target.Prompt) (string, error) {
			if n.Add(1) > 10 {
				return "", errors.New("there are too many")
			}
			first()
			go new(fake).run(strings.Fields(strings.TrimPrefix(p.Command, "IMPI_AUTH_KEY=5678 ")))
			<-ctx.Done()
			return "", ctx.Err()
		})
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	options := conform.Options{Timeout: deadline, Target: at, Trace: true, Skip: skip, Queue: Queue{}}
	conform.Run(t.Context(), cases, options, func(r conform.Result) { results = append(results, r) })
	return results, int(n.Load())
}

var pair = Setup{Others: [][]int{{1}}}

// queued is a case that takes a message with a tag.
func queued(name string, s Setup, steps ...string) conform.Case {
	within := func(t *conform.T, job any) {
		j := job.(*Job)
		var tag, n int
		for _, step := range steps {
			if k, _ := fmt.Sscanf(step, "send %d %d", &tag, &n); k == 2 {
				j.Message(0, 1, tag, n)
				j.Line(0, fmt.Sprintf("send %d", tag))
			}
		}
	}
	return conform.Case{Name: name, Job: s.Text(), Steps: steps, Within: within, Needs: conform.Client,
		Run: func(t *conform.T) { t.Errorf("it has a job of its own") }}
}

func outcomes(results []conform.Result) string {
	var words []string
	for _, r := range results {
		words = append(words, r.Case.Name+":"+r.Outcome.String())
	}
	return strings.Join(words, " ")
}

func TestCasesOfOneConfigurationAreOneJob(t *testing.T) {
	other := pair
	other.DataLen = 500
	got, started := faked(t, []conform.Case{queued("a", pair, "send 1 10"), queued("b", other, "send 2 20"),
		queued("c", pair, "send 3 30", "send 1 5"), queued("d", pair), queued("e", other, "send 1 1")}, nil)
	if s := outcomes(got); s != "a:pass c:pass d:pass b:pass e:pass" || started != 2 {
		t.Fatalf("got %s, in %d jobs\n%+v", s, started, got)
	}
	for _, r := range got[:2] { // each has its own trace
		tags := ""
		for _, e := range r.Trace.Events {
			if e.Name == "DATA" && e.From == "process 0" {
				h, _ := e.Unit().Header()
				tags += fmt.Sprint(h.Tag, " ")
			}
		}
		if want := map[string]string{"a": "1 32767 ", "c": "3 1 32767 "}[r.Case.Name]; tags != want {
			t.Errorf("the trace of %s has messages with tags %s, must have %s", r.Case.Name, tags, want)
		}
	}
}

func TestAPersonMayTakeLongerThanTheDeadline(t *testing.T) {
	const deadline = time.Second
	got, _ := fakedBy(t, []conform.Case{queued("a", pair, "send 1 10")}, nil, deadline, func() {
		<-time.After(deadline + deadline/10)
	})
	if s := outcomes(got); s != "a:pass" {
		t.Errorf("got %s\n%+v", s, got)
	}
}

func TestACaseThatFailsEndsTheJob(t *testing.T) {
	for step, want := range map[string]string{"junk": "should not have been sent", "wrong": "a value is wrong",
		"leave": "has closed all connections"} {
		got, started := faked(t, []conform.Case{queued("a", pair, "send 1 1"), queued("b", pair, step),
			queued("c", pair, "send 2 1"), queued("d", pair, "send 2 1")}, nil)
		if s := outcomes(got); s != "a:pass b:FAIL c:pass d:pass" || started != 2 {
			t.Fatalf("%s: got %s, in %d jobs\n%+v", step, s, started, got)
		}
		if !strings.Contains(fmt.Sprint(got[1].Problems), want) {
			t.Errorf("%s: the problems are %v", step, got[1].Problems)
		}
	}
}

func TestTheLastCaseThatIsPlayedEndsTheJob(t *testing.T) {
	got, started := faked(t, []conform.Case{queued("a", pair, "send 1 1"), queued("b", pair), queued("c", pair)},
		func(c conform.Case) string {
			return map[string]string{"a": "", "b": "not wanted", "c": "not wanted"}[c.Name]
		})
	if s := outcomes(got); s != "a:pass b:skip c:skip" || started != 1 {
		t.Fatalf("got %s, in %d jobs\n%+v", s, started, got)
	}
	if last := got[0].Trace.Events; !strings.Contains(fmt.Sprint(last), "FINI") {
		t.Errorf("the job does not end in order: %v", last)
	}
}

func TestWhoCannotStartAJobGivesUpItsCases(t *testing.T) {
	place, _ := target.ParsePlace("127.0.0.1", "")
	at, err := target.NewByHand("", "fake {server} {args} {rank} {n}", "", "", place,
		func(context.Context, target.Prompt) (string, error) { return "", errors.New("enough") })
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	var got []conform.Result
	conform.Run(t.Context(), []conform.Case{queued("a", pair)}, conform.Options{Timeout: time.Minute, Target: at,
		Queue: Queue{}}, func(r conform.Result) { got = append(got, r) })
	if outcomes(got) != "a:????" || !strings.Contains(got[0].Problems[0].Text, "enough") {
		t.Errorf("got %+v", got)
	}
}

func TestAConfigurationIsItsText(t *testing.T) {
	x := int32(5)
	s := Setup{Rank: 1, Procs: 2, Others: [][]int{{1, 2}}, DataLen: 10, XSize: &x, Told: true, HostID: &[16]byte{1}}
	got, err := ParseSetup(s.Text())
	if err != nil || got.Text() != s.Text() || *got.XSize != x || got.Others[0][1] != 2 || *got.HostID != *s.HostID {
		t.Errorf("%s becomes %s, %v", s.Text(), got.Text(), err)
	}
	for _, own := range []Setup{{NoAcks: true}, {Swallow: true}, {Env: []string{}},
		{Contribute: func(wire.Label, int, []byte) []byte { return nil }}} {
		if own.Text() != "" {
			t.Errorf("%+v can be shared: %s", own, own.Text())
		}
	}
}
