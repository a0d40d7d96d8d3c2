package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/control"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// Job is what is recorded: clients of one process each, which play the steps.
type Job struct {
	Name    string
	About   string
	Clients int
	Env     []string
	Steps   []string
}

// recorder stands between the clients and the server, and between every two hosts: it passes everything on, unit by
// unit, but tells each client its own ports instead of the other hosts'.
//
//	client i <-> door[i] <-> server
//	host a   <-> mesh[b] <-> host b, a being the higher one
type recorder struct {
	ctx    context.Context
	server string // address
	door   []net.Listener
	mesh   []net.Listener

	running sync.WaitGroup
	mu      sync.Mutex // guards what follows
	streams map[string][][]byte
	ports   []uint32 // of the real hosts, 0: not known yet
	errs    []error
}

// Record runs a job and returns its trace.
func Record(ctx context.Context, at *target.Target, job Job) (*Trace, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	env := append(target.KeyEnv(), job.Env...)
	server, err := at.Server(fmt.Sprint(job.Clients), env)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	if err := server.Until(ctx, func(out, _ string) bool { return strings.Contains(out, "\n") }); err != nil {
		return nil, fmt.Errorf("the server says no address: %w", err)
	}
	r := &recorder{ctx: ctx, streams: map[string][][]byte{}, ports: make([]uint32, job.Clients)}
	r.server, _, _ = strings.Cut(server.Stdout(), "\n")
	defer r.close()
	if err := r.listen(job.Clients); err != nil {
		return nil, err
	}
	processes := []*target.Process{server}
	for i := range job.Clients {
		players := at.Control.Job(1, control.Handler{Said: func(int, string) {},
			Wrong: func(text string) { r.fail(errors.New(text)) }, Undelivered: func(text string) { r.fail(errors.New(text)) }})
		defer players.Close()
		players.Begin(job.Name)
		players.Do(job.Steps...)
		players.End()
		players.Exit()
		p, err := at.Client(target.Client{Rank: i, Server: r.door[i].Addr().String(), N: 1, Env: env, Players: players})
		if err != nil {
			return nil, err
		}
		defer p.Kill()
		processes = append(processes, p)
	}
	for i, p := range processes {
		code, err := p.Wait(ctx)
		if err != nil || code != 0 {
			return nil, fmt.Errorf("job %s: process %d of server and clients ended with code %d (%v)\n%s", job.Name, i, code,
				err, p.Stderr())
		}
	}
	r.close()
	r.running.Wait()
	t := r.trace()
	t.Comment = job.About + "\n"
	for _, s := range job.Steps {
		t.Comment += "  " + s + "\n"
	}
	return t, errors.Join(r.errs...)
}

// listen opens the doors.
func (r *recorder) listen(clients int) error {
	for i := range 2 * clients {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		if i < clients {
			r.door = append(r.door, l)
			r.running.Go(func() { r.accept(l, func(c net.Conn) { r.client(i, c) }) })
		} else {
			r.mesh = append(r.mesh, l)
			r.running.Go(func() { r.accept(l, func(c net.Conn) { r.host(i-clients, c) }) })
		}
	}
	return nil
}

func (r *recorder) close() {
	for _, l := range append(r.door, r.mesh...) {
		l.Close()
	}
}

func (r *recorder) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		r.running.Go(func() { serve(c) })
	}
}

func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// dial connects onwards.
func (r *recorder) dial(address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(r.ctx, "tcp", address)
	if err == nil {
		if d, ok := r.ctx.Deadline(); ok {
			c.SetDeadline(d)
		}
	}
	return c, err
}

// client serves the connection of a client to the server.
func (r *recorder) client(i int, c net.Conn) {
	defer c.Close()
	s, err := r.dial(r.server)
	if err != nil {
		r.fail(err)
		return
	}
	defer s.Close()
	up, down := fmt.Sprintf("client %d to server", i), fmt.Sprintf("server to client %d", i)
	r.both(
		func() { r.pump(up, c, s, bare(1, wire.AuthKeySize), nil) },
		func() {
			r.pump(down, s, c, bare(0, wire.ServerAuthSize), func(u []byte) []byte { return r.redirect(i, u) })
		})
}

// host serves the connection of a higher host to host b.
func (r *recorder) host(b int, c net.Conn) {
	defer c.Close()
	rank := make([]byte, wire.HandshakeSize)
	if _, err := io.ReadFull(c, rank); err != nil {
		r.fail(fmt.Errorf("who connects to host %d: %w", b, err))
		return
	}
	a, _ := wire.Handshake(rank)
	r.mu.Lock()
	port := r.ports[b]
	r.mu.Unlock()
	s, err := r.dial(fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		r.fail(err)
		return
	}
	defer s.Close()
	up, down := fmt.Sprintf("host %d to host %d", a, b), fmt.Sprintf("host %d to host %d", b, a)
	r.note(up, rank)
	s.Write(rank)
	r.both(func() { r.pump(up, c, s, packet, nil) }, func() { r.pump(down, s, c, packet, nil) })
}

func (r *recorder) both(a, b func()) {
	var two sync.WaitGroup
	two.Go(a)
	two.Go(b)
	two.Wait()
}

func (r *recorder) note(stream string, unit []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams[stream] = append(r.streams[stream], unit)
}

// pump passes units on until the stream ends, and then ends the other. change may alter what is passed on; what is
// noted is what came.
func (r *recorder) pump(stream string, from, to net.Conn, next func(n int, r io.Reader) ([]byte, error),
	change func([]byte) []byte) {
	for n := 0; ; n++ {
		unit, err := next(n, from)
		if err != nil {
			break
		}
		r.note(stream, unit)
		if change != nil {
			unit = change(slices.Clone(unit))
		}
		if _, err := to.Write(unit); err != nil {
			break
		}
	}
	to.(*net.TCPConn).CloseWrite()
}

// unitMax bounds what follows a header, in bytes.
const unitMax = 64 << 20

// bare reads commands, of which number `at` is size bytes without a header.
func bare(at, size int) func(int, io.Reader) ([]byte, error) {
	return func(n int, r io.Reader) ([]byte, error) {
		if n == at {
			return more(nil, size, r)
		}
		b, err := more(nil, wire.CmdSize, r)
		if err != nil {
			return nil, err
		}
		c, _ := wire.ParseCmd(b)
		return more(b, int(c.Len), r)
	}
}

// packet reads packets.
func packet(_ int, r io.Reader) ([]byte, error) {
	b, err := more(nil, wire.PacketSize, r)
	if err != nil {
		return nil, err
	}
	return more(b, int(wire.Packet(b).PayloadLen()), r)
}

func more(b []byte, n int, r io.Reader) ([]byte, error) {
	if n < 0 || n > unitMax {
		return nil, fmt.Errorf("%d bytes announced", n)
	}
	whole := append(b, make([]byte, n)...)
	_, err := io.ReadFull(r, whole[len(b):])
	return whole, err
}

// redirect tells client i the ports of mesh instead of the other hosts'.
func (r *recorder) redirect(i int, unit []byte) []byte {
	l, _, data, ok := label(unit, true)
	if !ok || l != wire.HPort || len(data) != 4*len(r.ports) {
		return unit
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for h := range r.ports {
		r.ports[h] = be.Uint32(data[4*h:])
		if h != i {
			be.PutUint32(data[4*h:], uint32(r.mesh[h].Addr().(*net.TCPAddr).Port))
		}
	}
	return unit
}
