package shm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/transport"
)

// Guests are processes of other jobs on the same machine, which have segments of their own. Two processes that are to
// be each other's guests share the memory of a pair (layout.go), and have each other's segment, of which they use the
// control block only. One of the two, who dials, makes the pair:
//
//	dials                                        listens
//	p := Offer(); p.Descriptors()  -- pair, home, local -->
//	                               <-- home, local --  Residence()
//	Admit(number, pair, home, local, true)       Admit(number, pair, home, local, false)
//
// From then on each is a peer of the other's Transport by the number that was given for it, as ranks of the own segment
// are by their world ranks, until Part. Its index among the peers follows those of the segment, and is used again
// later.
//
// A guest's ring is polled from the start: it has no bit in the control block. A death is found by each process itself
// (checkGuests), and ends the link only.

// Pair is the memory of a pair that this process has made for another, with which it is not shared yet.
type Pair struct {
	fd          int
	home, local int
}

// guest is a peer that has a segment of its own.
type guest struct {
	link
	number int32
	at     int // its index among the peers
	home   *home
	rank   int  // there
	other  bool // it is another process: in tests it may be this one, whose record locks cannot be asked for
	pair   int  // descriptor of the pair's memory; -1 once our own ring there is open
	end    int  // of the pair's two ends, ours
	memory *addresses
}

var (
	errOwnSegment = errors.New("shm: a process of this very segment is no guest")
	errParted     = errors.New("shm: the link to the process of another job has ended")
	errNoGuest    = errors.New("shm: the process of another job has ended already, or was never there")

	_ transport.Parter  = (*Transport)(nil)
	_ transport.Indexer = (*Transport)(nil)
)

// Offer makes the memory of a pair: the dialing side does that, once for each process that it dials. Any thread may
// call it, without the engine's lock. Errors are those of the kernel: descriptors or memory are exhausted.
func (t *Transport) Offer() (*Pair, error) {
	fd, err := createPair()
	if err != nil {
		return nil, err
	}
	return &Pair{fd, t.seg.fd, t.seg.rank}, nil
}

// Descriptors are what the other process needs: the descriptors of the pair's memory and of this process's segment, and
// this process's rank there. They stay this process's: the other gets duplicates (SCM_RIGHTS).
func (p *Pair) Descriptors() (pair, home, local int) { return p.fd, p.home, p.local }

// Close gives up a pair whose descriptor Admit has not been given.
func (p *Pair) Close() { unix.Close(p.fd) }

// Residence is what a process that has been dialed answers: the descriptor of its own segment, which stays its own, and
// its rank there. Any thread may call it.
func (t *Transport) Residence() (home, local int) { return t.seg.fd, t.seg.rank }

// Discard closes a descriptor that another process has sent and that Admit has not been given. It has to be used
// instead of close: to close any descriptor of our own segment would tell the ranks of this machine that we are dead,
// so such a one, which nobody has a reason to send, stays open. Any thread may call it.
func (t *Transport) Discard(fd int) { t.seg.discard(fd) }

// Admit makes a guest of the process that is rank local of the segment behind home. pair is the pair's memory: the
// descriptor of the own Pair if this process has offered it, else what the other has sent. number names the guest from
// now on; it is not negative, no world rank of this segment, and no other guest's. It is called under the engine's lock
// and does not block. Both descriptors belong to the Transport, whatever it answers. Nothing in the memory is believed
// before it is checked.
//
// Errors: a descriptor is not what it should be, home is our own segment, the guest has ended already, the number is in
// use, there are more than MaxLocal processes, or those of the kernel.
func (t *Transport) Admit(number int32, pair, home, local int, offered bool) error {
	g := &guest{number: number, rank: local, pair: pair, end: 1}
	if offered {
		g.end = 0
	}
	var err error
	if g.home, err = t.seg.enter(home); err != nil { // it has the descriptor now, or has closed it
		t.Discard(pair)
		return err
	}
	if number < 0 || t.Local(number) >= 0 {
		err = fmt.Errorf("shm: number %d of a guest is in use", number)
	} else if err = checkPair(pair); err == nil {
		err = t.seg.house(g)
	}
	if err != nil {
		t.seg.dismiss(g)
		return err
	}
	if t.noRead || !g.other {
		g.readable = -1
	}
	for len(t.world) <= g.at {
		t.world = append(t.world, -1)
	}
	t.world[g.at] = number
	t.know(func(all map[int32]*guest) { all[number] = g })
	t.senders = append(t.senders, int32(g.at))
	return nil
}

// know replaces the table of guests by a copy that has been changed: other threads may look into it (Spin, Move).
func (t *Transport) know(change func(all map[int32]*guest)) {
	all := map[int32]*guest{}
	if old := t.guests.Load(); old != nil {
		all = maps.Clone(*old)
	}
	change(all)
	t.guests.Store(&all)
}

// guest is the one of a number; nil: there is none.
func (t *Transport) guest(number int32) *guest {
	if all := t.guests.Load(); all != nil {
		return (*all)[number]
	}
	return nil
}

// indexOf is the index of a guest, -1 if there is none of this number. It is apart so that Local is short.
func (t *Transport) indexOf(number int32) int {
	if g := t.guest(number); g != nil {
		return g.at
	}
	return -1
}

// Part implements transport.Parter: what has been sent stays in the pair's memory, which is the other's too. Memory and
// descriptors are given back at once; so they are for a guest that is lost. A number that is no guest's means nothing.
func (t *Transport) Part(number int32) {
	g := t.guest(number)
	if g == nil {
		return
	}
	if g.err == nil {
		t.seg.leave(g, leftInOrder)
	} else if !g.reported {
		t.mourn--
	}
	g.err, g.reported = errParted, true // nothing that is still under way with it is to be reported
	t.shut(g.at)
	t.know(func(all map[int32]*guest) { delete(all, number) })
	if t.inside { // the packet that is being delivered may lie there
		t.leaving = append(t.leaving, g)
		t.mourn++
	} else {
		t.seg.dismiss(g)
	}
}

// Parted implements transport.Parter. A number that is no guest's, or not any more, has parted.
func (t *Transport) Parted(number int32) bool {
	g := t.guest(number)
	if g == nil {
		return true
	}
	return g.err == nil && g.left() == leftInOrder && !t.peers[g.at].in.arrived()
}

// left is how the guest has left: 0, leftInOrder or leftBroken, or whatever it has written there.
func (g *guest) left() uint32 { return atomic.LoadUint32(&g.view().ends[1-g.end].left) }

// leave tells a guest that nothing more will come from us.
func (s *Segment) leave(g *guest, how uint32) {
	atomic.StoreUint32(&g.view().ends[g.end].left, how)
	o := &s.peers[g.at].out
	if atomic.LoadUint32(&o.ctl.sleepers)|s.priv.fence != 0 {
		ring(o.ctl)
	}
	alert(o.ctl)
}

// dead reports whether the guest's process has ended.
func (g *guest) dead() bool { return g.other && unlocked(g.home.fd, g.rank) }

// guestLooks is how many guests are asked for at a time: the kernel goes through the locks of all processes of the
// guest's segment to answer. Those whom the ranks of that segment have found dead, who look after each other, are
// asked for in any case.
const guestLooks = 64

// checkGuests looks for guests that have ended, or broken the link, and reports whether it has delivered anything. It
// looks as rarely as the ranks of a segment of so many do.
func (t *Transport) checkGuests() bool {
	all := t.seg.guests
	now := t.seg.clock()
	if t.guestCount() == 0 || now-t.looked < uint64(t.guestCount())*uint64(lookEvery) {
		return false
	}
	t.looked = now
	did := false
	first := t.look
	for k, g := range all {
		if g == nil || g.err != nil {
			continue
		}
		left := g.left()
		if left == leftBroken {
			t.fail(g.at, fmt.Errorf("shm: %s has found the link to us broken", t.name(g.at)))
			continue
		}
		asked := (k-first+len(all))%len(all) < guestLooks || atomic.LoadUint32(&t.seg.control(g.at).state) == stateDead
		if left == leftInOrder || !asked || !g.dead() {
			continue
		}
		for t.drain(g.at) {
			did = true
		}
		if g.err == nil && g.left() != leftInOrder { // it may have left between the looks
			t.fail(g.at, fmt.Errorf("shm: process %d, %s, has ended", atomic.LoadUint32(&t.seg.control(g.at).pid), t.name(g.at)))
		}
	}
	t.look = (first + guestLooks) % len(all)
	return did
}

func (t *Transport) guestCount() int {
	if all := t.guests.Load(); all != nil {
		return len(*all)
	}
	return 0
}

// Where guests live: the part of it that belongs to the segment.

// house gives a guest its place among the peers and maps what it shares with us.
func (s *Segment) house(g *guest) error {
	if g.rank < 0 || g.rank >= g.home.n {
		return fmt.Errorf("shm: rank %d of the %d of a guest's segment", g.rank, g.home.n)
	}
	i, err := s.vacancy()
	if err != nil {
		return err
	}
	s.guests[i], g.at, g.memory = g, s.n+i, s.rooms[i]
	off := controlOffset + g.rank*controlBytes(g.home.n)
	if err := g.memory.fill(g.pair, g.home.fd, off); err != nil {
		return err
	}
	ctl := g.memory.control(off)
	switch {
	case !unlocked(g.home.fd, g.rank):
		g.other = true
	case atomic.LoadUint32(&ctl.state) != stateAttached || atomic.LoadUint64(&ctl.self) != self:
		return errNoGuest
	}
	if err := reserve(g.pair, 0, pageBytes); err != nil {
		return err
	}
	// The sender reserves the ring when it begins to send. Until then the receiver looks at its first line.
	if err := reserve(g.pair, ringOfPair(1-g.end), pageBytes); err != nil {
		return err
	}
	s.peers[g.at].furnish(g, ctl, ringSize(g.home.n))
	return nil
}

// vacancy is the number of a guest that is not there: the one that has been away for longest, or one more.
func (s *Segment) vacancy() (int, error) {
	if len(s.vacant) > 0 {
		i := s.vacant[0]
		s.vacant = slices.Delete(s.vacant, 0, 1)
		return i, nil
	}
	i := len(s.guests)
	if s.n+i >= MaxLocal {
		return 0, fmt.Errorf("shm: more than %d processes", MaxLocal)
	}
	if err := s.grow(s.n + i + 1); err != nil {
		return 0, err
	}
	room, err := reserveAddresses()
	if err != nil {
		return 0, err
	}
	s.guests, s.rooms = append(s.guests, nil), append(s.rooms, room)
	return i, nil
}

// grow makes private memory large enough for n peers.
func (s *Segment) grow(n int) error {
	if err := unix.Mprotect(s.privMem[:privateBytes(n)], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("shm: private memory for %d peers: %w", n, err)
	}
	return nil
}

// dismiss gives back all that a guest has here, or was to have. Its peer has been closed.
func (s *Segment) dismiss(g *guest) {
	if g.memory != nil {
		g.memory.empty()
		i := g.at - s.n
		s.guests[i], s.vacant = nil, append(s.vacant, i)
	}
	if g.pair >= 0 {
		s.discard(g.pair)
	}
	s.exit(g.home)
}

// openToGuest reserves the memory of our ring to a guest: the pair's descriptor has nothing more to do then.
func (s *Segment) openToGuest(g *guest) error {
	if err := reserve(g.pair, ringOfPair(g.end), s.ringBytes); err != nil {
		return err
	}
	s.discard(g.pair)
	g.pair = -1
	o := &s.peers[g.at].out
	o.limit, o.ring = uint64(s.ringBytes), g.memory.ring(g.end)
	return nil
}
