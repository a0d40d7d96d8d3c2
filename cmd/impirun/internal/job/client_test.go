package job

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/wire"
)

// sessions are those of n clients of a server, of one process each. ended is closed when all have
// ended.
func sessions(t *testing.T, n int) (list []*client.Session, ended chan struct{}) {
	t.Helper()
	loopback, key := netip.MustParseAddr("127.0.0.1"), auth.WithKey(1)
	s, err := server.Listen(server.Options{Clients: n, Bind: loopback, Auth: key})
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		s.Serve(context.Background())
		close(ended)
	}()
	all := make([]chan *client.Session, n)
	for i := range all {
		all[i] = make(chan *client.Session, 1)
		go func() {
			host := client.Host{Addr: netip.AddrPortFrom(loopback, uint16(1+i)), Procs: []client.Proc{{PID: uint32(1 + i)}}}
			c := client.Default(host)
			c.Own = &wire.Own{} // each is libimpi
			_, session, err := client.Connect(t.Context(), s.Addr().String(), int32(i), key, c, client.Options{})
			if err != nil {
				t.Error(err)
			}
			all[i] <- session
		}()
	}
	for _, one := range all {
		list = append(list, <-one)
	}
	return list, ended
}

// A launcher takes the server's word on another client while it takes leave of the server, which waits for that.
func TestALauncherThatTakesLeaveHearsOfOthers(t *testing.T) {
	list, ended := sessions(t, 2)
	p := partOf(layout.Share{N: 1}, "j", nil)
	p.joinPlan, p.session = &join.Plan{}, list[0]
	hears, late := make(chan struct{}), make(chan struct{})
	list[0].Watch(func(error) {
		close(hears)
		<-late
		p.TellLost(startup.Lost{Ranks: []int32{1}})
	})
	list[1].Fail("", nil)
	<-hears
	over := make(chan struct{})
	go func() {
		p.Finish(nil)
		close(over)
	}()
	<-ended // so it has said FINI
	close(late)
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Error("it waits for itself")
	}
}
