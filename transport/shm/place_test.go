package shm

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestRingsStandInTheMemoryOfTheRankThatReadsThem(t *testing.T) {
	type call struct{ bytes, node int }
	for _, tt := range []struct {
		nodes []int
		fails bool
		want  []call
	}{
		{[]int{0, 1, 1}, false, []call{{3 * ringSize(3), 0}, {3 * ringSize(3), 1}, {3 * ringSize(3), 1}}},
		{[]int{-1, 1, -1}, false, []call{{3 * ringSize(3), 1}}},
		{[]int{0, 1, 1}, true, []call{{3 * ringSize(3), 0}}},
		{nil, false, nil},
	} {
		fd, err := Create(3)
		if err != nil {
			t.Fatal(err)
		}
		var got []call
		err = placeRings(fd, 2, tt.nodes, func(mem []byte, node int) error {
			got = append(got, call{len(mem), node})
			if tt.fails {
				return errors.New("refused")
			}
			mem[0] = byte(100 + len(got)) // the calls are for parts that differ, in the order of the ranks
			return nil
		})
		if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(call{})); err != nil || d != "" {
			t.Errorf("%v: %v %s", tt.nodes, err, d)
		}
		if h, err := readHeader(fd); err != nil || h.cores != 2 || h.localSize != 3 {
			t.Errorf("%+v, %v", h, err)
		}
		var b [1]byte
		at, number := ringOffset(3), byte(100)
		for rank, node := range tt.nodes {
			want := byte(0)
			if node >= 0 && !tt.fails {
				number++
				want = number
			}
			if _, err := unix.Pread(fd, b[:], int64(at+3*rank*ringSize(3))); err != nil || b[0] != want {
				t.Errorf("%v: the rings to rank %d begin with %d, want %d, %v", tt.nodes, rank, b[0], want, err)
			}
		}
		unix.Close(fd)
	}
}

// The one node that every machine has: the kernel takes the call, or says that it may not be made.
func TestTheKernelIsAskedForMemoryOfANode(t *testing.T) {
	fd, err := Create(2)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	asked := 0
	err = placeRings(fd, 1, []int{0, 0}, func(mem []byte, node int) error {
		asked++
		err := prefer(mem, node)
		if err != nil && err != unix.EPERM && err != unix.ENOSYS {
			t.Error(err)
		}
		return err
	})
	if err != nil || asked == 0 {
		t.Error(asked, err)
	}
	if err := prefer(make([]byte, pageBytes), 1<<20); err == nil {
		t.Error("a node that no machine has")
	}
}
