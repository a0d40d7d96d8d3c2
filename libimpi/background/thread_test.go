package background

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// fake is an engine for which parts of messages arrive, and the attention of its progress thread.
type fake struct {
	sync.Mutex
	arrived int // parts that nobody has taken in
	polls   int
	ticks   uint32
	failed  bool

	state   sync.Mutex // guards what follows
	change  *sync.Cond
	armed   bool
	alerts  int
	naps    []time.Duration
	relaxed int
	ends    bool
	napping func() // called in each nap, without locks
}

func newFake() *fake {
	f := &fake{}
	f.change = sync.NewCond(&f.state)
	return f
}

func (f *fake) Poll() bool {
	f.polls++
	did := f.arrived > 0
	if did {
		f.arrived--
	}
	return did
}

func (f *fake) Ticks() uint32 { return f.ticks }
func (f *fake) Failed() bool  { return f.failed }

func (f *fake) Arm() bool {
	f.state.Lock()
	defer f.state.Unlock()
	was := f.armed
	f.armed = true
	return !was
}

func (f *fake) Disarm() {
	f.state.Lock()
	defer f.state.Unlock()
	f.armed = false
}

func (f *fake) Alert() {
	f.state.Lock()
	defer f.state.Unlock()
	if f.armed {
		f.armed = false
		f.alerts++
		f.change.Broadcast()
	}
}

func (f *fake) AwaitAlert() bool {
	f.state.Lock()
	defer f.state.Unlock()
	for f.alerts == 0 && !f.ends {
		f.change.Wait()
	}
	if f.ends {
		f.ends = false
		return false
	}
	f.alerts--
	return true
}

func (f *fake) Nap(d time.Duration) {
	f.state.Lock()
	f.naps = append(f.naps, d)
	f.state.Unlock()
	if f.napping != nil {
		f.napping()
	}
}

func (f *fake) Relax() {
	f.state.Lock()
	defer f.state.Unlock()
	f.relaxed++
	f.change.Broadcast()
}

func (f *fake) Dismiss() {
	f.state.Lock()
	defer f.state.Unlock()
	f.ends = true
	f.change.Broadcast()
}

// served returns when the thread has done n times what it was woken for, and is done with the lock.
func (f *fake) served(t *testing.T, th *Thread, n int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Microsecond) {
		f.Lock()
		f.state.Lock()
		done := f.relaxed >= n && !th.busy
		f.state.Unlock()
		f.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the progress thread does not come")
		}
	}
}

// with runs f under the lock, as the engine calls a thread.
func (f *fake) with(do func()) {
	f.Lock()
	defer f.Unlock()
	do()
}

func newThread(f *fake) *Thread {
	th := new(Thread)
	th.Use(f, f)
	return th
}

func TestTheThreadTakesInWhatArrivesWhileTheProgramIsAway(t *testing.T) {
	f := newFake()
	th := newThread(f)
	f.with(th.Begun)
	f.with(th.Away)
	for n := 1; n <= 3; n++ {
		f.with(func() { f.arrived = 5 })
		f.Alert()
		f.served(t, th, n)
		f.with(func() {
			if f.arrived != 0 {
				t.Errorf("%d parts are left", f.arrived)
			}
		})
	}
	th.Dismiss()
}

func TestThereIsNoThreadWhereNothingIsLong(t *testing.T) {
	f := newFake()
	th := newThread(f)
	f.with(th.Enter)
	f.with(th.Leave)
	f.with(th.Begun)
	f.with(th.Over)
	f.with(th.Away)
	if th.ended != nil || f.armed {
		t.Error("there is a thread")
	}
	th.Dismiss() // has nothing to end
}

func TestTheThreadIsDisarmedWhileTheProgramWaits(t *testing.T) {
	f := newFake()
	th := newThread(f)
	f.with(th.Begun)
	f.with(th.Enter)
	f.with(th.Enter)
	f.with(th.Leave)
	if f.armed || th.Inside() != 1 {
		t.Errorf("armed %v with %d threads inside", f.armed, th.Inside())
	}
	f.with(th.Leave)
	if !f.armed {
		t.Error("it is not armed when the last thread has left")
	}
	f.with(th.Enter)
	if f.armed {
		t.Error("it is armed while a thread waits")
	}
	th.Dismiss()
}

// A program that comes back to MPI at once needs no help, and the thread keeps away: longer after each alert in vain,
// up to a bound.
func TestTheThreadPausesAfterAlertsInVain(t *testing.T) {
	f := newFake()
	th := newThread(f)
	f.napping = func() { f.with(func() { f.ticks++ }) } // the program polls
	f.with(th.Begun)
	f.with(th.Away)
	const alerts = 8
	for n := 1; n <= alerts; n++ {
		f.Alert()
		f.served(t, th, n)
	}
	var want []time.Duration
	for n := range alerts {
		want = append(want, nap, min(shortPause<<n, longPause))
	}
	if !slices.Equal(f.naps, want) || f.polls != alerts+1 { // one each time that it is armed
		t.Errorf("naps %v, want %v; %d polls", f.naps, want, f.polls)
	}
	f.napping = nil
	f.Alert()
	f.served(t, th, alerts+1)
	f.with(func() {
		if th.pause != 0 {
			t.Errorf("it pauses for %v after an alert that was not in vain", th.pause)
		}
	})
	th.Dismiss()
}

func TestTheThreadStopsWhenAPeerIsLost(t *testing.T) {
	f := newFake()
	th := newThread(f)
	f.with(th.Begun)
	f.with(th.Away)
	f.with(func() { f.failed, f.arrived = true, 1<<30 }) // it would poll for ever
	f.Alert()
	f.served(t, th, 1)
	th.Dismiss()
}

func TestADismissedThreadMayComeBack(t *testing.T) {
	f := newFake()
	th := newThread(f)
	for n := range 3 {
		f.with(th.Begun)
		f.with(th.Away)
		f.with(func() { f.arrived = 1 })
		f.Alert()
		f.served(t, th, n+1)
		th.Dismiss()
		if th.ended != nil {
			t.Fatal("it has not ended")
		}
		f.Disarm()
		f.with(th.Over)
	}
}

func TestAThreadThatIsNotUsedDoesNothing(t *testing.T) {
	th := new(Thread)
	th.Enter()
	th.Leave()
	th.Away()
	th.Dismiss()
	if th.Used() {
		t.Error("it is used")
	}
}

func TestTheSettingOfTheProgressThread(t *testing.T) {
	for s, want := range map[string]Policy{"": WhereFree, "0": Never, "1": Always} {
		if got, err := ParsePolicy(s); got != want || err != nil {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	if _, err := ParsePolicy("yes"); err == nil {
		t.Error("yes is taken")
	}
	for p, want := range map[Policy][2]bool{WhereFree: {true, false}, Always: {true, true}, Never: {false, false}} {
		if got := [2]bool{p.Allows(false), p.Allows(true)}; got != want {
			t.Errorf("policy %d: %v, want %v", p, got, want)
		}
	}
}
