package quiet

import (
	"os"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"
)

// A library that sets a handler, and opens a file that children inherit.
func TestWhatALibraryDoesToTheProgramIsUndone(t *testing.T) {
	before := actions()
	var fd int
	var blocked unix.Sigset_t
	Call(func() {
		signal.Ignore(unix.SIGUSR2)
		if now := actions(); now == before {
			t.Error("ignoring a signal changes nothing")
		}
		var err error
		if fd, err = unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			t.Fatal(err)
		}
		unix.PthreadSigmask(unix.SIG_SETMASK, nil, &blocked)
	})
	defer signal.Reset(unix.SIGUSR2)
	defer unix.Close(fd)
	if now := actions(); now != before {
		t.Error("a signal is handled otherwise than before")
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("children inherit the descriptor: %#x, %v", flags, err)
	}
	if blocked.Val[0]&(1<<(unix.SIGUSR1-1)) == 0 || blocked.Val[0]&(1<<(unix.SIGSEGV-1)) != 0 {
		t.Errorf("signals %#x are blocked", blocked.Val[0])
	}
	if !Descriptors()[int(os.Stdout.Fd())] {
		t.Error("standard output is no descriptor")
	}
}
