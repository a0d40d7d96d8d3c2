package tcp

import "golang.org/x/sys/unix"

// A socket that stands in the watcher's epoll costs for each packet, whoever polls: the epolls' callbacks, inner and
// outer, run where the packet is taken in, which inside a machine is within its sender's system call. So while the
// program polls and packets come, the socket they come from stands apart. It is read with each poll, and put back with
// the next arming: before it, so that the kernel looks at the state of a socket that is back.
//
// No wake-up is lost: it is taken out only while armed is false, under the lock under which whoever makes armed true
// puts it back.

// apartAfter is how many reads in a row that brought something, on one link, show that it pays to take its socket out
// and to put it back.
const apartAfter = 64

// standApart counts what the hot link has brought, and takes its socket out of the watcher's epoll.
func (h *Host) standApart(l *link) {
	if h.wins++; h.wins < apartAfter {
		return
	}
	h.wins = 0
	if h.watch.apart.Load() < 0 && l.many == nil && l.pipe == nil && !l.blocked && !l.ended {
		h.watch.takeOut(l.fd, l.host)
	}
}

// warm notes that l is the link that brings something now.
func (h *Host) warm(l *link) {
	if l != h.hot && h.watch.putBack() {
		h.hot, h.wins = l, 0
	}
}

// takeOut takes the socket of a host out of the inner epoll, unless somebody relies on it.
func (w *watch) takeOut(fd int, host int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped && !w.armed.Load() && unix.EpollCtl(w.inner, unix.EPOLL_CTL_DEL, fd, nil) == nil {
		w.host = host
		w.apart.Store(int32(fd))
	}
}

// putBack takes back a takeOut, if there was one. It is called when something is to be asked of the inner epoll that
// may concern that socket. False: the kernel has no room for it, and it stays apart.
func (w *watch) putBack() bool {
	if w.apart.Load() < 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.restore()
}

// restore is putBack under mu.
func (w *watch) restore() bool {
	fd := w.apart.Load()
	if fd < 0 {
		return true
	}
	err := unix.EpollCtl(w.inner, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: w.host})
	if err != nil {
		return false
	}
	w.apart.Store(-1)
	return true
}

// forget is for a socket of which nothing more is to be heard.
func (w *watch) forget(fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.apart.Load() == int32(fd) {
		w.apart.Store(-1)
	}
}
