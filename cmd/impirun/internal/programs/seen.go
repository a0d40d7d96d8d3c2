package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/linked"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// What scripts and interpreters load is not known beforehand, and a process that has ended has nothing mapped. So the
// launcher asks the kernel to be told when a library of another MPI is opened (inotify), and then looks at what its own
// processes have mapped: of other processes of the machine it learns nothing. Nothing is looked at while no such
// library is opened.

// Sighting is a process of the job that had a library of another MPI mapped.
type Sighting struct {
	pid     int
	name    string // of its program
	library string
}

// Lookout notes the first process of the job that has a library of another MPI mapped.
type Lookout struct {
	events *os.File
	done   chan struct{}
	ours   map[string]bool // files that are libimpi's or no MPI library

	seen *Sighting // when done is closed
}

// looks are the times after an event at which processes are looked at: a library is opened before it is mapped.
var looks = []time.Duration{0, time.Millisecond, 4 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}

// Watch begins to look at the processes of a job. It returns nil if there is no library to look for.
func Watch(list []supervise.Process) *Lookout {
	files := otherLibraries(list)
	if len(files) == 0 {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil // no instance is left: nothing will be said
	}
	for _, file := range files {
		unix.InotifyAddWatch(fd, file, unix.IN_OPEN)
	}
	l := &Lookout{events: os.NewFile(uintptr(fd), "inotify"), done: make(chan struct{}), ours: map[string]bool{}}
	go l.run()
	return l
}

// run looks after every event until the file is closed.
func (l *Lookout) run() {
	defer close(l.done)
	buf := make([]byte, 4096)
	for {
		if _, err := l.events.Read(buf); err != nil {
			return
		}
		for _, pause := range looks {
			time.Sleep(pause)
			if l.look() {
				return
			}
		}
	}
}

// End ends that, and returns what was seen, nil if nothing was. It may be called again, and on nil.
func (l *Lookout) End() *Sighting {
	if l == nil {
		return nil
	}
	l.events.Close() // a second time it does nothing
	<-l.done
	return l.seen
}

// look looks at all descendants, and reports whether one has another MPI's library mapped.
func (l *Lookout) look() bool {
	for _, pid := range descendants(os.Getpid()) {
		for _, file := range mapped(pid) {
			if l.isOther(file) {
				name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
				l.seen = &Sighting{pid: pid, name: strings.TrimSpace(string(name)), library: file}
				return true
			}
		}
	}
	return false
}

func (l *Lookout) isOther(file string) bool {
	ours, known := l.ours[file]
	if !known {
		ours = !isOtherMPI(file)
		l.ours[file] = ours
	}
	return !ours
}

// isOtherMPI reports whether a file is an MPI library, and not libimpi's.
func isOtherMPI(file string) bool {
	return mpiLibrary.MatchString(filepath.Base(file)) && !isLibimpi(file) && linked.Defines(file, "PMPI_Init")
}

// mapped are the files that a process has mapped whose names are those of MPI libraries.
func mapped(pid int) (files []string) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if at := strings.IndexByte(line, '/'); at > 0 {
			file := strings.TrimSpace(line[at:])
			if mpiLibrary.MatchString(filepath.Base(file)) && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// descendants are the processes below one.
func descendants(pid int) (list []int) {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, file := range tasks {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(append(list, child), descendants(child)...)
			}
		}
	}
	return list
}

// otherLibraries are the MPI libraries, not libimpi's, where programs of the job may find them: in the folders of the
// loader, beside the programs of PATH and the job's own, and in those of Python's environments.
func otherLibraries(list []supervise.Process) (files []string) {
	env := list[0].Env
	folders := append(linked.Usual(), filepath.SplitList(ValueIn(env, "LD_LIBRARY_PATH"))...)
	for _, bin := range append(filepath.SplitList(ValueIn(env, "PATH")), filepath.Dir(list[0].Path)) {
		folders = append(folders, filepath.Join(bin, "..", "lib"), filepath.Join(bin, "..", "lib64"))
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := ValueIn(env, name); prefix != "" {
			folders = append(folders, filepath.Join(prefix, "lib"))
		}
	}
	for _, folder := range linked.Usual() {
		folders = append(folders, filepath.Join(folder, "openmpi", "lib"), filepath.Join(folder, "mpich", "lib"))
	}
	seen := map[string]bool{}
	for _, folder := range folders {
		if folder = filepath.Clean(folder); seen[folder] || !filepath.IsAbs(folder) {
			continue
		}
		seen[folder] = true
		found, _ := filepath.Glob(filepath.Join(folder, "lib*mpi*.so*"))
		for _, file := range found {
			if file, err := filepath.EvalSymlinks(file); err == nil && !seen[file] {
				seen[file] = true
				if isOtherMPI(file) {
					files = append(files, file)
				}
			}
		}
	}
	return files
}
