package observe

import (
	"errors"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/libimpi/summary"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// room is the peers of a client, as goroutines.
type room struct {
	rank, size int
	lines      [][]chan []byte // from, to
	delay      func()
}

func (r room) Rank() int { return r.rank }
func (r room) Size() int { return r.size }

func (r room) Send(to int, b []byte) error {
	r.delay()
	r.lines[r.rank][to] <- append([]byte{}, b...)
	return nil
}

func (r room) Recv(from int, b []byte) error {
	if got := <-r.lines[from][r.rank]; copy(b, got) != len(got) {
		return errors.New("truncated")
	}
	return nil
}

func (r room) Bcast(b []byte) error {
	if r.rank > 0 {
		return r.Recv(0, b)
	}
	for to := 1; to < r.size; to++ {
		r.Send(to, b)
	}
	return nil
}

func (r room) Allgather(own, all []byte) error {
	for to := range r.size {
		r.Send(to, own)
	}
	for from := range r.size {
		if err := r.Recv(from, all[from*len(own):][:len(own)]); err != nil {
			return err
		}
	}
	return nil
}

// together runs what n peers do.
func together(n int, delay func(), do func(r room)) {
	lines := make([][]chan []byte, n)
	for i := range lines {
		for range n {
			lines[i] = append(lines[i], make(chan []byte, 100))
		}
	}
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() { do(room{rank, n, lines, delay}) })
	}
	all.Wait()
}

// TestClocksOfMachinesAreCompared: five processes on three machines whose clocks are seconds apart. What is found may
// be wrong by as much as it says, and by nothing within a machine.
func TestClocksOfMachinesAreCompared(t *testing.T) {
	machine := []int{0, 1, 0, 2, 1}
	ahead := []int64{0, 5e9, -3e12}
	start := time.Now()
	const utc = 1 << 60
	found := make([]trace.Align, len(machine))
	together(len(machine), func() { time.Sleep(time.Duration(rand.Intn(20)) * time.Microsecond) }, func(r room) {
		now := func() int64 { return int64(time.Since(start)) + ahead[machine[r.rank]] }
		own := int64(0)
		if r.rank == 0 {
			own = utc
		}
		var err error
		if found[r.rank], err = align(r, uint64(machine[r.rank])+100, now, own); err != nil {
			t.Error(err)
		}
	})
	for r, a := range found {
		wrong := a.Offset - (utc - ahead[machine[r]])
		if wrong < 0 {
			wrong = -wrong
		}
		if !a.Known || wrong > a.Error || machine[r] == 0 && a.Error != 0 || a != found[firstOn(machine, r)] {
			t.Errorf("rank %d: %+v is wrong by %d ns", r, a, wrong)
		}
	}
}

func firstOn(machine []int, r int) int {
	for i, m := range machine {
		if m == machine[r] {
			return i
		}
	}
	return r
}

func TestSummariesAreGatheredAtTheFirstProcess(t *testing.T) {
	for n := 1; n <= 9; n++ {
		var got *summary.Summary
		together(n, func() {}, func(r room) {
			s := &summary.Summary{Size: n, Width: summary.WidthFor(n), Ranks: []summary.Rank{{Rank: int32(r.rank), MPI: 1}}}
			if err := Gather(r, s); err != nil {
				t.Error(err)
			}
			if r.rank == 0 {
				got = s
			}
		})
		if len(got.Ranks) != n || got.Ranks[n-1].Rank != int32(n-1) {
			t.Errorf("of %d there are %+v", n, got.Ranks)
		}
	}
}

func TestWhatAUserSaysOfATraceIsRead(t *testing.T) {
	for text, want := range map[string]Config{
		"/t":               {Trace: "/t", Size: 256 << 20},
		"/t,64K":           {Trace: "/t", Size: 64 << 10},
		"/t,2g,newest":     {Trace: "/t", Size: 2 << 30, Keep: trace.KeepNewest},
		"/t,oldest,100":    {Trace: "/t", Size: 100},
		"/a,b":             {Trace: "/a,b", Size: 256 << 20},
		"/t,0":             {Trace: "/t,0", Size: 256 << 20},
		"/t,9999999999999": {Trace: "/t,9999999999999", Size: 256 << 20},
		"":                 {Size: 256 << 20},
	} {
		if got := ParseTrace(text); got.Trace != want.Trace || got.Size != want.Size || got.Keep != want.Keep {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
