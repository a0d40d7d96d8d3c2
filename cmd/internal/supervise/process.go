package supervise

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Process is one rank, ready to be started.
type Process struct {
	Path  string
	Argv  []string
	Env   []string
	Dir   string
	Link  *os.File // becomes the rank's file descriptor LinkFD; closed by Start. nil: none
	Stdin StdinKind
	CPUs  []int // those that it is bound to; none: those of the launcher
}

// LinkFD is the number under which a rank finds its link to the launcher.
const LinkFD = 3

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
	}
	return pid, bound(p.CPUs, func() error {
		var err error
		pid, err = syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
			Dir: p.Dir, Env: p.Env, Files: fds,
			Sys: &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL},
		})
		if err != nil {
			return startFailed(p.Argv[0], err)
		}
		return nil
	})
}

// children lists the processes whose parent is parent: with a subreaper, that is every descendant whose own
// parents are gone. Processes that end meanwhile are left out.
func children(parent int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok && st.parent == parent && !st.zombie() {
			found = append(found, pid)
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
func readStat(pid int) (s stat, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
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

// dying says whether the process has begun to end: its sockets may be closed before it can be waited for.
func (s stat) dying() bool {
	const exiting = 0x4 // PF_EXITING
	return s.zombie() || s.flags&exiting != 0
}
