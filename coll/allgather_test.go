package coll

import (
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// The peers of the first round read the send buffer, and not a copy of it that this core has just written.
func TestTheFirstRoundOfAnAllgatherSendsFromTheSendBuffer(t *testing.T) {
	defer choose.Choose("")
	const block = 1 << 10
	own, all := Bytes(make([]byte, block)), perRank(Bytes(make([]byte, 4*block)), 4)
	varied := VBuf{Base: all.Base, Counts: []int64{block, block, block, block},
		Displs: []int64{0, block, 2 * block, 3 * block},
		Type:   buffer.Byte}
	for _, send := range []Buf{own, InPlace()} {
		for name, run := range map[string]func(c Comm) error{
			"allgather:doubling": func(c Comm) error { return Allgather(c, send, all) },
			"allgather:ring":     func(c Comm) error { return Allgather(c, send, all) },
			"allgatherv:ring":    func(c Comm) error { return Allgatherv(c, send, varied) },
		} {
			t.Run(fmt.Sprintf("%s, in place %v", name, send.IsInPlace()), func(t *testing.T) {
				if err := choose.Choose(name); err != nil {
					t.Fatal(err)
				}
				s := NewSchedule()
				defer s.Free()
				if err := run(s.On(0, 2, 4, 0)); err != nil {
					t.Fatal(err)
				}
				s.Begin()
				first, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				want := send.Base
				if send.IsInPlace() {
					want = all.Block(2).Base
				}
				if first.Kind != StepSend || first.A.Base != want {
					t.Errorf("the first step is of kind %v with %p, want a send of %p", first.Kind, first.A.Base, want)
				}
			})
		}
	}
}
