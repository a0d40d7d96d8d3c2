package libimpi

import (
	"slices"
	"sync/atomic"
)

// laneRoom is how the memory for a board's lanes is used. It is the same at all members, who take lanes in the same
// order, and give them back together.
//
// A member does not know when the others free a request. So a lane stays given until there is no room for another one,
// which all members find in the same call: they count these calls. Rank 0 then takes back the lanes whose requests all
// members have freed, as far as it sees that, clears their memory, and says which ones and by which call; the others do
// likewise when it has. So it waits for nobody, and the others for it alone, as when the board is opened: members may
// make operations on several communicators in different orders. They write on a page at the begin of the memory:
//
//	decided                  calls that rank 0 has made
//	for each place of a lane:
//	  back                   the call by which its lane was taken back last
//	  for each member:
//	  freed                  the last operation that had the place and that the member has freed
//
// A lane's number is its offset divided by the size of the shortest lane, so it is unique.
type laneRoom struct {
	given []*givenLane // by where they begin
	made  uint64       // lanes, so far
	calls uint64       // that have found no room
	notes []uint64     // what is written
	first int          // byte behind it
	step  int          // bytes of the shortest lane
}

// givenLane is the memory of a lane, in bytes from the beginning of that for all lanes.
type givenLane struct {
	at, end int
	number  uint64  // of those that have been made
	freed   *uint64 // where this member says that it no longer needs it
}

// free says that this member no longer needs the lane.
func (g *givenLane) free() { atomic.StoreUint64(g.freed, g.number) }

// openLanes sees to the memory of the notes.
func (b *commBoard) openLanes() (err error) {
	r := &b.lanes
	if r.notes == nil {
		r.step = b.shared.LaneEnd(0, 0)
		r.notes, r.first, err = b.shared.LaneNotes(1 + mostLanes*(1+b.Size()))
	}
	return err
}

// mostLanes is how many of the shortest ones there is room for, at most.
const mostLanes = 128

// back is the note that says when the lane that begins at a byte was taken back, and freed what a member says of it.
func (b *commBoard) back(at int) *uint64 { return &b.lanes.notes[1+b.placeOf(at)*(1+b.Size())] }

func (b *commBoard) freed(at, member int) *uint64 {
	return &b.lanes.notes[1+b.placeOf(at)*(1+b.Size())+1+member]
}

func (b *commBoard) placeOf(at int) int { return (at - b.lanes.first) / b.lanes.step }

// hasLane reports whether there is a lane for one more operation, whose parts have at most n bytes. All members call it
// alike. Others than rank 0 may wait until that calls it, too.
func (b *commBoard) hasLane(n int64) (bool, error) {
	if err := b.openLanes(); err != nil {
		return false, err
	}
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
	at := b.lanes.first
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

// giveLane gives memory for a lane with parts of at most n bytes; nil: there is no room.
func (b *commBoard) giveLane(n int64) *givenLane {
	i, g := b.placeLane(n)
	if g != nil {
		b.lanes.made++
		g.number, g.freed = b.lanes.made, b.freed(g.at, b.Rank())
		b.lanes.given = slices.Insert(b.lanes.given, i, g)
	}
	return g
}

// takeLanesBack makes room of lanes that no member needs any more.
func (b *commBoard) takeLanesBack() error {
	r := &b.lanes
	r.calls++
	decided, decides := &r.notes[0], b.Rank() == 0
	if !decides {
		if err := b.await(decided, r.calls); err != nil {
			return err
		}
	}
	r.given = slices.DeleteFunc(r.given, func(g *givenLane) bool {
		back := b.back(g.at)
		if decides && b.allFreed(g) {
			b.shared.ClearLanes(g.at, g.end)
			atomic.StoreUint64(back, r.calls)
		}
		return atomic.LoadUint64(back) == r.calls
	})
	if decides {
		atomic.StoreUint64(decided, r.calls)
		b.wake()
	}
	return nil
}

// allFreed reports whether all members have freed the operation that has a lane.
func (b *commBoard) allFreed(g *givenLane) bool {
	for m := range b.Size() {
		if atomic.LoadUint64(b.freed(g.at, m)) != g.number {
			return false
		}
	}
	return true
}
