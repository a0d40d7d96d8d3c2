package supervise

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel counts processes and threads alike, by user (RLIMIT_NPROC) and by control group (pids.max). The Go runtime
// ends a program that cannot have one more thread, with pages of text: whoever starts a job looks first.

// Room is how many more processes and threads a limit allows.
type Room struct {
	Left  int64
	Limit string // what it is called, and its value
}

const (
	ownThreads   = 16 // that a launcher comes to have
	guardThreads = 8  // and its guard
)

// EnoughProcesses is an error, which names the limit, if n ranks and their launcher cannot be.
func EnoughProcesses(n int) error {
	need := int64(n + ownThreads + guardThreads)
	for _, r := range rooms(systemFiles, unix.Getuid()) {
		if r.Left < need {
			return fmt.Errorf("%d ranks and their launcher need some %d processes and threads, and %d are left: raise %s", n,
				need, max(0, r.Left), r.Limit)
		}
	}
	return nil
}

const systemFiles = "/"

// tightest names the limit that lets the fewest processes be, for an error that the kernel has told already.
func tightest() string {
	best := Room{Left: -1, Limit: "ulimit -u, or pids.max of the control group"}
	for _, r := range rooms(systemFiles, unix.Getuid()) {
		if best.Left < 0 || r.Left < best.Left {
			best = Room{Left: max(0, r.Left), Limit: r.Limit}
		}
	}
	return best.Limit
}

// rooms are those of all limits that hold for this process.
func rooms(root string, uid int) (list []Room) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && uid != 0 && limit.Cur < uint64(allTasks(root)+plenty) {
		list = append(list, Room{int64(limit.Cur) - tasksOf(root, uid), fmt.Sprintf("ulimit -u, which is %d", limit.Cur)})
	}
	for _, folder := range groups(root) {
		most, err1 := number(filepath.Join(folder, "pids.max"))
		now, err2 := number(filepath.Join(folder, "pids.current"))
		if err1 == nil && err2 == nil {
			list = append(list, Room{most - now, fmt.Sprintf("the limit of the control group, %s, which is %d",
				filepath.Join(folder, "pids.max"), most)})
		}
	}
	return list
}

// plenty is so much room beside all threads of the machine that nobody has to count those of a user.
const plenty = 4096

// allTasks is how many threads the machine has, as /proc/loadavg says.
func allTasks(root string) int64 {
	text, _ := os.ReadFile(filepath.Join(root, "proc/loadavg"))
	if words := strings.Fields(string(text)); len(words) > 3 {
		_, all, _ := strings.Cut(words[3], "/")
		n, _ := strconv.ParseInt(all, 10, 64)
		return n
	}
	return 0
}

// number is what a file says; "max" is none.
func number(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// tasksOf is how many threads a user's processes have, as far as we may see them.
func tasksOf(root string, uid int) (n int64) {
	files, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/status"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has gone
		}
		threads, mine := int64(0), false
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			switch {
			case len(words) > 1 && words[0] == "Uid:":
				mine = words[1] == strconv.Itoa(uid)
			case len(words) == 2 && words[0] == "Threads:":
				threads, _ = strconv.ParseInt(words[1], 10, 64)
			}
		}
		if mine {
			n += threads
		}
	}
	return n
}

// groups are the folders of our control group and those above it, of version 2 or of the controller pids of version 1.
func groups(root string) (folders []string) {
	f, err := os.Open(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		part := strings.SplitN(lines.Text(), ":", 3)
		if len(part) != 3 {
			continue
		}
		top := ""
		switch {
		case part[0] == "0" && part[1] == "":
			top = filepath.Join(root, "sys/fs/cgroup")
		case part[1] == "pids":
			top = filepath.Join(root, "sys/fs/cgroup/pids")
		default:
			continue
		}
		for at := filepath.Clean("/" + part[2]); ; at = filepath.Dir(at) {
			folders = append(folders, filepath.Join(top, at))
			if at == "/" {
				break
			}
		}
	}
	return folders
}
