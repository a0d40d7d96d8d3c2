package launcher

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// Deaths in clusters that are clients, in the order in which a job begins and ends: before the server answers, while a
// client gathers, while clients connect to each other, in a barrier, in MPI_Finalize. Whoever dies, whoever needs it
// ends with an error, and nothing is left.

// vendorCluster is a cluster, and what its ranks talk by.
type vendorCluster struct {
	cluster
	local string // IMPI_LOCAL; "": by what libimpi has
}

// vendorClusters are MPICH's launcher and library, and Open MPI's.
func vendorClusters(t *testing.T) [2]vendorCluster {
	t.Helper()
	mpich, openmpi := clusters(t)
	isolated(t, "-m")
	library := func(pattern string) string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Skipf("there is no %s", pattern)
		}
		return files[0]
	}
	return [2]vendorCluster{{mpich, "vendor-only:" + library("/usr/lib/*/libmpich.so.12")},
		{openmpi, "vendor:" + library("/usr/lib/*/libmpi.so.40")}}
}

// start starts two ranks, as a client that may end badly: it has a /dev/shm and a folder of its own, in which
// it must leave nothing of ours.
func (s vendorCluster) start(t *testing.T, rank int, address string, settings []string, do ...any) *job {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(dir, "*impi*"))
		if err != nil || len(files) > 0 {
			t.Errorf("%s has left %q, %v", s.name, files, err)
		}
	})
	s.words = append(ownShm(), s.words...)
	if s.local != "" {
		settings = append(slices.Clone(settings), "IMPI_LOCAL="+s.local)
	}
	return s.startClient(t, append(slices.Clone(settings), "TMPDIR="+dir), rank, address, 2, do...)
}

// processOf returns the process that is a rank of a job, by what its launcher has told it, when it is there.
func processOf(j *job, rank int) int {
	for {
		for _, pid := range marked(j.mark) {
			env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			for _, name := range []string{"PMI_RANK", "OMPI_COMM_WORLD_RANK"} {
				if bytes.Contains(append([]byte{0}, env...), fmt.Appendf(nil, "\x00%s=%d\x00", name, rank)) {
					return pid
				}
			}
		}
	}
}

// victim is who dies of a client: its rank, or its launcher.
type victim int

const launcherDies victim = -1

func (v victim) of(t *testing.T, j *job) {
	t.Helper()
	if v == launcherDies {
		j.signal(syscall.SIGKILL)
	} else if err := syscall.Kill(processOf(j, int(v)), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// ended waits for a client of which somebody has died.
func ended(t *testing.T, j *job) {
	t.Helper()
	if r := j.wait(); r.code == 0 {
		t.Errorf("%q ends with 0: %q", j.cmd.Args, r.stderr)
	}
}

// names waits for a client whose other one has lost somebody, and makes sure that it says so: a rank of that one, or
// that client as a whole.
func names(t *testing.T, j *job, client int) {
	t.Helper()
	lost := regexp.MustCompile(fmt.Sprintf("rank [%d%d] of MPI_COMM_WORLD is lost|client %d[ ,]", 2*client,
		2*client+1, client))
	if r := j.wait(); r.code == 0 || !lost.MatchString(r.stderr) {
		t.Errorf("%q: code %d, %q, without %q", j.cmd.Args, r.code, r.stderr, lost)
	}
}

// relay stands between clients and a server. It tells how far each client is, and can keep the word from a client that
// all is said.
type relay struct {
	address string
	willed  chan int32 // a client has a process that may end in its library's MPI_Init
	joined  chan int32 // a client has said which one it is
	told    chan int32 // a client has been told all
	held    chan int32 // a client could be told all, and is not
	mayTell func(client int32) <-chan struct{}
}

// newRelay starts one. mayTell, if it is not nil, returns what a client waits for before it is told.
func newRelay(t *testing.T, server string, mayTell func(client int32) <-chan struct{}) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const room = 16
	r := &relay{address: l.Addr().String(), mayTell: mayTell}
	for _, c := range []*chan int32{&r.willed, &r.joined, &r.told, &r.held} {
		*c = make(chan int32, room)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", server)
			if err != nil {
				c.Close()
				continue
			}
			r.serve(c.(*net.TCPConn), s.(*net.TCPConn))
		}
	}()
	return r
}

// serve relays for a client that authenticates with a key.
func (r *relay) serve(client, server *net.TCPConn) {
	var once sync.Once
	number := make(chan int32, 1)
	leave := func() { once.Do(func() { close(number) }) }
	go func() {
		defer server.CloseWrite()
		defer leave()
		io.CopyN(server, client, wire.CmdSize+wire.ClientAuthSize+wire.AuthKeySize)
		passCommands(client, server, func(c wire.Command, payload []byte, send func()) {
			send()
			switch c {
			case wire.CmdWill:
				if rank, why, _ := wire.ParseLost(payload); why != "" {
					r.willed <- rank
				}
			case wire.CmdImpi:
				rank, _ := wire.ParseImpi(payload)
				number <- rank
				r.joined <- rank
			}
		})
	}()
	go func() {
		defer client.Close()
		defer server.Close()
		io.CopyN(client, server, wire.ServerAuthSize)
		rank, known := <-number
		passCommands(server, client, func(c wire.Command, _ []byte, send func()) {
			if c != wire.CmdDone || !known {
				send()
				return
			}
			if r.mayTell != nil {
				r.held <- rank
				<-r.mayTell(rank)
			}
			send()
			r.told <- rank
		})
	}()
}

// passCommands reads commands until either end has gone. pass is called for each, and sends it on.
func passCommands(from io.Reader, to io.Writer, pass func(c wire.Command, payload []byte, send func())) {
	for {
		var head [wire.CmdSize]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		cmd, _ := wire.ParseCmd(head[:])
		payload := make([]byte, max(0, cmd.Len))
		if _, err := io.ReadFull(from, payload); err != nil {
			return
		}
		failed := false
		pass(cmd.Cmd, payload, func() {
			_, err := to.Write(append(head[:], payload...))
			failed = err != nil
		})
		if failed {
			return
		}
	}
}

// eachVictim runs a test for each rank of two, and the launcher, of each cluster.
func eachVictim(t *testing.T, test func(*testing.T, vendorCluster, vendorCluster, victim)) {
	for i, s := range vendorClusters(t) {
		for _, v := range []victim{0, 1, launcherDies} {
			t.Run(fmt.Sprintf("%s/%d", s.name, v), func(t *testing.T) {
				t.Parallel() // they wait most of the time
				test(t, s, vendorClusters(t)[1-i], v)
			})
		}
	}
}

// Nobody else knows of the client yet.
func TestAKillBeforeTheServerAnswersEndsTheCluster(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, _ vendorCluster, v victim) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		j := s.start(t, 0, l.Addr().String(), nil, program(t, "misbehave"), "not 0")
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		v.of(t, j)
		ended(t, j)
		c.Close()
	})
}

// A server that dies instead is named.
func TestAServerThatDiesBeforeItAnswersEndsTheCluster(t *testing.T) {
	for _, s := range vendorClusters(t) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		j := s.start(t, 0, l.Addr().String(), nil, program(t, "misbehave"), "not 0")
		for range 2 { // for the will, and to join
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		l.Close()
		if r := j.wait(); r.code == 0 || !strings.Contains(r.stderr, "IMPI server "+l.Addr().String()) {
			t.Errorf("%s: code %d, %q", s.name, r.code, r.stderr)
		}
	}
}

// A client whose ranks die before all clients are there can be started again: its number is free.
func TestAKillWhileAClusterWaitsLeavesItsPlaceFree(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		srv, address := server(t, with(key), "2")
		r := newRelay(t, address, nil)
		j := s.start(t, 0, r.address, nil, program(t, "misbehave"), "not 0")
		<-r.joined
		v.of(t, j)
		ended(t, j)
		srv.stderr.await("its rank is free again", 1)
		again := s.start(t, 0, address, nil, program(t, "../coll/scan"))
		last := other.start(t, 1, address, nil, program(t, "../coll/scan"))
		again.wait().expect(t, 0, "")
		last.wait().expect(t, 0, "")
		if r := srv.wait(); r.code != 0 {
			t.Errorf("the server: code %d, %q", r.code, r.stderr)
		}
	})
}

// Rank 1 stands before MPI_Init; rank 0 waits for it there, in the library.
func TestAKillWhileTheRanksOfAClusterGatherEndsIt(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		if v == launcherDies {
			return // which may leave processes behind that are not in MPI
		}
		srv, address := server(t, with(key), "2")
		r := newRelay(t, address, nil)
		j := s.start(t, 0, r.address, nil, program(t, "misbehave"), "stays-before-init 1")
		j.stdout.await("ready", 1)
		<-r.willed
		v.of(t, j)
		ended(t, j)
		srv.wait().expect(t, 1, "a process has ended in MPI_Init of "+s.name)
	})
}

func TestAServerThatDiesWhileAClusterWaitsEndsIt(t *testing.T) {
	for _, s := range vendorClusters(t) {
		srv, address := server(t, with(key), "2")
		r := newRelay(t, address, nil)
		j := s.start(t, 0, r.address, nil, program(t, "misbehave"), "not 0")
		<-r.joined
		srv.signal(syscall.SIGKILL)
		srv.wait()
		if out := j.wait(); out.code == 0 || !strings.Contains(out.stderr, "IMPI server "+r.address) {
			t.Errorf("%s: code %d, %q", s.name, out.code, out.stderr)
		}
	}
}

// Client 0 knows the others, and waits for client 1 to connect, which has not been told of it.
func TestAKillBetweenTheTablesAndTheConnectionsEndsBothClusters(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		for _, dies := range []int{0, 1} {
			wait, now := make(chan struct{}), make(chan struct{})
			close(now)
			srv, address := server(t, with(key), "2")
			r := newRelay(t, address, func(client int32) <-chan struct{} {
				if client == 0 {
					return now
				}
				return wait
			})
			both := [2]*job{}
			both[dies] = s.start(t, dies, r.address, nil, program(t, "misbehave"), "stays-from-barrier 0")
			both[1-dies] = other.start(t, 1-dies, r.address, nil, program(t, "misbehave"), "stays-from-barrier 0")
			<-r.told
			<-r.held
			<-r.held
			v.of(t, both[dies])
			close(wait)
			ended(t, both[dies])
			names(t, both[1-dies], dies)
			if out := srv.wait(); out.code == 0 || !strings.Contains(out.stderr, fmt.Sprint("client ", dies)) {
				t.Errorf("the server: code %d, %q", out.code, out.stderr)
			}
		}
	})
}

// killInTheJob starts both clients of a job whose world rank who stands where how says, and kills somebody.
func killInTheJob(t *testing.T, s, other vendorCluster, v victim, dies int, how string, settings ...string) {
	t.Helper()
	srv, address := server(t, with(key), "2")
	who := 2*dies + max(int(v), 0)
	both := [2]*job{}
	both[dies] = s.start(t, dies, address, settings, program(t, "misbehave"), how, fmt.Sprint(who))
	both[1-dies] = other.start(t, 1-dies, address, settings, program(t, "misbehave"), how, fmt.Sprint(who))
	both[dies].stdout.await("ready", 1)
	v.of(t, both[dies])
	ended(t, both[dies])
	names(t, both[1-dies], dies)
	if out := srv.wait(); out.code == 0 || !strings.Contains(out.stderr, fmt.Sprint("client ", dies)) {
		t.Errorf("the server: code %d, %q", out.code, out.stderr)
	}
}

func TestAKillInABarrierEndsBothClusters(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		killInTheJob(t, s, other, v, 0, "stays-from-barrier")
		killInTheJob(t, s, other, v, 1, "stays-from-barrier")
	})
}

// Ranks of clients with agents: 0 has the agent, for 1, too.
func TestAKillBehindAnAgentEndsBothClusters(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		s.local, other.local = "", "" // ranks that share no memory have no agent
		killInTheJob(t, s, other, v, 1, "stays-from-barrier", "IMPI_VIA=agent")
	})
}

func TestAKillInMPIFinalizeEndsBothClusters(t *testing.T) {
	eachVictim(t, func(t *testing.T, s, other vendorCluster, v victim) {
		killInTheJob(t, s, other, v, 0, "stays-in-finalize")
	})
}

// The server has no part in a job that runs (IMPI 0.0, 2.4).
func TestClustersGoOnWithoutTheirServer(t *testing.T) {
	both := vendorClusters(t)
	srv, address := server(t, with(key), "2")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	do := words(program(t, "misbehave"), "hear 0")
	a := both[0]
	a.words = append(ownShm(), a.words...)
	first := startProgram(t, append(with(key, "IMPI_JOIN=0@"+address, "IMPI_LOCAL="+a.local), stdin(r)), a.words[0],
		append(a.words[1:], words("-n 2", do)...)...)
	second := both[1].start(t, 1, address, nil, do)
	first.stdout.await("ready", 2)
	second.stdout.await("ready", 2)
	srv.signal(syscall.SIGKILL)
	srv.wait()
	w.Close()
	first.wait().expect(t, 0, "")
	second.wait().expect(t, 0, "")
}
