package topo

import (
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/topology/hardware"
	"golang.org/x/sys/unix"
)

// Where processes are inside a machine: which parts of it (hardware.Types) each is restricted to, by its CPU mask when
// it is asked. Parts of different machines are different ones, and so they are on one machine for processes that
// share no memory.
//
//	Here: one process -> all processes exchange these -> Places: the parts as colors (MPI_Comm_split_type)
//	                                                  -> Told: paths to the processes (reordering)

// The integers of a process: a number of the memory it shares, which is the same for two exactly if they share it, and
// the part of each type that it is restricted to, -1 if there is none.
const (
	memoryAt = 0
	partsAt  = 1
)

// Whereabouts is how many integers say where a process is.
var Whereabouts = partsAt + len(hardware.Types)

// readMachine reads this machine once.
var readMachine = sync.OnceValue(func() hardware.Machine { return hardware.Read(os.DirFS("/sys/devices/system")) })

// mask is the set of CPUs that the calling thread may run on; empty if the system does not tell.
func mask() hardware.Set {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	cpus := hardware.Set{}
	for cpu := range len(set) * bits.UintSize {
		if set.IsSet(cpu) {
			cpus[cpu] = true
		}
	}
	return cpus
}

// HardwareTypes are the types of parts that this machine tells of, from the largest to the smallest, and for each
// the number of the one that the calling process is restricted to, -1 if there is none.
func HardwareTypes() (types []string, at []int) {
	m := readMachine()
	restricted := m.Restricted(mask())
	for i, t := range hardware.Types {
		if m.Known(t) {
			types, at = append(types, t), append(at, restricted[i])
		}
	}
	return types, at
}

// Here is where the caller is now, which shares some memory. There is room for one integer more.
func Here(memory int32) []int32 {
	at := make([]int32, partsAt, Whereabouts+1)
	at[memoryAt] = memory
	for _, part := range readMachine().Restricted(mask()) {
		at = append(at, int32(part))
	}
	return at
}

// Places are the whereabouts of some processes, one after the other.
type Places struct {
	All  []int32
	Mine int // the caller's place
}

// Colors gives the processes in one part of a type the number of the first of them, and MPI_UNDEFINED to those that are
// restricted to none. typ is the type's index in hardware.Types.
func (p Places) Colors(typ int) []int32 {
	colors := make([]int32, len(p.All)/Whereabouts)
	first := map[[2]int32]int32{}
	for r := range colors {
		of := p.All[r*Whereabouts:]
		place := [2]int32{of[memoryAt], of[partsAt+typ]}
		if place[1] < 0 {
			colors[r] = abi.MPI_UNDEFINED
			continue
		}
		if _, known := first[place]; !known {
			first[place] = int32(r)
		}
		colors[r] = first[place]
	}
	return colors
}

// Of returns the caller's color among the parts of a type, by its name; MPI_UNDEFINED if nobody knows the type.
func (p Places) Of(typ string) int32 {
	if i := slices.Index(hardware.Types, typ); i >= 0 {
		return p.Colors(i)[p.Mine]
	}
	return abi.MPI_UNDEFINED
}

// Largest returns the largest type of which each part holds some but not all processes, and the caller's color among
// its parts; "" and MPI_UNDEFINED if there is none.
func (p Places) Largest() (typ string, color int32) {
	for i, t := range hardware.Types {
		if colors := p.Colors(i); proper(colors) {
			return t, colors[p.Mine]
		}
	}
	return "", abi.MPI_UNDEFINED
}

// proper reports whether there are parts, and none of them holds all.
func proper(colors []int32) bool {
	some, differ := false, false
	for _, c := range colors {
		some = some || c != abi.MPI_UNDEFINED
		differ = differ || c != colors[0]
	}
	return some && differ
}

// Of the parts of a machine those from packages to cores separate processes: the machine does not, and two that share a
// hardware thread are no nearer to each other than two on one core.
var firstPart, pastParts = slices.Index(hardware.Types, "Package"), slices.Index(hardware.Types, "PU")

// Tells is how many integers a process tells of itself for a mapping: where it is, and how many integers of edges it
// has.
var Tells = Whereabouts + 1

// Told reads what all processes of a communicator tell: it makes the paths to them longer, and returns the lengths of
// their edges. name is the communicator's, for messages.
func Told(all []int32, paths [][]int32, name string) (longer [][]int32, counts []int32, err error) {
	counts = make([]int32, len(paths))
	for r := range paths {
		of := all[r*Tells : (r+1)*Tells]
		paths[r] = append(paths[r], of[memoryAt])
		paths[r] = append(paths[r], of[partsAt+firstPart:partsAt+pastParts]...)
		if counts[r] = of[Tells-1]; counts[r] < 0 {
			return nil, nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s has %d integers of edges", r, name, counts[r])
		}
	}
	return paths, counts, nil
}

// CheckPlaces looks at which of n ranks rank 0 has given each node: each at most once.
func CheckPlaces(at []int32, n int, name string) error {
	seen := make([]bool, n)
	for v, r := range at {
		if r < 0 || int(r) >= len(seen) || seen[r] {
			return errorf(abi.MPI_ERR_INTERN, "rank 0 of %s gives node %d to rank %d, which does not exist or has one",
				name, v, r)
		}
		seen[r] = true
	}
	return nil
}
