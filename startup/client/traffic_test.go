package client_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/wire"
)

// watched runs a server that keeps a view, and joins clients of this library with one host each.
func watched(t *testing.T, n int) (s *server.Server, sessions []*client.Session, result chan error) {
	t.Helper()
	s, err := server.Listen(server.Options{Clients: n, Bind: loopback, Auth: auth.WithKey(5678), Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	result = make(chan error, 1)
	go func() { result <- s.Serve(ctx) }()
	var cs []client.Contribution
	for i := range n {
		c, own := contribution(i, 1, 1), wire.Mine()
		c.Own = &own
		cs = append(cs, c)
	}
	_, sessions, errs := connectAll(t, s.Addr().String(), cs)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, sessions, result
}

// until waits for a view.
func until(t *testing.T, s *server.Server, what string, is func(v server.View) bool) server.View {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		v := s.View()
		if is(v) {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("not so: %s: %+v", what, v)
		}
	}
}

func TestASessionAnswersQuestionsAboutTraffic(t *testing.T) {
	s, sessions, result := watched(t, 2)
	row := wire.Traffic{Ours: 1, Theirs: 0, PacketsOut: 5, BytesOut: 1 << 33, Silence: 3}
	for _, x := range sessions {
		x.Watch(func(err error) { t.Error("lost:", err) })
	}
	s.Ask()
	v := until(t, s, "both have answered", func(v server.View) bool {
		return !v.Clients[0].Heard.IsZero() && !v.Clients[1].Heard.IsZero()
	})
	if len(v.Clients[0].Traffic)+len(v.Clients[1].Traffic) > 0 {
		t.Errorf("nothing is known: %+v", v.Clients)
	}
	sessions[1].Report(func() []wire.Traffic { return []wire.Traffic{row} })
	s.Ask()
	v = until(t, s, "rows", func(v server.View) bool { return len(v.Clients[1].Traffic) > 0 })
	want := []server.Row{{Ours: 1, Theirs: 0, PacketsOut: 5, BytesOut: 1 << 33, Silence: 3}}
	if !reflect.DeepEqual(v.Clients[1].Traffic, want) {
		t.Errorf("%+v", v.Clients[1].Traffic)
	}
	for _, x := range sessions {
		if err := x.Fini(); err != nil {
			t.Error(err)
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// An answer that is being made when the job ends does not come after FINI, and holds nothing up.
func TestTheEndDoesNotWaitForAnAnswer(t *testing.T) {
	s, sessions, result := watched(t, 2)
	begun, free := make(chan bool), make(chan bool)
	for _, x := range sessions {
		x.Watch(func(err error) { t.Error("lost:", err) })
		x.Report(func() []wire.Traffic {
			begun <- true
			<-free
			return make([]wire.Traffic, 3)
		})
	}
	s.Ask()
	<-begun
	<-begun
	for _, x := range sessions {
		if err := x.Fini(); err != nil {
			t.Error(err)
		}
	}
	close(free)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// A server that asks all the time gets one answer at a time, and what is no question none.
func TestASessionThatIsFloodedWithQuestionsGoesOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	between := func(server net.Conn) {
		var b []byte
		for i := range 1000 {
			b = wire.AppendWatch(b, uint32(i))
		}
		b = append(wire.Cmd{Cmd: wire.CmdWatch, Len: 3}.Append(b), 1, 2, 3)
		server.Write(b)
	}
	heard := make(chan string, 1)
	go func() { heard <- floodedServer(l, between) }()
	c, own := contribution(0, 1, 1), wire.Mine()
	c.Own = &own
	_, x, err := client.Connect(t.Context(), l.Addr().String(), 0, auth.WithNone(), c, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x.Report(func() []wire.Traffic { return make([]wire.Traffic, wire.TrafficMax+1) })
	x.Watch(func(err error) {})
	if text := <-heard; text != "" {
		t.Error(text)
	}
}

// floodedServer serves one client, floods it, and returns what is wrong with its answers.
func floodedServer(l net.Listener, flood func(net.Conn)) string {
	conn, err := l.Accept()
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	if err := mirror(conn); err != nil {
		return err.Error()
	}
	go flood(conn)
	head := make([]byte, wire.CmdSize)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err.Error()
	}
	cmd, _ := wire.ParseCmd(head)
	if cmd.Cmd != wire.CmdTraffic || cmd.Len != wire.TrafficMaxBytes {
		return fmt.Sprintf("%v, %d bytes", cmd.Cmd, cmd.Len)
	}
	b := make([]byte, cmd.Len)
	if _, err := io.ReadFull(conn, b); err != nil {
		return err.Error()
	}
	if _, all, _, ok := wire.ParseTraffic(b); !ok || all != wire.TrafficMax+1 {
		return fmt.Sprintf("%d rows, %v", all, ok)
	}
	return ""
}

// mirror plays a server of one client, which sends back what that says, to DONE.
func mirror(conn net.Conn) error {
	b := make([]byte, 24)
	if _, err := io.ReadFull(conn, b[:12]); err != nil {
		return err
	}
	conn.Write(wire.ServerAuth{}.Append(nil))
	if _, err := io.ReadFull(conn, b[:12]); err != nil {
		return err
	}
	conn.Write(wire.AppendImpi(nil, 1))
	for {
		if _, err := io.ReadFull(conn, b[:wire.CmdSize]); err != nil {
			return err
		}
		cmd, _ := wire.ParseCmd(b)
		payload := make([]byte, cmd.Len)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return err
		}
		if cmd.Cmd == wire.CmdDone {
			_, err := conn.Write(wire.Cmd{Cmd: wire.CmdDone}.Append(nil))
			return err
		}
		label, data, _ := wire.ParseColl(payload)
		conn.Write(append(wire.AppendChdr(nil, label, 1, len(data)), data...))
	}
}
