package bulk

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Distance is what is known of the way from this core's caches to those of who reads what it stores. Two cores may
// share a cache or not, and on a virtual machine that changes. It shows in how long it takes to store some of what is
// stored anyway, looked at now and then. A look may be disturbed, by the first touch of a page for one, or since
// another process had the core, so only several that agree change the choice. The zero value knows nothing.
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

// Apart reports whether the reader shares no cache with this core.
func (d *Distance) Apart() bool { return d.Looks >= pastLooks }

// Due counts a piece that is long enough and reports whether one should look with it.
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

// LeastApart is the number of bytes from which on stores past the caches are better to cores that share no cache with
// this one; where they share one, they are from Least on. Measured on an AMD EPYC (Zen 4), a broadcast to such a core
// by vector registers and past the caches, us: 2 KiB 0.62 and 0.25, 4 KiB 1.35 and 0.43; an allgather of 4 KiB 2.2 and
// 0.88. Between cores that share a cache: a broadcast of 4 KiB 0.35 and 0.42, an allgather 0.47 and 0.78.
const LeastApart = 2 << 10

// short is the distance to all who read the pieces from LeastApart bytes on that C stores.
var short struct {
	sync.Mutex
	Distance
}

// A short look is at so many bytes at most, and finds no shared cache if a line takes longer than this: 6 to 7 ns where
// there is one, 20 to 27 ns where there is none.
const (
	shortLook = 4 << 10
	apartLine = 13 * time.Nanosecond
)

// Look stores a piece as Store does, looks by its first bytes how far its reader is, and returns from how many bytes on
// stores past the caches are the better way as far as that is known. Where ranks outnumber cores they are never, or
// from Least on.
func Look(dst, src []byte) (past int) {
	n := min(len(src), shortLook)
	start := time.Now()
	copy(dst, src[:n])
	stored.Store(1)
	took := time.Since(start)
	if rest := src[n:]; len(rest) > 0 {
		Store(dst[n:], rest)
	}
	short.Lock()
	defer short.Unlock()
	return short.looked(n, took)
}

// looked takes a look of so many bytes into account.
func (d *Distance) looked(bytes int, took time.Duration) (past int) {
	d.note(took, apartLine*time.Duration(bytes/lineBytes))
	switch apart, crowded := d.Apart(), Crowded.Load(); {
	case apart && !crowded:
		return LeastApart
	case apart || !crowded:
		return Least
	}
	return math.MaxInt
}

// stored is a word of which a store waits for all before it: a core goes on while those of a few lines are under way.
var stored atomic.Uint32

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
