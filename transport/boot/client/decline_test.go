package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport/boot/auth"
	"github.com/libimpi/libimpi/transport/boot/client"
	"github.com/libimpi/libimpi/transport/boot/server"
	"github.com/libimpi/libimpi/transport/wire"
)

// A client whose processes have died before it could join tells the server, and the server those who wait.
func TestAClientThatDeclinesIsNamedToThoseWhoWait(t *testing.T) {
	methods := map[string]auth.Methods{"key": auth.WithKey(5678), "secret": auth.WithSecret("s"), "none": auth.WithNone(),
		"TLS": {Secret: "s", TLS: true}}
	for name, m := range methods {
		t.Run(name, func(t *testing.T) {
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
			if err := client.Decline(t.Context(), addr, 1, m, errors.New("rank 0 of client 1 was killed"),
				client.Options{}); err != nil {
				t.Error(err)
			}
			var lost *client.LostError
			if err := <-waiting; !errors.As(err, &lost) || lost.Client != 1 || lost.Text != "rank 0 of client 1 was killed" {
				t.Error(err)
			}
			if err := result(); err == nil || !strings.Contains(err.Error(), "rank 0 of client 1 was killed") {
				t.Error(err)
			}
		})
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
