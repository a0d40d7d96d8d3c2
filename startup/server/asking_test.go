package server

import (
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// talking is a job that runs, of clients of this library and, as the last, of one of another.
func talking(t *testing.T, n int) *bench {
	t.Helper()
	b := watchedBench(t, n)
	b.join(n)
	for i := range n {
		b.tell(i, i < n-1, uint32(100*i+1))
	}
	if b.m.phase != running {
		t.Fatalf("phase %v", b.m.phase)
	}
	for i := range n {
		b.got(i)
	}
	return b
}

func TestTheServerPassesQuestionsAndAwaitedAnswersOn(t *testing.T) {
	b := talking(t, 4)
	b.in(1, wire.AppendTold(nil, 2, 5, []byte("nobody has asked")))
	b.want(2, "unasked")
	b.in(2, wire.AppendAsk(nil, 7, 5, []byte("what")))
	b.want(1, "asked", wire.AppendAsk(nil, 2, 5, []byte("what")))
	b.want(3, "of another library")
	b.want(0, "asked", wire.AppendAsk(nil, 2, 5, []byte("what")))
	b.want(2, "who answers", wire.AppendTold(nil, 2, 5, wire.AppendClients(nil, 0b011)))
	b.in(1, wire.AppendTold(nil, 2, 4, []byte("to another question")))
	b.in(1, wire.AppendTold(nil, 2, 5, []byte("answer")))
	b.in(1, wire.AppendTold(nil, 2, 5, []byte("again")))
	b.in(0, wire.AppendTold(nil, 9, 5, []byte("to nobody")))
	b.want(2, "answers", wire.AppendTold(nil, 1, 5, []byte("answer")))
	b.in(3, wire.AppendAsk(nil, 3, 1, nil))
	b.want(3, "of another library", nil)
	b.in(0, wire.AppendAsk(nil, 0, 1, make([]byte, wire.AskMax+1)))
	b.want(0, "too long", nil)
	b.eof(1, nil)
	b.got(0)
	b.in(0, wire.AppendAsk(nil, 0, 2, nil))
	b.want(0, "without a client that has gone", wire.AppendTold(nil, 0, 2, wire.AppendClients(nil, 0b100)))
}

func TestTheServerPassesLostRanksOn(t *testing.T) {
	b := talking(t, 4)
	b.in(1, wire.AppendGone(nil, 7, []int32{3, 4}, "killed"))
	told := wire.AppendGone(nil, 1, []int32{3, 4}, "killed")
	b.want(0, "one of ours", told)
	b.want(2, "one of ours", told)
	b.want(1, "itself")
	b.want(3, "of another library")
	b.in(3, wire.AppendGone(nil, 3, []int32{0}, ""))
	b.in(1, wire.AppendGone(nil, 1, nil, "no rank"))
	b.in(1, wire.AppendGone(nil, 1, make([]int32, wire.GoneMost+1), "too many"))
	b.want(0, "what makes no sense")
}
