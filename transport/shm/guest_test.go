package shm

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// Two segments in one process, whose ranks are each other's guests. What needs a guest that dies is in
// guest_process_test.go.

// visitor is the number of the guest in most tests.
const visitor = 7000

// alone is a rank of a segment of n, in this process.
func alone(tb testing.TB, n int, r *receiver) *Transport {
	s := attach(tb, create(tb, n), n-1)
	tb.Cleanup(func() { s.Close() })
	return newTransport(tb, s, r)
}

// introduce makes guests of each other's of two transports of this process, under these numbers.
func introduce(tb testing.TB, a, b *Transport, ofB, ofA int32) {
	tb.Helper()
	p, err := a.Offer()
	if err != nil {
		tb.Fatal(err)
	}
	pair, homeA, localA := p.Descriptors()
	homeB, localB := b.Residence()
	theirs := dup(tb, pair)
	if err := b.Admit(ofA, theirs, dup(tb, homeA), localA, false); err != nil {
		tb.Fatal(err)
	}
	if err := a.Admit(ofB, pair, dup(tb, homeB), localB, true); err != nil {
		tb.Fatal(err)
	}
}

// visit is a pair of guests: of segments of so many ranks.
func visit(tb testing.TB, na, nb int, ra, rb *receiver) (a, b *Transport) {
	a, b = alone(tb, na, ra), alone(tb, nb, rb)
	introduce(tb, a, b, visitor, visitor)
	return a, b
}

func TestGuestsExchangePacketsWhateverTheirSegments(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {2, 300}, {300, 2}, {16, 64}} {
		var atA, atB, wantA, wantB []packet
		a, b := visit(t, n[0], n[1], keep(&atA), keep(&atB))
		r := rand.New(rand.NewPCG(7, uint64(n[0])))
		refused := 0
		send := func(from, to *Transport, want *[]packet) {
			p := randomPacket(r, from)
			p.H.Src, p.H.Dst = from.me, visitor
			for !from.Send(&p.H, p.Payload) {
				refused++
				if !to.Poll() {
					t.Fatalf("%v: refused by an empty ring", n)
				}
			}
			p.H.Src, p.H.Dst = visitor, to.me
			*want = append(*want, p)
		}
		for a.peers[a.Local(visitor)].out.tail < 10*a.ring || b.peers[b.Local(visitor)].out.tail < 10*b.ring {
			send(a, b, &wantB)
			send(b, a, &wantA)
		}
		for a.Poll() || b.Poll() {
		}
		same(t, wantA, atA)
		same(t, wantB, atB)
		if refused == 0 {
			t.Errorf("%v: no ring was ever full", n)
		}
	}
}

func TestAGuestHasAnIndexBehindTheRanks(t *testing.T) {
	a, b := visit(t, 3, 1, &receiver{}, &receiver{})
	if i := a.Local(visitor); i != 3 {
		t.Errorf("index %d behind ranks 0 to 2", i)
	}
	if i := b.Local(visitor); i != 1 {
		t.Errorf("index %d behind rank 0", i)
	}
	for _, number := range []int32{-1, visitor - 1, visitor + 1, 1<<31 - 1} {
		if i := a.Local(number); i != -1 {
			t.Errorf("index %d of %d, who is not there", i, number)
		}
	}
	for k := range int32(3) {
		c := alone(t, 1, &receiver{})
		introduce(t, a, c, visitor+10+k, 5)
		if i := a.Local(visitor + 10 + k); i != 4+int(k) {
			t.Errorf("index %d of the next", i)
		}
	}
	a.Part(visitor + 10)
	a.Part(visitor)
	for _, want := range []int{4, 3, 7} { // the one that was free first; then new ones
		c := alone(t, 1, &receiver{})
		number := visitor + 100 + int32(want)
		introduce(t, a, c, number, 5)
		if i := a.Local(number); i != want {
			t.Errorf("index %d, want %d", i, want)
		}
	}
}

func TestWhatWasSentBeforePartingArrives(t *testing.T) {
	var got []packet
	a, b := visit(t, 1, 2, &receiver{}, keep(&got))
	h := transport.Header{Dst: visitor, Len: 1000, MsgLen: 1000}
	sent := 0
	for a.Send(&h, bytes.Repeat([]byte{byte(sent)}, 1000)) {
		sent++
	}
	if b.Parted(visitor) {
		t.Error("parted from the start")
	}
	a.Part(visitor)
	if !a.Parted(visitor) || a.Local(visitor) != -1 {
		t.Error("who has been parted with is there still")
	}
	if b.Parted(visitor) {
		t.Error("parted before all was delivered")
	}
	for b.Poll() {
	}
	if len(got) != sent || got[sent-1].Payload[0] != byte(sent-1) {
		t.Fatalf("%d of %d packets", len(got), sent)
	}
	if !b.Parted(visitor) {
		t.Error("not parted after all was delivered")
	}
	for range 2 * b.ring / 1000 { // nobody reads it: that must not look like a lack of room for ever
		if !b.Send(&h, make([]byte, 1000)) {
			t.Fatal("no room")
		}
	}
	b.CheckPeers()
	b.Part(visitor)
	b.Part(visitor)
	if r := b.rx.(*receiver); r.nlost != 0 || !b.Parted(visitor) {
		t.Errorf("lost %d times", r.nlost)
	}
}

func TestANumberThatIsNobodysMeansNothing(t *testing.T) {
	a, _ := visit(t, 1, 1, &receiver{}, &receiver{})
	a.Part(visitor)
	h := transport.Header{Dst: visitor, Len: 3, MsgLen: 3}
	src := source("abc")
	if !a.Send(&h, []byte("abc")) || !a.SendFrom(&h, &src) {
		t.Error("a packet for nobody is not dropped")
	}
	a.Hold(a.me, visitor, true)
	if a.Held(a.me, visitor) || a.Spin(visitor, 3) || a.CanRead(visitor) || a.Read(visitor, 0, make([]byte, 1)) ||
		a.Write(visitor, 0, make([]byte, 1)) || a.Move(visitor, make([]transport.Run, 1), nil, false) {
		t.Error("somebody is there")
	}
	*a.Claims(visitor, true, transport.ClaimSlots-1) = 1 // whose nobody sees
	a.Part(1 << 30)
	if !a.Parted(1<<30) || a.Poll() || a.CheckPeers() {
		t.Error("something is left")
	}
}

func TestGuestsHoldAndShareClaims(t *testing.T) {
	a, b := visit(t, 1, 2, &receiver{}, &receiver{})
	a.Hold(a.me, visitor, true)
	h := transport.Header{Dst: visitor}
	n := 0
	for ; b.Send(&h, nil); n++ {
		a.Poll()
		if b.Held(b.me, visitor) {
			break
		}
	}
	if n > int(b.ring)/lineBytes {
		t.Fatal("hold is not heard")
	}
	a.Hold(a.me, visitor, false)
	if b.Held(b.me, visitor) {
		t.Error("release is not heard")
	}
	*a.Claims(visitor, true, 3) = 33
	*a.Claims(visitor, false, 4) = 44
	if got := []uint64{*b.Claims(visitor, false, 3), *b.Claims(visitor, true, 4)}; !slices.Equal(got, []uint64{33, 44}) {
		t.Errorf("claims are %v", got)
	}
}

func TestAPartFromWithinADelivery(t *testing.T) {
	var a *Transport
	ra := &receiver{}
	a, b := visit(t, 1, 1, ra, &receiver{})
	other := alone(t, 1, &receiver{})
	introduce(t, a, other, 8000, 8000)
	before := descriptors(t)
	n := 0
	ra.deliver = func(h *transport.Header, p []byte) {
		n++
		a.Part(visitor)
		a.Part(8000)
		if string(p) != "first" && string(p) != "first and more than fits into a line of the ring" {
			t.Errorf("the packet has become %q", p)
		}
		if a.Local(h.Src) != -1 {
			t.Error("still there")
		}
	}
	for _, from := range []*Transport{b, other} {
		h := transport.Header{Dst: from.seg.guests[0].number}
		for _, text := range []string{"first and more than fits into a line of the ring", "second"} {
			h.Len, h.MsgLen = len(text), uint64(len(text))
			from.Send(&h, []byte(text))
		}
	}
	for a.Poll() {
	}
	if n != 1 || ra.nlost != 0 || a.mourn != 0 || len(a.leaving) != 0 || len(a.senders) != 0 {
		t.Errorf("%d packets, %d losses, %d to mourn, %d leave, %d send", n, ra.nlost, a.mourn, len(a.leaving),
			len(a.senders))
	}
	if now := descriptors(t); now >= before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
}

func TestWhoIsNoGuestIsRefused(t *testing.T) {
	a, b := alone(t, 2, &receiver{}), alone(t, 3, &receiver{})
	first := alone(t, 1, &receiver{})
	introduce(t, a, first, visitor, visitor)
	good := func() int {
		fd, err := createPair()
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	changed := func(change func(h *pairHeader)) int {
		fd := good()
		var b [lineBytes]byte
		unix.Pread(fd, b[:], 0)
		change(pairHeaderOf(b[:]))
		unix.Pwrite(fd, b[:], 0)
		return fd
	}
	mem := func(size int64, seals int) int {
		fd, err := memfd()
		if err != nil {
			t.Fatal(err)
		}
		unix.Ftruncate(fd, size)
		var b [lineBytes]byte
		*pairHeaderOf(b[:]) = pairHeader{magic: pairMagic, version: pairVersion, ringBytes: maxRingBytes, bytes: pairBytes}
		unix.Pwrite(fd, b[:], 0)
		unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		return fd
	}
	null := func() int {
		fd, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	home, _ := b.Residence()
	mine, _ := a.Residence()
	homeB, empty := func() int { return dup(t, home) }, func() int { return create(t, 2) }
	for name, c := range map[string]struct {
		number     int32
		pair, home int
		local      int
		says       string
	}{
		"a rank's number":          {101, good(), homeB(), 2, "101 of a guest is in use"},
		"a guest's number":         {visitor, good(), homeB(), 2, "in use"},
		"a negative number":        {-1, good(), homeB(), 2, "in use"},
		"no such rank":             {8000, good(), homeB(), 3, "rank 3 of the 3"},
		"a negative rank":          {8000, good(), homeB(), -1, "rank -1"},
		"a rank that never came":   {8000, good(), homeB(), 0, errNoGuest.Error()},
		"nobody in the segment":    {8000, good(), dup(t, empty()), 0, errNoGuest.Error()},
		"our own segment":          {8000, good(), dup(t, mine), 0, errOwnSegment.Error()},
		"our own segment as pair":  {8000, dup(t, mine), homeB(), 2, errNoPair.Error()},
		"a segment as pair":        {8000, dup(t, home), homeB(), 2, errNoPair.Error()},
		"a pair as segment":        {8000, good(), good(), 0, "another job"},
		"a device as segment":      {8000, good(), null(), 0, "another job"},
		"a device as pair":         {8000, null(), homeB(), 2, errNoPair.Error()},
		"nothing as segment":       {8000, good(), -1, 0, "another job"},
		"nothing as pair":          {8000, -1, homeB(), 2, "descriptor -1"},
		"a pair that may shrink":   {8000, mem(pairBytes, unix.F_SEAL_GROW), homeB(), 2, errNoPair.Error()},
		"a pair that is too short": {8000, mem(pairBytes-1, unix.F_SEAL_SHRINK), homeB(), 2, "damaged"},
		"a pair that is too long":  {8000, mem(pairBytes+1, unix.F_SEAL_SHRINK), homeB(), 2, "damaged"},
		"a pair nobody may write":  {8000, mem(pairBytes, unix.F_SEAL_SHRINK|unix.F_SEAL_WRITE), homeB(), 2, "mapping"},
		"no magic":                 {8000, changed(func(h *pairHeader) { h.magic++ }), homeB(), 2, errNoPair.Error()},
		"a newer pair":             {8000, changed(func(h *pairHeader) { h.version++ }), homeB(), 2, "layout version 2"},
		"other rings":              {8000, changed(func(h *pairHeader) { h.ringBytes *= 2 }), homeB(), 2, "damaged"},
		"another size":             {8000, changed(func(h *pairHeader) { h.bytes++ }), homeB(), 2, "damaged"},
	} {
		before := descriptors(t)
		taken := 0
		for _, fd := range []int{c.pair, c.home} {
			if id, err := fileOf(fd); err == nil && id != a.seg.id {
				taken++
			}
		}
		err := a.Admit(c.number, c.pair, c.home, c.local, false)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if got := before - descriptors(t); got != taken {
			t.Errorf("%s: %d of %d descriptors are closed", name, got, taken)
		}
	}
	if a.Local(8000) != -1 || a.guestCount() != 1 || len(a.seg.homes) != 1 || len(a.senders) != 1 {
		t.Error("something of those is left")
	}
	introduce(t, a, b, 8000, 8000) // and this one may come
	if got := a.Local(8000); got != 3 {
		t.Errorf("index %d", got)
	}
}

// TestAdmissionsAndPartingsLeaveNothing counts descriptors, addresses and memory.
func TestAdmissionsAndPartingsLeaveNothing(t *testing.T) {
	a, b := alone(t, 2, &receiver{}), alone(t, 1, &receiver{})
	round := func(k int) {
		introduce(t, a, b, visitor, visitor)
		h := transport.Header{Dst: visitor, Len: 5000, MsgLen: 5000}
		if k%2 == 0 {
			a.Send(&h, make([]byte, 5000))
			b.Send(&h, make([]byte, 5000))
			a.Poll()
		}
		a.Part(visitor)
		b.Part(visitor)
	}
	for k := range 10 {
		round(k)
	}
	before, size, rss := descriptors(t), status(t, "VmSize:"), status(t, "VmRSS:")
	for k := range 1000 {
		round(k)
	}
	if now := descriptors(t); now != before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
	if now := status(t, "VmSize:"); now > size+100<<20 { // Go's own heap may grow
		t.Errorf("%d bytes of addresses, %d before: a pair has %d", now, size, addressBytes())
	}
	if now := status(t, "VmRSS:"); now > rss+50<<20 {
		t.Errorf("%d bytes of memory, %d before", now, rss)
	}
	if len(a.seg.guests) != 1 || len(a.seg.rooms) != 1 || len(a.seg.homes) != 0 || a.guestCount() != 0 {
		t.Errorf("%d places, %d homes and %d guests", len(a.seg.guests), len(a.seg.homes), a.guestCount())
	}
}

// status is a line of /proc/self/status, in bytes.
func status(t *testing.T, name string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text))
	i := slices.Index(fields, name)
	n := 0
	for _, c := range fields[i+1] {
		n = 10*n + int(c-'0')
	}
	return n << 10
}

// TestGuestsOfOneSegmentShareItsDescriptor, of which there may be few.
func TestGuestsOfOneSegmentShareItsDescriptor(t *testing.T) {
	const n = 20
	a := alone(t, 1, &receiver{})
	fd := create(t, n)
	var all []*Transport
	for i := range n {
		s := attach(t, fd, i)
		defer s.Close()
		all = append(all, newTransport(t, s, &receiver{}))
	}
	before := descriptors(t)
	var got []packet
	a.rx = keep(&got)
	for i, x := range all {
		introduce(t, a, x, visitor+int32(i), 1)
		a.Send(&transport.Header{Dst: visitor + int32(i)}, nil)
		x.Send(&transport.Header{Dst: 1}, nil)
	}
	for a.Poll() {
	}
	seen := map[int32]bool{}
	for _, p := range got {
		seen[p.H.Src-visitor] = true
	}
	if len(got) != n || len(seen) != n || !seen[0] || !seen[n-1] {
		t.Errorf("%d packets, from %v", len(got), seen)
	}
	// Each of them has one of ours; we have one of theirs.
	if now := descriptors(t); now != before+n+1 {
		t.Errorf("%d descriptors more", now-before)
	}
}

// TestAPairTakesMemoryWhenItTalks, and as much as the segments of the two would take.
func TestAPairTakesMemoryWhenItTalks(t *testing.T) {
	a, b := alone(t, 64, &receiver{}), alone(t, 300, &receiver{})
	p, err := a.Offer()
	if err != nil {
		t.Fatal(err)
	}
	pair, homeA, localA := p.Descriptors()
	homeB, localB := b.Residence()
	watch := dup(t, pair)
	defer unix.Close(watch)
	if err := b.Admit(visitor, dup(t, pair), dup(t, homeA), localA, false); err != nil {
		t.Fatal(err)
	}
	if err := a.Admit(visitor, pair, dup(t, homeB), localB, true); err != nil {
		t.Fatal(err)
	}
	a.Poll()
	b.Poll()
	page := os.Getpagesize()
	if got := inUse(t, watch); got > 3*page {
		t.Errorf("%d bytes before anything was sent", got)
	}
	a.Send(&transport.Header{Dst: visitor}, nil)
	b.Send(&transport.Header{Dst: visitor}, nil)
	if got := inUse(t, watch); got > 3*page+ringSize(64)+ringSize(300) {
		t.Errorf("%d bytes after a packet", got)
	}
}

func TestMessagesOfGuestsCostNoAllocation(t *testing.T) {
	a, b := visit(t, 2, 2, &receiver{}, &receiver{})
	data := make([]byte, 8<<10)
	for _, size := range []int{0, 8, 1 << 10, 8 << 10} {
		h := transport.Header{Dst: visitor, Len: size, MsgLen: uint64(size)}
		var src source
		n := testing.AllocsPerRun(500, func() {
			src = data
			if !a.Send(&h, data) || !a.SendFrom(&h, &src) || !b.Poll() || b.Spin(visitor, 1) {
				t.Fatal("no room")
			}
		})
		if n != 0 {
			t.Errorf("%d bytes: %v allocations", size, n)
		}
	}
}

// TestThreadsMayLookAtAGuestThatLeaves: they look for packets, and wake peers, without the engine's lock.
func TestThreadsMayLookAtAGuestThatLeaves(t *testing.T) {
	a, b := visit(t, 1, 1, &receiver{}, &receiver{})
	at := a.Local(visitor)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				a.Spin(visitor, 20)
				a.seg.Ring(at)
				a.Local(visitor)
				runtime.Gosched()
			}
		})
	}
	for range 300 {
		b.Send(&transport.Header{Dst: visitor}, nil)
		if v := b.seg.Bell(); b.seg.PrepareSleep(v) { // so that it is woken
			runtime.Gosched()
			b.seg.DoneSleep(v)
		}
		a.Poll()
		a.Part(visitor)
		b.Part(visitor)
		introduce(t, a, b, visitor, visitor)
	}
	stop.Store(true)
	wg.Wait()
}

func TestASegmentThatClosesPartsWithItsGuests(t *testing.T) {
	s := attach(t, create(t, 1), 0)
	a, rb := newTransport(t, s, &receiver{}), &receiver{}
	b := alone(t, 1, rb)
	before := descriptors(t)
	introduce(t, a, b, visitor, visitor)
	a.Send(&transport.Header{Dst: visitor}, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if b.Parted(visitor) || !b.Poll() || !b.Parted(visitor) {
		t.Error("not parted in order")
	}
	if b.CheckPeers(); rb.nlost != 0 {
		t.Error("lost")
	}
	b.Part(visitor)
	if now := descriptors(t); now != before-1 {
		t.Errorf("%d descriptors, %d before", now, before)
	}
}
