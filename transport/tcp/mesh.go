package tcp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/alive"
	"github.com/libimpi/libimpi/transport/secure"
	"github.com/libimpi/libimpi/transport/strangers"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// The mesh (IMPI 0.0, 2.3.8): every two hosts of different clients share one socket. The one with the higher
// global host rank connects and says its rank in four bytes; the other accepts, and says nothing. All
// connecting and accepting is concurrent, so that no host waits for a slow one it has no business with.
//
// The listener is open to the world while the mesh forms. Whoever connects and is not a host we expect is
// turned away and reported: a rank out of range, not above ours, of our own client, or that has come
// already; a connection that ends, or is silent, before it has said four bytes. None of them holds up others.

const (
	meshTime      = 60 * time.Second // to form the mesh, if the context has no deadline
	greetTime     = 5 * time.Second  // for a stranger to say who it is
	maxStrangers  = 128              // that have not proved who they are; one more, and one goes (strangers.Evict)
	redialMin     = 20 * time.Millisecond
	redialMax     = time.Second
	acceptBackoff = 10 * time.Millisecond
)

// Options are what a user may want to set. The zero value is good.
type Options struct {
	MaxDataLen    uint32           // largest pk_len accepted, bytes: our C_DATALEN. At least Job.MaxDataLen, and so if 0
	SendBuffer    int              // SO_SNDBUF, bytes; 0: right for the round trip
	ReceiveBuffer int              // SO_RCVBUF, bytes; 0: the system's choice
	Silence       time.Duration    // after which a host of which nothing is heard is lost; 0: never
	Warn          func(msg string) // told of strangers and such, from any goroutine; may be nil
	Pipes         bool             // Adopt: the descriptors are of pipes to processes of this machine (transport/pipe)
	greetTime     time.Duration    // for a stranger to say who it is; 0: greetTime
	Apart         []bool           // by host: one of our own client on another machine, to be connected, too; nil: none
	Finished      func(host int32) // told by Reap and Finish of each host that has ended in order, or is lost; may be nil
}

// Listener is where higher hosts connect to. It is opened before its port is published (H_PORT).
type Listener struct{ tcp *net.TCPListener }

// listenAt opens a listener at an address and a port of this machine.
func listenAt(at netip.AddrPort) (*Listener, error) {
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return &Listener{tcp}, nil
}

// ListenBetween opens a listener at the first port from low to high that is free; 0: at any.
func ListenBetween(bind netip.Addr, low, high int) (*Listener, error) {
	for port := low; ; port++ {
		l, err := listenAt(netip.AddrPortFrom(bind, uint16(port)))
		if err == nil || !errors.Is(err, unix.EADDRINUSE) || port >= high {
			return l, err
		}
	}
}

// Addr is where the listener listens.
func (l *Listener) Addr() netip.AddrPort {
	a := l.tcp.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Close gives the listener up, if Connect has not done so.
func (l *Listener) Close() error { return l.tcp.Close() }

// Connect joins host `host` of the job with all hosts of other clients. It blocks until all have come, ctx
// is done, or, if ctx has no deadline, a minute has passed; the error says who has not come. The listener is
// closed in any case.
//
// Deliver and Lost are called from Poll only. wake is called from a goroutine of the Host's when there is
// traffic and nobody polls; before it returns it should have taken the engine's lock and called Poll. It is
// not called before the first Poll or Arm, and may be called once more after Finish or Abort.
func Connect(ctx context.Context, job *transport.Job, host int32, l *Listener, recv transport.Receiver, wake func(),
	opts Options) (*Host, error) {
	sockets, err := Mesh(ctx, job, host, l, opts)
	if err != nil {
		return nil, err
	}
	return Adopt(job, host, sockets, recv, wake, opts)
}

// Mesh is the first half of Connect: it answers the connected sockets by host, none, one, or as many as were agreed on.
// They do not block, and are the caller's.
func Mesh(ctx context.Context, job *transport.Job, host int32, l *Listener, opts Options) ([][]int, error) {
	defer l.Close()
	if err := check(job, host); err != nil {
		return nil, err
	}
	m := newMesh(job, host, opts)
	if err := m.form(ctx, l.tcp); err != nil {
		m.closeAll()
		return nil, err
	}
	return m.sockets, nil
}

// Adopt is the second half: a Host with sockets that somebody has connected, as Mesh answers them. They are stream
// sockets that do not block, and the Host's from now on, also if there is an error.
func Adopt(job *transport.Job, host int32, sockets [][]int, recv transport.Receiver, wake func(),
	opts Options) (*Host, error) {
	m := &mesh{sockets: sockets}
	if err := check(job, host); err != nil {
		m.closeAll()
		return nil, err
	}
	if len(sockets) != len(job.Hosts) {
		m.closeAll()
		return nil, fmt.Errorf("sockets for %d hosts of %d", len(sockets), len(job.Hosts))
	}
	h, err := newHost(job, host, recv, wake)
	if err != nil {
		m.closeAll()
		return nil, err
	}
	h.finished = opts.Finished
	h.guard.start(opts.Silence, h.watch.wake)
	for i, fds := range m.sockets {
		if len(fds) == 0 {
			continue
		}
		m.sockets[i] = nil
		if err := h.add(int32(i), fds, max(opts.MaxDataLen, job.MaxDataLen), opts.Pipes); err != nil {
			m.closeAll()
			h.Abort()
			return nil, err
		}
	}
	return h, nil
}

// check is for what this package divides by and indexes with.
func check(job *transport.Job, host int32) error {
	if host < 0 || int(host) >= len(job.Hosts) {
		return fmt.Errorf("host %d of %d", host, len(job.Hosts))
	}
	if job.AckMark < 1 || job.AckMark > job.HiWater || job.MaxDataLen < 1 {
		return fmt.Errorf("ackmark %d, hiwater %d, maxdatalen %d: want 1 <= ackmark <= hiwater and 1 <= maxdatalen",
			job.AckMark, job.HiWater, job.MaxDataLen)
	}
	next := int32(0)
	for i, x := range job.Hosts {
		if x.First != next || x.NProcs < 0 || int(x.NProcs) > len(job.Procs)-int(next) {
			return fmt.Errorf("host %d: %d processes from %d on, of %d", i, x.NProcs, x.First, len(job.Procs))
		}
		next += x.NProcs
		for p := x.First; p < next; p++ {
			if job.Procs[p].Host != int32(i) {
				return fmt.Errorf("process %d is on host %d and on host %d", p, job.Procs[p].Host, i)
			}
		}
	}
	if int(next) != len(job.Procs) {
		return fmt.Errorf("%d of %d processes are on hosts", next, len(job.Procs))
	}
	_, err := NewDirectory(job)
	return err
}

// mesh is the state of forming it.
type mesh struct {
	job  *transport.Job
	me   int32
	opts Options

	mu        sync.Mutex      // guards all below
	sockets   [][]int         // by host; -1: not connected
	missing   int             // sockets
	reasons   map[int32]error // why a host could not be reached so far
	strangers []*stranger     // that have not proved who they are, oldest first
	lines     strangers.Lines // about them
	over      bool
	complete  chan struct{} // closed when nobody is missing

	monitor *monitor                // nil until the mesh is being formed
	cancel  context.CancelCauseFunc // gives up
}

func newMesh(job *transport.Job, me int32, opts Options) *mesh {
	opts.greetTime = cmp.Or(opts.greetTime, greetTime)
	m := &mesh{job: job, me: me, opts: opts, sockets: make([][]int, len(job.Hosts)), reasons: map[int32]error{},
		complete: make(chan struct{})}
	for i := range m.sockets {
		if m.way(int32(i)) != noWay {
			m.sockets[i] = slices.Repeat([]int{-1}, m.streams(int32(i)))
			m.missing += len(m.sockets[i])
		}
	}
	if m.missing == 0 {
		close(m.complete)
	}
	return m
}

// way is how two hosts get their socket.
type way uint8

const (
	noWay    way = iota // they have none: they are the same, or share memory
	weDial              // we are the higher one, or by agreement the lower
	theyDial            // the other way round
)

// way answers what is due with another host. The higher connects to the lower, unless they have agreed that the
// lower cannot be reached.
func (m *mesh) way(i int32) way {
	me, x := &m.job.Hosts[m.me], &m.job.Hosts[i]
	if i == m.me || x.Client == me.Client && (int(i) >= len(m.opts.Apart) || !m.opts.Apart[i]) {
		return noWay
	}
	lower, higher := me, x
	if i < m.me {
		lower, higher = x, me
	}
	if reversed := lower.Outbound && !higher.Outbound; (i < m.me) != reversed {
		return weDial
	}
	return theyDial
}

// streams is how many connections there are to a host. Only one who can prove a key gets more than one.
func (m *mesh) streams(i int32) int {
	if x := &m.job.Hosts[i]; x.Key != nil {
		return int(max(x.Streams, 1))
	}
	return 1
}

// form connects and accepts until nobody is missing.
func (m *mesh) form(ctx context.Context, l *net.TCPListener) error {
	ctx, cancel := context.WithTimeout(ctx, m.patience(ctx))
	defer cancel()
	ctx, m.cancel = context.WithCancelCause(ctx)
	var err error
	if m.monitor, err = newMonitor(); err != nil {
		l.Close()
		return err
	}
	var all sync.WaitGroup
	all.Go(m.keepVigil)
	expected := false
	for i := range int32(len(m.job.Hosts)) {
		switch m.way(i) {
		case weDial:
			for k := range m.streams(i) {
				all.Go(func() { m.dial(ctx, i, k) })
			}
		case theyDial:
			expected = true
		}
	}
	if expected {
		all.Go(func() { m.accept(ctx, l, &all) })
	} else {
		l.Close()
	}
	select {
	case <-m.complete:
	case <-ctx.Done():
	}
	err = m.finish(ctx)
	m.cancel(nil)
	l.Close()
	all.Wait()
	return err
}

func (m *mesh) patience(ctx context.Context) time.Duration {
	if t, ok := ctx.Deadline(); ok {
		return time.Until(t)
	}
	return meshTime
}

// finish lets nobody in any more and says who is missing.
func (m *mesh) finish(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.monitor.end(m.sockets)
	for _, s := range m.strangers {
		s.Close()
	}
	if m.missing == 0 {
		return nil
	}
	var gone *HostGone
	if errors.As(context.Cause(ctx), &gone) {
		return fmt.Errorf("host %d: %w", m.me, gone)
	}
	var errs []error
	for i, fds := range m.sockets {
		x := m.job.Hosts[i]
		if !slices.Contains(fds, -1) {
			continue
		}
		missing := &HostMissing{Host: int32(i), Client: x.Client, Addr: x.Addr}
		if m.way(int32(i)) == weDial {
			missing.Why = cmp.Or(m.reasons[int32(i)], context.Cause(ctx))
		}
		errs = append(errs, missing)
	}
	return fmt.Errorf("host %d: %d of %d connections to other hosts are missing: %w", m.me, m.missing,
		m.missing+m.connected(), errors.Join(errs...))
}

// HostMissing says that there is no connection with a host.
type HostMissing struct {
	Host, Client int32
	Addr         netip.AddrPort
	Why          error // nil: it is to connect to us, and has not
}

func (e *HostMissing) Error() string {
	if e.Why == nil {
		return fmt.Sprintf("host %d (client %d, %v) has not connected to us", e.Host, e.Client, e.Addr)
	}
	return fmt.Sprintf("host %d (client %d, %v) cannot be reached: %v", e.Host, e.Client, e.Addr, e.Why)
}

func (e *HostMissing) Unwrap() error { return e.Why }

func (m *mesh) connected() (n int) {
	for _, fds := range m.sockets {
		for _, fd := range fds {
			if fd >= 0 {
				n++
			}
		}
	}
	return n
}

// from is where we connect to a host from: the address we published, since some identify us by it. nil: any, as that
// one cannot do it, if it is of the other family, or need not, if nobody can reach it and the host knows us by our key.
func (m *mesh) from(host int32) net.Addr {
	me, x := &m.job.Hosts[m.me], &m.job.Hosts[host]
	if me.Addr.Addr().Is4() != x.Addr.Addr().Is4() || me.Outbound && x.SameImpl {
		return nil
	}
	return &net.TCPAddr{IP: me.Addr.Addr().AsSlice()}
}

// dial makes connection k to a host.
func (m *mesh) dial(ctx context.Context, host int32, k int) {
	to := m.job.Hosts[host].Addr.String()
	d := net.Dialer{LocalAddr: m.from(host)}
	for wait := redialMin; ; wait = min(2*wait, redialMax) {
		c, err := d.DialContext(ctx, "tcp", to)
		if d.LocalAddr != nil && errors.Is(err, unix.EADDRNOTAVAIL) {
			m.warn("connecting to host %d from any address: ours, %v, is not one of this machine", host,
				m.job.Hosts[m.me].Addr.Addr())
			d.LocalAddr = nil
			continue
		}
		if err == nil {
			if _, err = c.Write(m.handshake(host, k)); err == nil {
				err = m.meetAs(ctx, host, k, c.(*net.TCPConn), true)
			}
			c.Close()
			if err == nil {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		m.mu.Lock()
		m.reasons[host] = err
		m.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// accept lets in whoever knocks, until the listener is closed.
func (m *mesh) accept(ctx context.Context, l *net.TCPListener, all *sync.WaitGroup) {
	for {
		c, err := l.AcceptTCP()
		switch {
		case err == nil:
			if s := m.meet(c); s != nil {
				all.Go(func() { m.greet(ctx, s) })
			}
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, perhaps: strangers will leave
			select {
			case <-time.After(acceptBackoff):
			case <-ctx.Done():
				return
			}
		}
	}
}

// stranger is one who has connected and not proved who it is.
type stranger struct {
	*net.TCPConn
	said int // 1: the rank of a host that is expected
}

// meet notes a stranger, at the expense of another if there are too many. nil: nobody is let in any more.
func (m *mesh) meet(c *net.TCPConn) *stranger {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		c.Close()
		return nil
	}
	if len(m.strangers) == maxStrangers {
		list := make([]strangers.Stranger, len(m.strangers))
		for i, s := range m.strangers {
			list[i] = strangers.Stranger{Host: s.RemoteAddr().(*net.TCPAddr).IP.String(), Said: s.said}
		}
		i := strangers.Evict(list)
		m.strangers[i].Close()
		m.strangers = slices.Delete(m.strangers, i, i+1)
	}
	s := &stranger{TCPConn: c}
	m.strangers = append(m.strangers, s)
	return s
}

// greet hears who a stranger is.
func (m *mesh) greet(ctx context.Context, s *stranger) {
	c := s.TCPConn
	defer c.Close()
	defer m.known(s)
	from := c.RemoteAddr()
	var b [wire.HandshakeSize]byte
	c.SetReadDeadline(time.Now().Add(m.opts.greetTime))
	n, err := io.ReadFull(c, b[:])
	m.mu.Lock()
	over := m.over
	m.mu.Unlock()
	if over {
		return
	}
	if err != nil {
		m.turnAway(from, "%d bytes instead of a host rank: %v", n, err)
		return
	}
	host, ok := wire.Handshake(b[:])
	if ok && int(host) < len(m.job.Hosts) && host != m.me && m.way(host) == noWay {
		m.turnAway(from, "host %d is of our own client", host)
		return
	}
	if !ok || int(host) >= len(m.job.Hosts) || m.way(host) != theyDial {
		m.turnAway(from, "no host %d is to connect to host %d", uint32(host), m.me)
		return
	}
	m.mu.Lock()
	s.said = 1
	m.mu.Unlock()
	k := 0
	if m.streams(host) > 1 {
		if k, err = m.hearStream(c, host); err != nil {
			m.turnAway(from, "%v", err)
			return
		}
	}
	if err := m.meetAs(ctx, host, k, c, false); err != nil && ctx.Err() == nil { // else it is we who have ended it
		m.turnAway(from, "%v", err)
	}
}

// turnAway tells the user why a stranger was not let in, as long as there are not too many.
func (m *mesh) turnAway(from net.Addr, format string, args ...any) {
	m.mu.Lock()
	line := m.lines.Fold(fmt.Sprintf("connection from %v turned away: %s", from, fmt.Sprintf(format, args...)))
	m.mu.Unlock()
	if line != "" {
		m.warn("%s", line)
	}
}

// known takes one out of the strangers: it has been let in, or turned away.
func (m *mesh) known(s *stranger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.strangers, s); i >= 0 {
		m.strangers = slices.Delete(m.strangers, i, i+1)
	}
}

// meetAs makes c connection k to a host, if it can prove to be it. c remains the caller's to close.
func (m *mesh) meetAs(ctx context.Context, host int32, k int, c *net.TCPConn, dialed bool) error {
	if err := m.tune(c, m.streams(host)); err != nil {
		return err
	}
	proven, err := m.prove(ctx, c, host, k, dialed)
	if err != nil {
		return err
	}
	fd := -1
	if channel, ok := proven.(*tls.Conn); ok {
		fd, err = secure.Tunnel(channel)
	} else {
		fd, err = descriptor(c)
	}
	if err != nil {
		return err
	}
	return m.admit(host, k, fd)
}

// admit takes the descriptor of connection k to a host.
func (m *mesh) admit(host int32, k, fd int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over || m.sockets[host][k] >= 0 {
		unix.Close(fd)
		return fmt.Errorf("host %d is connected already, or too late", host)
	}
	if err := m.monitor.add(host, fd); err != nil {
		unix.Close(fd)
		return err
	}
	m.sockets[host][k] = fd
	m.missing--
	if m.missing == 0 {
		close(m.complete)
	}
	return nil
}

// tune sets the options of one connection of several.
func (m *mesh) tune(c *net.TCPConn, several int) error {
	if err := c.SetNoDelay(true); err != nil {
		return err
	}
	if n := m.opts.SendBuffer; n > 0 {
		if err := c.SetWriteBuffer(n); err != nil {
			return err
		}
	}
	if n := m.opts.ReceiveBuffer; n > 0 {
		if err := c.SetReadBuffer(n); err != nil {
			return err
		}
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Control(func(fd uintptr) {
		if m.opts.SendBuffer == 0 {
			widen(int(fd))
		}
		if several > 1 {
			share(int(fd))
		}
		if inside(c.LocalAddr(), c.RemoteAddr()) {
			unpace(int(fd))
		}
	})
	return cmp.Or(err, m.keepAlive(c))
}

// keepAlive has probes sent over a connection.
func (m *mesh) keepAlive(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var kept error
	err = raw.Control(func(fd uintptr) { kept = alive.Keep(int(fd), m.opts.Silence) })
	return cmp.Or(err, kept)
}

// descriptor takes the socket out of the Go runtime's hands: from now on it is polled by whoever calls Poll.
func descriptor(c *net.TCPConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	dup, errno := -1, error(nil)
	err = raw.Control(func(fd uintptr) { dup, errno = unix.FcntlInt(fd, syscall.F_DUPFD_CLOEXEC, 0) })
	return dup, cmp.Or(err, errno)
}

func (m *mesh) closeAll() {
	for _, fds := range m.sockets {
		for _, fd := range fds {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	}
}

func (m *mesh) warn(format string, args ...any) {
	if m.opts.Warn != nil {
		m.opts.Warn(fmt.Sprintf(format, args...))
	}
}
