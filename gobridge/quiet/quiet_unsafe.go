// Package quiet calls other libraries that this process has loaded, and undoes what they do to the program: handlers of
// signals that they set, threads that would take its signals, and descriptors that its children would inherit.
package quiet

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signals is how many there are, and action is what the kernel says of one: 32 bytes, as it stands.
const signals = 64

type action [8]uint64

// faults are signals that a thread causes itself. They are not to be blocked.
var faults = []unix.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGSYS}

var mu sync.Mutex

// Call makes a call. Threads that the library makes meanwhile take no signal that is meant for the program.
func Call(call func()) {
	mu.Lock()
	defer mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	open, handled := Descriptors(), actions()
	block, before := most(), unix.Sigset_t{}
	masked := unix.PthreadSigmask(unix.SIG_SETMASK, &block, &before) == nil
	call()
	for s, now := range actions() {
		if now != handled[s] {
			sigaction(s+1, &handled[s], nil)
		}
	}
	if masked {
		unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	}
	for fd := range Descriptors() {
		if !open[fd] {
			unix.CloseOnExec(fd)
		}
	}
}

// most are all signals but those that a thread causes itself.
func most() (set unix.Sigset_t) {
	const word = 8 * int(unsafe.Sizeof(set.Val[0]))
	for i := range set.Val {
		set.Val[i] = ^set.Val[i]
	}
	for _, s := range faults {
		set.Val[(int(s)-1)/word] &^= 1 << ((int(s) - 1) % word)
	}
	return set
}

// actions are what is done for each signal, from 1 on.
func actions() (all [signals]action) {
	for s := range all {
		sigaction(s+1, nil, &all[s])
	}
	return all
}

// sigaction is the system call, which takes and gives what the C library would complete: then nothing is the same as
// before.
func sigaction(signal int, set, get *action) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)),
		signals/8, 0, 0)
}

// Descriptors are those of this process, but for the one by which they are listed.
func Descriptors() map[int]bool {
	found := map[int]bool{}
	list, err := os.Open("/proc/self/fd")
	if err != nil {
		return found
	}
	defer list.Close()
	names, _ := list.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd != int(list.Fd()) {
			found[fd] = true
		}
	}
	return found
}
