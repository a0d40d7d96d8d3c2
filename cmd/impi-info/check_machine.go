package main

import (
	"fmt"
	"io/fs"
	"math"
	"net"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sharedBytes is how much shared memory the test maps: about what a few ranks share.
const sharedBytes = 4 << 20

// sharedMemory does what a launcher does for the ranks of a machine: memory without a name, reserved, sealed, mapped.
func sharedMemory() finding {
	fail := func(what string, err error, do string) finding {
		return finding{"shared memory", failed, what + ": " + err.Error(), do}
	}
	fd, err := unix.MemfdCreate("impi-info", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return fail("memfd_create", err, "let the container's seccomp profile allow memfd_create: ranks share memory by it")
	}
	defer unix.Close(fd)
	if err = unix.Ftruncate(fd, sharedBytes); err == nil {
		err = unix.Fallocate(fd, 0, 0, sharedBytes)
	}
	if err != nil {
		return fail(fmt.Sprintf("reserving %d MiB", sharedBytes>>20), err, "raise the memory limit of this cgroup")
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW); err != nil {
		return fail("sealing", err, "let the container's seccomp profile allow fcntl(F_ADD_SEALS)")
	}
	memory, err := unix.Mmap(fd, 0, sharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fail("mapping it", err, "raise ulimit -v")
	}
	defer unix.Munmap(memory)
	memory[0], memory[sharedBytes-1] = 1, 1
	return ok("shared memory", "memfd_create works; /dev/shm is not used")
}

// limits are those of a process (ulimit).
func limits() []finding {
	list := []finding{}
	add := func(name string, which int, enough uint64, option, what string) {
		var l unix.Rlimit
		if err := unix.Getrlimit(which, &l); err != nil {
			return
		}
		list = append(list, limit(name, l.Cur, l.Max, enough, option, what))
	}
	cores := uint64(runtime.NumCPU())
	add("descriptors", unix.RLIMIT_NOFILE, 1024, "-n", "the launcher needs 2 for each rank of the machine, and a rank 1 "+
		"for each host of another machine or client")
	add("processes", unix.RLIMIT_NPROC, 16*cores+256, "-u", "a rank has some 10 threads, and the limit "+
		"counts all of the user")
	add("address space", unix.RLIMIT_AS, math.MaxUint64, "-v", "the Go runtime reserves addresses that it does not use")
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) == nil {
		list = append(list, ok("locked memory", "at most %s bytes; libimpi locks none", number(l.Cur)))
	}
	return list
}

// limit judges one: current and hard limit, and what is enough for a job that fills the machine.
func limit(name string, current, hard, enough uint64, option, what string) finding {
	if current >= enough {
		return ok(name, "%s allowed", number(current))
	}
	do := fmt.Sprintf("ulimit %s %s before the job: %s", option, number(min(hard, enough)), what)
	if hard < enough {
		do = fmt.Sprintf("have the hard limit raised, which is %s (limits.conf, LimitNOFILE= of the service, docker "+
			"--ulimit): %s", number(hard), what)
	}
	return finding{name, note, fmt.Sprintf("%s allowed (ulimit %s)", number(current), option), do}
}

func number(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// restrictions are what the cgroup and the affinity mask allow of cores and memory.
func restrictions(system fs.FS) []finding {
	var set unix.CPUSet
	cores := runtime.NumCPU()
	if unix.SchedGetaffinity(0, &set) == nil {
		cores = set.Count()
	}
	return []finding{cpus(readGroup(system), cores), memory(readGroup(system)), pids(readGroup(system))}
}

// group are the limits of a process's cgroup and of those above it: the least of each. Zero is none.
type group struct {
	cpus   float64 // cores' worth of time
	memory uint64  // bytes
	pids   uint64
}

// readGroup reads cgroups of both versions.
func readGroup(system fs.FS) group {
	var g group
	text, _ := fs.ReadFile(system, "proc/self/cgroup")
	for row := range strings.SplitSeq(string(text), "\n") {
		parts := strings.SplitN(row, ":", 3) // number:controllers:path
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" {
			g.walk(system, "sys/fs/cgroup", parts[2], func(dir string) {
				g.cpus = least(g.cpus, quota(line(system, dir+"/cpu.max")))
				g.memory = least(g.memory, amount(line(system, dir+"/memory.max")))
				g.pids = least(g.pids, amount(line(system, dir+"/pids.max")))
			})
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			g.walk(system, "sys/fs/cgroup/"+controller, parts[2], func(dir string) {
				g.cpus = least(g.cpus, quota(line(system, dir+"/cpu.cfs_quota_us")+" "+line(system, dir+"/cpu.cfs_period_us")))
				g.memory = least(g.memory, amount(line(system, dir+"/memory.limit_in_bytes")))
				g.pids = least(g.pids, amount(line(system, dir+"/pids.max")))
			})
		}
	}
	return g
}

// walk visits a group and all above it. In a container the path may be that of the host, of which the root alone is
// seen.
func (g *group) walk(system fs.FS, root, at string, visit func(dir string)) {
	for at = path.Clean("/" + at); at != "/"; at = path.Dir(at) {
		visit(root + at)
	}
	visit(root)
}

func least[N float64 | uint64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// quota reads "microseconds period", where the first may be "max" or -1.
func quota(text string) float64 {
	words := strings.Fields(text)
	if len(words) != 2 {
		return 0
	}
	used, err := strconv.ParseFloat(words[0], 64)
	period, err2 := strconv.ParseFloat(words[1], 64)
	if err != nil || err2 != nil || used <= 0 || period <= 0 {
		return 0
	}
	return used / period
}

// amount reads a number, where "max", and what no machine has, is none.
func amount(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n >= 1<<60 {
		return 0
	}
	return n
}

func cpus(g group, cores int) finding {
	switch {
	case g.cpus == 0:
		return ok("cores", "%d, without a quota", cores)
	case g.cpus < float64(cores):
		return finding{"cores", note, fmt.Sprintf("%d, but a quota of %.3g cores' time", cores, g.cpus), "start at most as " +
			"many ranks as the quota has cores, or raise it (cpu.max, docker --cpus): ranks that are stopped keep the others " +
			"waiting"}
	}
	return ok("cores", "%d, within a quota of %.3g cores' time", cores, g.cpus)
}

// rankBytes is what a rank takes at least: the library, the Go runtime, and its share of the shared memory.
const rankBytes = 32 << 20

func memory(g group) finding {
	if g.memory == 0 {
		return ok("memory", "no limit")
	}
	f := ok("memory", "a limit of %d MiB", g.memory>>20)
	if g.memory < uint64(runtime.NumCPU())*rankBytes {
		f.State = note
		f.Do = fmt.Sprintf("raise the limit (memory.max, docker --memory): a rank takes some %d MiB before it does anything",
			rankBytes>>20)
	}
	return f
}

func pids(g group) finding {
	if g.pids == 0 {
		return ok("threads", "no limit by the cgroup")
	}
	f := ok("threads", "a limit of %d by the cgroup", g.pids)
	if g.pids < 16*uint64(runtime.NumCPU())+64 {
		f.State, f.Do = note, "raise it (pids.max, docker --pids-limit): a rank has some 10 threads"
	}
	return f
}

// slowClock is what reading the time may take; more means that each reading is a system call or worse.
const slowClock = 250 * time.Nanosecond

// clock returns where the time comes from and what reading it takes: the library reads it while it waits.
func clock(system fs.FS) finding {
	source := line(system, "sys/devices/system/clocksource/clocksource0/current_clocksource")
	if source == "" {
		source = "an unknown source"
	}
	best := time.Hour
	for range 5 {
		const rounds = 1000
		begin := time.Now()
		last := begin
		for range rounds {
			last = time.Now()
		}
		best = min(best, last.Sub(begin)/rounds)
	}
	return clockFinding(source, best)
}

func clockFinding(source string, each time.Duration) finding {
	if each > slowClock {
		return finding{"clock", note, fmt.Sprintf("%s, %d ns a reading", source, each.Nanoseconds()), "use a clock that is " +
			"read without a system call (clocksource=tsc): MPI_Wtime and waiting read it"}
	}
	return ok("clock", "%s, %d ns a reading", source, each.Nanoseconds())
}

// loopback connects to itself, as several clients on one machine do (-clients).
func loopback() finding {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		defer listener.Close()
		var conn net.Conn
		if conn, err = net.DialTimeout("tcp", listener.Addr().String(), reachTime); err == nil {
			conn.Close()
			return ok("loopback", "a connection to 127.0.0.1 works")
		}
	}
	return finding{"loopback", failed, err.Error(), "bring the loopback interface up, and let its firewall pass TCP: " +
		"jobs of several clients on this machine (-clients) need it"}
}
