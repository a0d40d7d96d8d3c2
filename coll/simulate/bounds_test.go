package simulate

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

var long = flag.Bool("long", false, "try more, and up to 10^5 ranks")

// elsewhere are the algorithms that are carried out on boards, or by another library.
var elsewhere = []string{"board", "board-root", "exchange", "single-copy", "slots", "vendor"}

func TestEveryAlgorithmNamesItsSource(t *testing.T) {
	for _, b := range Bounds {
		if own := slices.Contains(elsewhere, b.Algorithm); own != (b.Source == "") {
			t.Errorf("%s by %s has the source %q", b.Operation, b.Algorithm, b.Source)
		}
	}
}

// Every algorithm keeps to its bounds, for every number of ranks up to 300, and for large ones if the ranks do not
// take p^2 steps. One that takes very many of them is tried with every 25th number only from some number on, which is
// larger with -long. With -short few are tried above 40.
func TestRoundsAndVolumeKeepToTheirBounds(t *testing.T) {
	if race {
		t.Skip("computes for minutes under the race detector, on one goroutine for each algorithm")
	}
	for _, b := range Bounds {
		t.Run(b.Operation+" "+b.Algorithm, func(t *testing.T) {
			t.Parallel()
			if b.Rounds == nil {
				k := Case{Operation: b.Operation, Algorithm: b.Algorithm, Ranks: 8, Bytes: 8}
				s, err := k.Record(MostSteps)
				cannot := s == nil && err == nil && slices.Contains(elsewhere, b.Algorithm)
				if !errors.Is(err, ErrData) && !cannot {
					t.Errorf("%v is simulated, but for %v", k, err)
				}
				return
			}
			tried, steps, many := 0, int64(0), int64(1<<17)
			if *long {
				many = 3 << 20
			}
			for p := 1; p <= 300; p++ {
				if (steps > many || testing.Short() && p > 40) && p%25 != 0 {
					continue
				}
				taken, err := b.check(p, []int64{2400, 1000, 100_000}[p%3], MostSteps)
				if err != nil {
					t.Error(err)
				}
				if steps += taken; taken > 0 {
					tried++
				}
			}
			large, fewest := []int{1000, 1 << 10, 10_000, 1 << 14, 100_000, 1 << 16}, 7
			if testing.Short() {
				large, fewest = large[:2], 5
			} else if !*long {
				large = large[:4]
			}
			for _, p := range large {
				// What needs a power of two is tried with that, and everything else with the number before it.
				if power := p&(p-1) == 0; power != b.powerOfTwo() || p > 1024 && b.busy(p) {
					continue
				}
				limit := max(100*int64(p), 4<<20)
				taken, err := b.check(p, 8192, limit)
				if taken == 0 && err == nil { // a vector that has no element for each rank
					_, err = b.check(p, int64(p), limit)
				}
				if errors.Is(err, ErrTooLong) && b.blocks(p) {
					t.Logf("not tried: %v", err)
				} else if err != nil {
					t.Error(err)
				}
			}
			if tried < fewest && !(tried == 1 && b.Algorithm == "pair") {
				t.Errorf("only %d numbers of ranks were tried", tried)
			}
		})
	}
}

// busy says that each of p ranks takes part in many rounds, and not a root alone.
func (b *Bound) busy(p int) bool {
	return b.Rounds(p, 1) > 64 && (b.Algorithm == "direct" ||
		!slices.Contains([]string{"gather", "gatherv", "scatter", "scatterv", "barrier"}, b.Operation))
}

// blocks says that a rank has to do with p blocks.
func (b *Bound) blocks(p int) bool { return b.Volume(p, 1) >= int64(p-1) }

// machines are of eight ranks, if the algorithm is for them; of three if there are few.
func (b *Bound) machines(p int) *coll.Machines {
	switch {
	case b.Algorithm != "machines" && b.Algorithm != "hierarchical-factor":
		return nil
	case p <= 8:
		return Placed(p, 3)
	}
	return Placed(p, 8)
}

// powerOfTwo says that the algorithm needs a power of two.
func (b *Bound) powerOfTwo() bool {
	s, err := Case{Operation: b.Operation, Algorithm: b.Algorithm, Ranks: 6, Bytes: 8, Machines: b.machines(6)}.Record(
		MostSteps)
	return s == nil && err == nil
}

// check holds an algorithm to its bounds for p ranks and n bytes. steps is 0 if it cannot be used with them.
func (b *Bound) check(p int, n, most int64) (steps int64, err error) {
	k := Case{b.Operation, b.Algorithm, p, n, p / 3, b.InOrder, b.machines(p)}
	s, err := k.Record(most)
	if k.Machines != nil && p%k.Machines.Members(0) != 0 && errors.Is(err, ErrData) {
		return 0, nil // among many machines of different sizes gatherv and scatterv go along a tree
	}
	if s == nil {
		return 0, err
	}
	rounds, err := s.Run(Rounds)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", k, err)
	}
	if most := b.Rounds(p, n); int64(rounds) > most {
		err = fmt.Errorf("%v: %d rounds, more than %s = %d", k, rounds, b.InRounds, most)
	}
	if most := b.Volume(p, n); s.Sent > most || s.Received > most {
		err = errors.Join(err, fmt.Errorf("%v: a rank sends %d bytes, and one receives %d, more than %s = %d", k, s.Sent,
			s.Received, b.InVolume, most))
	}
	return s.Steps, err
}

func TestEveryAlgorithmHasABound(t *testing.T) {
	known := map[string]bool{}
	for _, b := range Bounds {
		known[b.Operation+":"+b.Algorithm] = true
	}
	for _, o := range choose.Operations {
		for _, a := range o.Algorithms {
			if name := o.Name + ":" + a.Name; !known[name] {
				t.Errorf("%s has no row in Bounds", name)
			}
		}
	}
}

// The simulations leave much behind that has no pointers, and are small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
