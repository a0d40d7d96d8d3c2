package vendor

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// restTime is how long Finish leaves the core to others after looking in vain for a while.
const (
	restTime = 20 * time.Microsecond
	restless = 1000 // looks
)

// Finish implements transport.Finisher. The library may end only when every message has been received. So all meet
// first, and still acknowledge what the others send; then each learns how many messages all have sent to it, and
// receives as many.
func (t *Transport) Finish(deadline time.Time) error {
	if t.over {
		return nil
	}
	t.watch.stop()
	t.finishing = true
	defer func() { t.over = true }()
	barrier, err := t.mpi.Begin(0, &transport.Operation{Kind: transport.Barrier})
	if err != nil {
		return err
	}
	if err := t.until(deadline, "come to the end", t.done(barrier)); err != nil {
		return err
	}
	t.silent = true
	idle := func() (bool, error) { return len(t.sending) == 0 && len(t.moving) == 0, nil }
	if err := t.until(deadline, "received what was sent to them", idle); err != nil {
		return err
	}
	var sums []byte // of what all have sent to each
	for _, n := range t.posted {
		sums = binary.NativeEndian.AppendUint32(sums, n)
	}
	sum, err := t.mpi.Begin(0, &transport.Operation{Kind: transport.Allreduce, Recv: sums, Count: len(t.posted),
		Type: abi.MPI_UINT32_T, Op: abi.MPI_SUM})
	if err != nil {
		return err
	}
	if err := t.until(deadline, "said what they have sent", t.done(sum)); err != nil {
		return err
	}
	mine := binary.NativeEndian.Uint32(sums[4*t.rank:])
	all := func() (bool, error) { return t.taken == mine && len(t.arriving) == 0 && len(t.moving) == 0, nil }
	if err := t.until(deadline, "sent what they owe", all); err != nil {
		return err
	}
	return t.withdraw()
}

// done asks whether an operation is.
func (t *Transport) done(r Request) func() (bool, error) {
	return func() (bool, error) {
		if r == Done {
			return true, nil
		}
		return t.mpi.Test(r)
	}
}

// until looks after the library until something is so.
func (t *Transport) until(deadline time.Time, what string, is func() (bool, error)) error {
	t.inside = true
	defer func() { t.inside = false }()
	for n := 0; ; n++ {
		if ok, err := is(); ok || err != nil {
			return err
		}
		t.fetchRest()
		did := t.turn()
		for _, p := range t.mourned {
			return p.err
		}
		switch {
		case did:
			n = 0
		case n < restless:
		case time.Now().After(deadline):
			return fmt.Errorf("vendor: the processes of this client have not all %s in time", what)
		default:
			time.Sleep(restTime)
		}
	}
}

// Abort implements transport.Finisher. That the others are to end is the business of whoever has started them.
func (t *Transport) Abort() {
	t.watch.stop()
	t.over = true
}
