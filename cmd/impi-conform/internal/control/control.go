// Package control talks to the players: the programs that the implementation under test runs. One listener serves all
// jobs. Every process of a client under test connects to it after MPI_Init, and gets its steps there.
//
//	control.go  the listener: who comes says a token, which names a job
//	job.go      the job: what its players are to do, and what they have said
//	player.go   one connection
//
// A line ends with a line feed. In the order of a job:
//
//	impi-conform 1 TOKEN RANK SIZE    the player: who it is
//	text LENGTH TEXT                  the tester: all printable characters; the player returns the line
//	begin NAME                        the tester: a case begins
//	do STEP                           the tester: a step, which the player takes before it reads on
//	say TEXT                          the player: something has happened
//	wrong LEVEL TEXT                  the player: a wrong value has come; it aborts the job
//	go                                the tester: the step compute is over
//	end                               the tester: the case is over
//	done LEVEL                        the player: it has taken all steps; its worst error
//	exit                              the tester: MPI_Finalize
//
// What comes is not trusted: lines, bytes and connections are bounded, and whoever breaks a rule is hung up on.
package control

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is taken from others.
const (
	MaxLine      = 1024             // bytes of a line, with its line feed
	MaxLines     = 100_000          // lines of a process in a case
	MaxBytes     = 8 << 20          // bytes of a process in a case
	maxStrangers = 64               // connections that have not said yet who they are
	patience     = 10 * time.Second // how long one may take to say it
)

// Control is the listener.
type Control struct {
	listener net.Listener

	mu        sync.Mutex // guards what follows
	jobs      map[string]*Job
	strangers []net.Conn // in the order in which they came
}

// New serves players that connect to a listener, until Close.
func New(l net.Listener) *Control {
	c := &Control{listener: l, jobs: map[string]*Job{}}
	go c.serve()
	return c
}

// Addr is where players connect.
func (c *Control) Addr() string { return c.listener.Addr().String() }

// Close ends all connections.
func (c *Control) Close() {
	c.listener.Close()
	c.mu.Lock()
	jobs := c.jobs
	c.jobs = map[string]*Job{}
	for _, s := range c.strangers {
		s.Close()
	}
	c.mu.Unlock()
	for _, j := range jobs {
		j.Close()
	}
}

// Job is a new job, of which n processes will come, with a token of 128 random bits.
func (c *Control) Job(n int, to Handler) *Job {
	bits := make([]byte, 16)
	rand.Read(bits) // it never fails
	j := &Job{control: c, token: hex.EncodeToString(bits), n: n, to: to, players: map[int]*player{},
		news: make(chan struct{})}
	c.mu.Lock()
	c.jobs[j.token] = j
	c.mu.Unlock()
	return j
}

func (c *Control) serve() {
	for {
		conn, err := c.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors: some will be free again
			time.Sleep(10 * time.Millisecond)
			continue
		}
		c.mu.Lock()
		if len(c.strangers) == maxStrangers { // the oldest has had the longest time to say who it is
			c.strangers[0].Close()
			c.strangers = c.strangers[1:]
		}
		c.strangers = append(c.strangers, conn)
		c.mu.Unlock()
		go c.welcome(conn)
	}
}

// welcome finds the job of a connection. One that names none is a stranger's, and of no interest.
func (c *Control) welcome(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(patience))
	r := bufio.NewReaderSize(conn, MaxLine)
	line, err := r.ReadSlice('\n')
	token, rank, size, ok := hello(string(line))
	c.mu.Lock()
	job := c.jobs[token]
	c.strangers = slices.DeleteFunc(c.strangers, func(s net.Conn) bool { return s == conn })
	c.mu.Unlock()
	if err != nil || !ok || job == nil {
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	job.join(conn, r, rank, size)
}

// hello takes a player's first line apart.
func hello(line string) (token string, rank, size int, ok bool) {
	words := strings.Fields(line)
	if len(words) != 5 || words[0] != "impi-conform" || words[1] != "1" {
		return "", 0, 0, false
	}
	rank, err := strconv.Atoi(words[3])
	size, err2 := strconv.Atoi(words[4])
	return words[2], rank, size, err == nil && err2 == nil
}

// delivery is the first line to a player: a text that has every printable character, and its length.
func delivery() string {
	var text []byte
	for b := byte(' '); b <= '~'; b++ {
		text = append(text, b)
	}
	return fmt.Sprintf("text %d %s", len(text), text)
}
