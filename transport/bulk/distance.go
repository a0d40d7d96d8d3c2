package bulk

import (
	"sync"
	"time"
)

// Distance is what is known of the way from this core's caches to those of who reads what it stores. Two cores may
// share a cache or not, and on a virtual machine that changes. It shows in how long it takes to store some of what is
// stored anyway, looked at now and then. A look may be disturbed, by the first touch of a page for one, or since
// another process had the core: several of them change what is done. The zero value knows nothing.
type Distance struct {
	Pieces uint32 // that were long enough
	Looks  int32  // that found no cache shared, less the others
}

const (
	lookBytes  = 8 << 10 // of a piece are stored to look
	looksEvery = 32      // pieces
	pastLooks  = 2       // so many more that found none than did; at most twice as many are counted

	// A look finds no shared cache if it takes longer: 1.1 to 4 us between cores apart, 0.3 to 0.9 us between others. Who
	// stores for a reader of its own core, too, loses more by a wrong guess.
	apartTime   = 700 * time.Nanosecond
	crowdedTime = 2 * time.Microsecond
)

// Apart says whether the reader shares no cache with this core.
func (d *Distance) Apart() bool { return d.Looks >= pastLooks }

// Due counts a piece that is long enough and answers whether one should look with it.
func (d *Distance) Due(n int) bool {
	if n < lookBytes {
		return false
	}
	d.Pieces++
	return d.Pieces%looksEvery == 0
}

// note takes a look into account.
func (d *Distance) note(took, limit time.Duration) {
	if took > limit {
		d.Looks = min(d.Looks+1, 2*pastLooks)
	} else {
		d.Looks = max(d.Looks-1, 0)
	}
}

// Carry copies a piece, past the caches if the reader is apart, and looks by its first bytes if it is to.
func (d *Distance) Carry(dst, src []byte, look bool) { d.carry(dst, src, look, apartTime) }

func (d *Distance) carry(dst, src []byte, look bool, limit time.Duration) {
	at := 0
	if look {
		start := time.Now()
		at = copy(dst[:lookBytes], src)
		d.note(time.Since(start), limit)
	}
	if d.Apart() && PastIfApart() {
		at += StorePast(dst[at:], src[at:])
	}
	Copy(dst[at:], src[at:])
}

// crowd is the distance to all who read what this process stores, where ranks outnumber cores.
var crowd struct {
	sync.Mutex
	Distance
}

// storeCrowded is Store where ranks outnumber cores. Two threads need not wait for each other's turn to look.
func storeCrowded(dst, src []byte) int {
	if !crowd.TryLock() {
		return copy(dst, src)
	}
	crowd.carry(dst, src, crowd.Due(len(src)), crowdedTime)
	crowd.Unlock()
	return len(src)
}
