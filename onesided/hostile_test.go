package onesided

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Requests to a window that no origin of ours sends, from two origins. They are carried out in the order in which they
// come. Whatever they say, nothing beyond the window changes, little memory is taken, and the lock is one.

// hostileForms are descriptions of types that two origins send: elements that lie far from each other, or on top of
// each other, more of them than there is memory, before their address, and next to gaps.
func hostileForms(tb testing.TB) (forms [][]byte) {
	must := func(t *datatype.Type, err error) *datatype.Type {
		if err != nil {
			tb.Fatal(err)
		}
		return t
	}
	long := datatype.Named(abi.MPI_INT64_T)
	same := must(datatype.Hvector(1<<50, 1, 0, long))
	for _, t := range []*datatype.Type{
		must(datatype.Hvector(3, 2, 1<<40, long)),
		same,
		must(datatype.Hvector(8, 2, 8, long)),
		must(datatype.Hvector(4, 1, -16, long)),
		must(datatype.Hindexed([]int64{1 << 40, 1}, []int64{0, 8 * 63}, must(datatype.Resized(long, 0, 0)))),
		must(datatype.Struct([]int64{1, 1}, []int64{0, 8 * 40}, []*datatype.Type{same, long})),
		must(datatype.Contiguous(0, long)),
		must(datatype.Resized(must(datatype.Hindexed([]int64{1}, []int64{1 << 62}, long)), 0, 1<<61)),
	} {
		form, err := t.Append(nil)
		if err != nil {
			tb.Fatal(err)
		}
		forms = append(forms, form)
	}
	return forms
}

// lockModel is the lock of a window as it should be: first come, first served.
type lockModel struct {
	holders, waiting []lockWanted
}

func (l *lockModel) ask(rank int, exclusive bool) bool {
	isRank := func(x lockWanted) bool { return x.rank == rank }
	if slices.ContainsFunc(l.holders, isRank) || slices.ContainsFunc(l.waiting, isRank) {
		return false
	}
	l.waiting = append(l.waiting, lockWanted{rank, exclusive})
	l.grant()
	return true
}

func (l *lockModel) giveBack(rank int) bool {
	i := slices.IndexFunc(l.holders, func(x lockWanted) bool { return x.rank == rank })
	if i < 0 {
		return false
	}
	l.holders = slices.Delete(l.holders, i, i+1)
	l.grant()
	return true
}

func (l *lockModel) grant() {
	for len(l.waiting) > 0 {
		next := l.waiting[0]
		if len(l.holders) > 0 && (next.exclusive || l.holders[0].exclusive) {
			return
		}
		l.holders, l.waiting = append(l.holders, next), l.waiting[1:]
	}
}

// holds reports whether the lock of a window is as the model says.
func (l *lockModel) holds(w *Window) bool {
	for r := range w.requests.origins {
		state := lockFree
		if slices.ContainsFunc(l.holders, func(x lockWanted) bool { return x.rank == r }) {
			state = lockGranted
		} else if slices.ContainsFunc(l.waiting, func(x lockWanted) bool { return x.rank == r }) {
			state = lockAsked
		}
		if w.requests.origins[r].lock != state {
			return false
		}
	}
	return w.requests.lock.holders == len(l.holders)
}

// said is what a fuzzer has origins say.
type said struct {
	b     []byte
	forms [][]byte
}

func (s *said) next() byte {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return x
}

func (s *said) number() int64 {
	numbers := [...]int64{0, 1, 2, 3, 7, 8, 16, 63, 64, 65, 4096, 4097, 1 << 31, 1 << 40, 1 << 49, 1 << 50, 1<<62 - 1,
		1 << 62, 1<<63 - 1, -1, -8, -1 << 62, -1 << 63}
	return numbers[int(s.next())%len(numbers)]
}

// request is who asks, and for what. base is where the window begins, if displacements are addresses.
func (s *said) request(base int64) (source int32, r Request) {
	source = 1 + int32(s.next()&1)
	r = Request{Kind: Kind(s.next() % 16), Tag: int32(s.next() & 1), Disp: s.number(), Count: s.number(),
		First: s.number(), Elements: s.number(), Op: uint16(abi.MPI_SUM + int(s.next())%16)}
	if s.next()&7 > 0 {
		r.Disp += base
	}
	if x := s.next(); x&1 == 0 {
		r.Slot = uint16(abi.MPI_DATATYPE_NULL + int(x)%80)
	} else {
		i := int(x>>1) % (len(s.forms) + 1)
		r.Slot = firstSlot + uint16(i)
		if i < len(s.forms) {
			r.Type = s.forms[i]
		}
	}
	switch x := s.next(); {
	case x < 128:
		r.Data = make([]byte, 8*(int64(x)%65))
	case x < 160:
		r.Type = r.Type[:int(x)%(len(r.Type)+1)]
	}
	return source, r
}

// obeyed is the answer of a target whose lock is as the model says; false: it is not.
func obeyed(w *Window, l *lockModel, source int32, r *Request) bool {
	got, want := w.obey(source, r), true
	switch r.Kind {
	case AskLock, AskExclusive:
		want = l.ask(int(source), r.Kind == AskExclusive)
	case TellUnlock:
		want = l.giveBack(int(source))
	default:
		want = got
	}
	return got == want && l.holds(w)
}

// tellRequests has two origins say something to windows of both kinds, which have 64 elements each.
func tellRequests(t *testing.T, b []byte) {
	forms := hostileForms(t)
	for _, flavor := range []int{abi.MPI_WIN_FLAVOR_CREATE, abi.MPI_WIN_FLAVOR_DYNAMIC} {
		mem := programs(t, 8+64+8)
		windowOf(t, flavor, mem[8:], func(w *Window) {
			mine := buf(mem[8:], 64, int64Type)
			base := int64(0)
			if flavor == abi.MPI_WIN_FLAVOR_DYNAMIC { // two regions that touch, and a gap
				base = int64(addressAt(mine.Base))
				for at, n := range map[uint64]int64{0: 128, 128: 128, 320: 192} {
					if err := w.Attach(uint64(base)+at, n); err != nil {
						t.Error(err)
					}
				}
			}
			w.engine.Lock()
			defer w.engine.Unlock()
			s, l := said{b, forms}, lockModel{}
			for len(s.b) > 0 {
				source, r := s.request(base)
				parsed, ok := Parse(r.Append(nil))
				if !ok || parsed.Kind == AskPutLong || parsed.Kind == AskGet {
					continue // they begin messages that nobody takes
				}
				if !obeyed(w, &l, source, &parsed) {
					t.Fatalf("request %d of rank %d has left the lock as %+v", parsed.Kind, source, w.requests.lock)
				}
			}
			for i, x := range mem {
				if outside := i < 8 || i >= 72 || flavor == abi.MPI_WIN_FLAVOR_DYNAMIC && i >= 40 && i < 48; outside && x != 0 {
					t.Errorf("element %d beyond the window is %d", i-8, x)
				}
			}
		})
	}
}

// FuzzRequestsOfTwoOrigins has the data of a fuzzer told, and begins with some 10,000 random requests.
func FuzzRequestsOfTwoOrigins(f *testing.F) {
	rng := rand.New(rand.NewPCG(11, 13))
	for range 100 {
		random := make([]byte, 1200)
		for i := range random {
			random[i] = byte(rng.Uint32())
		}
		f.Add(random)
	}
	f.Fuzz(tellRequests)
}

// sentTo has a window of three processes, whose memory is 64 elements, obey what its target is sent.
func sentTo(t *testing.T, body func(w *Window)) {
	windowOf(t, abi.MPI_WIN_FLAVOR_CREATE, make([]int64, 64), func(w *Window) {
		w.engine.Lock()
		defer w.engine.Unlock()
		body(w)
	})
}

// windowOf gives body the first process's part, 64 elements of memory, of a window of three.
func windowOf(t *testing.T, flavor int, mem []int64, body func(w *Window)) {
	f := NewFake([]int{0, 0, 0}, 0)
	f.NoRead = true
	f.Run(t, func(e *FakeEngine) {
		own := mem
		if e.Me != 0 {
			own = make([]int64, 64)
		}
		w, err := e.New(Config{Flavor: flavor, Base: buf(own, 64, int64Type).Base, Size: 512, Unit: 8})
		if err != nil {
			t.Error(err)
		} else if e.Me == 0 {
			body(w)
		}
	})
}

func TestWhoWaitsForALockHasNoneToGiveBack(t *testing.T) {
	sentTo(t, func(w *Window) {
		say := func(rank int32, k Kind) bool { return w.obey(rank, &Request{Kind: k}) }
		if !say(1, AskExclusive) || !say(2, AskExclusive) {
			t.Fatal("two processes cannot ask for the lock")
		}
		if say(2, TellUnlock) {
			t.Error("a process that waits has given the lock back")
		}
		if q := &w.requests.lock; q.holders != 1 || !q.exclusive || len(q.waiting) != 1 {
			t.Errorf("the lock is %+v", q)
		}
		if !say(1, TellUnlock) || w.requests.origins[2].lock != lockGranted || !say(2, TellUnlock) {
			t.Error("the lock does not pass on to who has waited")
		}
		if say(1, TellUnlock) {
			t.Error("a process has given the lock back twice")
		}
	})
}

func TestAnswersThatNobodyHasAskedForAreRefused(t *testing.T) {
	sentTo(t, func(w *Window) {
		for _, k := range []Kind{TellGranted, TellFlushed} {
			if w.obey(1, &Request{Kind: k}) {
				t.Errorf("answer %d has been taken", k)
			}
		}
	})
}

// TestAPieceIsNoLongerThanItsOriginMaySend asks for elements all of which lie on top of each other.
func TestAPieceIsNoLongerThanItsOriginMaySend(t *testing.T) {
	form := hostileForms(t)[1]
	sentTo(t, func(w *Window) {
		r := Request{Kind: AskAccumulate, Count: 1, Op: uint16(abi.MPI_NO_OP), Tag: 1, Slot: firstSlot,
			Type: form, Elements: 1 << 50}
		most := pieceElements(int64Type, datatype.Native)
		for _, n := range []int64{1 << 50, 1 << 40, most + 1} {
			if r.Elements = n; w.obey(1, &r) {
				t.Errorf("%d elements have been got in a piece", n)
			}
		}
		if r.Elements = most; !w.obey(1, &r) {
			t.Errorf("%d elements cannot be got in a piece", most)
		}
	})
}

// TestARequestDoesNotMakeItsTargetLookForLong gets 2^50 elements one by one, one of which is beyond the first region.
func TestARequestDoesNotMakeItsTargetLookForLong(t *testing.T) {
	mem := make([]int64, 64)
	base := int64(addressAt(buf(mem, 1, int64Type).Base))
	list := Regions{{uint64(base), 128}, {uint64(base) + 320, 192}}
	typ, err := datatype.Decode(hostileForms(t)[5])
	if err != nil {
		t.Fatal(err)
	}
	typ.Commit()
	b := coll.Buf{Count: 1, Type: typ}
	if held := list.Hold(base, b, 0, b.Size(), mostLooked); held != HeldUnknown {
		t.Errorf("2^50 elements in two regions are held: %v", held)
	}
	if held := list.Hold(base, b, 8, 8*1000, mostLooked); held != HeldAll {
		t.Errorf("some of 2^50 elements in two regions are held: %v", held)
	}
	runtime.KeepAlive(mem)
}
