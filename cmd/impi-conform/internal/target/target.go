// Package target starts the implementation under test, by the commands its user gave, and ends it again.
//
//	"impirun -server {clients}"                                server: prints address:port
//	"impirun -client {rank} {server} -n {n} {prog}"            client: {prog} becomes the player and its arguments
//
// By hand (hand.go) a person gets the commands to type, and nothing is started.
//
// Every process is started in a group of its own with a mark in its environment. When a case ends the group is
// killed, and whoever else carries the mark: a launcher's ranks, too, if it left some behind.
package target

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/control"
)

//go:embed programs/player.c
var playerSource []byte

// Key is the IMPI_AUTH_KEY of all jobs.
const Key = 5678

// Target is an implementation under test.
type Target struct {
	Control *control.Control // where players connect; nil: there is no client

	// Ask, if set, is called instead of starting a command. ctx ends when it is no longer needed: the client has
	// connected, or the case has ended.
	Ask func(ctx context.Context, p Prompt) (answer string, err error)

	server  []string   // words of the command, nil: not given
	clients [][]string // of the client under test, and of further ones in turn
	values  []string   // variables that tell a client values
	player  string     // the compiled program
	place   *Place     // where the tester listens; nil: on this machine's loopback
}

// mark names the environment variable by which the processes of a case are found.
const mark = "IMPI_CONFORM_CASE"

var serial atomic.Int64

// New makes a target of the commands. In dir it compiles the player with the command mpicc, if there is a client
// command.
func New(ctx context.Context, serverCmd, clientCmd, values, mpicc, dir string) (*Target, error) {
	t := &Target{values: strings.Fields(values)}
	if err := t.setUp(serverCmd, clientCmd, "127.0.0.1:0"); err != nil || !t.HasClient() {
		return t, err
	}
	t.player = filepath.Join(dir, "player")
	source := t.player + ".c"
	if err := os.WriteFile(source, playerSource, 0o644); err != nil {
		return nil, err
	}
	words := append(strings.Fields(mpicc), "-o", t.player, source)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return t, nil
}

// setUp takes the commands. If there is one for a client, the tester listens for players at an address.
func (t *Target) setUp(serverCmd, clientCmd, players string) error {
	t.server = strings.Fields(serverCmd)
	if len(t.server) > 0 && !strings.Contains(serverCmd, "{clients}") {
		return errors.New("the server command has no {clients}")
	}
	if strings.TrimSpace(clientCmd) == "" {
		return nil
	}
	if err := t.AddClient(clientCmd); err != nil {
		return err
	}
	l, err := t.Listen(players)
	if err != nil {
		return err
	}
	t.Control = control.New(l)
	return nil
}

// AddClient adds the command of a client: the first is that of the client under test, others are those of further
// ones.
func (t *Target) AddClient(cmd string) error {
	words := strings.Fields(cmd)
	for _, what := range []string{"{rank}", "{server}", "{n}", "{prog}"} {
		apart := what == "{prog}" && slices.Contains(words, "{args}") // with {player}, or its name there
		if !slices.Contains(words, what) && !apart {
			return fmt.Errorf("the client command has no word %s", what)
		}
	}
	t.clients = append(t.clients, words)
	return nil
}

// Close ends what New has begun.
func (t *Target) Close() {
	if t.Control != nil {
		t.Control.Close()
	}
}

// PlayerSource is the program that clients under test run.
func PlayerSource() []byte { return playerSource }

// HasServer and HasClient say which commands were given.
func (t *Target) HasServer() bool { return len(t.server) > 0 }
func (t *Target) HasClient() bool { return len(t.clients) > 0 }

// HasValues reports whether it is known how to tell a client values.
func (t *Target) HasValues() bool { return len(t.values) > 0 }

// Values are the variables that tell a client what to contribute to C_COLL_XSIZE and C_COLL_MAXLINEAR.
func (t *Target) Values(xsize, maxLinear int32) (env []string) {
	r := strings.NewReplacer("{xsize}", fmt.Sprint(xsize), "{maxlinear}", fmt.Sprint(maxLinear))
	for _, v := range t.values {
		env = append(env, r.Replace(v))
	}
	return env
}

// HasIPv6 reports whether this machine can connect to itself by IPv6 or, if the tester has a place, that is by IPv6.
func (t *Target) HasIPv6() bool {
	if t.place != nil {
		return t.place.Address.Is6()
	}
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// Server starts the server for a number of clients, which may be no number, with further words such as -auth.
// env is added to its environment, in which no authentication method is enabled otherwise.
func (t *Target) Server(clients string, env []string, more ...string) (*Process, error) {
	var words []string
	for _, w := range t.server {
		words = append(words, strings.ReplaceAll(w, "{clients}", clients))
	}
	words = append(words, more...)
	if t.Ask != nil {
		return t.byHand("server", words, env, "the server's address:port"), nil
	}
	return start(words, env)
}

// Client is a client to be started.
type Client struct {
	Rank    int
	Server  string // its address:port
	N       int    // processes
	Env     []string
	Players *control.Job // which tells the processes what to do
	Further int          // 0: the client under test; k: the k-th of the further ones
}

// Client starts a client.
func (t *Target) Client(c Client) (*Process, error) {
	var words []string
	for _, w := range t.clients[c.Further%len(t.clients)] {
		switch w {
		case "{rank}":
			words = append(words, strconv.Itoa(c.Rank))
		case "{server}":
			words = append(words, c.Server)
		case "{n}":
			words = append(words, strconv.Itoa(c.N))
		case "{prog}":
			words = append(append(words, t.player), c.Players.Arguments()...)
		case "{player}":
			words = append(words, t.player)
		case "{args}":
			words = append(words, c.Players.Arguments()...)
		default:
			words = append(words, w)
		}
	}
	if t.Ask != nil {
		return t.byHand(fmt.Sprintf("client %d", c.Rank), words, c.Env, ""), nil
	}
	return start(words, c.Env)
}

// KeyEnv enables authentication by Key.
func KeyEnv() []string { return []string{"IMPI_AUTH_KEY=" + strconv.Itoa(Key)} }

// Process is a running command.
type Process struct {
	// Unseen is called when somebody asks for the output of a process that was started by hand.
	Unseen func()

	cmd   *exec.Cmd // nil: started by hand
	hand  *hand     // nil: started here
	mark  string
	ended chan struct{} // closed when it has been waited for
	code  int

	mu     sync.Mutex // guards what follows
	stdout bytes.Buffer
	stderr bytes.Buffer
	news   chan struct{} // closed, and made anew, when there is more output
	watch  *watch        // nil: nobody does
	over   bool
}

// maxOutput bounds what is kept of one stream, in bytes.
const maxOutput = 1 << 20

func start(words, env []string) (*Process, error) {
	p := &Process{cmd: exec.Command(words[0], words[1:]...), ended: make(chan struct{}), news: make(chan struct{})}
	p.mark = fmt.Sprintf("%s=%d.%d", mark, os.Getpid(), serial.Add(1))
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "IMPI_AUTH_") {
			p.cmd.Env = append(p.cmd.Env, e)
		}
	}
	p.cmd.Env = append(append(p.cmd.Env, env...), p.mark)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout, p.cmd.Stderr = stream{p, &p.stdout}, stream{p, &p.stderr}
	p.cmd.WaitDelay = time.Second // a process left behind may hold the streams
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait() // the code says what it returns
		p.code = p.cmd.ProcessState.ExitCode()
		if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			p.code = 128 + int(s.Signal())
		}
		p.finished()
		close(p.ended)
	}()
	return p, nil
}

// Words are the command.
func (p *Process) Words() []string {
	if p.hand != nil {
		return strings.Fields(p.hand.prompt.Command)
	}
	return p.cmd.Args
}

type stream struct {
	p    *Process
	into *bytes.Buffer
}

func (s stream) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.watch.write(s.into == &s.p.stderr, b)
	if s.into.Len()+len(b) <= maxOutput {
		s.into.Write(b)
	}
	close(s.p.news)
	s.p.news = make(chan struct{})
	return len(b), nil
}

// Stdout and Stderr are what the process has written so far. They call Unseen if nobody can know.
func (p *Process) Stdout() string { return p.written(&p.stdout) }
func (p *Process) Stderr() string { return p.written(&p.stderr) }

func (p *Process) written(stream *bytes.Buffer) string {
	if p.hand != nil {
		p.Unseen()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return stream.String()
}

// ErrEnded is what waiting for output ends with when none can come any more.
var ErrEnded = errors.New("the implementation has ended")

// Until waits until found says that the output, of stdout or stderr, has what is waited for.
func (p *Process) Until(ctx context.Context, found func(stdout, stderr string) bool) error {
	for {
		p.mu.Lock()
		ok, news := found(p.stdout.String(), p.stderr.String()), p.news
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-p.ended:
			if found(p.Stdout(), p.Stderr()) {
				return nil
			}
			return ErrEnded
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits for the end and returns the exit code, 128 + signal if one ended it.
func (p *Process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.ended:
		return p.code, nil
	case <-ctx.Done():
		return -1, ctx.Err()
	}
}

// Kill ends everything that belongs to the process. It returns when the process itself has been waited for.
func (p *Process) Kill() {
	if p.hand != nil {
		p.hand.cancel()
		return
	}
	group := -p.cmd.Process.Pid
	select {
	case <-p.ended:
	default:
		syscall.Kill(group, syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(2 * time.Second):
		}
	}
	syscall.Kill(group, syscall.SIGKILL)
	for range 3 { // who is killed may just have started another
		if !killMarked(p.mark) {
			break
		}
	}
	<-p.ended
}

// killMarked kills every process with the mark in its environment and reports whether there was one.
func killMarked(mark string) bool {
	found := false
	list, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	want := []byte(mark + "\x00")
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		f, err := os.Open(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue
		}
		env, _ := io.ReadAll(io.LimitReader(f, maxOutput))
		f.Close()
		if bytes.Contains(env, want) {
			syscall.Kill(pid, syscall.SIGKILL)
			found = true
		}
	}
	return found
}
