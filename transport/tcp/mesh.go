package tcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/strangers"
	"github.com/libimpi/libimpi/transport"
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
	meshTime  = 60 * time.Second // to form the mesh, if the context has no deadline
	redialMin = 20 * time.Millisecond
	redialMax = time.Second
)

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

// way returns what is due with another host. The higher connects to the lower, unless they have agreed that the
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
	all.Go(m.watchAdmitted)
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
