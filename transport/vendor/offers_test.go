package vendor

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// offering is a packet that offers n bytes of a message of 100.
func offering(slot int, n int64) packet {
	b := packet(make([]byte, headerLen))
	b.put(&transport.Header{Kind: transport.DataSync, MsgLen: 100, SrqID: 5}, 0, 0)
	b.offer(transport.NewOffer(slot, n))
	return b
}

// badOffers are packets that offer something, and break the rules.
func badOffers() map[string]packet {
	all := map[string]packet{
		"an offer of nothing":                 offering(0, 0),
		"an offer of more than the message":   offering(0, 101),
		"an offer in no slot":                 offering(slots, 10),
		"an offer with a payload":             append(offering(0, 1), 'x'),
		"an offer with a whole message":       offering(0, 10),
		"an offer with a long payload":        offering(0, 10),
		"an offer of more than there ever is": offering(0, maxOffer+1),
		"an offer with unknown flags":         offering(0, 10),
		"a fetch of what is not offered":      offering(0, 10),
	}
	all["an offer with unknown flags"][1] |= 8
	all["a fetch of what is not offered"][56] = 1
	all["an offer with a whole message"][0] = byte(transport.Data)
	all["an offer with a long payload"][1] |= flagLong
	le.PutUint64(all["an offer of more than there ever is"][24:], 1<<40)
	return all
}

func TestASecondOfferInASlotIsABreach(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	var rx owner
	b := make1(t, w, 1, &rx, nil)
	say(t, w, 0, 1, tagPacket, offering(3, 10))
	say(t, w, 0, 1, tagPacket, offering(4, 10))
	for range 10 {
		b.Poll()
	}
	if len(rx.lost) > 0 || rx.packets != 2 {
		t.Fatalf("%d offers came, lost: %v", rx.packets, rx.lost)
	}
	say(t, w, 0, 1, tagPacket, offering(3, 20))
	for range 10 {
		b.Poll()
	}
	if len(rx.lost) != 1 || rx.packets != 2 {
		t.Errorf("%d offers came, lost: %v", rx.packets, rx.lost)
	}
}

// owner is a receiver to which memory is returned.
type owner struct {
	sink
	back []uint64
}

func (o *owner) Released(id uint64) { o.back = append(o.back, id) }

func TestNothingIsOfferedToAReceiverThatIsNotTold(t *testing.T) {
	w := newWorld(2, 0, 0)
	if n := make1(t, w, 0, &sink{}, nil).Offers(1); n != 0 {
		t.Errorf("%d bytes", n)
	}
	if n := make1(t, w, 1, &owner{}, nil).Offers(0); n <= maxPacket {
		t.Errorf("%d bytes", n)
	}
}

// Some offers have been delivered when the end comes, some not, and one is fetched.
func TestOffersThatNobodyHasFetchedAreReceivedAtTheEnd(t *testing.T) {
	for _, eager := range []int{0, 1 << 30} {
		w := newWorld(2, eager, 2)
		var rx [2]owner
		a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
		memory := bytes.Repeat([]byte("abc"), 1000)
		offer := func(slot int) transport.Offer {
			h := transport.Header{Kind: transport.DataSync, Src: 0, Dst: 1, SrqID: uint64(slot) + 1, MsgLen: 1 << 20}
			if !a.Offer(&h, memory) {
				t.Fatal("there is no room")
			}
			return transport.NewOffer(slot, int64(len(memory)))
		}
		first := offer(0)
		offer(1)
		for polls := 0; rx[1].packets < 2 && polls < 100; polls++ {
			b.Poll()
		}
		offer(2)
		b.Fetch(0, first, make([]byte, len(memory)), 7)
		var wg sync.WaitGroup
		for _, tr := range []*Transport{a, b} {
			wg.Go(func() {
				if err := tr.Finish(time.Now().Add(time.Minute)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if m, r := w.left(); m > 0 || r > 0 || rx[1].packets != 2 {
			t.Errorf("%d messages and %d requests are left, %d offers were delivered", m, r, rx[1].packets)
		}
	}
}
