package shm

import (
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// allocated is how much memory stands behind a segment.
func allocated(t *testing.T, s *Segment) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(s.fd, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// As in a container of its own: under the maker's pid there is another process, or none.
func TestRanksThatCannotOpenDescriptorsShareTheSegmentsFile(t *testing.T) {
	segments := members(t, 3)
	const n = 5*pageBytes + 8
	open := descriptors(t)
	pid := atomic.SwapUint32(&segments[1].control(1).pid, 1<<31-1)
	mem, id, err := segments[1].Share(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := segments[0].Find(1, id, n, 1); err == nil {
		t.Error("the descriptor of nobody has been opened")
	}
	segments[1].Hide(id)
	segments[1].Forget(mem)
	atomic.StoreUint32(&segments[1].control(1).pid, pid)

	before := allocated(t, segments[0])
	var parts [2][3][]byte
	for k := range parts {
		if mem, id, err = segments[k].Share(n, 1); err != nil {
			t.Fatal(err)
		}
		for i, s := range segments {
			if parts[k][i] = mem; i != k {
				if parts[k][i], err = s.Find(k, id, n, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		segments[k].Hide(id)
	}
	for k := range parts {
		for i := range parts[k] {
			for at, b := range parts[k][i] {
				if b != byte(i*(k+1)) {
					t.Fatalf("part %d of rank %d has %d at %d", k, i, b, at)
				}
				parts[k][i][at] += byte(k + 1)
			}
		}
	}
	if now := descriptors(t); now != open {
		t.Errorf("%d descriptors before, %d now", open, now)
	}
	for i, s := range segments {
		if allocated(t, s) <= before {
			t.Errorf("the memory has gone while rank %d has it", i)
		}
		s.Forget(parts[0][i])
		s.Forget(parts[1][i])
	}
	if now := allocated(t, segments[0]); now != before {
		t.Errorf("%d bytes before, %d now", before, now)
	}
}

// The descriptor's number may be one of the finder's own, with a file of the same size.
func TestAFileThatOnlyHasTheSameNumberIsNotTaken(t *testing.T) {
	segments := members(t, 2)
	mem, id, err := segments[1].Share(pageBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer segments[1].Forget(mem)
	defer segments[1].Hide(id)
	if _, err := segments[0].Find(1, id^1<<idFileShift, pageBytes, 1); err == nil {
		t.Error("another file has been taken for it")
	}
}

func TestMemoryBehindASegmentIsCheckedBeforeItIsUsed(t *testing.T) {
	segments := members(t, 2)
	headerOf(segments[0].mem).apart = 1
	mem, id, err := segments[0].Share(pageBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer segments[0].Forget(mem)
	for _, wrong := range []struct {
		id uint64
		n  int
	}{{id, 0}, {id, -1}, {id, 2 * pageBytes}, {id + 1, pageBytes}, {^uint64(0) - 1, pageBytes}, {id, 1<<63 - 1}} {
		if _, err := segments[1].Find(0, wrong.id, wrong.n, 1); err == nil {
			t.Errorf("%d bytes of memory %#x have been found", wrong.n, wrong.id)
		}
	}
	for _, given := range []uint64{1, 1 << 63, 1<<64 - pageBytes} {
		headerOf(segments[0].mem).given = given
		if _, _, err := segments[1].Share(pageBytes, 1); err == nil {
			t.Errorf("memory has been made behind %d bytes", given)
		}
	}
}

// A rank may come, and guests may, when the file has grown already.
func TestASegmentThatHasGrownIsJoined(t *testing.T) {
	segments := members(t, 2)
	headerOf(segments[0].mem).apart = 1
	mem, _, err := segments[0].Share(pageBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer segments[0].Forget(mem)
	if _, err := readHeader(segments[1].fd); err != nil {
		t.Error(err)
	}
}
