package supervise

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process is one rank, ready to be started.
type Process struct {
	Path  string
	Argv  []string
	Env   []string
	Dir   string
	Link  *os.File // becomes the rank's file descriptor LinkFD; closed by Start. nil: none
	PMI   *os.File // becomes its descriptor PMIFD, likewise, if it has a Link
	Stdin StdinKind
	CPUs  []int // those that it is bound to; none: those of the launcher

	Files    [3]*os.File // nil: as Stdin and Config.Streams say. Closed by Start
	Terminal bool        // Files are a terminal, which it controls, in a session of its own
	// Talked says that a user talks to it at the launcher's terminal: SIGINT and SIGQUIT, which the terminal sends to the
	// launcher too, are for it alone while it lives.
	Talked bool
}

// LinkFD is the number under which a rank finds its link to the launcher.
const LinkFD = 3

// PMIFD is the number under which another MPI library in the rank finds the launcher.
const PMIFD = 4

// close closes what Start hands over.
func (p *Process) close() {
	for _, f := range append(p.Files[:], p.Link, p.PMI) {
		f.Close() // of nil, or of one that stands twice in Files, it is an error, and does nothing
	}
}

// StdinKind is what a rank reads as standard input.
type StdinKind int

const (
	StdinNull    StdinKind = iota // /dev/null
	StdinInherit                  // the launcher's own, untouched by the launcher
	StdinRelay                    // a copy, together with others
)

// start runs one process. The calling thread must be one that lives as long as the launcher: the kernel
// sends the death signal when the thread that forked ends, not the process.
func (p *Process) start(files [3]uintptr, ownGroup bool) (pid int, err error) {
	fds := files[:]
	if p.Link != nil {
		fds = append(fds, p.Link.Fd())
		if p.PMI != nil {
			fds = append(fds, p.PMI.Fd())
		}
	}
	return pid, bound(p.CPUs, func() error {
		var err error
		pid, err = syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
			Dir: p.Dir, Env: p.Env, Files: fds,
			Sys: &syscall.SysProcAttr{Setpgid: ownGroup && !p.Terminal, Setsid: p.Terminal, Setctty: p.Terminal,
				Pdeathsig: syscall.SIGKILL},
		})
		if err != nil {
			return startFailed(p.Argv[0], err)
		}
		return nil
	})
}

// children lists our children that live: with a subreaper, that is every descendant whose own parents are gone. The
// kernel lists them by the thread that is their parent; where it has no such list (CONFIG_PROC_CHILDREN), all processes
// of the machine are looked at. The caller lets nobody reap meanwhile, so that none is passed over.
func children() []int {
	found, ok := listedChildren()
	if !ok {
		found = namesOf("/proc")
	}
	self := os.Getpid()
	return slices.DeleteFunc(found, func(pid int) bool {
		st, ok := readStat(pid)
		return !ok || st.parent != self || st.zombie()
	})
}

// listedChildren are the children that the kernel lists, dead ones included.
func listedChildren() (found []int, ok bool) {
	for _, tid := range namesOf("/proc/self/task") {
		b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/children")
		if errors.Is(err, unix.ESRCH) {
			continue // the thread has ended, and another has its children
		}
		if err != nil {
			return nil, false
		}
		for name := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(name); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found, true
}

// namesOf are the entries of a folder that are numbers.
func namesOf(folder string) (found []int) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			found = append(found, n)
		}
	}
	return found
}

// stat is what the kernel says of a process.
type stat struct {
	state  string
	parent int
	flags  uint64
}

// readStat reads fields 3, 4 and 9 of /proc/PID/stat; the name before them may hold blanks and parentheses.
func readStat(pid int) (s stat, ok bool) { return readStatOf("/proc/" + strconv.Itoa(pid) + "/stat") }

func readStatOf(file string) (s stat, ok bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return s, false
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 7 {
		return s, false
	}
	s.state = fields[0]
	s.parent, _ = strconv.Atoi(fields[1])
	s.flags, _ = strconv.ParseUint(fields[6], 10, 64)
	return s, true
}

func (s stat) zombie() bool { return s.state == "Z" || s.state == "X" }

// dying reports whether the process has begun to end: its sockets may be closed before it can be waited for.
func (s stat) dying() bool {
	const exiting = 0x4 // PF_EXITING
	return s.zombie() || s.flags&exiting != 0
}
