package main

import (
	"net/netip"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
)

// The tree by which many machines are started. The first launcher starts at most as many as -branch-count says. If
// there are more, each that it starts gets a share of the list, of which it is the first, and starts the others in the
// same way, so that p machines take log p rounds of remote shells, and no process has many children.

// member is a machine, as those who start its node know it. Its number is its place in the job's list.
type member struct {
	Number int
	Name   string
	User   string `json:",omitempty"` // of the remote shell; "": it knows
	Port   int    `json:",omitempty"` // likewise; 0
	Local  bool   `json:",omitempty"` // the launcher's own

	Ranks []int      // its ranks among the client's, in ascending order
	Bind  netip.Addr // where they listen; zero: towards the server, or what the machine knows best
	Input inputKind  // what stands for the launcher's standard input
	Taken []int      `json:",omitempty"` // places of its CPUs that processes have already
}

// groups divides machines among the processes that one process starts: of each group it starts the first.
func groups(list []member, most int) [][]member {
	k := len(list)
	if most > 0 {
		k = min(k, most)
	}
	var all [][]member
	if k == 0 {
		return nil
	}
	for _, s := range layout.Split(len(list), k) {
		all = append(all, list[s.First:s.First+s.N])
	}
	return all
}
