package startup

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// LauncherEnd is the launcher's end of the link to one rank. One goroutine may call Next; all else may be called by
// any.
//
//	l, child, err := NewLauncherEnd()
//	cmd.ExtraFiles = []*os.File{child}               // descriptor 3 in the rank
//	cmd.Env = append(env, RankEnv(3, rank, size, localRank, localSize)...)
//	err = cmd.Start(); child.Close()
//	for m, err := l.Next(); err == nil; m, err = l.Next() { switch m := m.(type) { ... } }
type LauncherEnd struct {
	port  *port
	state rankState
	impi  atomic.Bool // the rank was promised an IMPI job

	reports atomic.Bool // it answers AskTraffic
	tabled  atomic.Bool // it has the job's tables
	tells   atomic.Bool // it answers AskReport
	listens atomic.Bool // it would hear Lost
	hears   atomic.Bool // and does: the job is fault tolerant
}

// rankState is what a rank has said so far, which decides what it may say next.
type rankState uint8

const (
	silent rankState = iota
	greeted
	hosted
	finalized
)

// Message is Hello, Host, Finalized, Abort, Request, Traffic, Report or Suspects.
type Message any

// NewLauncherEnd makes a link. child is the rank's end, to be inherited by it and closed by the launcher.
func NewLauncherEnd() (l *LauncherEnd, child *os.File, err error) {
	conn, child, err := newLink()
	if err != nil {
		return nil, nil, err
	}
	p, err := newPort(conn, maxToLauncher, false)
	if err != nil {
		child.Close()
		return nil, nil, err
	}
	return &LauncherEnd{port: p}, child, nil
}

// ServeLink is the launcher's end of a link that a process has made itself (Summon), under descriptor fd.
func ServeLink(fd int) (*LauncherEnd, error) {
	f := os.NewFile(uintptr(fd), "launcher's end")
	if f == nil {
		return nil, errors.New("no such descriptor")
	}
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	p, err := newPort(conn, maxToLauncher, false)
	if err != nil {
		return nil, err
	}
	return &LauncherEnd{port: p}, nil
}

// newLink makes both ends of a link: ours, and one for another process.
func newLink() (ours net.Conn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "their end")
	f := os.NewFile(uintptr(fds[0]), "our end")
	defer f.Close()
	if ours, err = net.FileConn(f); err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// RankEnv is what to add to a rank's environment; fd is the descriptor as the rank has it.
func RankEnv(fd, rank, size, localRank, localSize int) []string {
	list := []struct {
		name  string
		value int
	}{{EnvFD, fd}, {EnvRank, rank}, {EnvSize, size}, {EnvLocalRank, localRank}, {EnvLocalSize, localSize}}
	var env []string
	for _, v := range list {
		env = append(env, v.name+"="+strconv.Itoa(v.value))
	}
	return env
}

// SetDeadline limits Next; zero lets it wait for ever.
func (l *LauncherEnd) SetDeadline(t time.Time) { l.port.conn.SetReadDeadline(t) }

// Next waits for what the rank says next. It returns io.EOF when the rank has closed the link, which is in order before
// Hello, if the program does not use MPI, and after Finalized. A message out of order is an error, after which the link
// is of no use. Next refuses a Hello of another version itself, and returns the error.
func (l *LauncherEnd) Next() (Message, error) {
	m, err := l.port.next()
	if err != nil {
		if l.state != silent && l.state != finalized && err == io.EOF {
			return nil, fmt.Errorf("the process closed its link to the launcher without MPI_Finalize: %w", io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	switch {
	case m.Type == msgHello && (l.state == silent || l.state == finalized):
		return l.hello(m)
	case m.Type == msgHello:
		return nil, errors.New("a second program of it called MPI_Init before the first had called MPI_Finalize")
	case m.Type == msgHost && l.state == greeted && l.impi.Load():
		b, err := decode[hostBody](m)
		if err != nil {
			return nil, err
		}
		h, err := b.host()
		if err != nil {
			return nil, err
		}
		l.state = hosted
		return h, nil
	case m.Type == msgFinalized && (l.state == greeted || l.state == hosted):
		l.state = finalized
		return Finalized{}, nil
	case (m.Type == msgSpawn || m.Type == msgNames) && (l.state == greeted || l.state == hosted):
		return request(m)
	case m.Type == msgTraffic && l.state != silent: // it may have finalized meanwhile
		return trafficOf(m)
	case m.Type == msgReport && l.state != silent:
		return reportOf(m)
	case m.Type == msgSuspect && l.state != silent:
		return suspectsOf(m)
	case m.Type == msgAbort && l.state != silent:
		a, err := decode[Abort](m)
		if err != nil {
			return nil, err
		}
		a.Text, a.Error = cut(a.Text), a.Error.Bounded()
		if a.Client != nil && (*a.Client < 0 || *a.Client >= wire.MaxClients) {
			return nil, fmt.Errorf("the process says that it has lost client %d", *a.Client)
		}
		return a, nil
	}
	return nil, fmt.Errorf("the process sent %.20q to the launcher out of order", m.Type)
}

func (l *LauncherEnd) hello(m message) (Message, error) {
	h, err := decode[Hello](m)
	if err != nil {
		return nil, err
	}
	if h.Version != Version {
		err := fmt.Errorf("the program's libmpi speaks version %d with its launcher, and this launcher %d: they are of "+
			"different releases", h.Version, Version)
		l.refuse(err.Error())
		return nil, err
	}
	if h.PID < 1 {
		return nil, fmt.Errorf("the process says that its pid is %d", h.PID)
	}
	l.state = greeted
	l.tabled.Store(false)
	l.reports.Store(h.Reports)
	l.tells.Store(h.Tells)
	l.hears.Store(false)
	l.listens.Store(h.Hears)
	return h, nil
}

// Welcome answers Hello. Shared is the descriptor of the shared memory, which stays the launcher's, or -1; Job is
// nil in an IMPI job, and must be there in any other.
func (l *LauncherEnd) Welcome(w Welcome) error {
	b := welcomeBody{Version: Version, LocalRank: w.LocalRank, LocalSize: w.LocalSize, JobID: w.JobID,
		Settings: w.Settings, Shared: w.Shared >= 0, IMPI: w.IMPI, Agent: w.Agent, Bind: w.Bind, Ports: w.Ports,
		Parent: w.Parent, Universe: w.Universe, FT: w.FT}
	if (w.Job != nil) == w.IMPI {
		return errors.New("the tables of an IMPI job come after Host, those of any other with its welcome")
	}
	if w.Job != nil {
		b.Tables = EncodeJob(w.Job)
	}
	l.impi.Store(w.IMPI)
	l.hears.Store(w.FT && l.listens.Load())
	err := l.port.send(msgWelcome, b, time.Now().Add(sendTime), w.Shared)
	l.tabled.Store(err == nil && !w.IMPI)
	return err
}

// refuse answers Hello with the reason why the rank cannot be part of the job.
func (l *LauncherEnd) refuse(text string) error {
	return l.port.send(msgRefuse, refuseBody{cut(text)}, time.Now().Add(sendTime))
}

// Job answers Host, or behind an agent Hello, with the tables of the IMPI job; j.Me is this rank's. agent are the
// rank's descriptors of the pipes to its agent, which stay the launcher's to close; -1: none. local are the world ranks
// of those that share memory, by local rank; none: they follow one another.
func (l *LauncherEnd) Job(j *transport.Job, agent [2]int, local ...int32) error {
	b := jobBody{Tables: EncodeJob(j), Agent: [2]bool{agent[0] >= 0, agent[1] >= 0}, Local: local}
	err := l.port.send(msgJob, b, time.Now().Add(sendTime), agent[:]...)
	l.tabled.Store(err == nil)
	return err
}

// Ack answers Finalized. From then on the rank may exit.
func (l *LauncherEnd) Ack() error { return l.port.send(msgAck, nil, time.Now().Add(sendTime)) }

// Close closes the link; a Next that waits ends.
func (l *LauncherEnd) Close() error { return l.port.conn.Close() }
