package startup

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// Welcome is what a rank learns at once.
type Welcome struct {
	LocalRank int32 // among the processes of this machine that share memory
	LocalSize int32
	Local     []int32           // the world ranks of these, by local rank; nil: they follow one another
	JobID     string            // the same for all ranks of a launcher, different for every start
	Settings  map[string]string // the launcher's word on settings, by name
	Shared    int               // descriptor of the shared memory, the receiver's to close; -1: none
	IMPI      bool              // the job has other clients: call Host, then Job
	Agent     bool              // IMPI: behind the client's agent, which listens for all: call only Job
	Bind      netip.Addr        // IMPI, no agent: the address at which to listen
	Ports     [2]int            // and the first and the last port to try; 0: any
	Job       *transport.Job    // not IMPI: the tables, Me included
	Parent    string            // the port of those who have spawned this job, which rank 0 dials; "": it was not spawned
	Universe  int32             // MPI_UNIVERSE_SIZE; 0: not known
	FT        bool              // the job goes on without ranks that are lost: Link.Losses says which
}

// welcomeTime is how long a rank waits for its welcome: the launcher sends it when all ranks of the machine have
// said hello, and a program may do a lot before it calls MPI_Init. If the launcher goes, the link ends at once.
const (
	welcomeTime = 24 * time.Hour
	sendTime    = 30 * time.Second
)

// Link is a rank's connection to its launcher.
//
// Until Watch, only Host, Job and Finalized use it, on the caller's thread. Watch, or else the first request
// (spawn.go), starts the one goroutine that it can have.
type Link struct {
	port  *port
	agent bool // pipes to an agent come with Job
	local []int32

	mu       sync.Mutex    // guards what follows
	watching chan struct{} // closed when the watcher has ended; nil: there is none
	ended    bool          // we have ended it: the launcher's going is no news
	ack      chan struct{} // closed when the launcher has acknowledged
	acked    bool
	asked    uint64                 // requests made so far (spawn.go)
	asking   map[uint64]chan Answer // those without an answer
	deaf     bool                   // nobody hears answers any more

	traffic   func() []wire.Traffic // Report; nil: nothing is known
	reporting bool                  // an answer is on its way

	state    func() []byte // Tell; nil: nothing is known
	telling  bool          // an answer is on its way
	question uint32        // the last

	ft      bool       // Welcome.FT
	hearing sync.Mutex // guards what follows, and is held while losses runs
	losses  func(Lost) // Losses; nil: nobody hears of any
	unheard []Lost     // those of which it has not heard
}

// Attach finds the launcher that started this process, says hello, and waits for its welcome. It is to be called
// once in a process.
//
// It returns ErrSingleton if nobody started us as part of a job, and *ForeignError if somebody did whom we cannot
// join, unless IMPI_SINGLETON=ok. Any other error means that there is a launcher and something is wrong with it.
func Attach(env Env) (*Link, Welcome, error) { return attach(env, welcomeTime) }

func attach(env Env, patience time.Duration) (*Link, Welcome, error) {
	alone, _ := env(EnvSingleton)
	text, ok := env(EnvFD)
	if !ok {
		if alone != "ok" {
			if e := foreign(env); e != nil {
				return nil, Welcome{}, e
			}
		}
		return nil, Welcome{}, ErrSingleton
	}
	p, err := inherit(text)
	if err != nil && alone == "ok" {
		return nil, Welcome{}, ErrSingleton
	}
	if door, ok := env(EnvDoor); err != nil && ok {
		if through, e := knock(door); e == nil {
			p, err = through, nil
		} else {
			err = fmt.Errorf("%w; %w", err, e)
		}
	}
	if err != nil {
		return nil, Welcome{},
			fmt.Errorf("%s=%s: %w (was this program started by a rank, or through a wrapper that closes descriptors? "+
				"Unset %s, or set %s=ok, to run it alone)", EnvFD, text, err, EnvFD, EnvSingleton)
	}
	l := &Link{port: p, ack: make(chan struct{})}
	w, err := l.greet(time.Now().Add(patience))
	if refused := refusal(""); errors.As(err, &refused) {
		p.conn.Close()
		return nil, Welcome{}, fmt.Errorf("the launcher refuses this process: %w", err)
	}
	if err != nil {
		p.conn.Close()
		p.dropDescriptors()
		return nil, Welcome{}, fmt.Errorf("the launcher that started this process does not answer as it should: %w", err)
	}
	return l, w, nil
}

// Inherited reports whether this process has a rank's link, which no MPI program has taken over.
func Inherited(env Env) bool {
	text, _ := env(EnvFD)
	fd, err := strconv.Atoi(text)
	return err == nil && isLink(fd) == nil
}

// isLink returns what a descriptor lacks to be that of a link.
func isLink(fd int) error {
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil {
		return fmt.Errorf("not the launcher's socket: %w", err)
	}
	name, err := syscall.Getsockname(fd)
	if _, unix := name.(*syscall.SockaddrUnix); err != nil || !unix || kind != syscall.SOCK_STREAM {
		return errors.New("not the launcher's socket")
	}
	return nil
}

// inherit takes over the descriptor that the launcher left us.
func inherit(text string) (*port, error) {
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return nil, errors.New("not a descriptor")
	}
	if err := isLink(fd); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), EnvFD)
	defer f.Close() // FileConn has its own, which is not inherited
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return newPort(conn, maxToRank, true)
}

// refusal is why the launcher does not welcome a process.
type refusal string

func (r refusal) Error() string { return string(r) }

// greet is hello and welcome.
func (l *Link) greet(deadline time.Time) (Welcome, error) {
	hello := Hello{Version: Version, PID: os.Getpid(), Reports: true, Tells: true, Hears: true}
	if err := l.port.send(msgHello, hello, deadline); err != nil {
		return Welcome{}, err
	}
	m, err := l.port.receive(deadline)
	if err != nil {
		return Welcome{}, fmt.Errorf("waiting for its welcome: %w", err)
	}
	switch m.Type {
	case msgRefuse:
		r, err := decode[refuseBody](m)
		if err != nil {
			return Welcome{}, err
		}
		return Welcome{}, refusal(cut(r.Text))
	case msgWelcome:
		b, err := decode[welcomeBody](m)
		if err != nil {
			return Welcome{}, err
		}
		return l.welcome(b)
	}
	return Welcome{}, fmt.Errorf("it sent %.20q instead of a welcome", m.Type)
}

// welcome checks a welcome and takes the descriptor that came with it.
func (l *Link) welcome(b welcomeBody) (Welcome, error) {
	w := Welcome{LocalRank: b.LocalRank, LocalSize: b.LocalSize, JobID: b.JobID, Settings: b.Settings, Shared: -1,
		IMPI: b.IMPI, Agent: b.Agent, Bind: b.Bind, Ports: b.Ports, Parent: b.Parent, Universe: b.Universe, FT: b.FT}
	l.ft = b.FT
	switch {
	case b.Version != Version:
		return Welcome{}, fmt.Errorf("it speaks version %d and we speak %d: launcher and library are of different releases",
			b.Version, Version)
	case b.LocalSize < 1 || b.LocalSize > maxLocalSize || b.LocalRank < 0 || b.LocalRank >= b.LocalSize:
		return Welcome{}, fmt.Errorf("it says that we are local rank %d of %d", b.LocalRank, b.LocalSize)
	case len(b.JobID) > maxJobID:
		return Welcome{}, fmt.Errorf("its job id has %d bytes", len(b.JobID))
	case len(b.Parent) > MaxName:
		return Welcome{}, fmt.Errorf("it says a port of %d bytes", len(b.Parent))
	case b.Universe < 0:
		return Welcome{}, fmt.Errorf("it says that the universe has %d processes", b.Universe)
	case b.Agent && !b.IMPI:
		return Welcome{}, errors.New("it promises an agent, and no IMPI job")
	case b.Ports[0] < 0 || b.Ports[0] > b.Ports[1] || b.Ports[1] > 65535:
		return Welcome{}, fmt.Errorf("it tells us to listen at ports %d to %d", b.Ports[0], b.Ports[1])
	case b.IMPI && !b.Agent && !b.Bind.IsValid():
		return Welcome{}, errors.New("it promises an IMPI job and does not say where to listen")
	}
	if !b.IMPI {
		j, err := decodeMine(b.Tables)
		if err != nil {
			return Welcome{}, err
		}
		w.Job = j
	}
	if b.Shared || len(l.port.fds) > 0 {
		fds, err := l.port.descriptors(1)
		if err != nil {
			return Welcome{}, err
		}
		w.Shared = fds[0]
	}
	l.agent, l.port.takes = b.Agent, b.Agent
	return w, nil
}

// decodeMine reads tables that must say who we are.
func decodeMine(b []byte) (*transport.Job, error) {
	j, err := DecodeJob(b)
	if err == nil && j.Me < 0 {
		err = errors.New("job tables: they do not say which rank we are")
	}
	return j, err
}

// Host gives the launcher what it needs of this rank for an IMPI job. The listening socket is open.
func (l *Link) Host(h Host) error {
	return l.port.send(msgHost, newHostBody(h), time.Now().Add(sendTime))
}

// Job waits for the tables of an IMPI job, for d, or for ever if d is 0, as other clients may be started by hand.
// agent are the pipes to the agent (transport/pipe) that the welcome promised, the caller's to close: to the processes
// with lower world ranks and to those with higher ones, -1 where there is nobody.
func (l *Link) Job(d time.Duration) (j *transport.Job, agent [2]int, err error) {
	agent = [2]int{-1, -1}
	m, err := l.port.receive(deadlineIn(d))
	if err != nil {
		return nil, agent, fmt.Errorf("waiting for the launcher's job tables: %w", err)
	}
	if m.Type != msgJob {
		return nil, agent, fmt.Errorf("waiting for the launcher's job tables: it sent %.20q", m.Type)
	}
	b, err := decode[jobBody](m)
	if err != nil {
		return nil, agent, err
	}
	if j, err = decodeMine(b.Tables); err != nil {
		l.port.dropDescriptors()
		return nil, agent, err
	}
	if len(b.Local) > maxLocalSize {
		l.port.dropDescriptors()
		return nil, agent, fmt.Errorf("the launcher says that %d ranks share memory", len(b.Local))
	}
	l.local = b.Local
	agent, err = l.sockets(b.Agent)
	l.port.takes = false
	return j, agent, err
}

// Local is what Job was told of the world ranks of the processes that share memory, as in Welcome.
func (l *Link) Local() []int32 { return l.local }

// sockets takes the descriptors that came with the tables.
func (l *Link) sockets(given [2]bool) (agent [2]int, err error) {
	agent = [2]int{-1, -1}
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	if l.agent != (n > 0) {
		l.port.dropDescriptors()
		return agent, fmt.Errorf("the launcher's job tables come with %d sockets to an agent", n)
	}
	fds, err := l.port.descriptors(n)
	if err != nil {
		return agent, err
	}
	for i, g := range given {
		if g {
			agent[i], fds = fds[0], fds[1:]
		}
	}
	return agent, nil
}

// Watch starts a goroutine that calls gone when the launcher is lost, unless Finalized or Close came first. It is
// called after Job and before Finalized, once: a second call does nothing, and neither does one after a request.
func (l *Link) Watch(gone func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watching == nil && !l.ended {
		l.watching = make(chan struct{})
		go l.watch(gone, l.watching)
	}
}

func (l *Link) watch(gone func(error), done chan struct{}) {
	defer close(done)
	defer l.silence()
	for {
		m, err := l.port.receive(time.Time{})
		if err == nil {
			err = l.notice(m)
		}
		if err != nil {
			l.mu.Lock()
			ended := l.ended
			l.mu.Unlock()
			if !ended {
				gone(fmt.Errorf("the launcher was lost: %s", reason(err)))
			}
			return
		}
	}
}

func reason(err error) string {
	if err == io.EOF {
		return "it has closed its connection"
	}
	return err.Error()
}

// notice takes what may come while the job runs: answers to requests, and to Finalized, questions about traffic and
// about what the process does, and losses.
func (l *Link) notice(m message) error {
	if m.Type == msgAnswer {
		return l.answered(m)
	}
	if m.Type == msgTraffic {
		l.reportTraffic()
		return nil
	}
	if m.Type == msgReport {
		return l.tell(m)
	}
	if m.Type == msgLost {
		return l.lose(m)
	}
	if m.Type != msgAck {
		return fmt.Errorf("it sent %.20q", m.Type)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended || l.acked {
		return errors.New("it acknowledges what we did not say")
	}
	l.acked = true
	close(l.ack)
	return nil
}

// Finalized tells the launcher that MPI_Finalize is done, and waits until it knows, for d or for ever if d is 0:
// after that this process may end without being taken for dead.
func (l *Link) Finalized(d time.Duration) error {
	l.mu.Lock()
	first, watching := !l.ended, l.watching
	l.ended = true
	l.mu.Unlock()
	if !first {
		return errors.New("finalized twice, or after Close")
	}
	deadline := deadlineIn(d)
	if err := l.port.send(msgFinalized, nil, deadline); err != nil {
		return err
	}
	if watching != nil {
		return l.awaitWatched(d, watching)
	}
	for acked := false; !acked; acked = l.isAcked() {
		m, err := l.port.receive(deadline)
		if err == nil {
			err = l.notice(m)
		}
		if err != nil {
			return fmt.Errorf("waiting for the launcher to acknowledge the end: %w", err)
		}
	}
	return nil
}

func (l *Link) isAcked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

func (l *Link) awaitWatched(d time.Duration, watching chan struct{}) error {
	var expired <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-l.ack:
		return nil
	case <-expired:
		return fmt.Errorf("the launcher has not acknowledged the end within %v", d)
	case <-watching:
	}
	select {
	case <-l.ack: // came last
		return nil
	default:
		return errors.New("the launcher has gone without acknowledging the end")
	}
}

// Abort tells the launcher to end the job.
func (l *Link) Abort(a Abort) error {
	a.Text = cut(a.Text)
	return l.port.send(msgAbort, a, time.Now().Add(sendTime))
}

// Close closes the link. Without Finalized before it, the launcher takes this rank for dead.
func (l *Link) Close() error {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	return l.port.conn.Close()
}

func deadlineIn(d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}
