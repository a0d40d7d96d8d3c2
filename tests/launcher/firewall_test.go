package launcher

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A firewall between a machine and its router: the machine connects to others, and nobody to it. It may translate the
// machine's address as well: then others cannot even name the one that the machine knows.
//
// It is a goroutine each way between two interfaces (tun). TCP over IPv4 and IPv6; nothing else passes.
type firewall struct {
	inner, outer   netip.Addr // of the machine, as it and as all others know it
	inside, beyond *os.File

	once    sync.Once
	refused chan struct{} // closed when somebody has tried to connect to the machine
}

// newFirewall joins machine i, which has no cable, to the router.
func newFirewall(t *testing.T, n *network, i int, inner netip.Addr) *firewall {
	t.Helper()
	m := n.machines[i]
	w := &firewall{inner: inner, outer: m.addr, refused: make(chan struct{})}
	w.inside = m.tun(t, "end")
	bits := inner.BitLen()
	m.ip(t, "link set end up", "link show end")
	m.ip(t, append(address(inner, bits, "end"), defaultRoute(inner))...)
	out := fmt.Sprintf("to%d", i)
	w.beyond = n.router.tun(t, out)
	n.router.ip(t, "link set "+out+" up", "link show "+out, fmt.Sprintf("route add %v/%d dev %s", w.outer, bits, out))
	var ways sync.WaitGroup
	ways.Go(func() { w.carry(w.inside, w.beyond, w.leaving) })
	ways.Go(func() { w.carry(w.beyond, w.inside, w.entering) })
	t.Cleanup(func() {
		w.inside.Close()
		w.beyond.Close()
		ways.Wait()
	})
	return w
}

// defaultRoute leads a machine to all others of its family.
func defaultRoute(a netip.Addr) string {
	if a.Is6() {
		return "route add ::/0 dev end"
	}
	return "route add default dev end"
}

// tun makes an interface of a machine whose packets are ours.
func (m *machine) tun(t *testing.T, name string) (f *os.File) {
	t.Helper()
	m.inside(t, func() {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Skipf("no firewall: /dev/net/tun: %v", err)
		}
		request, err := unix.NewIfreq(name)
		if err == nil {
			request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
			err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
		}
		if err != nil {
			unix.Close(fd)
			t.Skipf("no firewall: %v", err)
		}
		f = os.NewFile(uintptr(fd), "tun")
	})
	return f
}

// carry hands on the packets that pass, until an end is closed.
func (w *firewall) carry(from, to *os.File, pass func(packet) bool) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if p := packet(b[:n]); p.isTCP() && pass(p) {
			to.Write(b[:n]) // one that is lost will be sent again
		}
	}
}

// packet is one of IP.
type packet []byte

// tcpAt is where the header of TCP is. Nobody here sends extension headers.
func (p packet) tcpAt() int {
	if p[0]>>4 == 6 {
		return 40
	}
	return int(p[0]&15) * 4
}

func (p packet) isTCP() bool {
	const tcpSize = 20
	switch {
	case len(p) < 1:
	case p[0]>>4 == 4 && len(p) > 9:
		return p[9] == unix.IPPROTO_TCP && len(p) >= p.tcpAt()+tcpSize
	case p[0]>>4 == 6 && len(p) > 6:
		return p[6] == unix.IPPROTO_TCP && len(p) >= p.tcpAt()+tcpSize
	}
	return false
}

func (p packet) tcp() []byte { return p[p.tcpAt():] }

// addresses are the source and the target.
func (p packet) addresses() (source, target []byte) {
	if p[0]>>4 == 6 {
		return p[8:24], p[24:40]
	}
	return p[12:16], p[16:20]
}

// sums are the checksums into which the addresses enter.
func (p packet) sums() [][]byte {
	if p[0]>>4 == 6 {
		return [][]byte{p.tcp()[16:18]}
	}
	return [][]byte{p[10:12], p.tcp()[16:18]}
}

func (w *firewall) leaving(p packet) bool {
	source, _ := p.addresses()
	p.translate(source, w.inner, w.outer)
	return true
}

// entering lets in what is not the first packet of a connection.
func (w *firewall) entering(p packet) bool {
	const syn, ack = 2, 16
	if flags := p.tcp()[13]; flags&(syn|ack) == syn {
		w.once.Do(func() { close(w.refused) })
		return false
	}
	_, target := p.addresses()
	p.translate(target, w.outer, w.inner)
	return true
}

// translate puts one address in the place of another, and adapts the checksums to it (RFC 1624).
func (p packet) translate(place []byte, from, to netip.Addr) {
	old, new := from.AsSlice(), to.AsSlice()
	if !bytes.Equal(place, old) {
		return
	}
	copy(place, new)
	for _, sum := range p.sums() {
		s := uint32(^binary.BigEndian.Uint16(sum))
		for i := 0; i < len(old); i += 2 {
			s += uint32(^binary.BigEndian.Uint16(old[i:])) + uint32(binary.BigEndian.Uint16(new[i:]))
		}
		for s > 0xffff {
			s = s&0xffff + s>>16
		}
		binary.BigEndian.PutUint16(sum, ^uint16(s))
	}
}
