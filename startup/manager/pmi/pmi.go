// Package pmi speaks with process managers as MPICH's mpiexec, Intel's, and Slurm's srun do: PMI-1 and PMI-2, on the
// wire.
//
// A manager leaves each process a descriptor (PMI_FD) or an address (PMI_PORT), and says its rank and the size of the
// job in the environment. Then the process asks and the manager answers, one thing at a time; but for abort, which has
// no answer:
//
//	        init, in one line of text  ->  response_to_init, with the version that is spoken from then on
//	PMI-1   get_maxes, get_my_kvsname, get_appnum, get_universe_size, put, get, barrier_in, finalize, abort
//	PMI-2   fullinit, job-getid, info-getjobattr, kvs-put, kvs-get, kvs-fence, finalize, abort
//
//	pmi.go      Open: is there a manager, and which version does it speak
//	conn.go     one question and its answer; noticing that the manager has gone
//	message.go  messages as bytes; pure
//	one.go      PMI-1
//	two.go      PMI-2
//	server.go   the manager's side of PMI-1, for another MPI library in processes that our launcher has started
package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/startup/manager"
)

// Variables that managers set.
const (
	envFD    = "PMI_FD"   // descriptor of a socket to the manager
	envPort  = "PMI_PORT" // or HOST:PORT of one that listens,
	envID    = "PMI_ID"   // to which the process says this number
	envRank  = "PMI_RANK"
	envSize  = "PMI_SIZE"
	envJobID = "PMI_JOBID" // Slurm's PMI-2
)

const (
	dialTime = 30 * time.Second
	maxSize  = 1 << 24 // processes of a job
)

// answerTime is for an answer that needs nobody else; tests have less.
var answerTime = 60 * time.Second

// Open finds the manager that has started this process with a PMI_FD or a PMI_PORT; nil: none has. Which version is to
// be spoken is asked for as the environment suggests, and is what the manager answers. It is a manager.Opener.
func Open(env manager.Env) (manager.Manager, error) {
	c, err := connect(env)
	if c == nil || err != nil {
		return nil, err
	}
	m, err := begin(c, env)
	if err != nil {
		c.Close()
		return nil, err
	}
	return m, nil
}

// connect takes over the descriptor, or dials the port. It returns nil if there is neither.
func connect(env manager.Env) (*conn, error) {
	if text, ok := env(envFD); ok {
		c, err := inherit(text)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w (was this program started by a rank, or through a wrapper that closes "+
				"descriptors? Unset %s, or set IMPI_SINGLETON=ok, to run it alone)", envFD, text, err, envFD)
		}
		return newConn(c), nil
	}
	at, ok := env(envPort)
	if !ok {
		return nil, nil
	}
	c, err := net.DialTimeout("tcp", at, dialTime)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: the process manager does not answer: %w", envPort, at, err)
	}
	return newConn(c), nil
}

// inherit takes over a descriptor.
func inherit(text string) (net.Conn, error) {
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return nil, errors.New("not a descriptor")
	}
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil || kind != syscall.SOCK_STREAM {
		return nil, errors.New("not the process manager's socket")
	}
	f := os.NewFile(uintptr(fd), envFD)
	defer f.Close() // FileConn has its own, which is not inherited
	return net.FileConn(f)
}

// KeepFromChildren keeps the manager's descriptor, which another MPI library uses, from programs that this process
// starts.
func KeepFromChildren(env manager.Env) {
	text, ok := env(envFD)
	if fd, err := strconv.Atoi(text); ok && err == nil && fd > 2 {
		syscall.CloseOnExec(fd)
	}
}

// place is who a process is, as the environment or the port says.
type place struct{ rank, size int }

func (p place) check() error {
	if p.size < 1 || p.size > maxSize || p.rank < 0 || p.rank >= p.size {
		return fmt.Errorf("rank %d of %d", p.rank, p.size)
	}
	return nil
}

// begin finds out which version the manager speaks, and says hello in it.
func begin(c *conn, env manager.Env) (manager.Manager, error) {
	p, err := whoWeAre(c, env)
	if err != nil {
		return nil, err
	}
	ask := version{1, 1}
	job, two := env(envJobID)
	if two {
		ask = version{2, 0}
	}
	got, err := c.initialize(ask)
	if err != nil {
		return nil, err
	}
	switch got.major {
	case 1:
		return newOne(c, p)
	case 2:
		return newTwo(c, p, job)
	}
	return nil, fmt.Errorf("PMI, init: the manager speaks version %v, and we speak 1 and 2", got)
}

// whoWeAre reads the rank and the size. At a port the manager says them.
func whoWeAre(c *conn, env manager.Env) (p place, err error) {
	if _, ok := env(envFD); !ok {
		id, _ := env(envID)
		return c.introduce(id)
	}
	for _, v := range []struct {
		name string
		to   *int
	}{{envRank, &p.rank}, {envSize, &p.size}} {
		text, _ := env(v.name)
		if *v.to, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("%s=%.40s: the process manager, which has set %s, should say a number", v.name, text, envFD)
		}
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("%s and %s: the process manager says that we are %w", envRank, envSize, err)
	}
	return p, nil
}

// version is one of the protocol.
type version struct{ major, minor int }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// initialize is the first question. The answer is one line in all versions.
func (c *conn) initialize(v version) (version, error) {
	a, err := c.soon(context.Background(), "init", "response_to_init", "pmi_version", strconv.Itoa(v.major),
		"pmi_subversion", strconv.Itoa(v.minor))
	if err != nil {
		return v, err
	}
	got := version{major: a.number("pmi_version", v.major), minor: a.number("pmi_subversion", v.minor)}
	if got.major < 1 || got.minor < 0 {
		return v, c.strange("init", a.text)
	}
	return got, nil
}

// introduce returns who we are at a port, and hears our rank.
func (c *conn) introduce(id string) (p place, err error) {
	if n, err := strconv.Atoi(id); err != nil || n < 0 {
		return p, fmt.Errorf("%s=%.40s: the process manager, which has set %s, should say a number", envID, id, envPort)
	}
	ctx, cancel := bounded(context.Background())
	defer cancel()
	a, err := c.ask(ctx, "initack", "initack", "pmiid", id)
	p = place{-1, -1}
	for err == nil {
		p.rank, p.size = a.number("rank", p.rank), a.number("size", p.size)
		if _, last := a.field("debug"); last {
			break
		}
		if a, err = c.receive(ctx, "initack"); err == nil && a.cmd != "set" {
			err = c.strange("initack", a.text)
		}
	}
	if err != nil {
		return p, err
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("%s, initack: the manager says that we are %w", c.name, err)
	}
	return p, nil
}

// universe is a number of processes that a manager says; 0: it says none.
func universe(n int) int32 {
	if n < 1 || n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

func newConn(c net.Conn) *conn {
	return &conn{Conn: c, in: bufio.NewReaderSize(c, 4096), format: textLines, name: "PMI"}
}
