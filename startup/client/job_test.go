package client_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// serve runs a server for n clients and returns its address, and its result when it has ended.
func serve(t *testing.T, opt server.Options) (addr string, result func() error) {
	t.Helper()
	if !opt.Bind.IsValid() {
		opt.Bind = loopback
	}
	if opt.Auth.Mask() == 0 {
		opt.Auth = auth.WithKey(5678)
	}
	s, err := server.Listen(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	end := make(chan error, 1)
	go func() { end <- s.Serve(ctx) }()
	result = sync.OnceValue(func() error { return <-end })
	t.Cleanup(func() { cancel(); result() })
	return s.Addr().String(), result
}

// contribution is one of n hosts with so many processes each.
func contribution(rank, hosts, procs int) client.Contribution {
	var list []client.Host
	for h := range hosts {
		host := client.Host{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(rank), byte(h + 1)}),
			uint16(5000+h))}
		for p := range procs {
			host.Procs = append(host.Procs, client.Proc{PID: uint32(100*h + p + 1)})
		}
		list = append(list, host)
	}
	return client.Default(list...)
}

// connectAll joins all clients at once.
func connectAll(t *testing.T, addr string,
	cs []client.Contribution) (jobs []*transport.Job, sessions []*client.Session, errs []error) {
	t.Helper()
	n := len(cs)
	jobs, sessions, errs = make([]*transport.Job, n), make([]*client.Session, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			jobs[i], sessions[i], errs[i] = client.Connect(t.Context(), addr, int32(i), auth.WithKey(5678), cs[i],
				client.Options{})
		})
	}
	wg.Wait()
	for _, s := range sessions {
		if s != nil {
			t.Cleanup(func() { s.Fail("", nil) })
		}
	}
	return jobs, sessions, errs
}

func TestJobsOfOneToThirtyTwoClientsStartAndEnd(t *testing.T) {
	for _, n := range []int{1, 2, 3, 32} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			addr, result := serve(t, server.Options{Clients: n, Log: func(s string) { t.Error("logged:", s) }})
			var cs []client.Contribution
			for i := range n {
				cs = append(cs, contribution(i, 1+i%3, 1+i%4))
			}
			jobs, sessions, errs := connectAll(t, addr, cs)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for i, j := range jobs {
				if d := cmp.Diff(jobs[0], j, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
					t.Errorf("client %d has other tables than client 0: %s", i, d)
				}
			}
			for _, s := range sessions {
				if err := s.Fini(); err != nil {
					t.Error(err)
				}
			}
			if err := result(); err != nil {
				t.Error(err)
			}
		})
	}
}

// C6: the example of IMPI 0.0, 2.3.4.
func TestC6WorldRanksOfTheThreeClients(t *testing.T) {
	addr, _ := serve(t, server.Options{Clients: 3})
	jobs, _, errs := connectAll(t, addr, []client.Contribution{contribution(0, 3, 2), contribution(1, 2, 3),
		contribution(2, 2, 4)})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want := &transport.Job{Me: -1, Clients: 3, MaxDataLen: 65536, TagUB: 2147483647, AckMark: 10, HiWater: 20,
		XSize: 1024, MaxLinear: 4}
	for c, shape := range [][2]int{{3, 2}, {2, 3}, {2, 4}} {
		for h := range shape[0] {
			ip := netip.AddrFrom4([4]byte{10, 0, byte(c), byte(h + 1)})
			for p := range shape[1] {
				want.Procs = append(want.Procs, transport.Proc{HostID: ip.As16(), PID: int64(c+1)<<32 + int64(100*h+p+1),
					Host: int32(len(want.Hosts)), Client: int32(c)})
			}
			want.Hosts = append(want.Hosts, transport.Host{Addr: netip.AddrPortFrom(ip, uint16(5000+h)), Client: int32(c),
				First: int32(len(want.Procs) - shape[1]), NProcs: int32(shape[1])})
		}
	}
	if d := cmp.Diff(want, jobs[1], cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
		t.Error(d)
	}
}

func TestValuesAreNegotiated(t *testing.T) {
	addr, _ := serve(t, server.Options{Clients: 3})
	a, b, c := contribution(0, 1, 1), contribution(1, 2, 1), contribution(2, 1, 1)
	a.DataLen, a.TagUB, a.XSize = 8000, 40000, 1024 // the default, said and unsaid
	b.Hosts[1].AckMark, b.Hosts[1].HiWater = 3, 30
	b.Versions = []wire.Version{{}, {Minor: 1}}
	c.DataLen, c.MaxLinear = 4000, 4
	c.Hosts[0].AckMark, c.Hosts[0].HiWater = 5, 7
	jobs, _, errs := connectAll(t, addr, []client.Contribution{a, b, c})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	j := jobs[2]
	if j.MaxDataLen != 4000 || j.TagUB != 40000 || j.AckMark != 3 || j.HiWater != 7 || j.XSize != 1024 ||
		j.MaxLinear != 4 {
		t.Errorf("%+v", j)
	}
}

func TestAWrongKeyIsNamedAsSuch(t *testing.T) {
	var logs []string
	var mu sync.Mutex
	addr, _ := serve(t, server.Options{Clients: 2, Log: func(s string) { mu.Lock(); logs = append(logs, s); mu.Unlock() }})
	_, _, err := client.Connect(t.Context(), addr, 0, auth.WithKey(1234), contribution(0, 1, 1), client.Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "closed by the server after the key: wrong IMPI_AUTH_KEY?") {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(logs, "\n"), "sent a wrong key") {
		t.Errorf("%q", logs)
	}
}

func TestAMethodThatTheServerDoesNotHaveIsNamed(t *testing.T) {
	addr, _ := serve(t, server.Options{Clients: 1})
	_, _, err := client.Connect(t.Context(), addr, 0, auth.WithNone(), contribution(0, 1, 1), client.Options{})
	if err == nil || !strings.Contains(err.Error(), "IMPI_AUTH_KEY not enabled, IMPI_AUTH_NONE enabled") {
		t.Error(err)
	}
}

func TestAWrongRankIsNamed(t *testing.T) {
	for _, m := range []auth.Methods{auth.WithKey(5678), auth.WithNone()} {
		addr, _ := serve(t, server.Options{Clients: 2, Auth: m})
		_, _, err := client.Connect(t.Context(), addr, 2, m, contribution(0, 1, 1), client.Options{})
		if err == nil || !strings.Contains(err.Error(), "is client rank 2 already taken, or not below") ||
			strings.Contains(err.Error(), "wrong IMPI") {
			t.Error(err)
		}
	}
}

// The newcomer of two clients with the same rank fails, and the job goes on without it.
func TestADuplicateRankDoesNotDisturbTheFirst(t *testing.T) {
	joined := make(chan struct{}, 1)
	addr, result := serve(t, server.Options{Clients: 2, Auth: auth.WithNone(), Log: func(s string) {
		if strings.Contains(s, "wants client rank 0") {
			joined <- struct{}{}
		}
	}})
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, s, err := client.Connect(t.Context(), addr, 0, auth.WithNone(), contribution(0, 1, 1), client.Options{})
			if err == nil {
				err = s.Fini()
			}
			errs <- err
		}()
	}
	<-joined
	_, s, err := client.Connect(t.Context(), addr, 1, auth.WithNone(), contribution(1, 1, 1), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Fini()
	a, b := <-errs, <-errs
	if (a == nil) == (b == nil) {
		t.Errorf("of two clients with rank 0: %v, %v", a, b)
	}
	if err := result(); err != nil {
		t.Error(err)
	}
}

// silentAddress is one at which nobody listens: it is taken.
func silentAddress(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

func TestNoServerIsSaidInTime(t *testing.T) {
	addr := silentAddress(t)
	_, _, err := client.Connect(t.Context(), addr, 0, auth.WithKey(1), contribution(0, 1, 1),
		client.Options{ConnectTimeout: 100 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "no IMPI server answers at "+addr) {
		t.Error(err)
	}
	told := make(chan time.Duration, 1)
	_, _, err = client.Connect(t.Context(), addr, 0, auth.WithKey(1), contribution(0, 1, 1), client.Options{
		ConnectTimeout: 300 * time.Millisecond, AbsentTime: time.Millisecond, Absent: func(limit time.Duration) {
			told <- limit
		}})
	if err == nil || <-told != 300*time.Millisecond {
		t.Error(err)
	}
	if _, _, err = client.Connect(t.Context(), "nonsense", 0, auth.WithKey(1), contribution(0, 1, 1),
		client.Options{ConnectTimeout: time.Hour}); err == nil {
		t.Error("connected to nonsense")
	}
}

func TestAServerThatStartsLateIsFound(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	got := make(chan error, 1)
	go func() {
		_, s, err := client.Connect(t.Context(), addr, 0, auth.WithKey(5678), contribution(0, 1, 1), client.Options{})
		if err == nil {
			err = s.Fini()
		}
		got <- err
	}()
	_, result := serve(t, server.Options{Clients: 1, Port: port})
	if err := errors.Join(<-got, result()); err != nil {
		t.Error(err)
	}
}

func TestContextEndsAWaitForTheOthers(t *testing.T) {
	authenticated := make(chan struct{}, 1)
	addr, _ := serve(t, server.Options{Clients: 2, Auth: auth.WithNone(), Log: func(s string) {
		if strings.Contains(s, "has authenticated") {
			authenticated <- struct{}{}
		}
	}})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user has had enough")
	got := make(chan error, 1)
	go func() {
		_, _, err := client.Connect(ctx, addr, 1, auth.WithNone(), contribution(0, 1, 1), client.Options{})
		got <- err
	}()
	<-authenticated
	cancel(why)
	if err := <-got; !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestTheServersEndIsNoticed(t *testing.T) {
	s, err := server.Listen(server.Options{Clients: 1, Auth: auth.WithNone(), Bind: loopback})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	_, session, err := client.Connect(t.Context(), s.Addr().String(), 0, auth.WithNone(), contribution(0, 1, 1),
		client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Fail("", nil)
	lost := make(chan error, 1)
	session.Watch(func(err error) { lost <- err })
	cancel()
	if err := <-lost; !errors.Is(err, client.ErrServerLost) {
		t.Error(err)
	}
	session.Fail("", nil)
	if err := <-ended; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "running: client 0 missing") {
		t.Error(err)
	}
}

func TestFiniIsHeardAlsoUnderWatch(t *testing.T) {
	addr, result := serve(t, server.Options{Clients: 1})
	_, s, err := client.Connect(t.Context(), addr, 0, auth.WithKey(5678), contribution(0, 1, 1), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(func(err error) { t.Error("lost:", err) })
	if err := errors.Join(s.Fini(), s.Fini(), s.Fail("", nil), result()); err != nil {
		t.Error(err)
	}
}

func TestAClientThatDiesEndsTheServerWithItsName(t *testing.T) {
	addr, result := serve(t, server.Options{Clients: 2})
	_, sessions, errs := connectAll(t, addr, []client.Contribution{contribution(0, 1, 1), contribution(1, 1, 1)})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	sessions[1].Fail("", nil)
	sessions[0].Fini()
	var ce *server.ClientError
	if err := result(); !errors.As(err, &ce) || ce.Rank != 1 || ce.Step != "before FINI" {
		t.Error(err)
	}
}

func TestAClientThatEndsBadlyTellsTheOthersWhy(t *testing.T) {
	addr, result := serve(t, server.Options{Clients: 2})
	own := wire.Mine()
	a, b := contribution(0, 1, 1), contribution(1, 1, 1)
	a.Own, b.Own = &own, &own
	_, sessions, errs := connectAll(t, addr, []client.Contribution{a, b})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	heard := make(chan error, 1)
	sessions[0].Watch(func(err error) { heard <- err })
	sessions[1].Gone([]int32{0}, "another was killed") // and it goes on
	var gone *client.RanksError
	if err := <-heard; !errors.As(err, &gone) || gone.Client != 1 || gone.Text != "another was killed" ||
		len(gone.Ranks) != 1 {
		t.Error(err)
	}
	sessions[1].Fail("rank 1 was killed", nil)
	var lost *client.LostError
	if err := <-heard; !errors.As(err, &lost) || lost.Client != 1 || lost.Text != "rank 1 was killed" {
		t.Error(err)
	}
	sessions[0].Fini()
	if err := result(); err == nil || !strings.Contains(err.Error(), "rank 1 was killed") {
		t.Error(err)
	}
}

func TestWhatGoesBeyondIMPIHoldsBetweenThoseWhoSaySo(t *testing.T) {
	addr, _ := serve(t, server.Options{Clients: 4})
	cs := make([]client.Contribution, 4)
	for i, own := range []*wire.Own{
		{Stream: 1 << 20, Streams: 3, Rep: [16]byte{1}, Flags: wire.FlagShort},
		nil, // another implementation
		{Stream: 1 << 19, Streams: 4, Rep: [16]byte{1}, Flags: wire.FlagShort},
		{Stream: 1 << 21, Streams: 1, Rep: [16]byte{2}}, // of another machine
	} {
		cs[i] = contribution(i, 1, 1)
		cs[i].Own = own
	}
	jobs, _, errs := connectAll(t, addr, cs)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	stream := [4][4]uint32{{1 << 20, 0, 1 << 19, 1 << 20}, {}, {1 << 19, 0, 1 << 19, 1 << 19},
		{1 << 20, 0, 1 << 19, 1 << 21}}
	// the lesser, and nothing with another implementation
	streams := [4][4]uint32{{3, 0, 3, 1}, {}, {3, 0, 4, 1}, {1, 0, 1, 1}}
	for i, job := range jobs {
		for k, host := range job.Hosts {
			if host.Streams != streams[i][k] {
				t.Errorf("client %d with client %d: %d connections, want %d", i, k, host.Streams, streams[i][k])
			}
			if short := i != 1 && i != 3 && k != 1 && k != 3; host.Short != short {
				t.Errorf("client %d with client %d: short headers %v", i, k, host.Short)
			}
			native := i == k && i != 1 || i+k == 2 && i != k
			if host.Native != native || host.Stream != stream[i][k] {
				t.Errorf("client %d with client %d: native %v, stream %d; want %v, %d",
					i, k, host.Native, host.Stream, native, stream[i][k])
			}
		}
	}
}

// Thirty-two clients join while thirty-one strangers do all they can, over and over, until the job has started.
func TestThirtyTwoClientsStartAmongThirtyOneHostileOnes(t *testing.T) {
	const n, hostile = 32, 31
	addr, result := serve(t, server.Options{Clients: n, Log: func(string) {}, JoinTimeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	u32 := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.BigEndian.AppendUint32(b, x)
		}
		return b
	}
	key := binary.BigEndian.AppendUint64(nil, 5678)
	good := wire.AppendAuth(nil, wire.AuthKeyMask)
	attacks := [][]byte{
		nil,
		[]byte("GET / HTTP/1.1\r\n\r\n"),
		good[:3],
		u32(uint32(wire.CmdAuth), 1<<31-1),
		u32(uint32(wire.CmdAuth), 1<<32-1),
		u32(uint32(wire.CmdAuth), 4, 0),
		u32(uint32(wire.CmdColl), 4, 1),
		append(bytes.Clone(good), 0, 0, 0, 0, 0, 0, 0, 1),
		append(append(bytes.Clone(good), key...), wire.AppendImpi(nil, -1)...),
		append(append(bytes.Clone(good), key...), wire.AppendImpi(nil, n)...),
		append(append(bytes.Clone(good), key...), u32(uint32(wire.CmdColl), 1<<31-1)...),
		append(append(bytes.Clone(good), key...), u32(0x12345678, 1<<20)...),
		append(append(bytes.Clone(good), key...), wire.Cmd{Cmd: wire.CmdFini}.Append(nil)...),
	}
	var all sync.WaitGroup
	var said atomic.Int32
	for i := range hostile {
		all.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					return // everybody has joined, and the server listens no more
				}
				c.Write(attacks[k%len(attacks)])
				said.Add(1)
				c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				io.Copy(io.Discard, c)
				c.Close()
			}
		})
	}
	for said.Load() < 2*hostile { // they are at it
		time.Sleep(time.Millisecond)
	}
	var cs []client.Contribution
	for i := range n {
		cs = append(cs, contribution(i, 1, 1))
	}
	_, sessions, errs := connectAll(t, addr, cs)
	cancel()
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if err := s.Fini(); err != nil {
			t.Error(err)
		}
	}
	if err := result(); err != nil {
		t.Error(err)
	}
}
