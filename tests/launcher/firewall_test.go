package launcher

import (
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
// It is a goroutine each way between two interfaces (tun). IPv4 and TCP; nothing else passes.
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
	m.ip(t, fmt.Sprintf("addr add %v/32 dev end", inner), "link set end up", "route add default dev end")
	out := fmt.Sprintf("to%d", i)
	w.beyond = n.router.tun(t, out)
	n.router.ip(t, "link set "+out+" up", fmt.Sprintf("route add %v/32 dev %s", w.outer, out))
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
func (w *firewall) carry(from, to *os.File, pass func(packet []byte) bool) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if head := int(b[0]&15) * 4; b[0]>>4 != 4 || b[9] != unix.IPPROTO_TCP || n < head+20 {
			continue
		}
		if pass(b[:n]) {
			to.Write(b[:n]) // one that is lost will be sent again
		}
	}
}

// Where an IPv4 header has what.
const (
	sumAt    = 10
	sourceAt = 12
	targetAt = 16
)

func (w *firewall) leaving(packet []byte) bool {
	translate(packet, sourceAt, w.inner, w.outer)
	return true
}

// entering lets in what is not the first packet of a connection.
func (w *firewall) entering(packet []byte) bool {
	const syn, ack = 2, 16
	if flags := tcpOf(packet)[13]; flags&(syn|ack) == syn {
		w.once.Do(func() { close(w.refused) })
		return false
	}
	translate(packet, targetAt, w.outer, w.inner)
	return true
}

func tcpOf(packet []byte) []byte { return packet[int(packet[0]&15)*4:] }

// translate puts one address in the place of another, and adapts both checksums to it (RFC 1624).
func translate(packet []byte, at int, from, to netip.Addr) {
	old, new := from.As4(), to.As4()
	if [4]byte(packet[at:]) != old {
		return
	}
	copy(packet[at:], new[:])
	for _, sum := range [][]byte{packet[sumAt:], tcpOf(packet)[16:]} {
		s := uint32(^binary.BigEndian.Uint16(sum))
		for i := 0; i < 4; i += 2 {
			s += uint32(^binary.BigEndian.Uint16(old[i:])) + uint32(binary.BigEndian.Uint16(new[i:]))
		}
		for s > 0xffff {
			s = s&0xffff + s>>16
		}
		binary.BigEndian.PutUint16(sum, ^uint16(s))
	}
}
