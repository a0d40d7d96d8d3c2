package manager

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// joiner is a process of a test, and what it has got.
type joiner struct {
	member
	at     where
	among  *Client
	joined func() // called when it has; may be nil

	sockets []int // of a host of its own
	w       Joined
	err     error
	gone    error
}

// onMachines makes a process for each entry, which says its machine.
func onMachines(of ...int) (list []*joiner) {
	b := newBoard(len(of))
	at := map[int]where{}
	for r, m := range of {
		if _, ok := at[m]; !ok {
			w := where{machine: uint64(m) + 1}
			rand.Read(w.place[:])
			at[m] = w
		}
		list = append(list, &joiner{member: member{board: b, rank: r}, at: at[m]})
	}
	return list
}

// joinAll lets all join at once, within a limit.
func joinAll(t *testing.T, list []*joiner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, j := range list {
		all.Go(func() {
			j.w, j.err = join(ctx, &j.member, func(err error) { j.gone = err }, j.at, j.among)
			if j.joined != nil {
				j.joined()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		t.Fatal("not all have come back within a minute")
	}
	t.Cleanup(func() {
		for _, j := range list {
			if j.err != nil && (j.w.Listener != nil || j.w.Shared >= 0 && j.w.Job != nil && memoryOf(j.w.Shared) != "") {
				t.Errorf("rank %d has an error, and keeps something", j.rank)
			}
			if j.err == nil && j.w.Shared >= 0 {
				unix.Close(j.w.Shared)
			}
			if j.w.Listener != nil {
				j.w.Listener.Close()
			}
			if j.w.Agent != nil {
				j.w.Agent.Close()
			}
			if j.w.Pipes != nil {
				agent.CloseSockets(j.w.Pipes[:]...)
			}
		}
	})
}

// memoryOf names the file behind a descriptor; "": none.
func memoryOf(fd int) string {
	var st unix.Stat_t
	if fd < 0 || unix.Fstat(fd, &st) != nil {
		return ""
	}
	return fmt.Sprint(st.Dev, " ", st.Ino)
}

func TestThoseOfAMachineShareItsMemoryAndAllHaveTheSameTables(t *testing.T) {
	for _, of := range [][]int{
		{0}, {0, 0}, {0, 1}, {0, 0, 0}, {0, 1, 0}, {0, 1, 1, 0}, {0, 1, 2, 3}, {0, 0, 0, 0, 0, 0, 0, 0},
		{2, 1, 0, 0, 1, 2, 0}, {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 0, 0, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1, 1, 1},
	} {
		t.Run(fmt.Sprint(of), func(t *testing.T) {
			list := onMachines(of...)
			joinAll(t, list)
			memory := map[int]string{}
			for r, j := range list {
				if j.err != nil {
					t.Fatalf("rank %d: %v", r, j.err)
				}
				if len(of) > 1 {
					checkSharing(t, list, of, r)
				}
				if j.w.Shared >= 0 {
					file := memoryOf(j.w.Shared)
					if first, ok := memory[of[r]]; ok && first != file {
						t.Errorf("rank %d has the memory %s, and others of its machine %s", r, file, first)
					}
					memory[of[r]] = file
				}
				if (j.w.Listener != nil) != slices.ContainsFunc(of, func(m int) bool { return m != of[0] }) {
					t.Errorf("rank %d listens at %v", r, j.w.Listener)
				}
				if j.w.JobID != list[0].w.JobID || !strings.HasPrefix(j.w.JobID, "board-1-") || j.w.Universe != 9 {
					t.Errorf("rank %d: job %q, universe %d", r, j.w.JobID, j.w.Universe)
				}
			}
			if files := slices.Sorted(mapValues(memory)); len(slices.Compact(files)) != len(memory) {
				t.Errorf("machines share memory: %v", memory)
			}
		})
	}
}

// checkSharing checks what rank r has been told of its place, and its tables against those of rank 0.
func checkSharing(t *testing.T, list []*joiner, of []int, r int) {
	t.Helper()
	w := list[r].w
	var local []int32
	for i, m := range of {
		if m == of[r] {
			local = append(local, int32(i))
		}
	}
	if !slices.Equal(w.Local, local) || int(w.LocalSize) != len(local) || w.Local[w.LocalRank] != int32(r) ||
		(w.Shared >= 0) != (len(local) > 1) {
		t.Errorf("rank %d is %d of %d, %v, memory %d; want one of %v", r, w.LocalRank, w.LocalSize, w.Local, w.Shared, local)
	}
	if int(w.Job.Me) != r || len(w.Job.Procs) != len(of) {
		t.Errorf("rank %d is rank %d of %d", r, w.Job.Me, len(w.Job.Procs))
	}
	mine, first := *w.Job, *list[0].w.Job
	mine.Me, first.Me = 0, 0
	if string(startup.EncodeJob(&mine)) != string(startup.EncodeJob(&first)) {
		t.Errorf("rank %d has other tables than rank 0", r)
	}
	if _, err := startup.DecodeJob(startup.EncodeJob(w.Job)); err != nil {
		t.Errorf("rank %d: %v", r, err)
	}
	if len(local) == len(of) {
		return
	}
	for h, host := range w.Job.Hosts {
		if len(host.Key) == 0 || host.NProcs != 1 || host.Machine != uint64(of[h])+1 {
			t.Errorf("rank %d: host %d is %+v", r, h, host)
		}
	}
}

func mapValues(m map[int]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

func TestHostsOfSeveralMachinesConnectWithTheTables(t *testing.T) {
	list := onMachines(0, 1, 0, 2)
	joinAll(t, list)
	connectAll(t, list)
}

// connectAll connects the hosts of all processes: with those of other clients, and of other machines.
func connectAll(t *testing.T, list []*joiner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	connected := make([][][]int, len(list))
	for r, j := range list {
		if j.err != nil {
			t.Fatal(j.err)
		}
		apart := make([]bool, len(list))
		for h := range apart {
			apart[h] = list[h].client() == j.client() && !slices.Contains(j.w.Local, int32(h))
		}
		all.Go(func() {
			sockets, err := tcp.Mesh(ctx, j.w.Job, int32(r), j.w.Listener, tcp.Options{Apart: apart})
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
			connected[r] = sockets
		})
	}
	all.Wait()
	for _, fd := range slices.Concat(slices.Concat(connected...)...) {
		unix.Close(fd)
	}
}

// client is the rank of the process's client.
func (j *joiner) client() int32 {
	if j.among == nil {
		return 0
	}
	return j.among.Rank
}

func TestEachStartHasAnotherName(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		list := onMachines(0)
		joinAll(t, list)
		seen[list[0].w.JobID] = true
	}
	if len(seen) != 3 {
		t.Error(seen)
	}
}

// Those who are alive end with an error, whenever another dies, and say whom they have waited for.
func TestADeathAtAnyStepEndsTheWaitOfTheOthers(t *testing.T) {
	defer func(f func(int) time.Duration) { shareTime = f }(shareTime)
	shareTime = func(int) time.Duration { return time.Second }
	t.Run("at", func(t *testing.T) { // returns when all have
		for _, step := range []string{"put", "fence", "get", "watch"} {
			for dead := range 3 {
				t.Run(fmt.Sprint(step, dead), func(t *testing.T) {
					t.Parallel()
					dieAt(t, step, dead)
				})
			}
		}
	})
}

// dieAt lets one of three join and die at a step.
func dieAt(t *testing.T, step string, dead int) {
	list := onMachines(0, 0, 0)
	list[dead].diesAt = step
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var all sync.WaitGroup
	for _, j := range list {
		all.Go(func() {
			j.w, j.err = join(ctx, &j.member, nil, j.at, nil)
			if j.diesAt == "put" || j.diesAt == "fence" {
				cancel(errors.New("the manager has seen a death")) // as it ends fences
			}
		})
	}
	all.Wait()
	exchanged := step == "get" || step == "watch"
	for r, j := range list {
		said := fmt.Sprint(j.err)
		switch {
		case r == dead && !errors.Is(j.err, errDead):
			t.Errorf("the dead rank says %s", said)
		case r != dead && !exchanged && !strings.Contains(said, "the manager has seen a death"):
			t.Errorf("rank %d says %s", r, said)
		case r == 0 && dead != 0 && exchanged && !strings.Contains(said, fmt.Sprintf("rank %d has not come", dead)):
			t.Errorf("rank 0 says %s", said)
		case r != 0 && dead == 0 && exchanged && !strings.Contains(said, "from rank 0: it has gone"):
			t.Errorf("rank %d says %s", r, said)
		}
		if j.err == nil && j.w.Shared >= 0 {
			unix.Close(j.w.Shared)
		}
	}
}

func TestTheLossOfTheManagerEndsAJoinAndIsToldAfterIt(t *testing.T) {
	list := onMachines(0, 0)
	joinAll(t, list)
	lost := errors.New("it has crashed")
	for _, gone := range list[0].watched {
		gone(lost)
	}
	for r, j := range list {
		if j.err != nil || j.gone != lost {
			t.Errorf("rank %d: %v, and is told %v", r, j.err, j.gone)
		}
	}
	list = onMachines(0, 0)
	list[0].diesAt, list[1].diesAt = "watch", "watch"
	joinAll(t, list)
	for r, j := range list {
		if j.err == nil || !strings.Contains(j.err.Error(), "a board is lost: "+errDead.Error()) || j.gone != nil {
			t.Errorf("rank %d: %v, and is told %v", r, j.err, j.gone)
		}
	}
}

func TestCardsThatAreNoneAreErrorsThatNameTheRank(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"nonsense", "rank 1, which a board has started: it is not of libimpi"},
		{"", "it is not of libimpi"},
		{"libimpi.0-vax.AAAA", `joins jobs by version "0-vax", and ours by "` + ownVersion() + `"`},
		{"libimpi." + ownVersion() + ".AAAA", "cannot be read"},
		{"libimpi." + ownVersion() + ".!!!!", "cannot be read"},
		{"libimpi." + ownVersion() + "." + strings.Repeat("A", 131), "cannot be read"},
		{"libimpi." + ownVersion() + "." + strings.Repeat("A", base64.RawURLEncoding.EncodedLen(cardSize)),
			"0 is no process"},
	} {
		list := onMachines(0, 0, 1)
		list[0].forge = func(rank int, _, value string) string {
			if rank == 1 {
				return tt.said
			}
			return value
		}
		joinAll(t, list)
		for r, j := range list {
			if j.err == nil || !strings.Contains(j.err.Error(), tt.want) {
				t.Errorf("rank 1 has said %q: rank %d: %v", tt.said, r, j.err)
			}
		}
	}
}

func TestTwoProcessesOfOneRankAreFound(t *testing.T) {
	list := onMachines(0, 0)
	list[0].forge = func(rank int, _, value string) string {
		c := newCard(list[0].at)
		return c.encode() // what another of this rank would have put
	}
	joinAll(t, list)
	for r, j := range list {
		if j.err == nil || !strings.Contains(j.err.Error(), "another process has the same rank") {
			t.Errorf("rank %d: %v", r, j.err)
		}
	}
	list = onMachines(0, 0)
	var first string
	list[0].forge = func(rank int, _, value string) string {
		if first == "" {
			first = value
		}
		return first
	}
	joinAll(t, list)
	for r, j := range list {
		if j.err == nil || !strings.Contains(j.err.Error(), "ranks 0 and 1 say the same") {
			t.Errorf("rank %d: %v", r, j.err)
		}
	}
}

func TestAManagerWithShortValuesIsRefused(t *testing.T) {
	list := onMachines(0, 0)
	list[0].max, list[1].max = 64, 64
	joinAll(t, list)
	for r, j := range list {
		if j.err == nil || !strings.Contains(j.err.Error(), "takes values of 64 bytes") {
			t.Errorf("rank %d: %v", r, j.err)
		}
	}
}

func TestProcessesOfOnePidHaveDifferentNames(t *testing.T) {
	list := onMachines(0, 0, 1) // all are this process
	joinAll(t, list)
	names := map[int64]bool{}
	for _, p := range list[0].w.Job.Procs {
		names[p.PID] = true
	}
	if len(names) != 3 {
		t.Error(names)
	}
}

// pairOf are two cards of one place, and the sharing of the first.
func pairOf(t *testing.T) (s *sharing, near *net.UnixListener) {
	t.Helper()
	at := here()
	a, b := newCard(at), newCard(at)
	j := &joining{Manager: &member{}, id: Identity{Size: 2}, mine: a, cards: []card{a, b}}
	near, err := listenNear(a.unix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return &sharing{joining: j, key: secret(j.cards, "memory")}, near
}

// Whoever does not know the cards gets nothing, and does not keep those from coming who do.
func TestStrangersAtTheSocketGetNothing(t *testing.T) {
	s, near := pairOf(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	mine := make(chan int)
	go func() {
		fd, err := s.handOut(ctx, near, []int32{1})
		if err != nil {
			t.Error(err)
		}
		mine <- fd
	}()
	for name, say := range map[string]string{
		"nothing": "", "half a hello": shareMagic, "noise": strings.Repeat("x", 200),
		"another rank":  shareMagic + "\x00\x00\x00\x02" + strings.Repeat("n", nonceSize),
		"a wrong proof": shareMagic + "\x00\x00\x00\x01" + strings.Repeat("n", nonceSize+32),
	} {
		c, err := net.DialUnix("unix", nil, socketName(s.mine.unix))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, say)
		c.CloseWrite()
		io.CopyN(io.Discard, c, nonceSize+32)
		if _, fds, err := takeDescriptors(c); err == nil {
			t.Errorf("%s: it gets descriptors %v", name, fds)
		}
		c.Close()
	}
	other := &sharing{joining: &joining{Manager: s.Manager, id: Identity{Rank: 1, Size: 2}, mine: s.cards[1],
		cards: s.cards}, key: s.key}
	fd, err := other.fetch(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if given := <-mine; memoryOf(given) != memoryOf(fd) || fd == given {
		t.Errorf("%q and %q", memoryOf(given), memoryOf(fd))
	} else {
		unix.Close(given)
	}
	unix.Close(fd)
}

// A stranger that says nothing does not put off the end of the others' waiting.
func TestAStrangerThatComesWhenAllIsOverIsNotHeard(t *testing.T) {
	s, near := pairOf(t)
	c, err := net.DialUnix("unix", nil, socketName(s.mine.unix))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	near.SetDeadline(time.Now().Add(time.Minute))
	accepted, err := near.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	begun := make(chan struct{})
	ended := &deadlines{Conn: accepted, past: begun}
	defer limited(ctx, ended, time.Hour)()
	<-begun
	if _, err := accepted.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// deadlines is a connection that says when its deadline is in the past.
type deadlines struct {
	net.Conn
	past chan struct{}
}

func (d *deadlines) SetDeadline(at time.Time) error {
	err := d.Conn.SetDeadline(at)
	if at.Before(time.Now()) {
		close(d.past)
	}
	return err
}

// Somebody else who has the name of the socket is not believed.
func TestAListenerThatDoesNotKnowTheCardsIsNotBelieved(t *testing.T) {
	for say, want := range map[string]string{
		strings.Repeat("x", nonceSize+32) + "\x01": "it does not know the cards",
		"x": "it has gone",
	} {
		s, near := pairOf(t)
		s.id.Rank = 1
		go func() {
			c, err := near.Accept()
			if err == nil {
				io.WriteString(c, say)
				c.(*net.UnixConn).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		if fd, err := s.fetch(context.Background(), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: descriptor %d, %v", say, fd, err)
		}
	}
}

func FuzzCards(f *testing.F) {
	c := newCard(here())
	f.Add(c.encode())
	f.Add("libimpi." + ownVersion() + ".")
	f.Add("libimpi.9-amd64.AAAA")
	f.Add("..")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := decodeCard(s)
		if err != nil {
			return
		}
		again, err := decodeCard(c.encode())
		if err != nil || again != c {
			t.Errorf("%q: %+v, and then %+v, %v", s, c, again, err)
		}
	})
}

func TestMissingRanksAreNamed(t *testing.T) {
	for want, ranks := range map[string][]int32{
		"rank 7 has not come":                                   {7},
		"ranks 7 and 9 have not come":                           {7, 9},
		"ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 more have not come": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		if got := notCome(ranks); got != want {
			t.Errorf("%v: %q", ranks, got)
		}
	}
}
