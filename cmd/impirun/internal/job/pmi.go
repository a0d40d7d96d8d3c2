package job

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/manager/pmi"
)

// servePMI gives the ranks of a client a PMI server if they need one: another MPI library by which they talk finds its
// processes by PMI-1. Whoever breaks its rules is served no more: how the rank ends will tell.
func servePMI(ranks []supervise.Process, jobID string) error {
	if len(ranks) == 0 || programs.ValueIn(ranks[0].Env, startup.EnvLocal) == "" {
		return nil
	}
	server := pmi.NewServer(len(ranks), "impi_"+jobID)
	for i := range ranks {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("a socket for PMI with rank %d: %w", i, err)
		}
		f := os.NewFile(uintptr(fds[0]), "PMI")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			unix.Close(fds[1])
			return fmt.Errorf("a socket for PMI with rank %d: %w", i, err)
		}
		go server.Serve(c)
		ranks[i].PMI = os.NewFile(uintptr(fds[1]), "PMI of the rank")
		ranks[i].Env = append(ranks[i].Env, pmi.Environment(supervise.PMIFD, i, len(ranks))...)
	}
	return nil
}
