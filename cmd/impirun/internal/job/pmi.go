package job

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/manager/pmi"
)

// servePMI gives the ranks of a client a PMI server if they need one: another MPI library by which they talk finds its
// processes by PMI-1. Whoever breaks its rules is served no more: how the rank ends will tell.
//
// job is the name of the library's job. Libraries name shared memory by it, so no other job on this machine, nor
// another client of ours, has the same.
func servePMI(ranks []supervise.Process, job string) error {
	if len(ranks) == 0 || programs.ValueIn(ranks[0].Env, startup.EnvLocal) == "" {
		return nil
	}
	server := pmi.NewServer(len(ranks), job)
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
		// Scripts get the rank and the size of the client (package programs), and the library those of this machine.
		ranks[i].Env = append(slices.DeleteFunc(ranks[i].Env, identity), pmi.Environment(supervise.PMIFD, i, len(ranks))...)
	}
	return nil
}

func identity(setting string) bool {
	return strings.HasPrefix(setting, "PMI_RANK=") || strings.HasPrefix(setting, "PMI_SIZE=")
}
