package shm

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMemoryIsSharedUntilTheLastOneForgetsIt(t *testing.T) {
	segments := members(t, 2)
	const n = 3 * 4096
	open := descriptors(t)
	mem, id, err := segments[1].Share(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := segments[0].Find(1, id, n+1, 1); err == nil {
		t.Error("memory of another length has been found")
	}
	other, err := segments[0].Find(1, id, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	segments[1].Hide(id)
	if _, err := segments[0].Find(1, id, n, 1); err == nil {
		t.Error("hidden memory has been found")
	}
	mem[n-1] = 7
	segments[1].Forget(mem)
	if other[n-1] != 7 {
		t.Errorf("the other has %d", other[n-1])
	}
	segments[0].Forget(other)
	if now := descriptors(t); now != open {
		t.Errorf("%d descriptors before, %d now", open, now)
	}
}

// Both the maker and the finder have it at a multiple of what is asked for, and give all addresses back.
func TestMemoryBeginsAtAMultipleOfWhatIsAskedFor(t *testing.T) {
	segments := members(t, 2)
	for _, behind := range []uint32{0, 1} {
		headerOf(segments[0].mem).apart = behind
		for _, align := range []int{1, 4096, 8192, 2 << 20, 64 << 20} {
			const n = 3*4096 + 8
			before := mappings(t)
			mem, id, err := segments[1].Share(n, align)
			if err != nil {
				t.Fatal(err)
			}
			other, err := segments[0].Find(1, id, n, align)
			if err != nil {
				t.Fatal(err)
			}
			segments[1].Hide(id)
			mem[n-1] = 7
			for _, m := range [][]byte{mem, other} {
				if addressOf(m)%uint64(align) != 0 || len(m) != n || m[n-1] != 7 {
					t.Errorf("%d bytes at %#x, the last of which is %d; want a multiple of %#x", len(m), addressOf(m), m[n-1], align)
				}
			}
			segments[1].Forget(mem)
			segments[0].Forget(other)
			if now := mappings(t); now > before {
				t.Errorf("aligned by %d: %d bytes of addresses are not given back", align, now-before)
			}
		}
	}
}

// mappings is how many bytes of shared memory are mapped.
func mappings(t *testing.T) (total uint64) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); err != nil {
			t.Fatal(err)
		}
		if access == "rw-s" {
			total += to - from
		}
	}
	return total
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
