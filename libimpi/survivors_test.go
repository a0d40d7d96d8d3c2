package libimpi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Survivors agree, whoever dies and whenever: in jobs of the fake, in which processes die before one of them sends a
// certain packet.

// grim counts the packets that the processes of a job send, and kills.
type grim struct {
	es     []*Engine
	sent   int
	deaths []death
}

// death is that of a process before a packet is sent.
type death struct{ packet, victim int }

// grimWay is a transport that it watches.
type grimWay struct {
	transport.Transport
	g *grim
}

func (w grimWay) Send(h *transport.Header, payload []byte) bool {
	w.g.count()
	return w.Transport.Send(h, payload)
}

func (w grimWay) SendFrom(h *transport.Header, p transport.Packer) bool {
	w.g.count()
	return w.Transport.SendFrom(h, p)
}

func (w grimWay) Departed(peer int32) bool { return w.Transport.(transport.Departer).Departed(peer) }

func (g *grim) count() {
	for _, d := range g.deaths {
		if d.packet == g.sent {
			dies(g.es[d.victim])
		}
	}
	g.sent++
}

func (g *grim) dead(e *Engine) bool {
	return slices.ContainsFunc(g.deaths, func(d death) bool { return d.victim == int(e.me) && d.packet < g.sent })
}

// doomed is a fault tolerant job whose processes die.
func doomed(t *testing.T, machines []int, seed uint64, deaths ...death) *grim {
	o := fake.Options{Machines: machines, Seed: seed, Late: int(seed % 7), Room: 1 + int(seed%5), Plain: true}
	g := &grim{deaths: deaths}
	g.es = makeWorld(t, options{fake: &o, tune: faultTolerant})
	for _, e := range g.es {
		for w := range e.peers {
			if p := &e.peers[w]; p.tr != nil {
				p.tr = grimWay{p.tr, g}
			}
		}
	}
	return g
}

// machinesFor are some machines of n processes in all.
func machinesFor(n int, r *rand.Rand) (machines []int) {
	for n > 0 {
		k := 1 + r.IntN(n)
		machines, n = append(machines, k), n-k
	}
	return machines
}

// outcome is what a process has got.
type outcome struct {
	flag  int32
	class int
	group []int32
}

// heal agrees, revokes, shrinks, and uses what is left, as programs do after a failure.
func (g *grim) heal(t *testing.T, e *Engine, out *outcome) {
	c, err := e.World().Dup()
	must(t, err)
	c.Barrier()
	if int(e.me)%3 == 0 {
		c.Revoke()
	}
	flag, err := c.Agree(^(1 << e.me))
	out.flag = flag
	if err != nil {
		out.class = AsError(err).Class
	}
	left, err := c.Shrink()
	if g.dead(e) {
		return
	}
	must(t, err)
	must(t, c.Free())
	out.group = left.Group().Worlds()
	if err := left.Barrier(); err != nil {
		wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
	}
	must(t, left.Free())
	if err := e.Finish(); err != nil && !g.dead(e) {
		t.Errorf("rank %d: %v", e.me, err)
	}
}

// check compares what the survivors have got.
func (g *grim) check(t *testing.T, all []outcome) {
	t.Helper()
	first := -1
	for i, e := range g.es {
		switch {
		case g.dead(e):
		case first < 0:
			first = i
		case fmt.Sprint(all[i]) != fmt.Sprint(all[first]):
			t.Errorf("rank %d has %+v, and rank %d %+v", i, all[i], first, all[first])
		}
	}
	for i, e := range g.es {
		if g.dead(e) {
			continue
		}
		if all[first].flag&(1<<i) != 0 {
			t.Errorf("the flag %#x is without that of rank %d", all[first].flag, i)
		}
		if !slices.Contains(all[first].group, int32(i)) {
			t.Errorf("%v are left, without rank %d", all[first].group, i)
		}
		for _, s := range e.loss.survivors {
			if s.posting || len(s.underWay) > 0 {
				t.Errorf("rank %d: an operation is under way", i)
			}
		}
		must(t, e.failure())
	}
	if failed := len(all[first].group) < len(g.es); !failed && all[first].class != 0 {
		t.Errorf("an error of class %d, but nobody is lost", all[first].class)
	}
}

func healed(t *testing.T, machines []int, seed uint64, deaths ...death) int {
	g := doomed(t, machines, seed, deaths...)
	all := make([]outcome, len(g.es))
	together(t, g.es, func(e *Engine) { g.heal(t, e, &all[e.me]) })
	g.check(t, all)
	if t.Failed() {
		t.Fatalf("machines %v, seed %d, deaths %v", machines, seed, deaths)
	}
	return g.sent
}

// One process dies before any packet of a small job.
func TestSurvivorsAgreeWhoeverDiesBeforeAnyPacket(t *testing.T) {
	for _, machines := range [][]int{{2}, {3}, {2, 1}, {2, 2}} {
		packets := healed(t, machines, 1)
		for packet := range packets {
			for victim := range total(machines) {
				healed(t, machines, uint64(packet), death{packet, victim})
			}
		}
	}
}

func total(numbers []int) (sum int) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// inJobsOfAllSizes runs a test in which several die, perhaps all but one, before any of the first packets.
func inJobsOfAllSizes(worlds uint64, packets int, test func(machines []int, seed uint64, deaths []death)) {
	for n := 2; n <= 16; n++ {
		for seed := range worlds {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			machines := machinesFor(n, r)
			var deaths []death
			for _, victim := range r.Perm(n)[:min(n-1, r.IntN(5))] {
				deaths = append(deaths, death{r.IntN(packets * n), victim})
			}
			test(machines, seed, deaths)
		}
	}
}

func TestSurvivorsAgreeInJobsOfAllSizes(t *testing.T) {
	inJobsOfAllSizes(4*seeds(), 14, func(machines []int, seed uint64, deaths []death) {
		healed(t, machines, seed, deaths...)
	})
}

// leaves comes to the end while messages are under way, and some have revoked a communicator of which others know
// nothing.
func (g *grim) leaves(t *testing.T, e *Engine, seed uint64) {
	third := (e.me + int32(seed)) % 3
	c, err := e.World().Split(third, 0)
	if err == nil {
		n, me := c.Size(), c.Rank()
		in, out := make([]byte, 3000), make([]byte, 3000)
		c.Irecv(at(in), 3000, byteT, (me+n-1)%n, 4)
		c.Isend(at(out), 3000, byteT, (me+1)%n, 4, Standard)
		if third != 1 {
			c.Revoke()
		}
	}
	if err := e.Finish(); err != nil && !g.dead(e) {
		t.Errorf("rank %d: %v", e.me, err)
	}
}

func left(t *testing.T, machines []int, seed uint64, deaths ...death) int {
	g := doomed(t, machines, seed, deaths...)
	together(t, g.es, func(e *Engine) { g.leaves(t, e, seed) })
	if t.Failed() {
		t.Fatalf("machines %v, seed %d, deaths %v", machines, seed, deaths)
	}
	return g.sent
}

// All who survive come to the end of a job, whatever is under way, whoever dies, and whoever has heard of it.
func TestSurvivorsComeToTheEnd(t *testing.T) {
	for _, machines := range [][]int{{2}, {3}, {4}, {2, 1}, {2, 2}, {1, 1, 1, 1}} {
		packets := left(t, machines, 1)
		for i := range often(packets) {
			packet := i * packets / often(packets)
			for victim := range total(machines) {
				left(t, machines, uint64(packet), death{packet, victim})
			}
		}
	}
	inJobsOfAllSizes(2*seeds(), 30, func(machines []int, seed uint64, deaths []death) {
		left(t, machines, seed, deaths...)
	})
}
