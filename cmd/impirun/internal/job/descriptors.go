package job

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
)

// EnoughDescriptors returns an error, before a rank is started, if the launcher may not open as many descriptors as it
// needs. Later this would show as connections that nobody answers.
func EnoughDescriptors(ranks int, plans []*join.Plan) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	if need := descriptors(ranks, plans); uint64(need) > limit.Cur {
		return fmt.Errorf("the launcher needs some %d descriptors for %d ranks, and may have %d: raise ulimit -n", need,
			ranks, limit.Cur)
	}
	return nil
}

// descriptors is an upper bound, and not much more, of how many descriptors the launcher needs for its clients' ranks.
func descriptors(ranks int, plans []*join.Plan) int {
	const own, each = 11, 5 // of the launcher, and of a client: its talk with the server, and where it listens
	need := own + 2*ranks   // both ends of all links
	for _, m := range plans {
		if m != nil {
			need += each
		}
		if m != nil && m.Agent { // pipes, and sockets to the others: one at least where we do not know them
			need += 3*ranks/len(plans) + max(1, len(plans)-1)*m.Streams()
		}
	}
	return need
}
