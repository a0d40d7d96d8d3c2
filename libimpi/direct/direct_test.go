package direct

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

func TestEverySectionIsClaimedOnceFromEitherEnd(t *testing.T) {
	for _, count := range []int64{1, 2, 3, 100, 5000} {
		word := uint64(7 << useShift)
		var got [2]int64
		var wg sync.WaitGroup
		for i, take := range []func(*Claims) bool{
			func(c *Claims) bool { return c.TakeFront(1) }, func(c *Claims) bool { return c.TakeBack(1) },
		} {
			wg.Go(func() {
				c := Claims{word: &word, use: 7, count: count}
				for take(&c) {
					got[i]++
				}
			})
		}
		wg.Wait()
		if got[0]+got[1] != count {
			t.Errorf("%d sections: %d claimed from the front and %d from the back", count, got[0], got[1])
		}
		if word != uint64(7<<useShift|got[1]<<claimBits|got[0]) {
			t.Errorf("%d sections: the word is %#x", count, word)
		}
	}
}

func TestClaimsOfAnotherUseAreNone(t *testing.T) {
	word := uint64(8 << useShift)
	c := Claims{word: &word, use: 7, count: 10}
	if c.Left() != 0 || c.TakeFront(1) || c.TakeBack(1) || word != 8<<useShift {
		t.Errorf("claims of use 7 from a word of use 8, which is now %#x", word)
	}
}

func TestMessagesOfTooManySectionsAreNotShared(t *testing.T) {
	var c Claims
	if !c.Cut(1, 1+claimMask*Section) || c.count != claimMask {
		t.Errorf("%d sections of the longest message", c.count)
	}
	if c.Cut(0, 1+claimMask*Section) {
		t.Error("a longer one is shared")
	}
}

// TestEachByteIsCopiedOnce lets the two sides of a message take their turns in any order, each of which copies what it
// claims, and looks at a memory that counts.
func TestEachByteIsCopiedOnce(t *testing.T) {
	r, trials := rand.New(rand.NewPCG(1, 2)), 300
	if testing.Short() {
		trials = 30 // one thread does all: the race detector finds nothing here
	}
	for range trials {
		length, first := int64(r.IntN(40*Section)+1), int64(0)
		if r.IntN(2) > 0 {
			first = int64(r.IntN(int(length)))
		}
		var word uint64
		var sender, receiver Claims
		if !sender.Cut(first, length) || !receiver.Cut(first, length) {
			t.Fatal("too many sections")
		}
		use := uint16(r.Uint32())
		receiver.Give(&word, use, 0)
		sender.Join(&word, use)
		copied := make([]int, length)
		moved, stop := first, length // by the sender, from the front; and where the receiver has come to, from the back
		for moved < stop {
			before := moved + length - stop
			if r.IntN(2) > 0 {
				n := sender.Share()
				if moved == first && r.IntN(2) > 0 {
					n = sender.Begin()
				}
				switch took := sender.TakeFront(n); {
				case took && r.IntN(4) == 0: // there is no room for it
					if !sender.GiveBack(n) {
						t.Fatal("what has been claimed is not given back")
					}
				case took:
					end := min(moved+n*Section, length)
					for i := moved; i < end; i++ {
						copied[i]++
					}
					moved = end
				}
			} else {
				lo, k := receiver.Last(receiver.Share())
				if k > 0 && receiver.TakeBack(k) {
					for i := lo; i < stop; i++ {
						copied[i]++
					}
					receiver.Back += k
					stop = lo
				}
			}
			if moved+length-stop == before && sender.Left() == 0 {
				break
			}
		}
		for i, n := range copied {
			if want := 1; int64(i) >= first && n != want || int64(i) < first && n != 0 {
				t.Fatalf("%d bytes from %d on: byte %d is copied %d times", length, first, i, n)
			}
		}
	}
}

// TestTheWayOfAMessage has a row for each reason to choose a way.
func TestTheWayOfAMessage(t *testing.T) {
	usual := Rules{On: true, Writes: true}
	const long = 1 << 20
	for _, c := range []struct {
		name string
		r    Rules
		m    Message
		want Way
	}{
		{"it cannot be read", usual, Message{Length: long, Room: long, Slot: true}, Ring},
		{"all is read", Rules{ReadAll: true}, Message{Length: long, Room: 5, First: 7, Readable: true}, Read},
		{"a section", usual, Message{Length: Section, Room: long, Readable: true, Slot: true}, Read},
		{"longer", usual, Message{Length: Section + 1, Room: long, Readable: true, Slot: true}, Share},
		{"some of it is here", usual, Message{Length: Section, Room: long, First: 1, Readable: true, Slot: true}, Share},
		{"it does not fit", usual, Message{Length: Section, Room: 5, Readable: true, Slot: true}, Share},
		{"crowded", usual, Message{Length: crowdBytes, Room: long, Readable: true, Slot: true, Crowded: true}, Read},
		{"crowded, longer", usual, Message{Length: crowdBytes + 1, Room: long, Readable: true, Slot: true,
			Crowded: true}, Share},
		{"as much goes there", usual,
			Message{Length: swapBytes, Room: swapBytes, Readable: true, Slot: true, Waiting: true, Offers: true}, Read},
		{"more goes there", usual,
			Message{Length: swapBytes + 1, Room: 2 * swapBytes, Readable: true, Slot: true, Waiting: true, Offers: true}, Share},
		{"and nobody waits", usual,
			Message{Length: swapLater, Room: long, Readable: true, Slot: true, Offers: true}, Read},
		{"for more", usual,
			Message{Length: swapLater + 1, Room: long, Readable: true, Slot: true, Offers: true}, Share},
		{"better written", usual, Message{Length: swapBytes, Room: swapBytes, Readable: true, Slot: true,
			Written: true}, Write},
		{"better written, short", usual, Message{Length: 100, Room: 100, Readable: true, Slot: true, Written: true}, Write},
		{"better written, long", usual,
			Message{Length: swapBytes + 1, Room: 2 * swapBytes, Readable: true, Slot: true, Written: true}, Share},
		{"better written, and cannot be", Rules{On: true},
			Message{Length: long, Room: long, Readable: true, Slot: true, Written: true}, Share},
		{"too many are shared", usual, Message{Length: long, Room: long, Readable: true}, Later},
		{"too many, and some is here", usual, Message{Length: long, Room: long, First: 1, Readable: true}, Ring},
	} {
		if got := c.r.Way(&c.m); got != c.want {
			t.Errorf("%s: way %d, want %d", c.name, got, c.want)
		}
	}
}

func TestReadsAreSlowIfTheyTakeLongerThanOfTheOwnCachesByMoreThanACopy(t *testing.T) {
	r := Rules{Cost: Cost{Read: 2500 * time.Nanosecond, Copied: 1200 * time.Nanosecond}}
	found := func(bytes int, took time.Duration) uint64 {
		var f Freshness
		f.Note(&r, bytes, took*time.Nanosecond)
		return f.Found()
	}
	for _, c := range []struct {
		bytes int
		took  time.Duration
		want  uint64
	}{
		{transport.CostBytes, 2500, quickRead},
		{transport.CostBytes, 3300, quickRead}, // read before, and not changed since
		{transport.CostBytes, 5700, slowRead},  // just written
		{transport.CostBytes / 2, 1800, quickRead},
		{transport.CostBytes / 2, 3200, slowRead},
		{128 << 10, 5100, quickRead},
		{128 << 10, 10800, slowRead},
		{1 << 20, 48000, quickRead},
		{1 << 20, 88000, slowRead},
	} {
		if got := found(c.bytes, c.took); got != c.want {
			t.Errorf("%d bytes in %d ns: %d, want %d", c.bytes, c.took, got, c.want)
		}
	}
	r.Cost.Read = 6300 * time.Nanosecond // an AMD EPYC
	if found(transport.CostBytes, 7500) != quickRead || found(transport.CostBytes, 9000) != slowRead {
		t.Error("where reading takes long, data in another core's caches is told from the own core's by a copy and a half")
	}
}

// TestTheRingServesFreshMessages goes through the rules of one message after the other.
func TestTheRingServesFreshMessages(t *testing.T) {
	r := Rules{On: true}
	var f Freshness
	ring := func(n int64) bool { return f.Ring(&r, n, false, false) }
	for range slowReads {
		if ring(Fresh) {
			t.Fatal("the ring serves before reading has been slow for long")
		}
		f.Tell(slowRead)
	}
	f.Tell(7) // that is nothing
	if !ring(Fresh) || ring(Fresh+1) || f.Ring(&r, Fresh, true, false) || f.Ring(&r, Fresh, false, true) {
		t.Error("the ring serves other messages than those that it should")
	}
	if r.Past = true; !ring(FreshPast) || ring(FreshPast+1) || !f.Ring(&r, Fresh, true, false) {
		t.Error("a ring that is stored to past the caches serves others than it should")
	}
	if r.ReadAll = true; ring(Fresh) {
		t.Error("all is to be read")
	}
	r, f.passed = Rules{On: true}, 0
	var read []int
	for i := range lookEvery {
		if !ring(Fresh) {
			read = append(read, i)
		}
	}
	if len(read) != looksInARow || !slices.Equal(read[1:2], []int{read[0] + 1}) {
		t.Errorf("of %d messages %v are read", lookEvery, read)
	}
	for range mostSlow {
		f.Tell(slowRead)
	}
	for range looksInARow {
		f.Tell(quickRead)
	}
	if ring(Fresh) {
		t.Error("a row of quick reads does not outweigh the slow ones")
	}
}

func TestWhatIsTimed(t *testing.T) {
	usual := Rules{On: true}
	for name, got := range map[string]bool{
		"a section":             usual.Times(Section, Fresh, false),
		"past, of a collective": (&Rules{On: true, Past: true}).Times(Section, FreshPast, true),
	} {
		if !got {
			t.Errorf("%s is not timed", name)
		}
	}
	for name, got := range map[string]bool{
		"a shorter piece":  usual.Times(Section-1, Fresh, false),
		"a longer message": usual.Times(Section, Fresh+1, false),
		"of a collective":  usual.Times(Section, Fresh, true),
		"nothing is read":  (&Rules{}).Times(Section, Fresh, false),
		"all is read":      (&Rules{On: true, ReadAll: true}).Times(Section, Fresh, false),
	} {
		if got {
			t.Errorf("%s is timed", name)
		}
	}
}
