package spawn

import (
	"context"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/names"
)

// NamesWord makes impirun the name server of a user on this machine; the folder of its socket follows, and perhaps
// after how many seconds without anything to do it ends.
const NamesWord = "--names-here"

// ServeNamesHere is that server; words are those after NamesWord. It returns the exit code.
func ServeNamesHere(words []string) int {
	dropInherited()
	idle := names.IdleTime
	if len(words) > 1 {
		if n, err := strconv.ParseFloat(words[1], 64); err == nil && n > 0 {
			idle = time.Duration(n * float64(time.Second))
		}
	}
	if names.ServeIn(context.Background(), words[0], idle) != nil {
		return 1
	}
	return 0
}

// dropInherited closes what the user's shell or a script has left open beyond the standard files: somebody may wait for
// the end of a pipe, and this process outlives the job that it was started for. What the Go runtime opens itself is not
// inherited by others, which tells the two apart.
func dropInherited() {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range list {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}
