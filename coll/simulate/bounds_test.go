package simulate

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/libimpi/libimpi/coll"
)

// Every algorithm keeps to its bounds, for every number of ranks up to 300, and for large ones if they do not take p^2
// steps: not many rounds, and not p blocks at each rank.
func TestRoundsAndVolumeKeepToTheirBounds(t *testing.T) {
	for _, b := range Bounds {
		t.Run(b.Operation+" "+b.Algorithm, func(t *testing.T) {
			t.Parallel()
			tried := 0
			for p := 1; p <= 300; p++ {
				// Every other vector is cut into pieces of different lengths.
				was, err := b.check(p, []int64{8 * 300, 1000}[p%2], MostSteps)
				if err != nil {
					t.Error(err)
				}
				tried += was
			}
			for _, p := range []int{1000, 1 << 10, 10_000, 1 << 14, 100_000, 1 << 16} {
				// What needs a power of two is tried with that, and everything else with the number before it.
				if power := p&(p-1) == 0; power != b.powerOfTwo() {
					continue
				}
				_, err := b.check(p, 8*int64(p), max(160*int64(p), 16<<20))
				if errors.Is(err, ErrTooLong) && p > 1024 && b.quadratic(p) {
					t.Logf("not tried: %v", err)
				} else if err != nil {
					t.Error(err)
				}
			}
			if tried < 7 {
				t.Errorf("only %d numbers of ranks were tried", tried)
			}
		})
	}
}

// quadratic says that p ranks take p^2 steps.
func (b *Bound) quadratic(p int) bool { return b.Rounds(p, 1) > 64 || b.Volume(p, 1) >= int64(p-1) }

// powerOfTwo says that the algorithm needs a power of two.
func (b *Bound) powerOfTwo() bool {
	s, err := Case{Operation: b.Operation, Algorithm: b.Algorithm, Ranks: 6, Bytes: 8}.Record(MostSteps)
	return s == nil && err == nil
}

// check holds an algorithm to its bounds for p ranks and n bytes. tried is 0 if it cannot be used with them.
func (b *Bound) check(p int, n, most int64) (tried int, err error) {
	k := Case{b.Operation, b.Algorithm, p, n, p / 3, b.InOrder}
	s, err := k.Record(most)
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
	return 1, err
}

func TestEveryAlgorithmHasABound(t *testing.T) {
	known := map[string]bool{}
	for _, b := range Bounds {
		known[b.Operation+":"+b.Algorithm] = true
	}
	for _, o := range coll.Operations() {
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
