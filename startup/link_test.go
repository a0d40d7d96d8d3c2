package startup

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// pair is a launcher's end, and an environment in which Attach finds the rank's.
func pair(t testing.TB) (*LauncherEnd, Env) {
	t.Helper()
	l, child, err := NewLauncherEnd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	fd, err := syscall.Dup(int(child.Fd())) // Attach takes over the number, as it would in the rank
	child.Close()
	if err != nil {
		t.Fatal(err)
	}
	return l, envOf(RankEnv(fd, 0, 1, 0, 1)...)
}

func envOf(list ...string) Env {
	return func(name string) (string, bool) {
		for _, v := range list {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value, true
			}
		}
		return "", false
	}
}

func job(me int32, n int) *transport.Job {
	var pids []uint32
	for i := range n {
		pids = append(pids, uint32(i+1))
	}
	j := OneClient(pids...)
	j.Me = me
	return j
}

type attached struct {
	link *Link
	w    Welcome
	err  error
}

// attachInBackground is the rank's side, while the test plays the launcher.
func attachInBackground(t testing.TB, env Env) <-chan attached {
	c := make(chan attached, 1)
	go func() {
		l, w, err := Attach(env)
		if l != nil {
			t.Cleanup(func() { l.Close() })
		}
		c <- attached{l, w, err}
	}()
	return c
}

func next[T Message](t testing.TB, l *LauncherEnd) T {
	t.Helper()
	m, err := l.Next()
	got, ok := m.(T)
	if err != nil || !ok {
		t.Fatalf("got %#v, %v; want a %v", m, err, reflect.TypeFor[T]())
	}
	return got
}

// welcomed is a link with both ends past the welcome.
func welcomed(t testing.TB, w Welcome) (*LauncherEnd, *Link, Welcome) {
	t.Helper()
	l, env := pair(t)
	c := attachInBackground(t, env)
	if h := next[Hello](t, l); h != (Hello{Version, os.Getpid(), true, true, true}) {
		t.Errorf("%+v", h)
	}
	if err := l.Welcome(w); err != nil {
		t.Fatal(err)
	}
	a := <-c
	if a.err != nil {
		t.Fatal(a.err)
	}
	return l, a.link, a.w
}

var local = Welcome{LocalRank: 0, LocalSize: 2, JobID: "j", Shared: -1, Job: job(0, 2)}

func TestAJobWithoutServerFromHelloToTheEnd(t *testing.T) {
	mem, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(mem)
	if _, err := unix.Write(mem, []byte("shared")); err != nil {
		t.Fatal(err)
	}
	sent := Welcome{LocalRank: 1, LocalSize: 3, JobID: "job 7", Settings: map[string]string{"spin": "0", "ä": "\n"},
		Shared: mem, Job: job(1, 3)}
	l, r, got := welcomed(t, sent)
	buf := make([]byte, 6)
	if _, err := unix.Pread(got.Shared, buf, 0); err != nil || string(buf) != "shared" {
		t.Errorf("the descriptor holds %q, %v", buf, err)
	}
	if flags, err := unix.FcntlInt(uintptr(got.Shared), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("the descriptor would be inherited: %#x, %v", flags, err)
	}
	unix.Close(got.Shared)
	got.Shared = sent.Shared
	if d := cmp.Diff(sent, got, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})); d != "" {
		t.Error(d)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(0) }()
	next[Finalized](t, l)
	if err := errors.Join(l.Ack(), <-ended, r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := l.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestAnIMPIJobGetsItsTablesAfterHost(t *testing.T) {
	l, r, w := welcomed(t, Welcome{LocalSize: 1, Shared: -1, IMPI: true, Bind: netip.MustParseAddr("10.1.2.3")})
	if !w.IMPI || w.Bind != netip.MustParseAddr("10.1.2.3") || w.Job != nil || w.Shared != -1 {
		t.Errorf("%+v", w)
	}
	h := Host{Addr: netip.MustParseAddrPort("[2001:db8::1]:5000"), PID: 77, HostID: [16]byte{1, 15: 2}}
	if err := r.Host(h); err != nil {
		t.Fatal(err)
	}
	if got := next[Host](t, l); got != h {
		t.Errorf("%+v", got)
	}
	if err := l.Job(twoClients(), noAgent, 2, 0); err != nil {
		t.Fatal(err)
	}
	j, _, err := r.Job(0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(twoClients(), j, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int32{2, 0}, r.Local()); d != "" {
		t.Error(d)
	}
}

func TestMoreRanksThanCanShareMemoryAreNotBelieved(t *testing.T) {
	l, r, _ := welcomed(t, Welcome{LocalSize: 1, Shared: -1, IMPI: true, Bind: netip.MustParseAddr("10.1.2.3")})
	if err := l.Job(twoClients(), noAgent, make([]int32, maxLocalSize+1)...); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Job(0); err == nil || !strings.Contains(err.Error(), "share memory") {
		t.Error(err)
	}
}

func TestTheLossOfTheLauncherIsToldOnce(t *testing.T) {
	l, r, _ := welcomed(t, local)
	got := make(chan error, 2)
	r.Watch(func(err error) { got <- err })
	r.Watch(func(error) { t.Error("the second watcher runs") })
	l.Close()
	if err := <-got; err.Error() != "the launcher was lost: it has closed its connection" {
		t.Error(err)
	}
	<-r.watching
	if len(got) > 0 {
		t.Errorf("told again: %v", <-got)
	}
}

func TestTheEndIsOrderedAlsoUnderWatch(t *testing.T) {
	l, r, _ := welcomed(t, local)
	r.Watch(func(err error) { t.Errorf("lost: %v", err) })
	ended := make(chan error, 1)
	go func() { ended <- r.Finalized(time.Minute) }()
	next[Finalized](t, l)
	if err := errors.Join(l.Ack(), <-ended); err != nil {
		t.Error(err)
	}
	if r.Finalized(0) == nil {
		t.Error("finalized twice")
	}
	l.Close()
	<-r.watching
}

func TestALauncherThatGoesBeforeTheAckIsAnError(t *testing.T) {
	for _, watched := range []bool{false, true} {
		l, r, _ := welcomed(t, local)
		if watched {
			r.Watch(func(err error) { t.Error(err) })
		}
		ended := make(chan error, 1)
		go func() { ended <- r.Finalized(time.Minute) }()
		next[Finalized](t, l)
		l.Close()
		if err := <-ended; err == nil {
			t.Errorf("watched %v: no error", watched)
		}
	}
}

func TestAbortReachesTheLauncher(t *testing.T) {
	l, r, _ := welcomed(t, local)
	if err := r.Abort(Abort{Code: -7, Text: strings.Repeat("\x01", 2*maxText)}); err != nil {
		t.Fatal(err)
	}
	if a := next[Abort](t, l); a.Code != -7 || len(a.Text) != maxText {
		t.Errorf("%d, %d bytes", a.Code, len(a.Text))
	}
	r.Close()
	if _, err := l.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func TestAProgramWithoutMPIJustClosesTheLink(t *testing.T) {
	l, env := pair(t)
	fd, _ := env(EnvFD)
	n, _ := strconv.Atoi(fd)
	syscall.Close(n)
	if _, err := l.Next(); err != io.EOF {
		t.Error(err)
	}
}

func TestAnotherVersionIsRefusedWithAReason(t *testing.T) {
	l, p := rawRank(t)
	answer := make(chan message, 1)
	go func() {
		p.send(msgHello, Hello{Version: Version + 1, PID: 1}, time.Time{})
		m, _ := p.receive(time.Time{})
		answer <- m
	}()
	if _, err := l.Next(); err == nil || !strings.Contains(err.Error(), "different releases") {
		t.Error(err)
	}
	if m := <-answer; m.Type != msgRefuse || !strings.Contains(string(m.Body), "different releases") {
		t.Errorf("%+v", m)
	}
}

func TestARefusedRankSaysWhy(t *testing.T) {
	l, env := pair(t)
	c := attachInBackground(t, env)
	next[Hello](t, l)
	l.refuse("the job is full")
	if a := <-c; a.err == nil || !strings.HasSuffix(a.err.Error(), "the job is full") {
		t.Error(a.err)
	}
}

func TestPatienceEnds(t *testing.T) {
	_, env := pair(t)
	if _, _, err := attach(env, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	l, r, _ := welcomed(t, Welcome{LocalSize: 1, Shared: -1, IMPI: true, Bind: netip.MustParseAddr("::1")})
	if _, _, err := r.Job(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if err := r.Finalized(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	next[Finalized](t, l)
	_, r, _ = welcomed(t, local)
	r.Watch(func(error) {})
	if err := r.Finalized(time.Millisecond); err == nil || !strings.Contains(err.Error(), "has not acknowledged") {
		t.Error(err)
	}
}

// rawRank and rawLauncher are an honest end and a port on which the test says what it likes.
func rawRank(t testing.TB) (*LauncherEnd, *port) {
	l, env := pair(t)
	fd, _ := env(EnvFD)
	p, err := inherit(fd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	return l, p
}

func TestRanksThatMisbehaveAreFoundOut(t *testing.T) {
	hello := `{"type":"hello","body":{"version":4,"pid":5}}`
	host := func(addr, id string) string {
		return fmt.Sprintf(`{"type":"host","body":{"addr":%q,"pid":1,"host_id":%q}}`, addr, id)
	}
	id := strings.Repeat("0a", 16)
	tests := []struct {
		name string
		say  []string
		good int // messages that are accepted
	}{
		{"no json", []string{"hello!"}, 0},
		{"no body", []string{`{"type":"hello"}`}, 0},
		{"null body", []string{`{"type":"hello","body":null}`}, 0},
		{"wrong type of body", []string{`{"type":"hello","body":[1]}`}, 0},
		{"pid 0", []string{`{"type":"hello","body":{"version":4,"pid":0}}`}, 0},
		{"pid of 30 digits", []string{`{"type":"hello","body":{"version":4,"pid":` + strings.Repeat("9", 30) + `}}`}, 0},
		{"abort before hello", []string{`{"type":"abort","body":{"code":1}}`}, 0},
		{"hello twice", []string{hello, hello}, 1},
		{"unknown", []string{hello, `{"type":"sudo"}`}, 1},
		{"a launcher's message", []string{hello, `{"type":"ack"}`}, 1},
		{"finalized twice", []string{hello, `{"type":"finalized"}`, `{"type":"finalized"}`}, 2},
		{"host after finalized", []string{hello, `{"type":"finalized"}`, host("1.2.3.4:5", id)}, 2},
		{"host twice", []string{hello, host("1.2.3.4:5", id), host("1.2.3.4:5", id)}, 2},
		{"host without port", []string{hello, host("1.2.3.4:0", id)}, 1},
		{"host without address", []string{hello, host("0.0.0.0:5", id)}, 1},
		{"host with a name", []string{hello, host("localhost:5", id)}, 1},
		{"host id cut short", []string{hello, host("1.2.3.4:5", id[2:])}, 1},
		{"host id not hexadecimal", []string{hello, host("1.2.3.4:5", "zz"+id[2:])}, 1},
		{"all in order", []string{hello, host("1.2.3.4:5", id), `{"type":"abort","body":{"code":1,"text":"x"}}`,
			`{"type":"finalized"}`}, 4},
	}
	for _, tt := range tests {
		l, p := rawRank(t)
		l.impi.Store(true)
		var b []byte
		for _, s := range tt.say {
			b = append(be.AppendUint32(b, uint32(len(s))), s...)
		}
		if _, err := p.conn.Write(b); err != nil {
			t.Fatal(err)
		}
		p.conn.CloseWrite()
		good := 0
		var err error
		for ; err == nil; good++ {
			_, err = l.Next()
		}
		good--
		if good != tt.good || good < len(tt.say) && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Errorf("%s: %d messages accepted, then %v", tt.name, good, err)
		}
	}
}

func TestFramesThatLieAboutTheirSize(t *testing.T) {
	for _, b := range [][]byte{{0}, {0, 0, 0, 0}, {0, 0, 0, 1, '0'}, {0xff, 0xff, 0xff, 0xff}, {0, 1, 0, 1},
		{0, 0, 0, 9, '{'}, {0, 0, 0xff, 0xff, '{'}} {
		l, p := rawRank(t)
		p.conn.Write(b)
		p.conn.CloseWrite()
		if m, err := l.Next(); err == nil || err == io.EOF {
			t.Errorf("% x: %v, %v", b, m, err)
		}
	}
}

// A launcher's end that the test drives by hand, after hello.
func rawLauncher(t testing.TB) (*port, <-chan attached) {
	l, env := pair(t)
	c := attachInBackground(t, env)
	next[Hello](t, l)
	return l.port, c
}

func TestLaunchersThatMisbehaveAreFoundOut(t *testing.T) {
	good := welcomeBody{Version: Version, LocalSize: 2, JobID: "j", Tables: EncodeJob(job(0, 2))}
	with := func(f func(*welcomeBody)) welcomeBody { b := good; f(&b); return b }
	tests := []struct {
		name string
		typ  string
		body any
	}{
		{"version 2", msgWelcome, with(func(b *welcomeBody) { b.Version = Version + 1 })},
		{"rank beyond size", msgWelcome, with(func(b *welcomeBody) { b.LocalRank = 2 })},
		{"rank -1", msgWelcome, with(func(b *welcomeBody) { b.LocalRank = -1 })},
		{"size 0", msgWelcome, with(func(b *welcomeBody) { b.LocalSize = 0 })},
		{"huge size", msgWelcome, with(func(b *welcomeBody) { b.LocalSize = 1 << 30 })},
		{"long job id", msgWelcome, with(func(b *welcomeBody) { b.JobID = strings.Repeat("x", 1000) })},
		{"IMPI without address", msgWelcome, with(func(b *welcomeBody) { b.IMPI = true })},
		{"no tables", msgWelcome, with(func(b *welcomeBody) { b.Tables = nil })},
		{"broken tables", msgWelcome, with(func(b *welcomeBody) { b.Tables = b.Tables[1:] })},
		{"tables without me", msgWelcome, with(func(b *welcomeBody) { b.Tables = EncodeJob(job(-1, 2)) })},
		{"a descriptor announced that does not come", msgWelcome, with(func(b *welcomeBody) { b.Shared = true })},
		{"nothing in it", msgWelcome, nil},
		{"another message", msgAck, nil},
		{"refused without reason", msgRefuse, nil},
	}
	for _, tt := range tests {
		p, c := rawLauncher(t)
		if err := p.send(tt.typ, tt.body, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if a := <-c; a.err == nil || errors.Is(a.err, ErrSingleton) {
			t.Errorf("%s: %+v, %v", tt.name, a.w, a.err)
		}
	}
	p, c := rawLauncher(t)
	if err := p.send(msgWelcome, good, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if a := <-c; a.err != nil {
		t.Errorf("the good one: %v", a.err)
	}
	p, c = rawLauncher(t)
	p.conn.Close()
	if a := <-c; a.err == nil {
		t.Error("the launcher went, and nobody noticed")
	}
}

func TestNonsenseWhileTheJobRunsEndsTheLink(t *testing.T) {
	for typ, body := range map[string]any{msgAck: nil, "x": nil, msgWelcome: nil, msgJob: jobBody{}} {
		l, r, _ := welcomed(t, local)
		got := make(chan error, 1)
		r.Watch(func(err error) { got <- err })
		l.port.send(typ, body, time.Time{})
		if err := <-got; !strings.HasPrefix(err.Error(), "the launcher was lost: it ") {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestDescriptorsThatNobodyAskedForAreNotKept(t *testing.T) {
	got := make(chan error)
	var launchers []*LauncherEnd
	for range 20 {
		l, r, _ := welcomed(t, local)
		r.Watch(func(err error) { got <- err })
		launchers = append(launchers, l)
	}
	before := countFDs(t)
	for _, l := range launchers {
		if err := l.port.send("x", nil, time.Time{}, 0); err != nil {
			t.Fatal(err)
		}
		<-got
	}
	if after := countFDs(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func countFDs(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

func TestMessagesThatComeByteByByte(t *testing.T) {
	l, p := rawRank(t)
	go func() {
		s := `{"type":"hello","body":{"version":4,"pid":5}}`
		for _, c := range append(be.AppendUint32(nil, uint32(len(s))), s...) {
			p.conn.Write([]byte{c})
		}
	}()
	if h := next[Hello](t, l); h.PID != 5 {
		t.Error(h)
	}
}

func TestLargeTablesTravel(t *testing.T) {
	l, r, _ := welcomed(t, Welcome{LocalSize: 1, Shared: -1, IMPI: true, Bind: netip.MustParseAddr("::1")})
	sent := make(chan error, 1)
	go func() { sent <- l.Job(job(9999, 10000), noAgent) }()
	j, _, err := r.Job(0)
	if err := errors.Join(err, <-sent); err != nil {
		t.Fatal(err)
	}
	if len(j.Procs) != 10000 || j.Me != 9999 {
		t.Error(len(j.Procs), j.Me)
	}
}

func TestBadDescriptorsAreNoLaunchers(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	udp, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(udp)
	tcp, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(tcp)
	for _, v := range []string{"", "x", "-1", "1000000", "3x", fmt.Sprint(f.Fd()), fmt.Sprint(udp), fmt.Sprint(tcp)} {
		if _, _, err := Attach(envOf(EnvFD + "=" + v)); err == nil || errors.Is(err, ErrSingleton) ||
			!strings.Contains(err.Error(), "Unset IMPI_BOOT_FD") {
			t.Errorf("%q: %v", v, err)
		}
		if _, _, err := Attach(envOf(EnvFD+"="+v, "IMPI_SINGLETON=ok")); err != ErrSingleton {
			t.Errorf("%q, alone by the user's will: %v", v, err)
		}
	}
	if _, err := f.Write([]byte("still open")); err != nil {
		t.Error(err)
	}
}

func BenchmarkHelloAndWelcome(b *testing.B) {
	for b.Loop() {
		l, env := pair(b)
		c := attachInBackground(b, env)
		if _, err := l.Next(); err != nil {
			b.Fatal(err)
		}
		l.Welcome(local)
		a := <-c
		if a.err != nil {
			b.Fatal(a.err)
		}
		a.link.Close()
		l.Close()
	}
}
