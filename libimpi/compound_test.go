package libimpi

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

func TestAnExchangeIsDoneWhenBothHalvesAre(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, n := range []int{0, 5, 300000} {
				there, back := pattern(n, 1), pattern(n, 2)
				in, both := make([]byte, n), append([]byte(nil), back...)
				x := a.World().Isendrecv(at(there), int64(n), byteT, dest, 1, at(in), int64(n), byteT, dest, 2)
				if done, err := a.Test(&x, nil); done || err != nil {
					t.Fatalf("%d bytes: done before the other side has come: %t %v", n, done, err)
				}
				y, err := b.World().IsendrecvReplace(at(both), int64(n), byteT, source, 2, source, 1)
				must(t, err)
				st := finishAll(t, es, a, &x)[0]
				finishAll(t, es, b, &y)
				if st.Source != int32(dest) || st.Tag != 2 || st.Bytes() != int64(n) {
					t.Errorf("%d bytes: status %+v", n, st)
				}
				if !bytes.Equal(in, back) || !bytes.Equal(both, there) {
					t.Errorf("%d bytes: wrong bytes", n)
				}
			}
			noFailure(t, es)
		})
	}
}

func TestAnExchangeFailsWithItsReceive(t *testing.T) {
	e := late(t, 1, 1)[0]
	out, in := pattern(8, 1), make([]byte, 4)
	x := e.World().Isendrecv(at(out), 8, byteT, 0, 0, at(in), 4, byteT, 0, 0)
	wantClass(t, e.Wait(&x, nil), abi.MPI_ERR_TRUNCATE)
	if x != nullRequest {
		t.Error("the request is still there")
	}
}

func TestExchangesDoNotAllocate(t *testing.T) {
	e := late(t, 1, 1)[0]
	c := e.World()
	buf := make([]byte, 16)
	run := func() {
		x := c.Isendrecv(at(buf), 8, byteT, 0, 0, at(buf[8:]), 8, byteT, 0, 0)
		if err := e.Wait(&x, nil); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFlushWaitsForWhatWasThereBeforeIt(t *testing.T) {
	es := late(t, 2, 1)
	e, b := es[0], es[1]
	c := e.World()
	big := pattern(1<<20, 1)
	in := make([]byte, len(big))
	must(t, c.AttachBuffer(1<<22))
	wantClass(t, c.AttachBuffer(1), abi.MPI_ERR_BUFFER)
	must(t, c.Bsend(at(big), int64(len(big)), byteT, 1, 0))
	flushed := c.IflushBuffer()
	process := e.IflushBuffer() // another buffer, with nothing in it
	must(t, c.Bsend(at(big), int64(len(big)), byteT, 1, 1))
	if done, err := e.Test(&process, nil); !done || err != nil {
		t.Errorf("the empty buffer: %t %v", done, err)
	}
	settle(es...)
	if done, err := e.Test(&flushed, nil); done || err != nil {
		t.Errorf("before the receive: %t %v", done, err)
	}
	first := b.World().Irecv(at(in), int64(len(in)), byteT, 0, 0)
	finishAll(t, es, b, &first)
	finishAll(t, es, e, &flushed) // although the second message is still inside
	if c.buffer.inside != 1 {
		t.Errorf("%d messages inside, want 1", c.buffer.inside)
	}
	second := b.World().Irecv(at(in), int64(len(in)), byteT, 0, 1)
	finishAll(t, es, b, &second)
	must(t, c.DetachBuffer())
	wantClass(t, c.DetachBuffer(), abi.MPI_ERR_BUFFER)
}
