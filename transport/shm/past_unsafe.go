package shm

import (
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bulk"
)

// A processor with a quick string instruction copies by that whatever the way is (package bulk). For others, and for
// data that is packed into the ring, it matters.
//
// Two cores may share a cache or not, and on a virtual machine that changes. Where they do not, to store into a ring is
// slow: each line has to be fetched first from the cache of the core that read it last, and given back when it is read
// again. Stores past the caches need no line, and the reader's prefetcher hides that it then comes from memory.
// Measured between cores that hand each other a line in 0.18 us (GB/s, pieces of 32 KiB): 128 KiB 5.7 and 15.6, 4 MiB
// 5.2 and 17.1.
//
// Which it is, shows in how long a store into the ring takes, looked at now and then. A look may be disturbed, by the
// first touch of a page for one: several of them change what is done.

const (
	pastBytes = 4 << 10 // pieces from this length on go past the caches
	lookBytes = 8 << 10 // of a piece are stored the other way to look

	// A look finds no shared cache if it takes longer: 1.1 us between cores apart, 0.3 us between others.
	pastTime = 700 * time.Nanosecond

	looksEvery = 32 // pieces
	pastLooks  = 2  // so many more that found none than did; at most twice as many are counted
)

// distance is what is known of the way to a peer's cache.
type distance struct {
	pieces uint32
	looks  int32 // that found no cache shared with the peer, less the others
}

func (d *distance) apart() bool { return d.looks >= pastLooks }

// due counts a piece that is long enough and answers whether one should look with it.
func (d *distance) due(n int) bool {
	if n < lookBytes {
		return false
	}
	d.pieces++
	return d.pieces%looksEvery == 0
}

func (d *distance) note(took time.Duration) {
	if took > pastTime {
		d.looks = min(d.looks+1, 2*pastLooks)
	} else {
		d.looks = max(d.looks-1, 0)
	}
}

// quickStrings is a variable for tests: a processor that has them would never take the other way.
var quickStrings = bulk.Strings

// store copies a piece into a ring.
func (d *distance) store(dst, src []byte) {
	if quickStrings() || len(src) < pastBytes || !bulk.CanStorePast {
		bulk.Copy(dst, src)
		return
	}
	d.carry(dst, src, d.due(len(src)))
}

func (d *distance) carry(dst, src []byte, look bool) {
	at := 0
	if look {
		start := time.Now()
		at = copy(dst[:lookBytes], src)
		d.note(time.Since(start))
	}
	if d.apart() && !quickStrings() {
		at += bulk.StorePast(dst[at:], src[at:])
	}
	bulk.Copy(dst[at:], src[at:])
}

// pack is store for a piece that p produces: where the cores are apart aside first, into this core's cache, which costs
// a tenth where they are not.
func (d *distance) pack(dst []byte, p transport.Packer, aside *[]byte) {
	if len(dst) < pastBytes || !bulk.CanStorePast {
		p.Pack(dst)
		return
	}
	look := d.due(len(dst))
	if !look && !d.apart() {
		p.Pack(dst)
		return
	}
	if *aside == nil {
		*aside = make([]byte, maxPacket)
	}
	src := (*aside)[:len(dst)]
	p.Pack(src)
	d.carry(dst, src, look)
}
