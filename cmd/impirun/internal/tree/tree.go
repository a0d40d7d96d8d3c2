// Package tree is the tree of processes by which many machines are started: who starts whom, by which command, and what
// they say to each other.
//
// Flow: the first launcher divides its machines into groups (Groups) and starts a branch for each (Launching, Branch)
// -> at the other end a process greets and is told what to start (Begin) -> if that is more than one machine it is a
// relay (RunRelay), which starts a node of its own beside it and branches for the others -> frames travel as letters in
// both directions (frames.go), and each launcher is told of what becomes of its branches (Launcher) -> a branch is over
// when the process at its other end is.
package tree

import (
	"net/netip"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
)

// The tree by which many machines are started. The first launcher starts at most as many as -branch-count says. If
// there are more, each that it starts gets a share of the list, of which it is the first, and starts the others in the
// same way, so that p machines take log p rounds of remote shells, and no process has many children.

// Member is a machine, as the processes that start its node know it. Its number is its place in the job's list.
type Member struct {
	Number int
	Name   string
	User   string `json:",omitempty"` // of the remote shell; "": it knows
	Port   int    `json:",omitempty"` // likewise; 0
	Local  bool   `json:",omitempty"` // the launcher's own

	Ranks []int      // its ranks among the client's, in ascending order
	Bind  netip.Addr // where they listen; zero: towards the server, or what the machine knows best
	Input InputKind  // what stands for the launcher's standard input
	Taken []int      `json:",omitempty"` // places of its CPUs that processes have already
}

// Groups divides machines among the processes that one process starts: of each group it starts the first.
func Groups(list []Member, most int) [][]Member {
	k := len(list)
	if most > 0 {
		k = min(k, most)
	}
	var all [][]Member
	if k == 0 {
		return nil
	}
	for _, s := range layout.Split(len(list), k) {
		all = append(all, list[s.First:s.First+s.N])
	}
	return all
}
