package shm

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"golang.org/x/sys/unix"
)

// Tests with several operating system processes run this test binary again, in a role.

var roles = map[string]func(fd, rank int){
	"echo":   echoRole,
	"sink":   sinkRole,
	"source": sourceRole,
	"lend":   lendRole,
	"sleepy": sleepyRole,
	"idle":   idleRole,

	"idle guest":   idleGuestRole,
	"sleepy guest": sleepyGuestRole,
	"source guest": sourceGuestRole,
	"lend guest":   lendGuestRole,
	"usurp":        usurpRole,
}

func TestMain(m *testing.M) {
	if name := os.Getenv("SHM_ROLE"); name != "" {
		rank, _ := strconv.Atoi(os.Getenv("SHM_RANK"))
		roles[name](3, rank)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start runs a role as a local rank in a process of its own, which ends with the test at the latest. It has the segment
// as descriptor 3, and others behind that, which stay open here meanwhile: to close one of a segment that this process
// has attached to would give up its record lock.
func start(tb testing.TB, role string, fd, rank int, others ...int) *exec.Cmd {
	tb.Helper()
	var files []*os.File
	for i, fd := range append([]int{fd}, others...) {
		file := os.NewFile(uintptr(dup(tb, fd)), "segment")
		if i == 0 {
			defer file.Close()
		} else {
			tb.Cleanup(func() { file.Close() })
		}
		files = append(files, file)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SHM_ROLE="+role, fmt.Sprint("SHM_RANK=", rank))
	cmd.ExtraFiles = files
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func dup(tb testing.TB, fd int) int {
	tb.Helper()
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// create makes a segment that the test owns.
func create(tb testing.TB, n int) int {
	tb.Helper()
	fd, err := Create(n)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Close(fd) })
	return fd
}

func attach(tb testing.TB, fd, rank int) *Segment {
	tb.Helper()
	s, err := Attach(dup(tb, fd), rank)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func worldOf(n int) []int32 {
	w := make([]int32, n)
	for i := range w {
		w[i] = int32(100 + i)
	}
	return w
}

// receiver calls functions where they are set.
type receiver struct {
	deliver func(h *transport.Header, payload []byte)
	lost    func(peer int32, err error)
	nlost   int
}

func (r *receiver) Deliver(h *transport.Header, payload []byte) {
	if r.deliver != nil {
		r.deliver(h, payload)
	}
}

func (r *receiver) Lost(peer int32, err error) {
	r.nlost++
	if r.lost != nil {
		r.lost(peer, err)
	}
}

func newTransport(tb testing.TB, s *Segment, r transport.Receiver) *Transport {
	t, err := New(Config{Segment: s, World: worldOf(s.n), Receiver: r})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// join is Attach and New for a role; it ends the process if they fail.
func join(fd, rank int, r transport.Receiver) *Transport {
	s, err := Attach(fd, rank)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	t, err := New(Config{Segment: s, World: worldOf(s.n), Receiver: r})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return t
}

// pin keeps this goroutine on one core, if there is such a core.
func pin(core int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	unix.SchedSetaffinity(0, &set)
}

const tagEnd = -7 // ends a role

// echoRole sends every message back to local rank 0.
func echoRole(fd, rank int) {
	pin(1)
	end := false
	r := &receiver{lost: func(int32, error) { end = true }}
	t := join(fd, rank, r)
	back := transport.Header{}
	r.deliver = func(h *transport.Header, payload []byte) {
		end = end || h.Tag == tagEnd
		back = *h
		back.Src, back.Dst = h.Dst, h.Src
		for !t.Send(&back, payload) {
			futex.Pause(10)
		}
	}
	for !end {
		await(t, 0)
	}
}

// await delivers something from a local rank, or finds that it is dead.
func await(t *Transport, src int) {
	for k := 0; ; k++ {
		if t.Spin(t.world[src], 1000) && t.PollFrom(src) || k%100 == 99 && t.CheckPeers() {
			return
		}
		if runtime.NumCPU() == 1 {
			runtime.Gosched()
		}
	}
}

// sinkRole takes messages and answers those with tag 1.
func sinkRole(fd, rank int) {
	pin(1)
	end := false
	r := &receiver{lost: func(int32, error) { end = true }}
	t := join(fd, rank, r)
	room := make([]byte, 1<<20)
	r.deliver = func(h *transport.Header, payload []byte) {
		copy(room, payload)
		end = end || h.Tag == tagEnd
		if h.Tag != 0 {
			for !t.Send(&transport.Header{Src: h.Dst, Dst: h.Src}, nil) {
				futex.Pause(10)
			}
		}
	}
	for !end {
		await(t, 0)
	}
}

// lendRole publishes 4 MiB of its memory by a DataSync and waits.
func lendRole(fd, rank int) {
	pin(1)
	end := false
	r := &receiver{lost: func(int32, error) { end = true }}
	t := join(fd, rank, r)
	r.deliver = func(h *transport.Header, _ []byte) { end = true }
	lent := make([]byte, 4<<20)
	for i := range lent {
		lent[i] = byte(i * 7)
	}
	h := transport.Header{Kind: transport.DataSync, Dst: t.world[0], MsgLen: uint64(len(lent)), Addr: addressOf(lent)}
	for !t.Send(&h, nil) {
		futex.Pause(10)
	}
	for !end {
		await(t, 0)
	}
	runtime.KeepAlive(lent)
}

// idleRole only attaches, and stays.
func idleRole(fd, rank int) {
	t := join(fd, rank, &receiver{})
	t.Send(&transport.Header{Dst: t.world[0]}, nil)
	time.Sleep(time.Minute)
}
