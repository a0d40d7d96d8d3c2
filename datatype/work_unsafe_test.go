package datatype

import (
	"fmt"
	"math/rand"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
)

// How much work commit and the cursor do, counted and not timed: memory that commit asks for, and pages of a type's
// lists that a cursor looks at.

func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

// allocated is the memory that f asks for, in bytes.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// irregular are types of n blocks or fields, by every constructor that takes lists.
func irregular(n int) map[string]*Type {
	r := rand.New(rand.NewSource(1))
	record := must(Struct([]int64{1, 3, 1}, []int64{0, 8, 40}, []*Type{testInt, testDouble, Named(abi.MPI_CHAR)}))
	lens, units, bytes := make([]int64, n), make([]int64, n), make([]int64, n)
	olds, doubles, records, others := make([]*Type, n), make([]*Type, n), make([]*Type, n), make([]*Type, n)
	for i, p := range r.Perm(n) {
		lens[i], units[i], bytes[i] = int64(1+r.Intn(4)), int64(p)*5, int64(p)*400
		olds[i] = []*Type{testInt, testDouble, Named(abi.MPI_LONG)}[i%3]
		doubles[i], records[i] = testDouble, record
		others[i] = must(Struct([]int64{1, 3}, []int64{0, 8 + int64(r.Intn(3))*8}, []*Type{testInt, testDouble}))
	}
	return map[string]*Type{
		"indexed":             must(Indexed(lens, units, testDouble)),
		"hindexed":            must(Hindexed(lens, bytes, testDouble)),
		"indexed of records":  must(Indexed(lens, units, record)),
		"indexed block":       must(IndexedBlock(2, units, testDouble)),
		"hindexed block":      must(HindexedBlock(2, bytes, record)),
		"struct of types":     must(Struct(lens, bytes, olds)),
		"struct of one type":  must(Struct(lens, bytes, doubles)),
		"struct of records":   must(Struct(lens, bytes, records)),
		"struct of structs":   must(Struct(lens, bytes, others)),
		"vector of a struct":  must(Vector(1<<20, 3, 5, must(Struct(lens, bytes, olds)))),
		"indexed of a struct": must(IndexedBlock(3, []int64{0, 40, 7, 20}, must(Struct(lens, bytes, olds)))),
	}
}

func TestCommitIsLinearInTheArguments(t *testing.T) {
	few, many := irregular(2000), irregular(16000)
	commit := func(typ *Type) func() {
		return func() {
			typ.Commit()
			typ.program(External32)
		}
	}
	for name := range few {
		a, b := allocated(commit(few[name])), allocated(commit(many[name]))
		if b > 12*a+4096 {
			t.Errorf("%s: %d bytes for 2000 blocks, %d for 16000", name, a, b)
		}
	}
}

func TestCommitDoesNotDependOnCounts(t *testing.T) {
	wide := func(n int64) []*Type {
		lens := []int64{n, 3, 2 * n}
		return []*Type{
			must(Contiguous(n, testDouble)), must(Vector(n, 2, 3, testDouble)), must(Hvector(n, 3, 100, testDouble)),
			must(Indexed(lens, []int64{0, 9 * n, 4 * n}, testDouble)),
			must(HindexedBlock(n, []int64{0, 99 * n, 40 * n}, testInt)),
			must(Struct(lens, []int64{0, 99 * n, 40 * n}, []*Type{testInt, testDouble, testInt})),
			must(Subarray([]int64{n, 7, n / 2}, []int64{n - 1, 3, n / 4}, []int64{1, 2, 1}, abi.MPI_ORDER_C, testInt)),
			must(Darray(6, 4, []int64{n, n / 2}, []int64{abi.MPI_DISTRIBUTE_CYCLIC, abi.MPI_DISTRIBUTE_CYCLIC},
				[]int64{2, 3}, []int64{3, 2}, abi.MPI_ORDER_FORTRAN, testDouble)),
		}
	}
	few, many := wide(1000), wide(1<<27+1000)
	for i := range few {
		a, b := testing.AllocsPerRun(1, recommit(few[i])), testing.AllocsPerRun(1, recommit(many[i]))
		if a != b {
			t.Errorf("type %d: %v allocations for few elements, %v for many", i, a, b)
		}
	}
}

// recommit compiles t anew.
func recommit(t *Type) func() {
	return func() {
		p := new(program)
		p.at, p.root = t.compile(External32)
	}
}

// Sixteen uses of a part on each of eleven levels make 2^44 ways through a type of some two hundred calls.
func TestCommitVisitsASharedPartOnce(t *testing.T) {
	tower := func() *Type {
		typ := must(Struct([]int64{1, 1}, []int64{0, 5}, []*Type{testInt, Named(abi.MPI_CHAR)}))
		for range 11 {
			var lens, disps []int64
			var olds []*Type
			for i := range int64(16) {
				lens, disps, olds = append(lens, 1), append(disps, 7*i*i), append(olds, must(Hvector(2, 1, 8+i, typ)))
			}
			typ = must(Struct(lens, disps, olds))
		}
		return must(Hvector(2, 1, 40, typ))
	}
	typ := must(Struct([]int64{1, 1}, []int64{0, 120}, []*Type{tower(), tower()}))
	typ.Commit()
	typ.program(External32)
	if n := typ.program(Native).root.runs; n < 1<<50 {
		t.Errorf("%d runs: the towers are too low to show anything", n)
	}
	var c Cursor
	c.Init(nil, 2, typ, Native)
	if c.Ordered() {
		t.Error("parts on top of each other are in order")
	}
}

// guarded is memory that tells which of its pages are touched.
type guarded struct {
	t    *testing.T
	mem  []byte
	used int
}

func newGuarded(t *testing.T, size int) *guarded {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return &guarded{t: t, mem: mem}
}

// keep is a copy of v in g.
func (g *guarded) keep(v []int64) []int64 {
	if len(v) == 0 {
		return v
	}
	c := unsafe.Slice((*int64)(unsafe.Pointer(&g.mem[g.used])), len(v))
	copy(c, v)
	g.used += (8*len(v) + 4095) / 4096 * 4096
	return c
}

// keepLists moves the lists under nd to g while the test runs.
func (g *guarded) keepLists(nd *node) {
	if nd == nil {
		return
	}
	if nd.list != nil {
		was := *nd.list
		g.t.Cleanup(func() { *nd.list = was })
		nd.offs, nd.lens, nd.starts = g.keep(nd.offs), g.keep(nd.lens), g.keep(nd.starts)
		for _, kid := range nd.kids {
			if kid.op != opRun {
				g.keepLists(kid)
			}
		}
	}
	g.keepLists(nd.child)
}

func (g *guarded) protect(from, n, prot int) {
	if err := unix.Mprotect(g.mem[from:from+n], prot); err != nil {
		g.t.Fatal(err)
	}
}

// touched is the number of pages that f touches. It may run f several times.
func (g *guarded) touched(f func()) (pages int) {
	g.protect(0, g.used, unix.PROT_NONE)
	defer g.protect(0, g.used, unix.PROT_READ|unix.PROT_WRITE)
	for {
		at := fault(f)
		if at == 0 {
			return pages
		}
		page := int(at-uintptr(unsafe.Pointer(&g.mem[0]))) / 4096 * 4096
		if page < 0 || page >= g.used {
			g.t.Fatalf("a fault at %#x", at)
		}
		g.protect(page, 4096, unix.PROT_READ)
		pages++
	}
}

// fault is the address at which f faults, 0 if it does not.
func fault(f func()) (at uintptr) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			at = e.(interface{ Addr() uintptr }).Addr()
		}
	}()
	f()
	return 0
}

func TestACursorFindsItsPlaceWithoutASearchThroughTheLists(t *testing.T) {
	const n = 1 << 20 // blocks; fields are fewer
	r := rand.New(rand.NewSource(2))
	lens, disps, olds, fields := make([]int64, n), make([]int64, n), make([]*Type, n/8), make([]int64, n/8)
	for i := range lens {
		lens[i], disps[i] = int64(1+r.Intn(3)), int64(i)*32+int64(r.Intn(2))*8
	}
	for i := range olds {
		olds[i], fields[i] = []*Type{testInt, Named(abi.MPI_LONG)}[i%2], 1
	}
	varied, equal := ok(Hindexed(lens, disps, testDouble)), ok(HindexedBlock(2, disps, testInt))
	reach := varied.Extent() + 32
	memory, packed := make([]byte, 9*reach), make([]byte, 4096)
	for name, typ := range map[string]*Type{
		"blocks of several lengths": varied,
		"blocks of one length":      equal,
		"fields":                    ok(Struct(fields, disps[:n/8], olds)),
		"fields of one type":        ok(Struct(lens[:n/8], disps[:n/8], slicesOf(testDouble, n/8))),
		"rows of blocks":            ok(Hvector(3, 1, reach, varied)),
		"blocks of blocks": ok(Hindexed([]int64{1, 2, 1}, []int64{0, 2 * reach, reach},
			ok(Resized(varied, 0, reach)))),
	} {
		for _, rep := range []Rep{Native, External32} {
			t.Run(fmt.Sprint(name, " ", rep), func(t *testing.T) {
				g := newGuarded(t, 64<<20)
				g.keepLists(typ.program(rep).root)
				var c Cursor
				c.Init(unsafe.Pointer(&memory[0]), 2, typ, rep)
				var runs Runs
				for _, m := range []int64{1, 100, 4096} {
					for i := range int64(12) {
						at := (c.Len() - m) * i / 11
						most := 24 + 16*int(m)/4096
						if pages := g.touched(func() { c.SeekTo(at); c.Pack(packed[:m]) }); pages > most {
							t.Fatalf("%d bytes from %d of %d: %d of %d pages of the lists", m, at, c.Len(), pages, g.used/4096)
						}
						if rep == External32 {
							continue
						}
						if pages := g.touched(func() { c.Extent(at, m); c.Within(at, 4*m) }); pages > most+40 {
							t.Fatalf("navigation from %d of %d: %d of %d pages of the lists", at, c.Len(), pages, g.used/4096)
						}
						if pages := g.touched(func() { runs.fill(&c, at, at+m) }); pages > most {
							t.Fatalf("runs from %d of %d: %d of %d pages of the lists", at, c.Len(), pages, g.used/4096)
						}
					}
				}
				if g.used/4096 < 200 {
					t.Errorf("lists of %d pages show nothing", g.used/4096)
				}
			})
		}
	}
}

func slicesOf(t *Type, n int) []*Type {
	v := make([]*Type, n)
	for i := range v {
		v[i] = t
	}
	return v
}
