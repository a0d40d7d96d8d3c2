// Package peer is the rest of an IMPI job around a client under test: the server, and the hosts and processes
// of all other clients.
//
//	job.go     what a job looks like; starting the client; the end
//	server.go  the server's side of the start-up (IMPI 0.0, 2.3)
//	mesh.go    the sockets between hosts (2.3.8)
//	link.go    one socket: every packet that arrives is checked (chapter 3), flow control is kept on both sides
//	pt2pt.go   messages
//	play.go    the global messages of a collective, sent and awaited in any order that causality allows
//	global.go  which messages a collective must send (chapter 4): pure functions
//
// Flow: Begin starts the client -> Join, Exchange (server) -> Mesh (hosts) -> messages -> Finish, or Start for
// all of it before the messages.
//
// Whatever waits, waits until the case's deadline at the longest.
package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// Setup is a job as a case wants it. The zero value of a number means its default.
type Setup struct {
	Rank   int     // the client under test among the clients
	Procs  int     // its processes; 0: 1
	Others [][]int // the other clients in ascending rank: the processes of each of their hosts

	DataLen   uint32 // what the others contribute
	TagUB     int32
	AckMark   uint32
	HiWater   uint32
	XSize     *int32
	MaxLinear *int32
	Versions  []uint32  // of each of the others: major, minor, ...
	HostID    *[16]byte // P_IPV6 of the others' processes; nil: their hosts' addresses

	Told bool // the client under test contributes XSize and MaxLinear, too
	IPv6 bool // all listen at ::1, the server, too

	// Contribute changes what another client contributes to a label; nil removes it.
	Contribute func(label wire.Label, client int, data []byte) []byte
	// Around adds bytes before and behind the broadcast of a label.
	Around func(label wire.Label) (before, behind []byte)

	Swallow bool // labels of the client's own are not broadcast, as some servers do
	// Invent says what is broadcast under a label of the client's own, instead of its data alone.
	Invent func(own []byte) (mask uint32, data []byte)
	Manual bool // messages are delivered packet by packet, and nothing is answered but by the case
	NoAcks bool // no PROTOACK is sent but by the case
	Env    []string
}

// Proc is a process of MPI_COMM_WORLD.
type Proc struct {
	ID     codec.ID
	Host   int
	Client int
}

// Host is one of all hosts.
type Host struct {
	Client int
	N      int    // its processes
	Addr   string // where it listens
}

// Job is a job with a client under test.
type Job struct {
	T     *conform.T
	Setup Setup
	Main  *target.Process // the client under test

	Clients   int
	Hosts     []Host
	Procs     []Proc
	DataLen   uint32 // negotiated
	Own       uint32 // C_DATALEN of the client under test
	AckMark   uint32
	HiWater   uint32
	XSize     int
	MaxLinear int
	Labels    map[wire.Label][]byte // what the client under test contributed

	DoneData  []byte     // what the server sends with DONE
	last      wire.Label // that the client has submitted
	slowly    bool
	listener  net.Listener   // the server's
	server    *events.Conn   // to the client under test
	listeners []net.Listener // of the others' hosts, by host index within them

	mu     sync.Mutex // guards what follows, and the windows of the links
	cond   *sync.Cond
	links  map[[2]int]*Link  // by our host, their host
	queue  []Packet          // arrived and not taken yet
	syncs  map[uint64]uint64 // SYNCACKs that came: srqid to drqid
	window map[[2]int]*window
	nextID uint64
	broken bool
}

// Packet is a packet, or in a job that is not manual a whole message, between two processes.
type Packet struct {
	codec.Packet
	From, To int // world ranks
	event    int
}

// Event is the number of the event that was its arrival.
func (p Packet) Event() int { return p.event }

func (p Packet) String() string { return fmt.Sprintf("%v from %d to %d", p.Header, p.From, p.To) }

// clientName and hostName are what the trace calls a client, and a host: the first number is its client's.
func clientName(rank int) string { return fmt.Sprintf("client %d", rank) }
func (j *Job) hostName(h int) string {
	if h < 0 || h >= len(j.Hosts) {
		return ""
	}
	n := 0
	for k := range h {
		if j.Hosts[k].Client == j.Hosts[h].Client {
			n++
		}
	}
	return fmt.Sprintf("host %d.%d", j.Hosts[h].Client, n)
}

// Target is the implementation under test.
func Target(t *conform.T) *target.Target { return t.Target().(*target.Target) }

// Begin listens as server and starts the client under test, whose processes play the steps.
func Begin(t *conform.T, s Setup, steps ...string) *Job {
	if s.Procs == 0 {
		s.Procs = 1
	}
	j := &Job{T: t, Setup: s, Clients: len(s.Others) + 1, Labels: map[wire.Label][]byte{}, links: map[[2]int]*Link{},
		syncs: map[uint64]uint64{}, window: map[[2]int]*window{}, nextID: 1 << 40}
	j.cond = sync.NewCond(&j.mu)
	//lint:ignore SA2001 who holds the lock is about to wait, and the broadcast must come after that
	stop := context.AfterFunc(t.Context(), func() { j.mu.Lock(); j.mu.Unlock(); j.cond.Broadcast() })
	t.Cleanup(func() { stop() })
	at := "127.0.0.1:0"
	if s.IPv6 {
		at = "[::1]:0"
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Disturbed(err)
		t.Fatalf("the tester cannot listen: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	l.(*net.TCPListener).SetDeadline(t.Deadline())
	j.listener = l
	env := s.Env
	if env == nil {
		env = target.KeyEnv()
	}
	if s.Told {
		env = append(env, Target(t).Values(*s.XSize, *s.MaxLinear)...)
	}
	j.Main, err = Target(t).Client(s.Rank, l.Addr().String(), s.Procs, env, steps...)
	if err != nil {
		t.Fatalf("the client cannot be started: %v", err)
	}
	t.Cleanup(func() {
		j.Main.Kill()
		t.Output(fmt.Sprintf("--- stdout\n%s--- stderr\n%s", j.Main.Stdout(), j.Main.Stderr()))
	})
	watch(t, j.Main, clientName(s.Rank))
	return j
}

// Start is Begin and the whole start-up.
func Start(t *conform.T, s Setup, steps ...string) *Job {
	j := Begin(t, s, steps...)
	j.Join()
	j.Exchange()
	j.Mesh()
	return j
}

// ours reports whether a client is one of the tester's.
func (j *Job) ours(client int) bool { return client != j.Setup.Rank }

// Ours reports whether a process is one of the tester's.
func (j *Job) Ours(proc int) bool { return j.ours(j.Procs[proc].Client) }

// World is all world ranks.
func (j *Job) World() []int {
	ranks := make([]int, len(j.Procs))
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// Line waits until rank has said a line.
func (j *Job) Line(rank int, text string) {
	want := fmt.Sprintf("[%d] %s\n", rank, text)
	err := j.Main.Until(j.T.Context(), func(out, _ string) bool { return strings.Contains(out, want) })
	if err != nil {
		j.T.Stop()
		j.T.Fatalf("rank %d should have said %q: %v", rank, text, err)
	}
}

// Said reports whether rank has said a line.
func (j *Job) Said(rank int, text string) bool {
	return strings.Contains(j.Main.Stdout(), fmt.Sprintf("[%d] %s\n", rank, text))
}

// Exit waits for the end of the client under test and wants this exit code.
func (j *Job) Exit(code int) {
	got, err := j.Main.Wait(j.T.Context())
	if err != nil {
		j.T.Fatalf("the client has not ended in time")
	}
	j.T.Check(got == code, "the client ended with exit code %d, must be %d", got, code)
}

// ExitBadly waits for the end of the client under test and wants an exit code other than 0, and a message.
func (j *Job) ExitBadly() {
	got, err := j.Main.Wait(j.T.Context())
	switch {
	case err != nil:
		j.T.Fatalf("the client has not ended in time")
	case got == 0:
		j.T.Errorf("the client ended with exit code 0, as if nothing had happened")
	case strings.TrimSpace(j.Main.Stderr()) == "":
		j.T.Errorf("the client ended with exit code %d and said nothing on stderr", got)
	}
	for _, crash := range []string{"panic:", "fatal error:", "SIGSEGV", "core dumped", "Segmentation fault"} {
		j.T.Check(!strings.Contains(j.Main.Stderr(), crash), "the client crashed (%q)", crash)
	}
}

// errOver is a wait that the deadline ended.
var errOver = errors.New("nothing has come until the deadline")

// wait waits until cond holds, which is called under the lock.
func (j *Job) wait(cond func() bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for !cond() {
		if j.T.Context().Err() != nil {
			return errOver
		}
		if j.broken {
			return errors.New("a rule was broken")
		}
		j.cond.Wait()
	}
	return nil
}

// await is wait for what must come; if it does not, the case ends with a text, and why.
func (j *Job) await(cond func() bool, format string, args ...any) {
	if err := j.wait(cond); err != nil {
		j.T.Stop()
		j.T.Fatalf(format+": %v", append(args, err)...)
	}
}

// GoesOn waits until the client under test has sent something to be taken, or ended with a code.
func (j *Job) GoesOn() (code int, ended bool) {
	for {
		if j.queued() > 0 {
			return 0, false
		}
		select {
		case <-j.Main.Ended():
			code, _ = j.Main.Wait(j.T.Context())
			return code, true
		case <-j.T.Context().Done():
			j.T.Fatalf("the client neither goes on nor ends")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
