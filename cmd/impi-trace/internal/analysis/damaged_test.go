package analysis

import (
	"math/rand"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// FuzzAnalyze: whatever the times of a job are, what is found about it is sound.
func FuzzAnalyze(f *testing.F) {
	for seed := range int64(60) {
		f.Add(seed, uint8(seed), uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, seed int64, ranks, steps uint8) {
		random := rand.New(rand.NewSource(seed))
		j := jobtest.Random(random, 1+int(ranks)%8, int(steps)).Job
		jobtest.Damage(random, j)
		r := Analyze(j)
		for rank, list := range r.Waits {
			for i := range list {
				w := &list[i]
				c := &j.Ranks[rank].Calls[w.Call]
				if w.Length() <= 0 || w.Start < c.Start || w.End > c.End || w.By == int32(rank) || w.Cause == None {
					t.Fatalf("%+v in %+v", w, c)
				}
				if i > 0 && list[i-1].Call >= w.Call {
					t.Fatalf("call %d has two waits", w.Call)
				}
			}
		}
		for i, s := range r.Path {
			if s.To < s.From || i > 0 && s.From < r.Path[i-1].To {
				t.Fatalf("segment %d is %+v", i, s)
			}
		}
		seen := map[[2]int32]bool{}
		for _, m := range r.Messages {
			if seen[[2]int32{m.From, m.Send}] {
				t.Fatalf("%+v is received twice", m)
			}
			seen[[2]int32{m.From, m.Send}] = true
			s, g := j.Ranks[m.From].Sends[m.Send], j.Ranks[m.To].Receives[m.Receive]
			if s.Peer != m.To || g.Peer != m.From || s.Tag != g.Tag || s.Comm != g.Comm {
				t.Fatalf("%+v and %+v do not match", s, g)
			}
		}
	})
}
