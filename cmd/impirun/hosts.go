package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// checkHosts refuses hosts that are not this machine: starting ranks elsewhere takes one impirun -client on
// each machine.
func checkHosts(plan *options.Plan) error {
	names := plan.Hosts
	for _, file := range plan.HostFiles {
		more, err := readHostFile(file)
		if err != nil {
			return err
		}
		names = append(names, more...)
	}
	for _, name := range names {
		if !isLocal(name) {
			return fmt.Errorf("host %s is not this machine: starting ranks on other machines is not supported yet (run impirun -client there)", name)
		}
	}
	return nil
}

// readHostFile reads one host a line: a name, perhaps with :slots or words such as slots=4 behind it; # begins a
// comment.
func readHostFile(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("host file: %v", err)
	}
	defer f.Close()
	var names []string
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		if words := strings.Fields(line); len(words) > 0 {
			name := words[0]
			if strings.Count(name, ":") == 1 {
				name, _, _ = strings.Cut(name, ":")
			}
			names = append(names, name)
		}
	}
	return names, nil
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

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
