package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestLoadingRegistersTheProcessForMembarrier(t *testing.T) {
	const getRegistrations, globalExpedited = 1 << 9, 1 << 2
	got, _, err := unix.Syscall(unix.SYS_MEMBARRIER, getRegistrations, 0, 0)
	if err != 0 {
		t.Skipf("the kernel does not say what a process has registered for (Linux 6.3): %v", err)
	}
	if got&globalExpedited == 0 {
		t.Errorf("the process is registered for %#x: MPI_Init would wait for the kernel", got)
	}
}
