package libimpi

import (
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

// The kernel may move the thread at any time, but not each time.
func TestARankThatWakesLeavesACrowdedCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	may, failed := kernel.Allowed()
	if failed != 0 || may.Count() < 2 {
		t.Skip("one CPU")
	}
	words := make([]uint32, 4)
	home := transport.Home{World: make([]int32, len(words)), CoreOf: func(local int) *uint32 { return &words[local] }}
	var b balancer
	b.open(&home)
	for range 1000 {
		before := kernel.Core()
		for i := range words {
			words[i] = uint32(before + 1)
		}
		b.balance()
		if after, failed := kernel.Allowed(); failed != 0 || after != may {
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
	may, failed := kernel.Allowed()
	if failed != 0 || may.Count() < 2 {
		t.Skip("one CPU")
	}
	words := make([]uint32, 4)
	home := transport.Home{World: make([]int32, len(words)), CoreOf: func(local int) *uint32 { return &words[local] }}
	var b balancer
	b.open(&home)
	var one unix.CPUSet
	one.Set(b.cpus[0])
	if failed := kernel.MoveTo(b.cpus[0], one); failed != 0 {
		t.Skip(failed)
	}
	for i := range words {
		words[i] = uint32(b.cpus[0] + 1)
	}
	b.balance()
	if after, failed := kernel.Allowed(); failed != 0 || after != one || kernel.Core() != b.cpus[0] {
		t.Errorf("a thread that may run on %v runs on CPU %d, and may run on %v", one, kernel.Core(), after)
	}
}
