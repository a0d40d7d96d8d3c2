package libimpi

import (
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/topology/hardware"
	"golang.org/x/sys/unix"
)

// Splitting by hardware (MPI 5.0, 7.4.2). Which parts of its machine a process is restricted to follows from its CPU
// mask at the time of the call. On different machines parts are different ones, and so they are on one machine for
// processes that share no memory.

// readMachine reads this machine once.
var readMachine = sync.OnceValue(func() hardware.Machine { return hardware.Read(os.DirFS("/sys/devices/system")) })

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

// SplitHardware splits c among the parts of a type; nil for processes that are not restricted to one, or if typ is none
// that is known (MPI_COMM_TYPE_HW_GUIDED).
func (c *Comm) SplitHardware(typ string, key int32) (*Comm, error) {
	places, err := c.hardwarePlaces()
	if err != nil {
		return nil, err
	}
	color := int32(abi.MPI_UNDEFINED)
	if i := slices.Index(hardware.Types, typ); i >= 0 {
		color = places.colors(i)[places.mine]
	}
	return c.Split(color, key)
}

// SplitUnguided splits c among the parts of the largest type of which each holds some but not all processes, and
// returns the type, "" if there is none: then nobody gets a communicator (MPI_COMM_TYPE_HW_UNGUIDED).
func (c *Comm) SplitUnguided(key int32) (made *Comm, typ string, err error) {
	places, err := c.hardwarePlaces()
	if err != nil {
		return nil, "", err
	}
	color := int32(abi.MPI_UNDEFINED)
	for i, t := range hardware.Types {
		if colors := places.colors(i); properParts(colors) {
			color, typ = colors[places.mine], t
			break
		}
	}
	made, err = c.Split(color, key)
	return made, typ, err
}

// Where a process is: the memory it shares, by a number that is the same for two exactly if they share it, and the part
// of each of hardware.Types that it is restricted to, -1 if there is none.
const (
	memoryAt = 0
	partsAt  = 1
)

var lengthOfWhereabouts = partsAt + len(hardware.Types)

// whereabouts are the caller's, now.
func (c *Comm) whereabouts() []int32 {
	at := make([]int32, partsAt, lengthOfWhereabouts+1)
	at[memoryAt] = c.MachineColor()
	for _, part := range readMachine().Restricted(mask()) {
		at = append(at, int32(part))
	}
	return at
}

// hardwarePlaces are the whereabouts of each process of a communicator; of an intercommunicator, of both groups, in an
// order that both have.
type hardwarePlaces struct {
	all  []int32
	mine int // the caller's place
}

func (c *Comm) hardwarePlaces() (p hardwarePlaces, err error) {
	home := c
	if c.inter.local != nil {
		home = c.inter.local
	}
	p.all, p.mine = make([]int32, lengthOfWhereabouts*home.Size()), home.Rank()
	recv := intBuf(p.all)
	recv.Count = int64(lengthOfWhereabouts)
	if err = home.Allgather(intBuf(c.whereabouts()), recv); err != nil || c.inter.local == nil {
		return p, err
	}
	theirs := make([]int32, lengthOfWhereabouts*c.Ranks())
	if err = c.swapEqual(p.all, theirs); err != nil {
		return p, err
	}
	if c.engine.before(home.group.World(0), c.group.World(0)) {
		p.all = append(p.all, theirs...)
	} else {
		p.all, p.mine = append(theirs, p.all...), c.Ranks()+p.mine
	}
	return p, nil
}

// colors gives the processes in one part of a type the rank of the first of them, and MPI_UNDEFINED to those that are
// restricted to none.
func (p hardwarePlaces) colors(typ int) []int32 {
	colors := make([]int32, len(p.all)/lengthOfWhereabouts)
	first := map[[2]int32]int32{}
	for r := range colors {
		of := p.all[r*lengthOfWhereabouts:]
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

// properParts reports whether there are parts, and none of them holds all.
func properParts(colors []int32) bool {
	some, differ := false, false
	for _, c := range colors {
		some = some || c != abi.MPI_UNDEFINED
		differ = differ || c != colors[0]
	}
	return some && differ
}
