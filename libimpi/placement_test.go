package libimpi

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/topo"
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
		if got := paths(tt.job, worlds); !slices.EqualFunc(got, tt.want, slices.Equal[[]int32]) {
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

func TestBoundProcessesHaveTheirNeighborsOnTheirCoreAndThenInTheirPackage(t *testing.T) {
	// Two packages of two cores of two threads. The ranks of a line are dealt out to the packages, and to the cores.
	es := late(t, 8, 1)
	cpus := []int{0, 4, 2, 6, 1, 5, 3, 7}
	list, _, err := es[0].World().told(tellFrom(cores(2, 2), cpus))
	must(t, err)
	line := &topo.Cart{Dims: []int32{8}, Periods: []bool{false}}
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
	es := late(t, 4, 1)
	list, _, err := es[0].World().told(tellFrom(cores(2, 2), []int{-1, -1, -1, -1}))
	must(t, err)
	if at := (&topo.Cart{Dims: []int32{4}, Periods: []bool{false}}).Place(list); !slices.Equal(at, []int32{0, 1, 2, 3}) {
		t.Errorf("they moved: %v", at)
	}
	// Nor do those that differ in nothing but the thread of a core.
	list, _, err = es[0].World().told(tellFrom(cores(2, 2), []int{1, 0, 1, 0}))
	must(t, err)
	if at := (&topo.Cart{Dims: []int32{4}, Periods: []bool{false}}).Place(list); !slices.Equal(at, []int32{0, 1, 2, 3}) {
		t.Errorf("they moved from thread to thread: %v", at)
	}
}

func TestAWeightedGraphIsBroughtTogetherOnCores(t *testing.T) {
	// Pairs v and v+4 exchange much, and are on different packages.
	es := late(t, 8, 1)
	cpus := []int{0, 1, 2, 3, 4, 5, 6, 7}
	list, _, err := es[0].World().told(tellFrom(cores(2, 2), cpus))
	must(t, err)
	var edges, counts []int32
	for v := range int32(8) {
		edges = append(edges, (v+4)%8, 100, (v+1)%8, 1)
		counts = append(counts, 4)
	}
	at := topology.Map(topo.Outwards(8, edges, counts), list)
	for v := range 4 {
		if a, b := cpus[at[v]], cpus[at[v+4]]; a/2 != b/2 {
			t.Errorf("nodes %d and %d are on CPUs %d and %d, different cores", v, v+4, a, b)
		}
	}
}

func TestWhatOthersTellForAMappingIsChecked(t *testing.T) {
	es := late(t, 3, 1)
	c := es[0].World()
	for _, at := range [][]int32{{0, 3}, {-1}, {0, 1, 0}, {0, 1, 2, 2}} {
		wantClass(t, c.checkPlaces(at), abi.MPI_ERR_INTERN)
	}
	must(t, c.checkPlaces([]int32{2, 0}))
	must(t, c.checkPlaces(nil))
	all := tellFrom(cores(1, 1), []int{0, 1, 0})
	all[2*tells-1] = -1
	_, _, err := c.told(all)
	wantClass(t, err, abi.MPI_ERR_INTERN)
	if g := topo.Outwards(2, []int32{2, 1, -1, 1, 1, -1, 1}, []int32{7, 0}); g.Cut([]int32{0, 1}) != 0 {
		t.Error("edges that make no sense were taken")
	}
	for _, size := range [][]int32{{2, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {1, 0, -1}} {
		if p := topo.NewPart(size); p != nil {
			t.Errorf("%v was taken as %+v", size, p)
		}
	}
	if p := topo.NewPart([]int32{1, 2, 1}); p == nil || len(p.SourceWeights) != 2 || len(p.Destinations) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestClientsOfOtherLibrariesKeepTheOrderOfATopology(t *testing.T) {
	for _, same := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{2, 2}, tune: func(j *transport.Job) {
			for h := range j.Hosts {
				j.Hosts[h].SameImpl = same
			}
		}})
		together(t, es, func(e *Engine) {
			inTurn, err := e.World().Split(0, e.me%2*2+e.me/2) // the clients' processes by turns
			must(t, err)
			line, err := topo.NewCart([]int32{4}, []bool{false}, 4)
			must(t, err)
			made, err := inTurn.CreateCart(line, true)
			must(t, err)
			kept := 0
			for r := range 4 {
				if made.group.World(r) == inTurn.group.World(r) {
					kept++
				}
			}
			if (kept == 4) == same || inTurn.MapCart(line) != made.Rank() {
				t.Errorf("same %v: %d of 4 ranks are kept; mapped to %d, and is %d", same, kept, inTurn.MapCart(line), made.Rank())
			}
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
	}
}

func TestANodeGoesWhereItsRankGoes(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{3, 3}})
		together(t, es, func(e *Engine) {
			c, err := e.World().Split(0, e.me%3*2+e.me/3)
			must(t, err)
			me := int32(c.Rank())
			made, err := c.CreateDistGraphAdjacent(lineThereAndBack(me, weighted), true)
			must(t, err)
			got := made.Topology().(*topo.DistGraph)
			me = int32(made.Rank())
			want := lineThereAndBack(me, weighted)
			if got.Weighted != weighted || !slices.Equal(got.Sources, want.Sources) || !slices.Equal(got.Destinations,
				want.Destinations) ||
				!slices.Equal(got.SourceWeights, want.SourceWeights) || !slices.Equal(got.DestWeights, want.DestWeights) {
				t.Errorf("rank %d has the node %+v, want %+v", me, got, want)
			}
			if me > 0 && e.job.Procs[made.group.World(int(me))].Client != e.job.Procs[made.group.World(int(me-1))].Client &&
				me != 3 {
				t.Errorf("rank %d and the one before it are in different clients", me)
			}
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
	}
}

// lineThereAndBack is one of six nodes of a line; the edge from r to s weighs 10 r + s.
func lineThereAndBack(me int32, weighted bool) *topo.DistGraph {
	g := &topo.DistGraph{Weighted: weighted, Sources: []int32{}}
	for s := max(0, me-1); s <= min(5, me+1); s++ {
		if s == me {
			continue
		}
		g.Sources, g.Destinations = append(g.Sources, s), append(g.Destinations, s)
		if weighted {
			g.SourceWeights, g.DestWeights = append(g.SourceWeights, 10*s+me), append(g.DestWeights, 10*me+s)
		}
	}
	return g
}
