package libimpi

import "testing"

// peak takes n requests and gives them back in the order of step, and returns their ids.
func peak(t *requestTable, c *Comm, n, step int) []uint64 {
	taken, ids := make([]*Request, n), make([]uint64, n)
	for i := range taken {
		taken[i] = t.get(c)
		taken[i].kind = recvRequest
		ids[i] = taken[i].id
	}
	for i := range taken {
		t.put(taken[i*step%n])
	}
	return ids
}

// After a peak the memory of its requests is given back; no id of before names a request that takes a place of theirs.
func TestMemoryOfAPeakOfRequestsIsGivenBack(t *testing.T) {
	const most = 50000
	e := world(t, 1)[0]
	e.mu.Lock()
	defer e.mu.Unlock()
	table := &e.requests
	old := peak(table, e.predefined.world, most, 7919)
	if table.live() < most {
		t.Fatalf("memory for %d requests after %d at once", table.live(), most)
	}
	kept := table.get(e.predefined.world)
	kept.kind = recvRequest
	for range 6 * most {
		peak(table, e.predefined.world, 2, 1)
	}
	if n := table.live(); n > 2*fewRequests {
		t.Errorf("memory for %d requests is kept", n)
	}
	for _, id := range old {
		if table.find(id) != nil {
			t.Fatalf("%#x, of before, is a request", id)
		}
	}
	if table.find(kept.id) != kept {
		t.Error("a request that is in use is gone")
	}
	seen := map[uint64]bool{}
	for _, id := range old {
		seen[id] = true
	}
	for _, id := range peak(table, e.predefined.world, most, 3) {
		if seen[id] {
			t.Fatalf("%#x is given a second time", id)
		}
		seen[id] = true
	}
	table.put(kept)
}

// A program that comes to its peak again and again does not give memory back in between.
func TestMemoryOfARegularPeakOfRequestsStays(t *testing.T) {
	const most, between = 30000, 10000
	e := world(t, 1)[0]
	e.mu.Lock()
	defer e.mu.Unlock()
	for round := range 20 {
		peak(&e.requests, e.predefined.world, most, 7)
		for range between {
			peak(&e.requests, e.predefined.world, 1, 1)
		}
		if n := e.requests.live(); n < most {
			t.Fatalf("round %d: memory for %d requests", round, n)
		}
	}
}

// A communicator knows what uses it, whatever becomes of the requests.
func TestACommunicatorCountsItsUses(t *testing.T) {
	es := world(t, 2)
	state := func(c *Comm) (uses int, open bool) {
		c.engine.mu.Lock()
		defer c.engine.mu.Unlock()
		return c.uses, c.engine.contexts.find(c.CID()) != nil
	}
	together(t, es, func(e *Engine) {
		word := make([]byte, 1)
		c, err := e.World().Dup()
		must(t, err)
		other := 1 - int(e.me)
		persistent := c.RecvInit(at(word), 1, byteT, other, 1)
		pending := c.Irecv(at(word), 1, byteT, other, 2)
		must(t, c.Send(at(word), 1, byteT, other, 3, Standard))
		var st Status
		m, err := c.Mprobe(other, 3, &st)
		must(t, err)
		if uses, _ := state(c); uses != 3 {
			t.Errorf("%d uses, of 3", uses)
		}
		must(t, c.Free())
		got := m.Imrecv(at(word), 1, byteT)
		must(t, e.Wait(&got, nil))
		must(t, e.Cancel(pending))
		must(t, e.Wait(&pending, nil))
		if _, open := state(c); !open {
			t.Error("the context is gone while a persistent request needs it")
		}
		must(t, e.FreeRequest(&persistent))
		if uses, open := state(c); uses != 0 || open {
			t.Errorf("%d uses are left, the context is there: %t", uses, open)
		}
	})
}
