package libimpi

import (
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// How ranks that outnumber their cores share them evenly. The kernel likes to run a thread that it wakes beside the one
// that has woken it, and so the last rank to reach a barrier may have seven others on its core. Since ranks that wait
// for each other yield, all cores look busy, and the kernel takes tens of milliseconds to spread the ranks again; until
// then a short collective operation takes twice as long. So each rank says on which CPU it was when it last fell asleep
// or woke, and one that wakes looks where the others are. If its own CPU has two more of them than another, it moves
// there. It remains free to go elsewhere: nothing is bound.

// balancer is what the engine has for this. The zero value leaves everything to the kernel.
type balancer struct {
	own    *uint32 // where this rank says on which CPU it is: transport.Home
	others func(local int) *uint32
	ranks  int
	cpus   []int // on which the ranks may run
}

// maxCPUs is how many CPUs a unix.CPUSet can hold. Ranks on others are left alone.
const maxCPUs = 1024

// open gives a balancer what it needs.
func (b *balancer) open(home *transport.Home) {
	if home.CoreOf == nil {
		return
	}
	b.cpus = slices.Sorted(maps.Keys(mask()))
	b.own, b.others, b.ranks = home.CoreOf(home.Rank), home.CoreOf, len(home.World)
}

// say tells the others on which CPU this thread is, if they want to know.
func (b *balancer) say() {
	if b.own != nil {
		atomic.StoreUint32(b.own, uint32(kernel.Core()+1))
	}
}

// balance moves this thread, which has just woken, to a CPU that has fewer ranks, if there is one. Those that sleep
// count, since they come back to where they were: many wake at a time.
func (b *balancer) balance() {
	if b.own == nil {
		return
	}
	cpu := kernel.Core()
	atomic.StoreUint32(b.own, uint32(cpu+1))
	var ranks [maxCPUs]int32
	for local := range b.ranks {
		if said := atomic.LoadUint32(b.others(local)); said > 0 && said <= maxCPUs {
			ranks[said-1]++
		}
	}
	to := fewest(&ranks, cpu, b.cpus)
	if to == cpu {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	atomic.StoreUint32(b.own, uint32(to+1)) // before the others of this CPU look, who would come along
	if !visit(to, func(may *unix.CPUSet) error { return unix.SchedGetaffinity(0, may) },
		func(may *unix.CPUSet) error { return unix.SchedSetaffinity(0, may) }) {
		atomic.StoreUint32(b.own, uint32(cpu+1))
	}
}

// visit moves a thread to a CPU, if it may run there, and reports whether it was there. Afterwards the thread may run
// where it might before: the program may have bound it. If that is not allowed any more, since an administrator has
// changed the CPUs of the job meanwhile, it may run on all that are.
func visit(cpu int, get, set func(may *unix.CPUSet) error) bool {
	var may, there unix.CPUSet
	there.Set(cpu)
	if get(&may) != nil || !may.IsSet(cpu) || set(&there) != nil {
		return false
	}
	if set(&may) != nil {
		var all unix.CPUSet
		all.Fill()
		_ = set(&all) // the kernel allows no fewer
	}
	return true
}

// fewest is the first of some CPUs that has the fewest ranks, or `at` if a rank that is there would not have fewer
// others beside it.
func fewest(ranks *[maxCPUs]int32, at int, cpus []int) int {
	if at >= maxCPUs {
		return at
	}
	to, least := at, ranks[at]-1
	for _, cpu := range cpus {
		if ranks[cpu] < least {
			to, least = cpu, ranks[cpu]
		}
	}
	return to
}
