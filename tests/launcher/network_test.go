package launcher

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A network of machines: each is a network namespace of this one, joined by a cable (veth) to a router, a namespace,
// too. The namespaces have no names: they are descriptors of the test's, and go, with all that is in them, when the
// test and what it started have ended, however that came about. So several tests may have the same addresses at a time.
type network struct {
	router   *machine
	machines []*machine
}

type machine struct {
	ns   *os.File
	addr netip.Addr // the first, if it has two
}

// family is the internet protocol of a network.
type family int

const (
	ipv4 family = iota
	ipv6
)

// addr is where a machine is.
func (f family) addr(i int) netip.Addr { return f.subnet(i).Addr().Next().Next() }

// subnet is that of a machine and the router, who have its second and its first address.
func (f family) subnet(i int) netip.Prefix {
	if f == ipv6 {
		return netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x78, 7: byte(i)}), 64)
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 78, byte(i)}), 24)
}

// newNetwork makes n machines, all but some with a cable, or skips the test where that cannot be done.
func newNetwork(t *testing.T, f family, n int, but ...int) *network {
	t.Helper()
	stage(t)
	if os.Getuid() != 0 {
		t.Skip("no network namespaces: they need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skipf("no network namespaces: %v", err)
	}
	net := &network{router: newMachine(t)}
	net.router.set(t, "ipv4/ip_forward", "1")
	net.router.set(t, "ipv6/conf/all/forwarding", "1")
	for i := range n {
		m := newMachine(t)
		m.addr = f.addr(i)
		net.machines = append(net.machines, m)
		if !slices.Contains(but, i) {
			net.cable(t, i)
			net.number(t, i, f)
		}
	}
	return net
}

// newMachine makes a namespace with nothing but a loopback.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and so this thread ends here
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			m.ns, err = os.Open("/proc/thread-self/ns/net")
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	t.Cleanup(func() { m.ns.Close() })
	m.ip(t, "link set lo up")
	return m
}

// cable joins a machine to the router. The kernel lets packets through some time after the link is up; who asks it for
// the link waits for that.
func (n *network) cable(t *testing.T, i int) {
	t.Helper()
	name := fmt.Sprintf("to%d", i)
	n.router.ip(t, fmt.Sprintf("link add %s address %s type veth peer name end address %s netns /proc/%d/fd/%d", name,
		hardware(i, true), hardware(i, false), os.Getpid(), n.machines[i].ns.Fd()), "link set "+name+" up")
	n.machines[i].ip(t, "link set end up", "link show end")
	n.router.ip(t, "link show "+name)
}

// hardware is the address of an end of a machine's cable, the router's or its own.
func hardware(i int, router bool) string {
	if router {
		return fmt.Sprintf("02:78:00:00:%02x:01", i)
	}
	return fmt.Sprintf("02:78:00:00:%02x:02", i)
}

// number gives both ends of a machine's cable an address, and the machine a way to all others. All works at once:
// nobody asks who has an address (DAD), nor where it is (ARP, NDP), and an IPv6 address does not wait for its route to
// itself. The kernel does these later, by a queue; what comes until then is lost, which on a machine with much to do
// took half a minute.
func (n *network) number(t *testing.T, i int, f family) {
	t.Helper()
	subnet := f.subnet(i)
	router, name := subnet.Addr().Next(), fmt.Sprintf("to%d", i)
	n.router.ip(t, append(address(router, subnet.Bits(), name),
		fmt.Sprintf("neigh add %v lladdr %s dev %s nud permanent", f.addr(i), hardware(i, false), name))...)
	n.machines[i].ip(t, append(address(f.addr(i), subnet.Bits(), "end"),
		fmt.Sprintf("neigh add %v lladdr %s dev end nud permanent", router, hardware(i, true)),
		fmt.Sprintf("route add default via %v", router))...)
}

// address gives an interface that is up an address.
func address(a netip.Addr, bits int, dev string) []string {
	if a.Is4() {
		return []string{fmt.Sprintf("addr add %v/%d dev %s", a, bits, dev)}
	}
	return []string{fmt.Sprintf("addr add %v/%d dev %s nodad", a, bits, dev),
		fmt.Sprintf("route add local %v dev %s table local", a, dev)}
}

// unplug takes the link of a machine down, at the router.
func (n *network) unplug(t *testing.T, i int) {
	t.Helper()
	n.router.ip(t, fmt.Sprintf("link set to%d down", i))
}

// plug brings it up again.
func (n *network) plug(t *testing.T, i int) {
	t.Helper()
	n.router.ip(t, fmt.Sprintf("link set to%d up", i))
}

// inside runs f, and starts what f starts, on a machine.
func (m *machine) inside(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread() // if we do not come back, the thread ends with this goroutine
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	enter(t, m.ns)
	f()
	enter(t, home)
	runtime.UnlockOSThread()
}

func enter(t *testing.T, ns *os.File) {
	t.Helper()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
}

// ip configures the network of a machine. It is the first to fail where a system lacks something.
func (m *machine) ip(t *testing.T, lines ...string) {
	t.Helper()
	m.inside(t, func() {
		c := exec.Command("ip", "-batch", "-")
		c.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Skipf("no network of namespaces: ip %q: %v: %s", lines, err, out)
		}
	})
}

// set writes a setting of a machine's network.
func (m *machine) set(t *testing.T, name, value string) {
	t.Helper()
	m.inside(t, func() {
		if err := os.WriteFile("/proc/sys/net/"+name, []byte(value), 0); err != nil {
			t.Skipf("no network of namespaces: %v", err)
		}
	})
}
