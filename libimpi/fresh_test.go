package libimpi

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// costing is a reader whose reads take some time.
type costing struct {
	transport.Reader
	read, copied time.Duration
}

func (c costing) Cost() (read, copied time.Duration) { return c.read, c.copied }

func TestLongMessagesAreReadWhereThatIsWorthIt(t *testing.T) {
	for _, c := range []struct {
		name         string
		read, copied time.Duration
		patient, on  bool
		direct       bool
	}{
		{"quick", 2500, 1200, false, false, true},
		{"quick, crowded", 2500, 1200, true, false, true},
		{"slow", 6300, 1200, false, false, true},
		{"slow, crowded", 6300, 1200, true, false, false},
		{"too slow", 9000, 1200, false, false, false},
		{"cannot", 0, 0, false, false, false},
		{"forced", 9000, 1200, true, true, true},
	} {
		e := &Engine{mu: futex.On(new(uint32))}
		e.waiting.patient.Store(c.patient)
		e.ways.local.reader = costing{read: c.read, copied: c.copied}
		if e.SetReadAll(c.on); e.protocol.Rules.On != c.direct {
			t.Errorf("%s: direct %v", c.name, e.protocol.Rules.On)
		}
	}
}

// findAll makes an engine find every read slow, or none.
func (e *Engine) findAll(slow bool) {
	e.protocol.Rules.Cost.Read, e.protocol.Rules.Cost.Copied = time.Minute, time.Minute
	if slow {
		e.protocol.Rules.Cost.Read, e.protocol.Rules.Cost.Copied = 1, 1
	}
}

// exchangeOne sends n bytes from one engine to another, and returns how many of them the receiver has read.
func exchangeOne(t *testing.T, es []*Engine, copied *counts, n int) int {
	t.Helper()
	before := copied.read
	data, in := pattern(n, n), bytes.Repeat([]byte{gapByte}, n+1)
	recv := es[1].World().Irecv(at(in), int64(n), byteT, 0, 0)
	send := es[0].World().Isend(at(data), int64(n), byteT, 1, 0, Synchronous)
	finishAll(t, es, es[1], &recv)
	finishAll(t, es, es[0], &send)
	if !bytes.Equal(in[:n], data) || in[n] != gapByte {
		t.Fatalf("%d bytes: wrong data", n)
	}
	return copied.read - before
}

// nearAndFar makes engines with rings that are stored to past the caches, or not. Their time goes on when they look at
// it, so that none finds that the other has been away.
func nearAndFar(t *testing.T, past bool) []*Engine {
	es := makeWorld(t, options{clients: []int{2}, direct: true})
	at := time.Now()
	for _, e := range es {
		e.protocol.Rules.Past = past
		e.now = func() time.Time {
			at = at.Add(100 * time.Nanosecond)
			return at
		}
	}
	return es
}

// slowEnough is after how many slow reads messages go through the ring.
const slowEnough = 8

func TestFreshDataGoesThroughTheRing(t *testing.T) {
	for _, n := range []int{2 * direct.Section, direct.Fresh - 1, direct.Fresh} {
		es := nearAndFar(t, false)
		copied := es[1].countCopies()
		es[1].findAll(true)
		for i := range slowEnough {
			if exchangeOne(t, es, copied, n) == 0 {
				t.Fatalf("%d bytes, message %d: nothing was read", n, i)
			}
		}
		if exchangeOne(t, es, copied, n) != 0 {
			t.Errorf("%d bytes: read, although reading has been slow", n)
		}
		if exchangeOne(t, es, copied, direct.Fresh+1) == 0 {
			t.Errorf("a message of more than %d bytes went through the ring", direct.Fresh)
		}
		es[0].waiting.patient.Store(true)
		if exchangeOne(t, es, copied, n) == 0 {
			t.Errorf("%d bytes went through the ring, although ranks outnumber cores", n)
		}
		es[0].waiting.patient.Store(false)
		es[0].protocol.Rules.ReadAll = true
		if exchangeOne(t, es, copied, n) == 0 {
			t.Errorf("%d bytes went through the ring, although all is to be read", n)
		}
		for _, e := range es {
			idle(t, e, 0)
		}
	}
}

// TestFreshMessagesOfAllLengthsArrive sends both ways at once, in all ways that their receives may be there.
func TestFreshMessagesOfAllLengthsArrive(t *testing.T) {
	for _, n := range []int{17 << 10, direct.Section, direct.Section + 1, 64<<10 - 64, 64 << 10, 96<<10 + 5,
		direct.Fresh} {
		for _, room := range []int{n, n + 100, n - 7, direct.Section + 3, 16 << 10, 3} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d bytes into %d, late %v", n, room, late), func(t *testing.T) {
					es := nearAndFar(t, false)
					lengths := [2]int{n, direct.Fresh + direct.Section - n} // what each sends
					var in [2][]byte
					var send, recv [2]uint64
					post := func() {
						for i, e := range es {
							in[i] = bytes.Repeat([]byte{gapByte}, 2*direct.Fresh)
							recv[i] = e.World().Irecv(at(in[i]), int64([2]int{2 * direct.Fresh, room}[i]), byteT, 1-i, 0)
						}
					}
					if !late {
						post()
					}
					for i, e := range es {
						e.findAll(true)
						for range slowEnough {
							e.peers[1-i].Fresh.Tell(2)
						}
						send[i] = e.World().Isend(at(pattern(lengths[i], i)), int64(lengths[i]), byteT, 1-i, 0, Standard)
					}
					if late {
						settle(es...)
						post()
					}
					for i, e := range es {
						id := recv[i]
						until(t, es, "a receive", func() bool { done, err := e.Test(&id, nil); return done || err != nil })
						finishAll(t, es, e, &send[i])
					}
					for i, got := range []int{lengths[1], min(n, room)} {
						if !bytes.Equal(in[i][:got], pattern(lengths[1-i], 1-i)[:got]) || in[i][got] != gapByte {
							t.Errorf("rank %d received wrong data", i)
						}
					}
					for _, e := range es {
						idle(t, e, 0)
					}
				})
			}
		}
	}
}
