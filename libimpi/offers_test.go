package libimpi

import (
	"bytes"
	stdcontext "context"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// offering is the network of a fake job that takes offers. What is fetched is there at once, and the next polls tell.
type offering struct {
	*fake.Network
	e       *Engine
	all     []*offering                 // by rank
	offered map[transport.Offer]offered // to it, and not fetched
	back    []uint64
	made    int
}

type offered struct {
	payload []byte
	id      uint64
}

const (
	mostOffered = 2000
	mostOffers  = 16
)

func (o *offering) Offers(dst int32) int {
	if len(o.all[dst].offered) == mostOffers {
		return 0
	}
	return mostOffered
}

func (o *offering) Offer(h *transport.Header, payload []byte) bool {
	name := transport.NewOffer(o.made%256, int64(len(payload)))
	h.Addr = uint64(name)
	if h.Len != 0 || len(payload) == 0 {
		panic("an offer of nothing, or with something else")
	}
	if !o.Network.Send(h, nil) {
		return false
	}
	o.all[h.Dst].offered[name] = offered{payload, h.SrqID}
	o.made++
	return true
}

func (o *offering) Fetch(src int32, name transport.Offer, into []byte, id uint64) {
	at := o.offered[name]
	delete(o.offered, name)
	if into != nil {
		if copy(into, at.payload) != len(at.payload) {
			panic("not all of an offer is fetched")
		}
		o.back = append(o.back, id)
	}
	o.all[src].back = append(o.all[src].back, at.id)
	o.all[src].e.ring()
}

func (o *offering) Poll() bool {
	did, back := o.Network.Poll(), o.back
	o.back = nil
	for _, id := range back {
		o.e.Released(id)
		did = true
	}
	return did
}

// left counts what is not over.
func (o *offering) left() (n int) { return len(o.offered) + len(o.back) }

// offerers makes the engines of a client of two processes that talk by a transport that takes offers.
func offerers(t *testing.T) (*fake.World, []*Engine, []*offering) {
	w := fake.New(fake.Options{Machines: []int{1, 1}, Seed: 5, Late: 5})
	by := []*offering{{}, {}}
	var es []*Engine
	for i := range by {
		open := func(ctx stdcontext.Context, r transport.Receiver, wake func()) (transport.Links, error) {
			l, err := w.Open(i)(ctx, r, wake)
			*by[i] = offering{Network: l.Network.(*fake.Network), all: by, offered: map[transport.Offer]offered{}}
			l.Vendor, l.VendorName, l.Network = by[i], "another library", nil
			return l, err
		}
		e, err := New(stdcontext.Background(), Config{Job: w.Job(i), Home: w.Home(i), Open: open, Thread: background.Never})
		if err != nil {
			t.Fatal(err)
		}
		by[i].e = e
		es = append(es, e)
	}
	return w, es, by
}

// Messages of more than the slots of a process, of all lengths and modes, are received in another order, and into
// memory that is too short or has gaps.
func TestOffersArriveWhateverTheReceiverIs(t *testing.T) {
	w, es, by := offerers(t)
	lengths := []int{100, 257, 2000, 2001, 9000}
	const n = 3 * mostOffers
	of := func(i int) int { return lengths[i%len(lengths)] }
	must(t, w.Run(func(rank int) {
		c := es[rank].World()
		var ids []uint64
		var in [][]byte
		if rank == 0 {
			for i := range n {
				mode := []SendMode{Standard, Synchronous}[i%2]
				ids = append(ids, c.Isend(at(pattern(of(i), i)), int64(of(i)), byteT, 1, int32(i), mode))
			}
		} else {
			gaps, err := datatype.Vector(1000, 1, 2, byteT)
			must(t, err)
			gaps.Commit()
			must(t, c.Barrier())
			for i := n - 1; i >= 0; i-- {
				in = append(in, make([]byte, 9000))
				count, typ := int64(9000), byteT
				switch i % 3 {
				case 1:
					count = int64(of(i)) - 1 // too short
				case 2:
					count, typ = 4, gaps
				}
				ids = append(ids, c.Irecv(at(in[len(in)-1]), count, typ, 0, int32(i)))
			}
		}
		if rank == 0 {
			must(t, c.Barrier())
		}
		for k := range ids {
			err := es[rank].Wait(&ids[k], nil)
			if rank == 0 {
				must(t, err)
				continue
			}
			checkOffered(t, n-1-k, of(n-1-k), in[k], err)
		}
		must(t, es[rank].Finish())
	}))
	if by[0].made < mostOffers || by[0].left()+by[1].left() > 0 {
		t.Errorf("%d offers were made, and %d are left", by[0].made, by[0].left()+by[1].left())
	}
}

// checkOffered looks at message i of n bytes, which one of the receives of that test has got.
func checkOffered(t *testing.T, i, n int, in []byte, err error) {
	t.Helper()
	want := pattern(n, i)
	switch i % 3 {
	case 0:
		must(t, err)
	case 1:
		wantClass(t, err, abi.MPI_ERR_TRUNCATE)
		want = want[:n-1]
	case 2:
		if n > 4000 {
			wantClass(t, err, abi.MPI_ERR_TRUNCATE)
			want = want[:4000]
		} else {
			must(t, err)
		}
		got := make([]byte, 0, len(want))
		for k := range want {
			got = append(got, in[k/1000*1999+k%1000*2])
		}
		in = got
	}
	if !bytes.Equal(in[:len(want)], want) {
		t.Errorf("message %d of %d bytes has changed", i, n)
	}
}

// A send that is cancelled is over when the transport has returned its memory, and its slot is free then.
func TestOffersThatAreCancelledAreFetchedAndThrownAway(t *testing.T) {
	w, es, by := offerers(t)
	must(t, w.Run(func(rank int) {
		c := es[rank].World()
		for range 3 * mostOffers {
			if rank == 0 {
				id := c.Isend(at(pattern(5000, 1)), 5000, byteT, 1, 1, Standard)
				must(t, c.Send(nil, 0, byteT, 1, 2, Standard)) // what is cancelled has left
				must(t, es[0].Cancel(id))
				var st CStatus
				if must(t, es[0].Wait(&id, &st)); !st.Cancelled() {
					t.Fatal("it is not cancelled")
				}
				must(t, c.Send(nil, 0, byteT, 1, 3, Standard))
			} else {
				for tag := range int32(2) {
					must(t, c.Recv(nil, 0, byteT, 0, tag+2, nil))
				}
			}
		}
		must(t, es[rank].Finish())
	}))
	if by[0].made != 3*mostOffers || by[0].left()+by[1].left() > 0 {
		t.Errorf("%d offers were made, and %d are left", by[0].made, by[0].left()+by[1].left())
	}
}
