package tcp

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A host that dies while others still connect is not heard of again by those whose connection it has left behind, and
// they may wait for a host that it takes along: another of its client's, say. So whoever forms a mesh keeps an eye on
// the connections that are there, and gives up when one of them ends. None ends in order before all are there, since a
// host that has finished waits for the FINI of all others (finish.go). What has arrived stays unread.

// HostGone says that a host has ended, or died, before all connections were there.
type HostGone struct {
	Host, Client int32
	Addr         netip.AddrPort
}

func (e *HostGone) Error() string {
	return fmt.Sprintf("host %d (client %d, %v) has gone before all hosts were connected", e.Host, e.Client, e.Addr)
}

// monitor watches connected sockets. It sleeps in Go's netpoller.
type monitor struct {
	epoll int
	file  *os.File // owns epoll
	conn  syscall.RawConn
}

func newMonitor() (*monitor, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	v := &monitor{epoll: fd, file: os.NewFile(uintptr(fd), "monitor")}
	if v.conn, err = v.file.SyscallConn(); err != nil {
		v.file.Close()
		return nil, err
	}
	return v, nil
}

// add watches the connection to a host. The caller knows that the monitor is not over.
func (v *monitor) add(host int32, fd int) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(v.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLRDHUP, Fd: host}))
}

// next returns when a connection has ended, or with false when the monitor is over.
func (v *monitor) next() (host int32, ok bool) {
	var events [1]unix.EpollEvent
	err := v.conn.Read(func(uintptr) bool {
		n, err := unix.EpollWait(v.epoll, events[:], 0)
		if err == nil && n > 0 {
			host, ok = events[0].Fd, true
		}
		return ok
	})
	return host, ok && err == nil
}

// end ends the monitor. The sockets are forgotten one by one: they outlive it in other hands.
func (v *monitor) end(sockets [][]int) {
	for _, fds := range sockets {
		for _, fd := range fds {
			if fd >= 0 {
				unix.EpollCtl(v.epoll, unix.EPOLL_CTL_DEL, fd, nil)
			}
		}
	}
	v.file.Close()
}

// watchAdmitted ends the forming of the mesh when a host that is connected goes.
func (m *mesh) watchAdmitted() {
	host, ok := m.monitor.next()
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.missing > 0 && !m.over {
		x := m.job.Hosts[host]
		m.cancel(&HostGone{host, x.Client, x.Addr})
	}
}
