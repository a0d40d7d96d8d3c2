package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
)

// laneRoom is how the memory for a board's lanes is used. It is the same at all members, who take lanes in the same
// order, and give them back together.
//
// A member does not know when the others free a request. So a lane stays given, until there is no room for another one:
// then the members, which all find that in the same call, ask each other which requests all of them have freed, clear
// the memory of those, and give it again.
type laneRoom struct {
	given []*givenLane // by where they begin
}

// givenLane is the memory of a lane, in bytes from the beginning of that for all lanes.
type givenLane struct {
	at, end int
	free    atomic.Bool // this member no longer needs it
}

// hasLane says whether there is a lane for one more operation, whose parts have at most n bytes. It is a collective
// operation, and may block until the other members call it, too.
func (b *commBoard) hasLane(n int64) (bool, error) {
	if _, g := b.placeLane(n); g != nil {
		return true, nil
	}
	if err := b.takeLanesBack(); err != nil {
		return false, err
	}
	_, g := b.placeLane(n)
	return g != nil, nil
}

// placeLane is the first memory that is long enough for a lane with parts of at most n bytes, nil if there is none; and
// how many lanes stand before it.
func (b *commBoard) placeLane(n int64) (i int, place *givenLane) {
	at := 0
	for i, g := range b.lanes.given {
		if end := b.shared.LaneEnd(at, n); end >= 0 && end <= g.at {
			return i, &givenLane{at: at, end: end}
		}
		at = g.end
	}
	if end := b.shared.LaneEnd(at, n); end >= 0 {
		return len(b.lanes.given), &givenLane{at: at, end: end}
	}
	return 0, nil
}

// giveLane gives memory for a lane with parts of at most n bytes, for which there is room.
func (b *commBoard) giveLane(n int64) *givenLane {
	i, g := b.placeLane(n)
	if g != nil {
		b.lanes.given = slices.Insert(b.lanes.given, i, g)
	}
	return g
}

// takeLanesBack finds the lanes that no member needs any more, and makes room of them. Each member clears its share of
// their memory, and all wait for each other before they give it again. It is a collective operation.
func (b *commBoard) takeLanesBack() error {
	given := b.lanes.given
	mine, all := make([]uint64, (len(given)+63)/64), make([]uint64, (len(given)+63)/64)
	for i, g := range given {
		if g.free.Load() {
			mine[i/64] |= 1 << (i % 64)
		}
	}
	if err := b.c.Allreduce(countBuf(mine), countBuf(all), op.Predefined(abi.MPI_BAND)); err != nil {
		return err
	}
	me, p := b.Rank(), b.Size()
	b.lanes.given = nil
	for i, g := range given {
		if all[i/64]>>(i%64)&1 == 0 {
			b.lanes.given = append(b.lanes.given, g)
			continue
		}
		bytes := g.end - g.at
		b.shared.ClearLanes(g.at+bytes*me/p, g.at+bytes*(me+1)/p)
	}
	if len(b.lanes.given) == len(given) {
		return nil
	}
	return b.c.Barrier()
}
