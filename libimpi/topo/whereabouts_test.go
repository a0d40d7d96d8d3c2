package topo

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/topology"
	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport"
)

// jobOf makes tables of processes, each {client, host, machine}.
func jobOf(procs ...[3]int32) *transport.Job {
	job := &transport.Job{}
	for _, p := range procs {
		job.Clients = max(job.Clients, p[0]+1)
		job.Procs = append(job.Procs, transport.Proc{Client: p[0], Host: p[1], HostID: [16]byte{15: byte(p[2])}})
	}
	return job
}

func TestPathsLeadFromWhatSeparatesMost(t *testing.T) {
	for _, tt := range []struct {
		name string
		job  *transport.Job
		want [][]int32
	}{
		{"two clients of one machine, each process its own host",
			jobOf([3]int32{0, 0, 7}, [3]int32{0, 1, 7}, [3]int32{1, 2, 7}),
			[][]int32{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}}},
		{"clients 0 and 2 share a machine", jobOf([3]int32{0, 0, 7}, [3]int32{1, 1, 8}, [3]int32{2, 2, 7}),
			[][]int32{{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 2, 2, 0}}},
		{"an agent for two machines", jobOf([3]int32{0, 0, 7}, [3]int32{0, 0, 8}, [3]int32{0, 0, 8}),
			[][]int32{{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 1}}},
	} {
		worlds := make([]int32, len(tt.job.Procs))
		for i := range worlds {
			worlds[i] = int32(i)
		}
		if got := Paths(tt.job, worlds); !slices.EqualFunc(got, tt.want, slices.Equal[[]int32]) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// cores is a machine of packages with a shared cache each, and of cores of two hardware threads.
func cores(packages, coresEach int) hardware.Machine {
	m := make(hardware.Machine, len(hardware.Types))
	add := func(typ string, from, n int) {
		part := hardware.Set{}
		for cpu := range n {
			part[from+cpu] = true
		}
		i := slices.Index(hardware.Types, typ)
		m[i] = append(m[i], part)
	}
	for p := range packages {
		add("Package", p*2*coresEach, 2*coresEach)
		add("L3Cache", p*2*coresEach, 2*coresEach)
		for c := range coresEach {
			add("Core", (p*coresEach+c)*2, 2)
			for pu := range 2 {
				add("PU", (p*coresEach+c)*2+pu, 1)
			}
		}
	}
	return m
}

// tellFrom is what processes tell that are bound to these CPUs of a machine, -1 for none in particular.
func tellFrom(m hardware.Machine, cpus []int) (all []int32) {
	for _, cpu := range cpus {
		mask := hardware.Set{cpu: true}
		if cpu < 0 {
			mask = hardware.Set{0: true, 1 << 10: true}
		}
		all = append(all, make([]int32, partsAt)...)
		for _, part := range m.Restricted(mask) {
			all = append(all, int32(part))
		}
		all = append(all, 0)
	}
	return all
}

// told is Told for processes of one machine.
func told(all []int32) ([][]int32, []int32, error) {
	job := &transport.Job{Clients: 1}
	var worlds []int32
	for r := range int32(len(all) / Tells) {
		job.Procs, worlds = append(job.Procs, transport.Proc{Host: r}), append(worlds, r)
	}
	return Told(all, Paths(job, worlds), "world")
}

func TestBoundProcessesHaveTheirNeighborsOnTheirCoreAndThenInTheirPackage(t *testing.T) {
	// Two packages of two cores of two threads. The ranks of a line are dealt out to the packages, and to the cores.
	cpus := []int{0, 4, 2, 6, 1, 5, 3, 7}
	list, _, err := told(tellFrom(cores(2, 2), cpus))
	must(t, err)
	line := &Cart{Dims: []int32{8}, Periods: []bool{false}}
	at := line.Place(list)
	for v := 0; v < 8; v += 2 {
		if a, b := cpus[at[v]], cpus[at[v+1]]; a/2 != b/2 {
			t.Errorf("ranks %d and %d are on CPUs %d and %d, different cores", v, v+1, a, b)
		}
	}
	for v := 0; v < 8; v += 4 {
		if a, b := cpus[at[v+1]], cpus[at[v+2]]; a/4 != b/4 {
			t.Errorf("ranks %d and %d are on CPUs %d and %d, different packages", v+1, v+2, a, b)
		}
	}
}

func TestProcessesThatAreBoundToNothingKeepTheirOrder(t *testing.T) {
	list, _, err := told(tellFrom(cores(2, 2), []int{-1, -1, -1, -1}))
	must(t, err)
	if at := (&Cart{Dims: []int32{4}, Periods: []bool{false}}).Place(list); !slices.Equal(at, []int32{0, 1, 2, 3}) {
		t.Errorf("they moved: %v", at)
	}
	// Nor do those that differ in nothing but the thread of a core.
	list, _, err = told(tellFrom(cores(2, 2), []int{1, 0, 1, 0}))
	must(t, err)
	if at := (&Cart{Dims: []int32{4}, Periods: []bool{false}}).Place(list); !slices.Equal(at, []int32{0, 1, 2, 3}) {
		t.Errorf("they moved from thread to thread: %v", at)
	}
}

func TestAWeightedGraphIsBroughtTogetherOnCores(t *testing.T) {
	// Pairs v and v+4 exchange much, and are on different packages.
	cpus := []int{0, 1, 2, 3, 4, 5, 6, 7}
	list, _, err := told(tellFrom(cores(2, 2), cpus))
	must(t, err)
	var edges, counts []int32
	for v := range int32(8) {
		edges = append(edges, (v+4)%8, 100, (v+1)%8, 1)
		counts = append(counts, 4)
	}
	at := topology.Map(Outwards(8, edges, counts), list)
	for v := range 4 {
		if a, b := cpus[at[v]], cpus[at[v+4]]; a/2 != b/2 {
			t.Errorf("nodes %d and %d are on CPUs %d and %d, different cores", v, v+4, a, b)
		}
	}
}

func TestWhatOthersTellForAMappingIsChecked(t *testing.T) {
	for _, at := range [][]int32{{0, 3}, {-1}, {0, 1, 0}, {0, 1, 2, 2}} {
		wantClass(t, CheckPlaces(at, 3, "world"), abi.MPI_ERR_INTERN)
	}
	must(t, CheckPlaces([]int32{2, 0}, 3, "world"))
	must(t, CheckPlaces(nil, 3, "world"))
	all := tellFrom(cores(1, 1), []int{0, 1, 0})
	all[2*Tells-1] = -1
	_, _, err := told(all)
	wantClass(t, err, abi.MPI_ERR_INTERN)
	if g := Outwards(2, []int32{2, 1, -1, 1, 1, -1, 1}, []int32{7, 0}); g.Cut([]int32{0, 1}) != 0 {
		t.Error("edges that make no sense were taken")
	}
	for _, size := range [][]int32{{2, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {1, 0, -1}} {
		if p := NewPart(size); p != nil {
			t.Errorf("%v was taken as %+v", size, p)
		}
	}
	if p := NewPart([]int32{1, 2, 1}); p == nil || len(p.SourceWeights) != 2 || len(p.Destinations) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestPartsAreColorsOfThoseWhoShareMemory(t *testing.T) {
	undefined := int32(abi.MPI_UNDEFINED)
	all := tellFrom(cores(2, 2), []int{0, 1, 4, -1})
	var p Places
	for r := range 4 {
		p.All = append(p.All, all[r*Tells:][:Whereabouts]...)
	}
	other := slices.Clone(p.All[:Whereabouts]) // as the first, on another machine
	other[memoryAt] = 9
	p.All, p.Mine = append(p.All, other...), 2
	for typ, want := range map[string][]int32{
		"Core": {0, 0, 2, undefined, 4}, "Package": {0, 0, 2, undefined, 4}, "PU": {0, 1, 2, undefined, 4},
	} {
		if got := p.Colors(slices.Index(hardware.Types, typ)); !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", typ, got, want)
		}
		if p.Of(typ) != want[2] {
			t.Errorf("%s: the caller has color %d", typ, p.Of(typ))
		}
	}
	if c := p.Of("Building"); c != undefined {
		t.Errorf("a type that nobody knows has color %d", c)
	}
	if typ, color := p.Largest(); typ != "Package" || color != 2 {
		t.Errorf("the largest type is %q, color %d", typ, color)
	}
	alone := Places{All: p.All[:2*Whereabouts]} // two threads of one core
	if typ, _ := alone.Largest(); typ != "PU" {
		t.Errorf("the largest type is %q", typ)
	}
	if typ, color := (Places{All: p.All[:Whereabouts]}).Largest(); typ != "" || color != undefined {
		t.Errorf("one process is split by %q, color %d", typ, color)
	}
}

func TestAProcessTellsWhereItIs(t *testing.T) {
	if at := Here(7); len(at) != Whereabouts || at[memoryAt] != 7 {
		t.Errorf("%d", at)
	}
	types, at := HardwareTypes()
	if len(types) != len(at) {
		t.Errorf("%q, %d", types, at)
	}
}
