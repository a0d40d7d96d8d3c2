package shm

import (
	"os"
	"testing"
)

func TestMemoryIsSharedUntilTheLastOneForgetsIt(t *testing.T) {
	segments := members(t, 2)
	const n = 3 * 4096
	open := descriptors(t)
	mem, id, err := segments[1].Share(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := segments[0].Find(1, id, n+1); err == nil {
		t.Error("memory of another length has been found")
	}
	other, err := segments[0].Find(1, id, n)
	if err != nil {
		t.Fatal(err)
	}
	segments[1].Hide(id)
	if _, err := segments[0].Find(1, id, n); err == nil {
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

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
