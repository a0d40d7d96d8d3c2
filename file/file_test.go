package file_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
)

const name = "data"

var byteType = datatype.Named(abi.MPI_BYTE)

// plot is a file that several members see parts of: unit after unit of a period belongs to one of them, or to nobody.
type plot struct {
	disp, unit int64
	owner      []int
}

func newPlot(r *rand.Rand, p int) plot {
	t := plot{disp: r.Int64N(40), unit: []int64{1, 4, 8, 700, 5000}[r.IntN(5)]}
	holes := r.IntN(2)
	for len(t.owner) < 1+r.IntN(60) {
		who := r.IntN(p+holes) - holes
		for range 1 + r.IntN(3) {
			t.owner = append(t.owner, who)
		}
	}
	return t
}

// filetype is what member m sees of a period.
func (t plot) filetype(tb testing.TB, m int) *datatype.Type {
	var lens, displs []int64
	for i, who := range t.owner {
		if who == m {
			lens, displs = append(lens, t.unit), append(displs, int64(i)*t.unit)
		}
	}
	blocks, err := datatype.Hindexed(lens, displs, byteType)
	if err == nil {
		blocks, err = datatype.Resized(blocks, 0, int64(len(t.owner))*t.unit)
	}
	if err != nil {
		tb.Fatal(err)
	}
	blocks.Commit()
	return blocks
}

// places are where the first n bytes of a member's stream from byte pos on are, found the slow way.
func (t plot) places(m int, pos, n int64) (at []int64) {
	mine := slices.Contains(t.owner, m)
	at = make([]int64, 0, n)
	for off := int64(0); mine && int64(len(at)) < n; off += t.unit {
		if t.owner[off/t.unit%int64(len(t.owner))] != m {
			continue
		}
		for i := int64(0); i < t.unit && int64(len(at)) < n; i++ {
			if pos--; pos < 0 {
				at = append(at, t.disp+off+i)
			}
		}
	}
	return at
}

// layout is memory for n bytes, with or without holes.
func layout(r *rand.Rand, n int64) (b coll.Buf, at []int64, mem []byte) {
	mem = make([]byte, 3*n+64)
	b = coll.Buf{Base: coll.Bytes(mem).Base, Count: n, Type: byteType}
	block, stride := int64(1), int64(1)
	if r.IntN(2) == 0 {
		for _, k := range []int64{4, 3, 2} {
			if n%k == 0 {
				block = k
			}
		}
		stride = block + r.Int64N(2*block)
		b.Type, _ = datatype.Vector(n/block, block, stride, byteType)
		b.Type.Commit()
		b.Count = min(n, 1)
	}
	for i := range n {
		at = append(at, i/block*stride+i%block)
	}
	return b, at, mem
}

// trial is a world with a file, and what should be in it.
type trial struct {
	*testing.T
	seed  uint64
	world *filetest.World
	disk  *filetest.Disk
	want  []byte
}

func (t *trial) store(at int64, b byte) {
	for int64(len(t.want)) <= at {
		t.want = append(t.want, 0)
	}
	t.want[at] = b
}

// move is what a member does in a step.
type move struct {
	access file.Access
	places []int64 // of the file
	at     []int64 // of the memory
	mem    []byte
	before []byte
}

func randomMoves(t *trial, r *rand.Rand, p plot) []move {
	moves := make([]move, len(t.world.Machines))
	write, collective := r.IntN(2) == 0, r.IntN(3) > 0
	start := r.Int64N(3 * p.unit * int64(len(p.owner)))
	for m := range moves {
		v := &moves[m]
		n := r.Int64N(1 + 2*p.unit*int64(len(p.owner)))
		if r.IntN(5) == 0 || !slices.Contains(p.owner, m) {
			n = 0
		}
		pos := start + r.Int64N(20)
		v.places = p.places(m, pos, n)
		v.access = file.Access{Write: write, Collective: collective, Offset: pos}
		v.access.Buf, v.at, v.mem = layout(r, n)
		for i := range v.mem {
			v.mem[i] = byte(r.Uint32())
		}
		v.before = bytes.Clone(v.mem)
		if write {
			for i, at := range v.places {
				t.store(at, v.mem[v.at[i]])
			}
		}
	}
	return moves
}

// check compares what a member has read with the file.
func (v *move) check(t *trial, moved int64) error {
	want := bytes.Clone(v.before)
	n := int64(0)
	for i, at := range v.places {
		if v.access.Write {
			n++
		} else if at < int64(len(t.want)) {
			want[v.at[i]] = t.want[at]
			n++
		}
	}
	if moved != n {
		return fmt.Errorf("moved %d bytes, want %d", moved, n)
	}
	if !bytes.Equal(v.mem, want) {
		return fmt.Errorf("the memory is not what was read")
	}
	return nil
}

// Random views, memory and accesses of several members, compared with what each byte should be.
func TestRandomAccessesMoveTheBytesThatTheirViewsSay(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		p := 1 + r.IntN(5)
		machines, k := make([]int, p), 1+r.IntN(3)
		for m := range machines {
			machines[m] = m * k / p
		}
		machines = compact(machines)
		tr := &trial{T: t, seed: seed, world: filetest.New(machines), disk: filetest.NewDisk()}
		tr.disk.NoLocks = seed%7 == 0 && p == 1
		plots := []plot{newPlot(r, p), newPlot(r, p)}
		steps := make([][]move, 12)
		shadows := make([][]byte, len(steps))
		for s := range steps {
			steps[s] = randomMoves(tr, r, plots[s/6])
			shadows[s] = bytes.Clone(tr.want)
		}
		err := tr.world.Run(func(m file.Members) error {
			f, err := file.Open(m, tr.disk, name, abi.MPI_MODE_CREATE|abi.MPI_MODE_RDWR, hints(seed))
			if err != nil {
				return err
			}
			for s, moves := range steps {
				if p := plots[s/6]; s%6 == 0 {
					if err := f.SetView(p.disp, byteType, p.filetype(t, m.Rank()), file.Native, nil); err != nil {
						return err
					}
				}
				v := &moves[m.Rank()]
				op, err := f.Prepare(v.access)
				if err != nil {
					return fmt.Errorf("step %d: %w", s, err)
				}
				n, err := op.Run()
				if err != nil {
					return fmt.Errorf("step %d: %w", s, err)
				}
				if err := m.Barrier(); err != nil {
					return err
				}
				if got := tr.disk.Bytes(name); m.Rank() == 0 && !same(got, shadows[s]) {
					return fmt.Errorf("step %d (%+v): the file is not what was written", s, moves[0].access)
				}
				model := &trial{want: shadows[s]}
				if err := v.check(model, n); err != nil {
					return fmt.Errorf("step %d (%+v): %w", s, v.access, err)
				}
				if err := m.Barrier(); err != nil {
					return err
				}
			}
			return f.Close()
		})
		if err != nil {
			t.Fatalf("seed %d, machines %v, views %+v: %v", seed, machines, plots, err)
		}
		if n := tr.disk.Locked(name); n != 0 {
			t.Fatalf("seed %d: %d locks are left", seed, n)
		}
	}
}

// same reports whether a file is what it should be.
func same(got, want []byte) bool { return bytes.Equal(got, want) }

// compact are numbers without gaps that differ where m does, which does not decrease.
func compact(m []int) []int {
	out := make([]int, len(m))
	for i := 1; i < len(m); i++ {
		out[i] = out[i-1]
		if m[i] != m[i-1] {
			out[i]++
		}
	}
	return out
}

// hints are small windows, and each way forced now and then.
func hints(seed uint64) (h file.Hints) {
	ways := []string{"automatic", "enable", "disable"}
	if seed%2 == 0 {
		h.Set("cb_buffer_size", "4096")
		h.Set("ind_rd_buffer_size", "100")
		h.Set("ind_wr_buffer_size", "100")
	}
	if seed%3 == 0 {
		h.Set("cb_nodes", fmt.Sprint(1+seed%4))
	}
	h.Set("romio_cb_write", ways[seed/2%3])
	h.Set("romio_cb_read", ways[seed/3%3])
	h.Set("romio_ds_write", ways[seed/5%3])
	h.Set("romio_ds_read", ways[seed/7%3])
	return h
}
