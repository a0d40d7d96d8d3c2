package libimpi

import (
	"errors"
	"testing"

	"github.com/libimpi/libimpi/transport/fake"
)

// Two cannot reach a third, of which nobody has said that it is lost: it may be they who are cut off. They get errors
// at once, and agree on nothing before the launcher has decided.
func TestSurvivorsAgreeWhenItIsDecidedWhoIsLost(t *testing.T) {
	for name, told := range map[string][]int32{"both are told": {0, 1}, "one is told": {1}} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, options{fake: &fake.Options{Machines: []int{1, 1, 1}}, tune: faultTolerant})
			for _, e := range es {
				e.loss.condemn = func(int32, bool, error) {}
			}
			together(t, es, func(e *Engine) {
				if e.me == 2 {
					dies(e)
					return
				}
				noticed(t, e, 2)
				var left *Comm
				id := e.World().Ishrink(func(c *Comm) { left = c })
				for range 8 {
					exchanged(t, e, e.World(), 2, 1)
				}
				if done, err := e.Test(&id, nil); done || err != nil {
					t.Errorf("rank %d: done %v, %v, and nobody has decided", e.me, done, err)
				}
				exchanged(t, e, e.World(), 2, 1) // the other has looked, too
				for _, r := range told {
					if r == e.me {
						e.LostElsewhere([]int32{2}, errors.New("it is cut off"))
					}
				}
				must(t, e.Wait(&id, nil))
				if left.Size() != 2 {
					t.Errorf("rank %d: %v are left", e.me, left.Group().Worlds())
				}
			})
		})
	}
}
