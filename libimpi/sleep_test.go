package libimpi

import (
	"testing"
	"time"
)

// wokenBell is a bell at which a thread that sleeps is woken at once, by what it waits for.
type wokenBell struct{ wake func() }

func (b wokenBell) Bell() uint32               { return 0 }
func (b wokenBell) Wake()                      {}
func (b wokenBell) PrepareSleep(uint32) bool   { return true }
func (b wokenBell) Wait(uint32, time.Duration) { b.wake() }
func (b wokenBell) DoneSleep(uint32)           {}

// What a wait that sleeps costs by itself: no thread really sleeps.
func BenchmarkAWaitThatSleeps(b *testing.B) {
	es := world(b, 2)
	out, in := make([]byte, 8), make([]byte, 8)
	e := es[0]
	e.home.InTurn = true // it does not spin first
	e.bell = wokenBell{func() { _ = es[1].World().Send(at(out), 8, byteT, 0, 1, Standard) }}
	b.ReportAllocs()
	for b.Loop() {
		_ = e.World().Recv(at(in), 8, byteT, 1, 1, nil)
	}
}
