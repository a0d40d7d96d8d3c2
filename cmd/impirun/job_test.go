package main

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/transport/shm"
)

func TestMoreRanksThanCanShareMemoryAreRefusedBeforeOneIsStarted(t *testing.T) {
	if _, err := newPart(layout.Share{N: shm.MaxLocal + 1}, "j", nil, nil); err == nil {
		t.Error("accepted")
	}
}

func TestRanksWithTheSameProcessIDAreToldApart(t *testing.T) {
	pids := make([]uint32, 4)
	for i, pid := range []uint32{1, 1, 7, 1} {
		pids[i] = distinct(pids, i, pid)
	}
	if pids[0] != 1 || pids[2] != 7 { // ids that nobody else has stay
		t.Errorf("%d", pids)
	}
	slices.Sort(pids)
	if len(slices.Compact(pids)) != 4 {
		t.Errorf("%d", pids)
	}
}
