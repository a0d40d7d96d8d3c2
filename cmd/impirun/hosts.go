package main

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/options"
	addresses "github.com/libimpi/libimpi/transport/address"
)

// machine is where some of a client's ranks run: n that follow one another.
type machine struct {
	name  string
	addr  netip.Addr // where its ranks listen, if the user has said so
	slots int        // 0: not said
	local bool
	n     int
}

// machines are those of a plan that get ranks, in rank order: the order of the user's list. None means this one.
func machines(plan *options.Plan) ([]machine, error) {
	list, err := listed(plan)
	if err != nil {
		return nil, err
	}
	deal(list, plan.Size(), plan.PerHost)
	return slices.DeleteFunc(list, func(m machine) bool { return m.n == 0 }), nil
}

// listed are the machines that the user has listed.
func listed(plan *options.Plan) ([]machine, error) {
	var list []machine
	for _, word := range plan.Hosts {
		m, err := parseMachine([]string{word})
		if err != nil {
			return nil, err
		}
		list = addMachine(list, m)
	}
	for _, file := range plan.HostFiles {
		more, err := readHostFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			list = addMachine(list, m)
		}
	}
	return list, nil
}

// addMachine adds a machine, or its slots if it is there already.
func addMachine(list []machine, m machine) []machine {
	for i := range list {
		if x := &list[i]; x.name == m.name || x.local && m.local {
			x.slots = max(x.slots, 1) + max(m.slots, 1)
			return list
		}
	}
	return append(list, m)
}

// deal gives each machine ranks that follow one another: as many as it has slots, and of what is left, or of all if
// nobody has said how many slots there are, an even share.
func deal(list []machine, n, perHost int) {
	said := perHost > 0 || slices.ContainsFunc(list, func(m machine) bool { return m.slots > 0 })
	for i := range list {
		m := &list[i]
		if said {
			m.n = min(n, max(1, m.slots))
			if perHost > 0 {
				m.n = min(n, perHost)
			}
			n -= m.n
		}
	}
	if n > 0 && len(list) > 0 {
		for i, s := range split(n, len(list)) {
			list[i].n += s.n
		}
	}
}

// readHostFile reads one machine a line: a name, perhaps with :slots, and words such as slots=4 and addr=10.0.0.7
// behind it; # begins a comment.
func readHostFile(file string) ([]machine, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("host file: %v", err)
	}
	defer f.Close()
	var list []machine
	line := 0
	s := bufio.NewScanner(f)
	for s.Scan() {
		line++
		text, _, _ := strings.Cut(s.Text(), "#")
		if words := strings.Fields(text); len(words) > 0 {
			m, err := parseMachine(words)
			if err != nil {
				return nil, fmt.Errorf("host file %s, line %d: %v", file, line, err)
			}
			list = append(list, m)
		}
	}
	return list, s.Err()
}

// parseMachine reads a name and the words behind it. Words that only other launchers know are passed over.
func parseMachine(words []string) (m machine, err error) {
	if m.name, m.slots, err = options.HostSlots(words[0]); err != nil {
		return m, err
	}
	if m.name == "" || strings.HasPrefix(m.name, "-") || strings.Contains(m.name, ":") && !isIPv6(m.name) {
		return m, fmt.Errorf("%q is no name of a machine", m.name)
	}
	for _, w := range words[1:] {
		key, value, said := strings.Cut(w, "=")
		if !said {
			return m, fmt.Errorf("%q is neither NAME=VALUE nor a machine of its own: a line names one", w)
		}
		switch key {
		case "slots", "max_slots", "max-slots":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return m, fmt.Errorf("%s: not a number of slots", w)
			}
			if key == "slots" {
				m.slots = n
			}
		case "addr":
			if m.addr, err = netip.ParseAddr(value); err != nil {
				return m, fmt.Errorf("%s: not an address", w)
			}
		}
	}
	m.local = isLocal(m.name)
	return m, nil
}

func isIPv6(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && a.Is6()
}

// isLocal answers without asking a name server, except for a name that is neither ours nor an address.
func isLocal(name string) bool {
	own := hostname()
	short, _, _ := strings.Cut(own, ".")
	if name == "localhost" || strings.EqualFold(name, own) || strings.EqualFold(name, short) {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	ip := net.ParseIP(name)
	if err != nil || ip == nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return ip.IsLoopback()
}

// machineID tells this machine from all others.
func machineID() uint64 { return addresses.Machine() }

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
