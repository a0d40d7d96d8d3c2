package supervise

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// InBackground reports whether fd is a terminal that is not ours to read: whoever tries is stopped, with all of his
// job.
func InBackground(fd int) bool {
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && owner != unix.Getpgrp()
}

// Foreground reads a file, but while that is a terminal of which we are in the background, it waits: what is typed then
// is the shell's.
func Foreground(f *os.File) io.Reader { return foreground{f} }

type foreground struct{ *os.File }

// askAgain is how soon a terminal is looked at again while somebody types for another. While nobody types it is not.
const askAgain = 250 * time.Millisecond

func (f foreground) Read(b []byte) (int, error) {
	fd := int(f.Fd())
	for isTerminal(fd) {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || !InBackground(fd) {
			break
		}
		time.Sleep(askAgain)
	}
	return f.File.Read(b)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// talks reports whether a user talks to a rank at our terminal.
func (j *Job) talks() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range j.living {
		if m.entry().talked {
			return true
		}
	}
	return false
}
