package manager

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// What all processes make of the cards of all, each for itself and all alike.

// digest is a hash for one purpose.
func digest(purpose string, parts ...string) []byte {
	h := sha256.New()
	for _, p := range append([]string{"libimpi join", purpose}, parts...) {
		h.Write(be.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// secret is what only the processes of the job know, for one purpose.
func secret(cards []card, purpose string) []byte {
	h := hmac.New(sha256.New, cards[0].key[:])
	for i := range cards {
		h.Write(cards[i].key[:])
	}
	return digest(purpose, string(h.Sum(nil)))
}

// jobID tells the job from all others.
func jobID(named string, cards []card) string {
	return named + "-" + hex.EncodeToString(secret(cards, "name")[:16])
}

// sharers are the ranks of the processes that share memory with a rank, itself among them, in order.
func sharers(cards []card, rank int) (ranks []int32) {
	for r := range cards {
		if cards[r].place == cards[rank].place {
			ranks = append(ranks, int32(r))
		}
	}
	return ranks
}

// tables are those of the job, as rank me has them: one host if all share memory, else one for each rank, since those
// of a machine need not follow one another.
func tables(cards []card, me int) (j *transport.Job, err error) {
	pids := pidsOf(cards)
	if len(sharers(cards, me)) == len(cards) {
		j = startup.OneClient(pids...)
		j.Me = int32(me)
		return j, nil
	}
	hosts := make([]client.Host, len(cards))
	for r, c := range cards {
		if !c.addr.IsValid() {
			return nil, fmt.Errorf("rank %d shares no memory with all others, and has no address at which it can be reached", r)
		}
		hosts[r] = client.Host{Addr: c.addr, Machine: wire.Machine{ID: c.machine}, Procs: []client.Proc{{PID: pids[r]}}}
	}
	if j, err = client.Alone(hosts...); err != nil {
		return nil, err
	}
	key := secret(cards, "hosts")
	for h := range j.Hosts {
		j.Hosts[h].Key = key // instead of one that each has drawn for itself
	}
	j.Me = int32(me)
	return j, nil
}

// pidsOf are numbers that name processes: the system's, unless two have the same, as they may in namespaces.
func pidsOf(cards []card) []uint32 {
	var pids []uint32
	for _, c := range cards {
		pids = append(pids, c.pid)
	}
	sorted := slices.Sorted(slices.Values(pids))
	if len(slices.Compact(sorted)) < len(pids) && !machinesTell(cards) {
		for r := range pids {
			pids[r] = uint32(r) + 1
		}
	}
	return pids
}

// machinesTell reports whether processes of one pid have different addresses.
func machinesTell(cards []card) bool {
	type name struct {
		addr string
		pid  uint32
	}
	seen := map[name]bool{}
	for _, c := range cards {
		n := name{c.addr.Addr().String(), c.pid}
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}
