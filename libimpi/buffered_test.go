package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// restless is a transport on which something moves at each poll, that of others, as if they sent without pause. From
// some poll on the real one is polled.
type restless struct {
	transport.Transport
	polls *int
	from  int
}

func (r restless) Poll() bool {
	if *r.polls++; *r.polls >= r.from {
		r.Transport.Poll()
	}
	return true
}

// A buffered send for which there is no room lets messages leave, and then says so, however much the others send.
func TestABufferedSendDoesNotWaitForOthersToPause(t *testing.T) {
	const n = 1 << 20
	for _, received := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{2}, readAll: true})
		a, b := es[0], es[1]
		out, in := make([]byte, n), make([]byte, n)
		must(t, a.AttachBuffer(n+2*bsendOverhead))
		must(t, a.World().Bsend(at(out), n, byteT, 1, 0))
		if received {
			id := b.World().Irecv(at(in), n, byteT, 0, 0) // reads it, and its answer is in the ring
			finishAll(t, es[1:], b, &id)
		}
		polls := 0
		a.ways.local.Transport = restless{a.ways.local.Transport, &polls, 100}
		err := a.World().Bsend(at(out), n, byteT, 1, 1)
		if received {
			must(t, err)
			continue
		}
		wantClass(t, err, abi.MPI_ERR_BUFFER)
		if polls > 2*reservePolls {
			t.Errorf("%d polls", polls)
		}
	}
}
