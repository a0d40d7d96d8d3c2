package address

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// On is the address of this machine that a user means: by the name of a network interface, as eth0, or by a network or
// an address, as 10.1.0.0/16. The error says which there are.
func On(word string) (netip.Addr, error) {
	list, err := interfaces()
	if err != nil {
		return netip.Addr{}, err
	}
	return choose(word, list)
}

// nic is a network interface that is up.
type nic struct {
	name  string
	addrs []netip.Addr
}

func interfaces() (list []nic, err error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("network interfaces: %w", err)
	}
	for i := range ifs {
		if ifs[i].Flags&net.FlagUp == 0 {
			continue
		}
		n := nic{name: ifs[i].Name}
		addrs, _ := ifs[i].Addrs() // one that has just gone has none
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				n.addrs = append(n.addrs, p.Addr().Unmap())
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// choose prefers IPv4, as Usable does. Addresses that hold inside one link only are none that others can be told.
func choose(word string, list []nic) (netip.Addr, error) {
	within, err := netip.ParsePrefix(word)
	if a, addrErr := netip.ParseAddr(word); addrErr == nil {
		within, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	byName := err != nil
	var six netip.Addr
	var known []string
	for _, n := range list {
		for _, a := range n.addrs {
			if a.IsLinkLocalUnicast() || a.Zone() != "" {
				continue
			}
			known = append(known, n.name+" "+a.String())
			if byName && n.name != word || !byName && !within.Contains(a) {
				continue
			}
			if a.Is4() {
				return a, nil
			}
			if !six.IsValid() {
				six = a
			}
		}
	}
	if !six.IsValid() {
		return six, fmt.Errorf("this machine has no address on %q: there are %s", word, strings.Join(known, ", "))
	}
	return six, nil
}
