package main

import (
	"os"
	"sync"

	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport/shm"
)

// ownHardware is what this machine is made of, and the CPUs of it that this process may use: those that a batch system,
// a container or taskset has left it. Ranks get no others.
var ownHardware = sync.OnceValues(func() (hardware.Machine, hardware.Set) {
	mask := hardware.Set{}
	cpus, err := supervise.CPUs()
	if err != nil {
		return nil, mask
	}
	for _, cpu := range cpus {
		mask[cpu] = true
	}
	return hardware.Read(os.DirFS(systemFiles)), mask
})

// systemFiles is where Linux describes a machine.
const systemFiles = "/sys/devices/system"

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
			known = hardware.Nodes(os.DirFS(systemFiles))
		}
		set := hardware.Set{}
		for _, cpu := range ranks[i].CPUs {
			all[cpu], set[cpu] = true, true
		}
		nodes[i] = placement.Home(known, set)
	}
	return shm.Place(fd, len(all), nodes)
}
