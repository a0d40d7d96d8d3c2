// Package peer is the rest of an IMPI job around a client under test: the server, and the hosts and processes
// of all other clients.
//
//	job.go     what a job looks like; starting the client
//	player.go  what the client's processes are told to do, and what they say
//	ending.go  the end
//	queue.go   a job that outlives a case
//	server.go  the server's side of the start-up (IMPI 0.0, 2.3)
//	tables.go  the values of the labels
//	several.go further clients under test
//	joint.go   their server
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
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/control"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// Setup is a job as a case wants it. The zero value of a number means its default.
type Setup struct {
	Rank   int     // the client under test among the clients
	Procs  int     // its processes; 0: 1
	Others [][]int // the tester's clients in ascending rank: the processes of each of their hosts
	// Further are other clients under test (several.go).
	Further []Further
	// TheirServer: all join the implementation's server, and not ours (joint.go).
	TheirServer bool

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
	Contribute func(label wire.Label, client int, data []byte) []byte `json:"-"`
	// Around adds bytes before and behind the broadcast of a label.
	Around func(label wire.Label) (before, behind []byte) `json:"-"`

	Swallow bool // labels of the client's own are not broadcast, as some servers do
	// Invent says what is broadcast under a label of the client's own, instead of its data alone.
	Invent func(own []byte) (mask uint32, data []byte) `json:"-"`
	// Manual: messages are delivered packet by packet, and nothing is answered but by the case.
	Manual bool
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

	players *control.Job              // its processes
	theirs  *Server                   // their server, nil: ours
	members []*Member                 // our clients at their server
	further []*Job                    // the other clients under test
	index   int                       // 0: the first of them
	current atomic.Pointer[conform.T] // T, for the readers of links
	lasting bool                      // it outlives a case (queue.go), and has what follows
	undo    []func()                  // in reverse order
	conns   []*events.Conn            // to the implementation

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

// Begin listens as server and starts the client under test, whose processes play the steps and finish.
func Begin(t *conform.T, s Setup, steps ...string) *Job {
	j := newJob(t, s)
	j.players.Begin(t.Name())
	j.players.Do(steps...)
	j.players.End()
	j.players.Exit()
	j.start()
	return j
}

// newJob is a job whose processes have nothing to do yet.
func newJob(t *conform.T, s Setup) *Job {
	if s.Procs == 0 {
		s.Procs = 1
	}
	if s.Env != nil && len(s.Env) == 0 && Target(t).ByHand() {
		t.Skip("the client is started by hand: of one that is not to connect nothing is seen")
	}
	j := &Job{Setup: s, Clients: 1 + len(s.Further) + len(s.Others), Labels: map[wire.Label][]byte{},
		links: map[[2]int]*Link{}, syncs: map[uint64]uint64{}, window: map[[2]int]*window{}, nextID: 1 << 40}
	j.cond = sync.NewCond(&j.mu)
	j.playFor(t)
	j.addFurther()
	j.players = Target(t).Control.Job(j.processes(), j.handler())
	return j
}

// playFor makes the job that of a case.
func (j *Job) playFor(t *conform.T) {
	j.T = t
	j.current.Store(t)
	//lint:ignore SA2001 who holds the lock is about to wait, and the broadcast must come after that
	stop := context.AfterFunc(t.Context(), func() { j.mu.Lock(); j.mu.Unlock(); j.cond.Broadcast() })
	t.Cleanup(func() { stop() })
}

// now is the running case, for goroutines that are not the case's.
func (j *Job) now() *conform.T { return j.current.Load() }

// cleanup calls f when the job is over; the last one first.
func (j *Job) cleanup(f func()) {
	if j.lasting {
		j.undo = append(j.undo, f)
	} else {
		j.T.Cleanup(f)
	}
}

// start listens as server, unless that is done, and starts the client under test.
func (j *Job) start() {
	s, t := &j.Setup, j.T
	if j.index == 0 {
		j.cleanup(func() { j.players.Close() })
		j.open()
		for _, f := range j.further {
			f.listener, f.players, f.lasting = j.listener, j.players, j.lasting
		}
	}
	env := s.Env
	if env == nil {
		env = target.KeyEnv()
	}
	if s.Told {
		env = append(env, Target(t).Values(*s.XSize, *s.MaxLinear)...)
	}
	var err error
	j.Main, err = Target(t).Client(target.Client{Rank: s.Rank, Server: j.address(), N: s.Procs, Env: env,
		Players: j.players, Further: j.index})
	if err != nil {
		t.Fatalf("the client cannot be started: %v", err)
	}
	started(t, j.Main, clientName(s.Rank), j.cleanup, j.hangUp)
}

// open listens as server, or starts theirs.
func (j *Job) open() {
	switch s := &j.Setup; {
	case s.TheirServer:
		j.joinTheirs()
	case s.IPv6:
		j.listener = j.listen("[::1]:0")
	default:
		j.listener = j.listen("127.0.0.1:0")
	}
}

// address is that of the server.
func (j *Job) address() string {
	if j.theirs != nil {
		return j.theirs.Addr
	}
	return j.listener.Addr().String()
}

// hangUp ends the start-up.
func (j *Job) hangUp() {
	if j.theirs != nil {
		j.theirs.leave()
		return
	}
	j.listener.Close()
}

// listen listens for the client under test.
func (j *Job) listen(at string) net.Listener {
	l, err := Target(j.T).Listen(at)
	if err != nil {
		j.T.Disturbed(err)
		j.T.Fatalf("the tester cannot listen: %v", err)
	}
	j.cleanup(func() { l.Close() })
	l.(*net.TCPListener).SetDeadline(j.T.Deadline())
	return l
}

// started sees to a process of the implementation: it is recorded, and ended by what cleanup gets. The clock stands
// while a person is to start it; if the person gives up, the case is indeterminate, and ends.
func started(t *conform.T, p *target.Process, name string, cleanup func(func()), end func()) {
	cleanup(func() {
		p.Kill()
		if !p.ByHand() {
			t.Output(fmt.Sprintf("--- %s, stdout\n%s--- stderr\n%s", name, p.Stdout(), p.Stderr()))
		}
	})
	watch(t, p, name)
	if p.ByHand() {
		p.Unseen = func() { t.Skip("the %s was started by hand: its output is not seen", name) }
		t.StopClock()
		p.GivesUp(func(err error) {
			t.Disturbed(err)
			end()
		})
		stop := context.AfterFunc(t.Context(), end)
		t.Cleanup(func() { stop() })
	}
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
func (j *Job) ours(client int) bool { return j.testedAt(client) == nil }

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
		if j.apart() {
			return errors.New("the client has closed all connections")
		}
		j.cond.Wait()
	}
	return nil
}

// apart reports whether there were connections between hosts, and all have ended. The lock is held.
func (j *Job) apart() bool {
	for _, l := range j.links {
		if l.ended == nil {
			return false
		}
	}
	return len(j.links) > 0
}

// await is wait for what must come; if it does not, the case ends with a text, and why.
func (j *Job) await(cond func() bool, format string, args ...any) {
	if err := j.wait(cond); err != nil {
		j.T.Stop()
		j.T.Fatalf(format+": %v", append(args, err)...)
	}
}
