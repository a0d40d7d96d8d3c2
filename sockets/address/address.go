// Package address finds out at which address others can reach this machine, and which machine it is.
package address

import (
	"fmt"
	"net"
	"net/netip"
)

// Usable is an address of this machine at which others can probably reach it: the one that the default
// route uses; else an address of an interface that is up, IPv4 before IPv6; else 127.0.0.1. It sends nothing
// and looks up no name.
func Usable() netip.Addr {
	// Connecting a datagram socket asks the routing table. The addresses are reserved for documentation.
	for _, outside := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		if a, ok := routedFrom(outside); ok {
			return a
		}
	}
	if a, ok := firstUsable(interfaceAddrs()); ok {
		return a
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// Loopback returns why processes of this machine cannot connect to each other, if that is because the loopback
// interface is down, which packets to the machine's other addresses take, too. It is nil if the system does not say.
func Loopback() error {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil
	}
	return loopbackAmong(ifs)
}

// Reachable is Loopback if the address is one of this machine, else nil.
func Reachable(at netip.Addr) error {
	err := Loopback()
	if at = at.Unmap().WithZone(""); err == nil || at.IsLoopback() {
		return err
	}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if p, bad := netip.ParsePrefix(a.String()); bad == nil && p.Addr().Unmap() == at {
			return err
		}
	}
	return nil
}

func loopbackAmong(ifs []net.Interface) error {
	down := ""
	for _, i := range ifs {
		switch {
		case i.Flags&net.FlagLoopback == 0:
		case i.Flags&net.FlagUp != 0:
			return nil
		default:
			down = i.Name
		}
	}
	if down == "" {
		return nil
	}
	return fmt.Errorf("the loopback interface is down, by which processes of one machine connect to each other: "+
		"bring it up (ip link set %s up)", down)
}

func routedFrom(outside string) (netip.Addr, bool) {
	c, err := net.Dial("udp", outside)
	if err != nil {
		return netip.Addr{}, false
	}
	defer c.Close()
	ap := c.LocalAddr().(*net.UDPAddr).AddrPort()
	return firstUsable([]netip.Addr{ap.Addr()})
}

func interfaceAddrs() (list []netip.Addr) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range ifs {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				list = append(list, p.Addr())
			}
		}
	}
	return list
}

// firstUsable is the first IPv4 address, else the first IPv6 one, that other machines can name.
func firstUsable(list []netip.Addr) (netip.Addr, bool) {
	var six netip.Addr
	for _, a := range list {
		a = a.Unmap()
		if !a.IsGlobalUnicast() || a.Zone() != "" {
			continue
		}
		if a.Is4() {
			return a, true
		}
		if !six.IsValid() {
			six = a
		}
	}
	return six, six.IsValid()
}
