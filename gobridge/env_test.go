package main

import "testing"

func TestKnownMemoryKindsAreSupportedAsTheyWereWrittenAndTheStandardsInAnyCase(t *testing.T) {
	for _, c := range []struct{ asked, want string }{
		{"", "mpi,system"},
		{"mpi,system", "mpi,system"},
		{"system", "system,mpi"},
		{"mpi:alloc_mem", "mpi:alloc_mem,mpi,system"},
		{"mpi:win_allocate:win_allocate_shared, system", "mpi:win_allocate:win_allocate_shared,system,mpi"},
		{"cuda:device,system,system,mpi:pinned,,:", "system,mpi"},
	} {
		if got := supportedKinds(c.asked); got != c.want {
			t.Errorf("of %q %q is supported, not %q", c.asked, got, c.want)
		}
	}
}
