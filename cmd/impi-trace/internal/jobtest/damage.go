package jobtest

import (
	"math/rand"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Damage changes times, peers and lengths of a job at random, as a trace may have them whose clocks or bytes are wrong.
// What package load guarantees holds: indexes are of calls, calls end after they began, and are in the order of their
// begin.
func Damage(random *rand.Rand, j *job.Job) {
	for r := range j.Ranks {
		rank := &j.Ranks[r]
		rank.HeadLost, rank.TailLost = random.Intn(4) == 0, random.Intn(4) == 0
		before := int64(0)
		for i := range rank.Calls {
			c := &rank.Calls[i]
			if random.Intn(3) == 0 {
				c.Start += random.Int63n(100000) - 50000
			}
			c.Start = max(before, c.Start)
			before = c.Start
			c.End = max(c.Start, c.End+random.Int63n(50000)-20000)
			c.Thread = uint16(random.Intn(2))
			c.Bytes = random.Int63n(1 << 62)
			rank.End = max(rank.End, c.End)
		}
		for _, list := range [][]job.Half{rank.Sends, rank.Receives} {
			for i := range list {
				h := &list[i]
				if random.Intn(10) == 0 {
					h.Peer = int32(random.Intn(len(j.Ranks)))
				}
				if random.Intn(10) == 0 {
					h.Done = int32(random.Intn(len(rank.Calls)+1)) - 1
				}
				h.Way = job.Way(random.Intn(3))
			}
		}
		for i := range rank.Parts {
			if random.Intn(10) == 0 {
				rank.Parts[i].Root = int32(random.Intn(len(j.Ranks)+1)) - 1
			}
		}
		if random.Intn(6) == 0 {
			*rank = job.Rank{Missing: true}
		}
	}
}
