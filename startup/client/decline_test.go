package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/wire"
)

// A client whose processes have died before it could join tells the server, and the server those who wait.
func TestAClientThatDeclinesIsNamedToThoseWhoWait(t *testing.T) {
	methods := map[string]auth.Methods{"key": auth.WithKey(5678), "secret": auth.WithSecret("s"), "none": auth.WithNone(),
		"TLS": {Secret: "s", TLS: true}}
	for name, m := range methods {
		t.Run(name, func(t *testing.T) {
			// The server may hear the client that declines before the key of the other one. Then there is nobody whom it
			// could tell.
			for tries := 1; !declined(t, m) && !t.Failed(); tries++ {
				if tries == 20 {
					t.Error("the client that waits has never been told")
				}
			}
		})
	}
}

// declined lets client 0 wait while client 1 declines, and reports whether client 0 has heard of it.
func declined(t *testing.T, m auth.Methods) bool {
	const why = "rank 0 of client 1 was killed"
	addr, result := serve(t, server.Options{Clients: 3, Auth: m})
	joined, waiting := make(chan struct{}), make(chan error, 1)
	go func() {
		own := wire.Mine()
		c := contribution(0, 1, 1)
		c.Own = &own
		_, _, err := client.Connect(t.Context(), addr, 0, m, c, client.Options{Waiting: func() { close(joined) }})
		waiting <- err
	}()
	<-joined
	if err := client.Decline(t.Context(), addr, 1, m, errors.New(why), client.Options{}); err != nil {
		t.Error(err)
	}
	heard := <-waiting
	if err := result(); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
	var lost *client.LostError
	if !errors.As(heard, &lost) {
		return false
	}
	if lost.Client != 1 || lost.Text != why {
		t.Error(heard)
	}
	return true
}

// A client that has ended well without joining tells the server, which ends the job when another client waits for it.
func TestAClientThatWithdrawsIsNamedToThoseWhoWait(t *testing.T) {
	const why = "none of its processes has called MPI_Init"
	m := auth.WithSecret("s")
	addr, result := serve(t, server.Options{Clients: 3, Auth: m})
	if err := client.Withdraw(t.Context(), addr, 2, m, errors.New(why), client.Options{}); err != nil {
		t.Error(err)
	}
	own := wire.Mine()
	c := contribution(0, 1, 1)
	c.Own = &own
	_, _, err := client.Connect(t.Context(), addr, 0, m, c, client.Options{})
	var lost *client.LostError
	if !errors.As(err, &lost) || lost.Client != 2 || lost.Text != why {
		t.Error(err)
	}
	var withdrawn *server.WithdrawnError
	if err := result(); !errors.As(err, &withdrawn) || withdrawn.Rank != 2 || withdrawn.Why != why {
		t.Error(err)
	}
}

// Nothing that a server does, or does not, keeps a client that has ended.
func TestDecliningHasAnEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := client.Decline(ctx, l.Addr().String(), 0, auth.WithNone(), errors.New("why"), client.Options{}); err == nil {
		t.Error("declined to a server that says nothing")
	}
	l.Close()
	if err := client.Decline(t.Context(), l.Addr().String(), 0, auth.WithNone(), errors.New("why"),
		client.Options{}); err == nil {
		t.Error("declined to nobody")
	}
}

// A process of a client that has joined says why that ends, on a connection of its own. When the call returns the other
// client has heard it, and ended.
func TestAProcessReportsWhyItsClientEnds(t *testing.T) {
	const why = "MPI_Abort(42) on MPI_COMM_WORLD"
	m := auth.WithSecret("s")
	addr, result := serve(t, server.Options{Clients: 2, Auth: m})
	sessions := make(chan *client.Session, 2)
	heard := make(chan error, 1)
	for rank := range int32(2) {
		go func() {
			own := wire.Mine()
			c := contribution(int(rank), 1, 1)
			c.Own = &own
			_, s, err := client.Connect(t.Context(), addr, rank, m, c, client.Options{})
			if err != nil {
				t.Error(err)
			} else if rank == 1 {
				s.Watch(func(err error) {
					heard <- err
					s.Fail("", nil)
				})
			}
			sessions <- s
		}()
	}
	for range 2 {
		if s := <-sessions; s == nil {
			return
		}
	}
	if err := client.Report(t.Context(), addr, 0, m, why, client.Options{}); err != nil {
		t.Error(err)
	}
	select {
	case err := <-heard:
		var lost *client.LostError
		if !errors.As(err, &lost) || lost.Client != 0 || lost.Text != why {
			t.Error(err)
		}
	default:
		t.Error("the other client has not heard of it")
	}
	if err := result(); err == nil || !strings.Contains(err.Error(), "has ended ("+why+")") {
		t.Error(err)
	}
	if err := client.Report(t.Context(), addr, 0, m, why, client.Options{}); err == nil {
		t.Error("reported to nobody")
	}
}

// A will counts when the connection ends, and not when it has been taken back.
func TestAWillCountsUnlessItIsTakenBack(t *testing.T) {
	const why = "the library has ended the process"
	for name, m := range map[string]auth.Methods{"key": auth.WithKey(5678), "none": auth.WithNone(),
		"TLS": {Secret: "s", TLS: true}} {
		addr, result := serve(t, server.Options{Clients: 2, Auth: m})
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Will(t.Context(), addr, 0, m, why, client.Options{Conn: conn}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
		if err := result(); err == nil || !strings.Contains(err.Error(), "has ended ("+why+")") {
			t.Errorf("%s: %v", name, err)
		}

		addr, result = serve(t, server.Options{Clients: 2, Auth: m})
		revoke, err := client.Will(t.Context(), addr, 0, m, why, client.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		revoke()
		for rank := range int32(2) {
			if err := client.Withdraw(t.Context(), addr, rank, m, errors.New("not needed"), client.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := result(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without a server it takes no time.
func TestAWillThatNobodyHears(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	revoke, err := client.Will(t.Context(), l.Addr().String(), 0, auth.WithKey(1), "x", client.Options{})
	if err == nil {
		t.Error("there is a server")
	}
	revoke()
}
