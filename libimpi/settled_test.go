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

// A process behind an agent closes no connection when it dies, and the server may have gone: other clients hear of it
// from those of its own.
func TestOtherClientsHearOfALoss(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{3, 2}, Clients: []int32{0, 1}}, tune: faultTolerant})
	condemned := make(chan int32, len(es))
	for _, e := range es {
		e.loss.condemn = func(world int32, _ bool, _ error) { condemned <- world }
	}
	together(t, es, func(e *Engine) {
		switch e.me {
		case 2:
			return
		case 0, 1:
			e.LostElsewhere([]int32{2}, errors.New("killed"))
		default:
			noticed(t, e, 2)
		}
		if left, err := e.World().Shrink(); err != nil || left.Size() != 4 {
			t.Errorf("rank %d: %v", e.me, err)
		}
	})
	for range 2 {
		if world := <-condemned; world != 2 { // the launchers of ranks 3 and 4 are told
			t.Errorf("rank %d is given up", world)
		}
	}
	e := es[0]
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, word := range [][]byte{nil, {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 9}, {255, 255, 255, 255}, make([]byte, 5)} {
		if e.hearOfLoss(4, word) == nil {
			t.Errorf("%v is believed", word)
		}
	}
}
