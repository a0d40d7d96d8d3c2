package simulate

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/coll"
)

// timed records a call of p ranks and returns its time under a model.
func timed(t *testing.T, p int, m Model, call func(c *Rank) error) Time {
	t.Helper()
	s, err := Record(p, MostSteps, call)
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.Run(m)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// passes sends n bytes from rank 0 to rank 1.
func passes(n int64) func(c *Rank) error {
	return func(c *Rank) error {
		switch c.Rank() {
		case 0:
			return c.Send(c.Buf(n), 1, 5)
		case 1:
			return c.Recv(c.Buf(n), 0, 5)
		}
		return nil
	}
}

func TestAMessageCostsWhatTheModelSays(t *testing.T) {
	wan := Hierarchy{Overhead: 2, Levels: []Level{{Span: 1, Latency: 10, ByteGap: 1}, {Span: 2, Latency: 100, Gap: 30},
		{Span: 4, Latency: 1000, ByteGap: 3}}}
	for _, c := range []struct {
		name string
		m    Model
		from int
		to   int
		want Time
	}{
		{"linear", Linear{Alpha: 100, Beta: 3}, 0, 1, 100 + 7*3},
		{"LogGP: o, 6 G, L, o", LogGP{Latency: 50, Overhead: 4, Gap: 5, ByteGap: 2}, 0, 1, 4 + 6*2 + 50 + 4},
		{"inside a machine", wan, 0, 1, 2 + 7 + 10 + 2},
		{"between machines", wan, 0, 2, 2 + 30 + 100 + 2},
		{"between clusters", wan, 3, 4, 2 + 21 + 1000 + 2},
	} {
		got := timed(t, 8, c.m, func(k *Rank) error {
			switch k.Rank() {
			case c.from:
				return k.Send(k.Buf(7), c.to, 1)
			case c.to:
				return k.Recv(k.Buf(7), c.from, 1)
			}
			return nil
		})
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Binomial tree: Traff 2010, 9.3; a ring of p-1 steps of a block: 9.6.
func TestTimesAreThoseOfTheLinearModel(t *testing.T) {
	m := Linear{Alpha: 1000, Beta: 2, Ports: 1}
	for p := 2; p < 70; p++ {
		tree, err := Case{Operation: "bcast", Algorithm: "binomial", Ranks: p, Bytes: 100}.Record(MostSteps)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tree.Run(m); got != Time(bits.Len(uint(p-1)))*1200 || err != nil {
			t.Errorf("bcast among %d: %d, %v", p, got, err)
		}
		ring, err := Case{Operation: "allgather", Algorithm: "ring", Ranks: p, Bytes: 100}.Record(MostSteps)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ring.Run(m); got != Time(p-1)*1200 || err != nil {
			t.Errorf("allgather among %d: %d, %v", p, got, err)
		}
	}
}

// Each of 12 ranks sends to rank 0, which has all receives posted.
func TestPortsAreShared(t *testing.T) {
	for ports, rounds := range map[int]Time{0: 1, 1: 12, 2: 6, 5: 3, 12: 1, 20: 1} {
		gather := func(c *Rank) error {
			if c.Rank() > 0 {
				return c.Send(c.Buf(8), 0, 1)
			}
			var all []coll.Req
			for from := 1; from < c.Size(); from++ {
				q, _ := c.Irecv(c.Buf(8), from, 1)
				all = append(all, q)
			}
			return c.Wait(all...)
		}
		if got := timed(t, 13, Linear{Alpha: 1, Ports: ports}, gather); got != rounds {
			t.Errorf("with %d ports: %d rounds, want %d", ports, got, rounds)
		}
	}
}

// Four ranks of a machine each send to a rank of another machine: the machines have one port, or two.
func TestRanksOfAMachineShareItsPorts(t *testing.T) {
	for ports, want := range map[int]Time{1: 40 + 5, 2: 20 + 5} {
		m := Hierarchy{Levels: []Level{{Span: 1, Ports: 1}, {Span: 4, Latency: 5, Gap: 10, Ports: ports}}}
		got := timed(t, 8, m, func(c *Rank) error {
			if c.Rank() < 4 {
				return c.Send(c.Buf(8), c.Rank()+4, 1)
			}
			return c.Recv(c.Buf(8), c.Rank()-4, 1)
		})
		if got != want {
			t.Errorf("with %d ports: %d, want %d", ports, got, want)
		}
	}
}

// Ranks 0 and 2 share a machine if they have the seats 0 and 1.
func TestRanksAreWhereTheirSeatsAre(t *testing.T) {
	m := Hierarchy{Levels: []Level{{Span: 1, Latency: 5, Gap: 1}, {Span: 2, Latency: 100, Gap: 1}}}
	seated := Seated{Model: m, Seats: []int{0, 2, 1}}
	for to, want := range map[int]Time{1: 101, 2: 6} {
		got := timed(t, 3, seated, func(c *Rank) error {
			switch c.Rank() {
			case 0:
				return c.Send(c.Buf(8), to, 1)
			case to:
				return c.Recv(c.Buf(8), 0, 1)
			}
			return nil
		})
		if got != want {
			t.Errorf("from rank 0 to %d: %d, want %d", to, got, want)
		}
	}
}

// Rank 0 of machine 0 sends 8 bytes to each other rank of five; two of them are on its own machine.
func TestWhatLeavesAMachineIsCounted(t *testing.T) {
	s, err := Record(5, MostSteps, func(c *Rank) error {
		if c.Rank() > 0 {
			return c.Recv(c.Buf(8), 0, 1)
		}
		for to := 1; to < c.Size(); to++ {
			if err := c.Send(c.Buf(8), to, 1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if messages, bytes := s.Leaving(coll.NewMachines([]int32{0, 1, 0, 1, 0})); messages != 2 || bytes != 16 {
		t.Errorf("%d messages of %d bytes leave", messages, bytes)
	}
}

// A late receiver: an eager message is there already, another one begins its way only then.
func TestOnlyARendezvousWaitsForTheReceiver(t *testing.T) {
	for eager, want := range map[int64]Time{8: 500, 7: 500 + 30} {
		m := Hierarchy{Delta: 100, Levels: []Level{{Span: 1, Latency: 10, Gap: 20, Eager: eager}}}
		got := timed(t, 2, m, func(c *Rank) error {
			if c.Rank() == 0 {
				return c.Send(c.Buf(8), 1, 1)
			}
			if err := c.Copy(c.Buf(5), c.Buf(5)); err != nil {
				return err
			}
			return c.Recv(c.Buf(8), 0, 1)
		})
		if got != want {
			t.Errorf("eager up to %d bytes: %d, want %d", eager, got, want)
		}
	}
}

func TestMessagesAreMatchedByTagAndInOrder(t *testing.T) {
	s, err := Record(2, MostSteps, func(c *Rank) error {
		if c.Rank() == 0 {
			for i, tag := range []int{1, 2, 1} {
				if _, err := c.Isend(c.Buf(int64(10+i)), 1, tag); err != nil {
					return err
				}
			}
			return c.Wait(1, 2, 3)
		}
		for _, m := range []struct{ tag, n int }{{2, 11}, {1, 10}, {1, 12}} {
			if err := c.Recv(c.Buf(int64(m.n)), 0, m.tag); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Run(LogGP{Latency: 1}); err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if s.Messages != 3 || s.Bytes != 33 || s.Sent != 33 || s.Received != 33 {
		t.Errorf("%+v", s.Volume)
	}
}

func TestWhatCannotEndIsAnError(t *testing.T) {
	ring := func(c *Rank) error { // all send before they receive
		if err := c.Send(c.Buf(8), (c.Rank()+1)%3, 1); err != nil {
			return err
		}
		return c.Recv(c.Buf(8), (c.Rank()+2)%3, 1)
	}
	for _, c := range []struct {
		name, want string
		p          int
		call       func(c *Rank) error
	}{
		{"nobody receives", "never received", 3, ring},
		{"truncated", "which has room for 4", 2, func(c *Rank) error {
			if c.Rank() == 0 {
				return c.Send(c.Buf(8), 1, 1)
			}
			return c.Recv(c.Buf(4), 0, 1)
		}},
		{"nobody sends", "never sent", 2, func(c *Rank) error {
			if c.Rank() == 0 {
				return nil
			}
			return c.Recv(c.Buf(4), 0, 1)
		}},
		{"no such rank", "names rank 7", 2, func(c *Rank) error { return c.Send(c.Buf(4), 7, 1) }},
		{"data", "looks at data", 2, func(c *Rank) error { return c.Then(func() error { return nil }) }},
	} {
		s, err := Record(c.p, MostSteps, c.call)
		if err == nil {
			_, err = s.Run(Rounds)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if got := timed(t, 3, LogGP{Latency: 5}, ring); got != 5 {
		t.Errorf("a ring of eager messages takes %d, want 5", got)
	}
}

func TestTooManyStepsAreAnError(t *testing.T) {
	if _, err := Record(100, 50, passes(8)); err != nil {
		t.Errorf("two ranks that do something: %v", err)
	}
	if _, err := (Case{Operation: "allgather", Algorithm: "ring", Ranks: 100, Bytes: 8}).Record(10_000); err == nil {
		t.Error("100 ranks take 99 rounds in 10,000 steps")
	}
}

// Two runs of the same schedules give the same times.
func TestTimesDoNotDifferFromRunToRun(t *testing.T) {
	k := Case{Operation: "alltoall", Algorithm: "window", Ranks: 37, Bytes: 1000}
	m := Hierarchy{Overhead: 3, Levels: []Level{{Span: 1, Latency: 11, ByteGap: 1, Ports: 1},
		{Span: 4, Latency: 101, ByteGap: 2, Ports: 1}, {Span: 12, Latency: 5003, ByteGap: 3, Ports: 2}}}
	var first Time
	for i := range 4 {
		s, err := k.Record(MostSteps)
		if err != nil {
			t.Fatal(err)
		}
		end, err := s.Run(m)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && end != first {
			t.Errorf("%d, and %d before", end, first)
		}
		first = end
	}
}
