package main

import (
	"os"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport/shm"
)

// placeMemory has the memory that some ranks share know which CPUs they have, if all are bound.
func placeMemory(fd int, ranks []supervise.Process) error {
	all := map[int]bool{}
	nodes := make([]int, len(ranks))
	known := map[int]hardware.Set{}
	for i := range ranks {
		if len(ranks[i].CPUs) == 0 {
			return nil
		}
		if i == 0 {
			known = hardware.Nodes(os.DirFS(hosts.SystemFiles))
		}
		set := hardware.Set{}
		for _, cpu := range ranks[i].CPUs {
			all[cpu], set[cpu] = true, true
		}
		nodes[i] = placement.Home(known, set)
	}
	return shm.Place(fd, len(all), nodes)
}
