package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/bench/machines"
)

// Groups of the flag -cluster: jobs of several machines that this one makes out of itself (bench/machines), with
// cluster.c. A figure counts only if the machines have sent each other what they had to: a library that takes two of
// them for one, and shares memory, would be measured for something else.

// clusterGroup is a group's machines, ranks on each, and parts of cluster.c.
type clusterGroup struct {
	name          string
	machines, per int
	parts         []string
}

var clusterGroups = []clusterGroup{
	{"net", 2, 1, []string{"lat", "bw", "rate", "overlap"}},
	{"net-4", 2, 4, []string{"lat-all", "bw-all", "rate-all", "waiting"}},
	{"coll-2x1", 2, 1, []string{"coll"}},
	{"coll-4x1", 4, 1, []string{"coll"}},
	{"coll-2x4", 2, 4, []string{"coll"}},
}

// clusterLimit is the longest that a run of a group may take.
const clusterLimit = 20 * time.Second

// cluster are machines, by how many there are.
type cluster map[int]*machines.Machines

// newCluster makes the machines that the groups need.
func newCluster(link machines.Link, scratch string) (cluster, error) {
	c := cluster{}
	for _, g := range clusterGroups {
		if c[g.machines] != nil {
			continue
		}
		m, err := machines.New(g.machines, link, scratch)
		if err != nil {
			c.close()
			return nil, err
		}
		c[g.machines] = m
	}
	return c, nil
}

func (c cluster) close() {
	for _, m := range c {
		m.Close()
	}
}

// String describes the network.
func (c cluster) String() string {
	for _, m := range c {
		return m.String()
	}
	return "one machine"
}

// groups are those measured on the machines.
func (c cluster) groups() (all []group) {
	for _, g := range clusterGroups {
		all = append(all, group{g.name, func(l *library) ([]sample, error) {
			return g.measure(l, c[g.machines])
		}})
	}
	return all
}

func (g clusterGroup) measure(l *library, m *machines.Machines) ([]sample, error) {
	program, err := l.program(filepath.Join(l.bench, "cluster.c"))
	if err != nil {
		return nil, err
	}
	before, err := m.Sent()
	if err != nil {
		return nil, err
	}
	ranks := g.machines * g.per
	more, env := l.across(m.Shell(), g.machines, g.per)
	samples, err := l.samples(job{ranks: ranks, path: program, args: append([]string{strconv.Itoa(g.per),
		fmt.Sprint(m.Speed())}, g.parts...), more: more, env: env, before: m.Words(0), limit: clusterLimit})
	if err != nil {
		return nil, err
	}
	after, err := m.Sent()
	if err != nil {
		return nil, err
	}
	return checkSent(samples, float64(after-before)/1e6)
}

// checkSent holds what the machines have sent, in MB, against the least that they had to, which is the last figure, and
// puts how many times that it was in its place.
func checkSent(samples []sample, sent float64) ([]sample, error) {
	last := len(samples) - 1
	if last < 0 || samples[last].metric != "least" || samples[last].value <= 0 {
		return nil, fmt.Errorf("cluster.c did not come to its end")
	}
	least := samples[last].value
	if sent < least {
		return nil, fmt.Errorf("the machines have sent each other %.1f MB instead of %.1f MB or more: no network was used",
			sent, least)
	}
	return append(samples[:last:last], sample{"sent", sent / least, "x-least"}), nil
}

// across are the launcher's options for so many ranks on each of some machines, which it reaches by a remote shell, and
// the environment. Processes of all machines have the same cores: none is bound to one.
func (l *library) across(shell string, n, per int) (args, env []string) {
	crowded := n*per > runtime.NumCPU()
	names := func(slots string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = machines.Name(i) + slots
		}
		return strings.Join(all, ",")
	}
	slots := names(":" + strconv.Itoa(per))
	const device = machines.Device
	switch {
	case l.name == ours:
		args = []string{"-rsh", shell, "-host", slots, "-iface", device, "-bind-to", "none"}
	case l.name == "mpich":
		args = []string{"-launcher", "ssh", "-launcher-exec", shell, "-hosts", names(""), "-ppn", strconv.Itoa(per),
			"-localhost", machines.Name(0), "-iface", device, "-bind-to", "none"}
		env = []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=" + device, "FI_PROVIDER=tcp", "FI_TCP_IFACE=" + device}
	default:
		agent := []string{"--mca", "plm_rsh_agent", shell, "--mca", "oob_tcp_if_include", device}
		if !strings.HasPrefix(l.version, "4.") {
			agent = []string{"--prtemca", "plm_ssh_agent", shell, "--prtemca", "prte_if_include", device}
		}
		args = append(agent, "--host", slots, "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl_tcp_if_include",
			device)
		if crowded {
			args = append(args, "--mca", "mpi_yield_when_idle", "1")
		}
	}
	return args, env
}
