package vendor

import (
	"errors"
	"slices"

	"github.com/libimpi/libimpi/transport"
)

// Collective operations of all processes of the client, which the library carries out as a whole. They are its
// nonblocking ones, each line on a communicator of its own: a process that waits for one goes on with its messages, and
// no process ever blocks inside the library because of another one that is not there.

// under is an operation that is under way.
type under struct {
	request Request
	o       *transport.Operation
}

var errOver = errors.New("vendor: an operation begins after the end")

// Lines implements transport.Collective.
func (t *Transport) Lines() int { return Communicators - 1 }

// Begin implements transport.Collective.
func (t *Transport) Begin(line int, o *transport.Operation) {
	if t.over {
		o.Over(errOver)
		return
	}
	if o.Kind == transport.Bcast || o.Kind == transport.Reduce {
		o.Root = t.rankOf(int32(o.Root))
	}
	r, err := t.mpi.Begin(line+1, o)
	if err != nil || r == Done {
		o.Over(err)
		return
	}
	t.together = append(t.together, under{r, o})
}

// rankOf is the rank in the library of a process of the client.
func (t *Transport) rankOf(world int32) int {
	if world == t.me {
		return t.rank
	}
	return t.index[world].rank
}

// goOn looks which operations are over.
func (t *Transport) goOn() (did bool) {
	for i := 0; i < len(t.together); {
		u := t.together[i]
		done, err := t.mpi.Test(u.request)
		if !done && err == nil {
			i++
			continue
		}
		t.together = slices.Delete(t.together, i, i+1)
		u.o.Over(err)
		did = true
	}
	return did
}
