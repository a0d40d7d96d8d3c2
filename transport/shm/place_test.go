package shm

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/transport"
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

// Each member's block and its wide slots, without the pages that it shares with others, once for each board.
func TestBoardsStandInTheMemoryOfTheMembersThatWriteThem(t *testing.T) {
	const block, wide = 2 * pageBytes, 15 * pageBytes
	for _, tt := range []struct {
		nodes   []int
		members []int32
		fails   bool
		want    []int // nodes, in the order of the calls
	}{
		{[]int{0, 1, 1}, []int32{0, 1, 2}, false, []int{0, 0, 1, 1, 1, 1}},
		{[]int{0, 1, 1}, []int32{2, 0}, false, []int{1, 1, 0, 0}},
		{[]int{-1, 1, -1}, []int32{0, 1, 2}, false, []int{1, 1}},
		{[]int{0, 1, 1}, []int32{0, 1, 2}, true, []int{0}},
		{nil, []int32{0, 1, 2}, false, nil},
	} {
		fd := create(t, 3)
		if err := placeRings(fd, 2, tt.nodes, func([]byte, int) error { return nil }); err != nil {
			t.Fatal(err)
		}
		s := attach(t, fd, int(tt.members[0]))
		var got []int
		var parts [][]byte
		s.prefer = func(mem []byte, node int) error {
			if got = append(got, node); tt.fails {
				return errors.New("refused")
			}
			parts = append(parts, mem)
			return nil
		}
		number := s.TakeBoard(tt.members)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v: %s", tt.nodes, d)
		}
		board := opened(t, s, number)
		for i, mem := range parts {
			if least := []int{block - pageBytes, wide - pageBytes}[i%2]; len(mem) < least || len(mem)%pageBytes != 0 {
				t.Errorf("%v: part %d has %d bytes", tt.nodes, i, len(mem))
			}
			for k := range mem {
				mem[k] = byte(i/2 + 1) // what only the member of this part may write
			}
		}
		for m := range tt.members {
			for i := range boardWideSlots {
				_, payload := board.Slot(transport.WideSlot, m, i)
				for _, b := range payload {
					if b != 0 && tt.nodes[tt.members[m]] != got[2*int(b)-2] {
						t.Fatalf("%v: member %d writes memory of node %d", tt.nodes, m, got[2*int(b)-2])
					}
				}
			}
		}
		for range tt.members {
			board.Leave()
		}
		if n := len(got); s.TakeBoard(tt.members) != number || len(got) != n {
			t.Errorf("%v: %d calls for a board that has its memory", tt.nodes, len(got)-n)
		}
		s.Close()
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
