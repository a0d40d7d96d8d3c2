package tcp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// Directory finds world ranks by the names in packets: byte for byte what the owner published, whatever
// form of address that is (IMPI 0.0, 3.2).
type Directory struct {
	ids    []wire.ProcID // by world rank
	byName []int32       // world ranks in the order of their names
}

// NewDirectory makes the directory of a job. It fails if two processes have the same name.
func NewDirectory(job *transport.Job) (*Directory, error) {
	d := &Directory{ids: make([]wire.ProcID, len(job.Procs)), byName: make([]int32, len(job.Procs))}
	for i, p := range job.Procs {
		d.ids[i] = wire.ProcID{HostID: p.HostID, PID: p.PID}
		d.byName[i] = int32(i)
	}
	slices.SortFunc(d.byName, func(a, b int32) int { return compareIDs(&d.ids[a], &d.ids[b]) })
	for i := 1; i < len(d.byName); i++ {
		if a, b := d.byName[i-1], d.byName[i]; d.ids[a] == d.ids[b] {
			return nil, fmt.Errorf("processes %d and %d have the same name: host id %x, pid %d",
				a, b, d.ids[a].HostID, d.ids[a].PID)
		}
	}
	return d, nil
}

// Rank is the process called id, -1 if there is none.
func (d *Directory) Rank(id *wire.ProcID) int32 {
	lo, hi := 0, len(d.byName)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch r := d.byName[mid]; compareIDs(&d.ids[r], id) {
		case 0:
			return r
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return -1
}

func compareIDs(a, b *wire.ProcID) int {
	if c := bytes.Compare(a.HostID[:], b.HostID[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.PID, b.PID)
}
