package libimpi

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

func TestARankMovesToTheCoreWithTheFewestIfThatHasTwoLess(t *testing.T) {
	for _, tt := range []struct {
		ranks   []int32
		at      int
		without []int // CPUs on which the rank may not run
		want    int
	}{
		{[]int32{4, 4}, 0, nil, 0},
		{[]int32{5, 3}, 0, nil, 1},
		{[]int32{5, 3}, 1, nil, 1},
		{[]int32{1, 7}, 0, nil, 0},
		{[]int32{2, 1}, 0, nil, 0}, // the other one would have two then
		{[]int32{3, 0, 1, 0}, 0, nil, 1},
		{[]int32{0, 7, 3, 1}, 1, []int{0, 3}, 2},
		{[]int32{0, 7}, 1, []int{0}, 1},
	} {
		var ranks [maxCPUs]int32
		var may []int
		for cpu := range copy(ranks[:], tt.ranks) {
			if !slices.Contains(tt.without, cpu) {
				may = append(may, cpu)
			}
		}
		if got := fewest(&ranks, tt.at, may); got != tt.want {
			t.Errorf("of %v, without %v, a rank on CPU %d goes to %d, not to %d", tt.ranks, tt.without, tt.at, got, tt.want)
		}
	}
	var ranks [maxCPUs]int32
	if got := fewest(&ranks, maxCPUs, []int{0}); got != maxCPUs {
		t.Errorf("a rank on a CPU that no set holds goes to %d", got)
	}
}

// balancerOf4 is the balancer of a rank that may use several CPUs, and the words of all 4.
func balancerOf4(t *testing.T) (b *balancer, words []uint32) {
	words = make([]uint32, 4)
	b = new(balancer)
	b.open(&transport.Home{World: make([]int32, len(words)), CoreOf: func(local int) *uint32 { return &words[local] }})
	if len(b.cpus) < 2 {
		t.Skip("one CPU")
	}
	return b, words
}

// allAt has all ranks say that they are on a CPU.
func allAt(words []uint32, cpu int) {
	for i := range words {
		words[i] = uint32(cpu + 1)
	}
}

// The kernel may move the thread at any time, but not each time.
func TestARankThatWakesLeavesACrowdedCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, words := balancerOf4(t)
	may := mask()
	for range 1000 {
		before := kernel.Core()
		allAt(words, before)
		b.balance()
		if after := mask(); !maps.Equal(after, may) {
			t.Fatalf("the rank may run on %v, after it was %v", after, may)
		}
		if at := kernel.Core(); at != before && words[0] == uint32(at+1) {
			return
		}
	}
	t.Error("the rank stays where all the others are")
}

func TestABoundThreadStaysWhereItIs(t *testing.T) {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	b, words := balancerOf4(t)
	var one unix.CPUSet
	one.Set(b.cpus[0])
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skip(err)
	}
	allAt(words, b.cpus[0])
	b.balance()
	if after := mask(); len(after) != 1 || !after[b.cpus[0]] || kernel.Core() != b.cpus[0] {
		t.Errorf("a thread that may run on CPU %d runs on %d, and may run on %v", b.cpus[0], kernel.Core(), after)
	}
}

// A thread that has been moved may run afterwards where it might before, or where it may by then.
func TestAThreadIsNeverLeftOnTheCPUThatItWasMovedTo(t *testing.T) {
	of := func(cpus ...int) (s unix.CPUSet) {
		for _, cpu := range cpus {
			s.Set(cpu)
		}
		return s
	}
	var all unix.CPUSet
	all.Fill()
	for _, c := range []struct {
		name         string
		may          unix.CPUSet
		unread, gone bool // the mask cannot be read; the CPU is no longer the job's
		changes      bool // the CPUs of the thread are no longer the job's when it is to go back
		moves        bool
		ends         unix.CPUSet
	}{
		{name: "nothing changes", may: of(0, 1), moves: true, ends: of(0, 1)},
		{name: "bound elsewhere", may: of(0), ends: of(0)},
		{name: "no mask", may: of(0, 1), unread: true, ends: of(0, 1)},
		{name: "the CPU goes", may: of(0, 1), gone: true, ends: of(0, 1)},
		{name: "all of them go", may: of(0, 1), changes: true, moves: true, ends: all},
	} {
		now, moved := c.may, false
		got := visit(1, func(may *unix.CPUSet) error {
			if *may = now; c.unread {
				return unix.ESRCH
			}
			return nil
		}, func(to *unix.CPUSet) error {
			if c.gone || c.changes && moved && *to == c.may {
				return unix.EINVAL
			}
			now, moved = *to, true
			return nil
		})
		if got != c.moves || now != c.ends {
			t.Errorf("%s: moved %v, may run on %v", c.name, got, now)
		}
	}
}
