package launcher

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Random programs (tests/survive) whose network is cut in two at some moment: clients, or machines of one client, of
// several ranks each, a server on a machine of its own, and a router that lets nothing more through between the sides,
// or nothing one way, for ever or for some time. One side goes on, and the other ends and says why, whoever notices
// first, and though ranks are killed at the same time.
//
// A seed is a job. ctest runs one of each shape; more, or one again, by -seeds, as in injections_test.go.

// shape is who is there, and between whom the network is cut. Machine 0 has the launcher, if there is one client; the
// server's comes after the last.
type shape struct {
	name     string
	machines int // of ranks
	single   bool
	a, b     []int // the sides; the others reach both
	goesOn   []int // one of the sides, if it is clear that it goes on
}

// The server is machine 2, or 4.
var shapes = []shape{
	{"two clients, without the second", 2, false, []int{0, 2}, []int{1}, []int{0, 2}},
	{"two clients, between them", 2, false, []int{0}, []int{1}, nil},
	{"four clients, without two", 4, false, []int{0, 1, 4}, []int{2, 3}, []int{0, 1, 4}},
	{"machines, without two", 4, true, []int{0, 1}, []int{2, 3}, []int{0, 1}},
	{"four clients, between two and two", 4, false, []int{0, 1}, []int{2, 3}, nil},
	{"machines, between two", 3, true, []int{1}, []int{2}, nil},
	{"four clients, without three", 4, false, []int{0, 4}, []int{1, 2, 3}, []int{0, 4}},
	{"machines, without one", 3, true, []int{0, 1}, []int{2}, []int{0, 1}},
	{"two clients, without the server", 2, false, []int{0, 1}, []int{2}, []int{0, 1}},
}

// perMachine is how many ranks a machine has.
const perMachine = 2

// cutting is a job whose network is cut.
type cutting struct {
	*injection
	shape
	*rand.Rand
	net      *network
	oneWay   int           // from a to b (1), or back (2); 0: both ways
	back     time.Duration // after which it is whole again; 0: never
	suicidal uint32        // ranks that are killed, too
	via      string
	jobs     []*job // the server last, if there is one
}

func newCutting(t *testing.T, seed int) *cutting {
	c := &cutting{Rand: rand.New(rand.NewPCG(uint64(seed), 0)), shape: shapes[seed%len(shapes)], via: "direct"}
	if c.IntN(3) == 0 {
		c.oneWay = 1 + c.IntN(2)
	}
	if c.IntN(3) == 0 {
		c.back = time.Duration(c.IntN(6000)) * time.Millisecond // with a silence of a second three of them are the bound
	}
	if c.IntN(2) == 0 {
		c.via = "agent"
	}
	for m := range c.machines * c.IntN(2) {
		if c.IntN(2) == 0 {
			c.suicidal |= 2 << (m * perMachine)
		}
	}
	c.injection = newInjection(t, fmt.Sprintf("seed %d: %s, via %s, one way %d, back after %v, suicidal %x", seed, c.name,
		c.via, c.oneWay, c.back, c.suicidal))
	machines := c.machines
	if !c.single {
		machines++
	}
	c.net = newNetwork(t, ipv4, machines)
	return c
}

// start starts the job.
func (c *cutting) start(seed int) {
	rounds := "-"
	all := uint32(1)<<(c.machines*perMachine) - 1
	if c.back != 0 || c.mask(c.a) == all || c.mask(c.a)|c.mask(c.b) != all { // it may not come to one side alone
		rounds = "25"
	}
	line := words("-with-ft ulfm -n", strconv.Itoa(c.ranksOf(c.machines)),
		c.program(seed, rounds, fmt.Sprint(all), fmt.Sprint(c.mask(c.a)), fmt.Sprint(c.suicidal)))
	settings := with(key, "IMPI_SILENCE=1")
	if c.single {
		list := "localhost:2"
		for i := 1; i < c.machines; i++ {
			list += fmt.Sprintf(",m%d:%d", i, perMachine)
		}
		shell := c.net.remoteShell(c.t)
		c.net.machines[0].inside(c.t, func() {
			c.jobs = append(c.jobs, startWith(c.t, settings, words("-rsh", shell, "-host", list, line)...))
		})
		return
	}
	var s *job
	c.net.machines[c.machines].inside(c.t, func() {
		s = startWith(c.t, settings, "-server", strconv.Itoa(c.machines))
	})
	s.stdout.await("\n", 1)
	address := strings.TrimSpace(s.stdout.String())
	for i := range c.machines {
		c.net.machines[i].inside(c.t, func() {
			c.jobs = append(c.jobs, startWith(c.t, settings, words("-client", strconv.Itoa(i), address, "-via", c.via, line)...))
		})
	}
	c.jobs = append(c.jobs, s)
}

// ranksOf is how many ranks a launcher starts.
func (c *cutting) ranksOf(machines int) int {
	if c.single {
		return machines * perMachine
	}
	return perMachine
}

// mask are the ranks of machines.
func (c *cutting) mask(machines []int) (ranks uint32) {
	for _, m := range machines {
		if m < c.machines {
			ranks |= 3 << (m * perMachine)
		}
	}
	return ranks
}

// cut cuts the network when the program is at a random place.
func (c *cutting) cut() {
	place := 12 + c.IntN(200)
	for limit := time.Now().Add(bound); ; time.Sleep(time.Millisecond) {
		n := 0
		for rank := range c.ranks() {
			all := c.lines(rank)
			n = max(n, len(all))
			if strings.HasSuffix(all[len(all)-1], " done") {
				n = place
			}
		}
		if n >= place {
			break
		}
		if time.Now().After(limit) {
			c.t.Errorf("%s: the program does not begin: %s", c.what, c.tails())
			return
		}
	}
	time.Sleep(time.Duration(c.IntN(20000)) * time.Microsecond)
	c.net.part(c.t, "add", c.a, c.b, c.oneWay)
	if c.back != 0 {
		time.Sleep(c.back)
		c.net.part(c.t, "del", c.a, c.b, c.oneWay)
	}
}

// part makes the router drop what machines of one side send to the other, one way (1: from a to b) or both, or ends
// that.
func (n *network) part(t *testing.T, do string, a, b []int, way int) {
	t.Helper()
	var lines []string
	for _, i := range a {
		for _, j := range b {
			if way != 2 {
				lines = append(lines, fmt.Sprintf("rule %s from %v to %v blackhole", do, ipv4.addr(i), ipv4.addr(j)))
			}
			if way != 1 {
				lines = append(lines, fmt.Sprintf("rule %s from %v to %v blackhole", do, ipv4.addr(j), ipv4.addr(i)))
			}
		}
	}
	n.router.ip(t, lines...)
}

// reasons are what launchers that end say.
var reasons = []string{"goes on", "nothing has been heard", "may go on without", "the first launcher"}

// judge checks who has survived, and what others say.
func (c *cutting) judge(results []result) {
	c.t.Helper()
	var living uint32
	c.check()
	for rank := range c.machines * perMachine {
		if !slices.Contains(c.dead, rank) {
			living |= 1 << rank
		}
	}
	all := uint32(1)<<(c.machines*perMachine) - 1
	must, a, b := all&^c.suicidal, c.mask(c.a), c.mask(c.b)
	whole := must&^living == 0 // nobody is lost for the cut
	c.t.Logf("%s: living %x", c.what, living)
	switch {
	case whole && (c.back != 0 || a == 0 || b == 0):
	case c.back != 0: // some connections may have ended, and some not: but all that live have seen the same
		if living&must == 0 {
			c.t.Errorf("%s: nobody goes on: %x%s", c.what, living, c.tails())
		}
	case living&a != 0 && living&b != 0:
		c.t.Errorf("%s: both sides go on: %x%s", c.what, living, c.tails())
	case c.goesOn != nil && (living&^c.mask(c.goesOn) != 0 || must&c.mask(c.goesOn)&^living != 0):
		c.t.Errorf("%s: %x live%s", c.what, living, c.tails())
	case must&^(a|b)&^living != 0 || living&(a|b) == 0:
		c.t.Errorf("%s: nobody of the sides goes on, or others do not: %x%s", c.what, living, c.tails())
	case must&a&^living != 0 && must&b&^living != 0:
		c.t.Logf("%s: a part of a side goes on: %x", c.what, living)
	}
	for i, r := range results {
		if !c.single && i == c.machines {
			break // the server
		}
		ranks := all
		if !c.single {
			ranks = c.mask([]int{i})
		}
		lives := ranks&living&must != 0
		named := slices.ContainsFunc(reasons, func(s string) bool { return strings.Contains(r.stderr, s) })
		switch {
		case lives && r.code != 0 && !c.finalized():
			c.t.Errorf("%s: launcher %d: code %d (%s)%s", c.what, i, r.code, r.stderr, c.tails())
		case !lives && (r.code == 0 || !named):
			c.t.Errorf("%s: launcher %d, without survivors: code %d (%s)%s", c.what, i, r.code, r.stderr, c.tails())
		}
		if testing.Verbose() {
			c.t.Logf("launcher %d: code %d: %s", i, r.code, r.stderr)
		}
	}
}

func surviveCut(t *testing.T, seed int) {
	c := newCutting(t, seed)
	c.start(seed)
	c.cut()
	c.judge(c.end(c.jobs...))
}

func TestRandomProgramsSurviveCuts(t *testing.T) { surviveCuts(t, seedsOr(t, 1, 9)) }

func surviveCuts(t *testing.T, all []int) {
	for _, seed := range all {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // they wait most of the time
			surviveCut(t, seed)
		})
	}
}
