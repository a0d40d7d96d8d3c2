package shm

import (
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
)

func TestSharedMemoryConforms(t *testing.T) {
	conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
		fd := create(t, conformance.Processes)
		var segments []*Segment
		w := &conformance.World{Victim: 2, Traitor: 1, Treason: map[string]func(){}}
		for r := range 2 {
			s := attach(t, fd, r)
			t.Cleanup(func() { s.Close() })
			x, err := New(Config{Segment: s, World: []int32{0, 1, 2}, Receiver: rx[r]})
			if err != nil {
				t.Fatal(err)
			}
			w.Transports, segments = append(w.Transports, x), append(segments, s)
		}
		w.Transports = append(w.Transports, nil) // the third is a process of its own, which can die
		w.Kill = func() {
			cmd := start(t, "idle", fd, 2)
			for first := w.Transports[0].(*Transport); first.seg.peers[2].in.ring == nil; {
				if !first.Poll() {
					time.Sleep(time.Millisecond)
				}
			}
			now := uint64(0)
			segments[0].clock = func() uint64 { now += uint64(time.Minute); return now } // each look is due
			cmd.Process.Kill()
			cmd.Wait()
		}
		for name, words32 := range map[string]map[int]uint32{
			"an unknown form":       {0: 5},
			"longer than all":       {0: formShort | 0xffffff<<lengthShift},
			"a skip at the top":     {0: formSkip},
			"flow control":          {0: formFull, 5: uint32(transport.ProtoAck)},
			"an end":                {0: formFull, 5: uint32(transport.Fini)},
			"no kind":               {0: formFull, 5: 10},
			"more than the message": {0: formFull | 9<<lengthShift, 5: 0, 6: 8, 7: 0},
		} {
			w.Treason[name] = func() {
				if err := segments[1].openOut(0); err != nil {
					t.Fatal(err)
				}
				ring := words(segments[1], 1, 0)
				for i := range 8 {
					ring[7-i] = words32[7-i] // the state last
				}
			}
		}
		return w
	})
}
