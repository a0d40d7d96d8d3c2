package ports

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/shm"
	"golang.org/x/sys/unix"
)

// process is one of a job, all in this process: with its part of the job's memory, and an engine that only listens.
type process struct {
	t       testing.TB
	job     int
	rank    int32
	memory  *shm.Transport
	lock    futex.Mutex
	conf    Config
	meeting transport.Meeting
	card    []byte
	guests  []transport.Guest
	got     map[int32][]string // by number
	lost    map[int32]error
}

// Deliver implements transport.Receiver. All calls come with the lock.
func (p *process) Deliver(h *transport.Header, payload []byte) {
	if h.Dst != p.rank || h.Len != len(payload) {
		p.t.Errorf("process %d of job %d was given %+v", p.rank, p.job, *h)
	}
	p.got[h.Src] = append(p.got[h.Src], string(payload))
}

// Lost implements transport.Receiver.
func (p *process) Lost(number int32, err error) {
	if p.lost[number] != nil {
		p.t.Errorf("%d is lost twice: %v", number, err)
	}
	p.lost[number] = err
}

// poll polls all of a process's transports.
func (p *process) poll() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.memory.Poll()
	for _, g := range p.guests {
		if g.Number >= 0 && !g.Near {
			g.By.Poll()
		}
	}
}

// jobs makes processes: a job of so many for each size, each job with its own memory. machine may be nil: all are on
// one.
func jobs(t testing.TB, machine func(job, rank int) byte, tune func(*Config), sizes ...int) (all []*process) {
	t.Helper()
	for j, n := range sizes {
		fd, err := shm.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		world := make([]int32, n)
		for r := range world {
			world[r] = int32(r)
		}
		for r := range n {
			own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			s, err := shm.Attach(own, r)
			if err != nil {
				t.Fatal(err)
			}
			p := &process{t: t, job: j, rank: int32(r), got: map[int32][]string{}, lost: map[int32]error{},
				lock: futex.On(s.Home(world).Lock)}
			if p.memory, err = shm.New(shm.Config{Segment: s, World: world, Receiver: p}); err != nil {
				t.Fatal(err)
			}
			p.conf = Config{Bind: loopback, Rank: p.rank, Memory: p.memory, Lock: &p.lock, Machine: Machine{1}}
			if machine != nil {
				p.conf.Machine = Machine{machine(j, r)}
			}
			if tune != nil {
				tune(&p.conf)
			}
			all = append(all, p)
			t.Cleanup(func() { s.Close() })
		}
		t.Cleanup(func() { unix.Close(fd) })
	}
	return all
}

var nobody = netip.MustParseAddrPort("0.0.0.0:5")

// numberOf is the number under which all know participant i.
func numberOf(i int) int32 { return 1000 + int32(i) }

// invite has all give their cards.
func invite(t testing.TB, all []*process) (list transport.Participants) {
	t.Helper()
	rand.Read(list.Secret[:])
	for _, p := range all {
		var err error
		if p.meeting, err = New(p.conf); err == nil {
			p.card, err = p.meeting.Card()
		}
		if err != nil {
			t.Fatal(err)
		}
		list.Cards = append(list.Cards, p.card)
	}
	return list
}

// seenBy is the list of participants as one of them sees it: it wants links to all other jobs.
func seenBy(list transport.Participants, all []*process, me int) transport.Participants {
	list.Me, list.Number = me, nil
	for i, p := range all {
		n := int32(-1)
		if p.job != all[me].job {
			n = numberOf(i)
		}
		list.Number = append(list.Number, n)
	}
	return list
}

// join has all join, and returns what has become of each.
func join(ctx context.Context, list transport.Participants, all []*process) (errs []error) {
	errs = make([]error, len(all))
	var joined sync.WaitGroup
	for i, p := range all {
		joined.Go(func() {
			p.guests, errs[i] = p.meeting.Join(ctx, seenBy(list, all, i), p, func() {})
			p.meeting.Close()
		})
	}
	joined.Wait()
	return errs
}

// assemble is a meeting that must work.
func assemble(t testing.TB, all []*process) {
	t.Helper()
	if err := errors.Join(join(deadline(t), invite(t, all), all)...); err != nil {
		t.Fatal(err)
	}
}

// until polls all until cond holds.
func until(t testing.TB, all []*process, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
		for _, p := range all {
			p.poll()
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// talk has each say something to each of its guests, and all hear it.
func talk(t testing.TB, all []*process) {
	t.Helper()
	for i, p := range all {
		clear(p.got)
		for _, g := range p.guests {
			if g.Number < 0 {
				continue
			}
			text := fmt.Appendf(nil, "from %d to %d", i, g.Number)
			h := transport.Header{Kind: transport.Data, Src: p.rank, Dst: g.Number, Len: len(text), MsgLen: uint64(len(text))}
			until(t, all, "room", func() bool {
				p.lock.Lock()
				defer p.lock.Unlock()
				return g.By.Send(&h, text)
			})
		}
	}
	for i, p := range all {
		for _, g := range p.guests {
			if g.Number < 0 {
				continue
			}
			until(t, all, "words", func() bool { return len(p.got[g.Number]) > 0 })
			want := fmt.Sprintf("from %d to %d", g.Number-1000, numberOf(i))
			if got := p.got[g.Number]; len(got) != 1 || got[0] != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// part ends all links in order.
func part(t testing.TB, all []*process) {
	t.Helper()
	for _, p := range all {
		p.lock.Lock()
		for _, g := range p.guests {
			g.By.(transport.Parter).Part(g.Number)
		}
		p.lock.Unlock()
	}
	until(t, all, "the end of the links", func() bool {
		for _, p := range all {
			for _, g := range p.guests {
				if !g.By.(transport.Parter).Parted(g.Number) {
					return false
				}
			}
		}
		return true
	})
	for _, p := range all {
		for _, g := range p.guests {
			if far, ok := g.By.(*guests); ok {
				<-far.done
				if far.failed != nil {
					t.Error(far.failed)
				}
			}
		}
		for n, err := range p.lost {
			t.Errorf("%d is lost, although it has parted: %v", n, err)
		}
	}
}

func TestJobsMeetOnOneMachineOnSeveralAndOnBoth(t *testing.T) {
	for name, machine := range map[string]func(job, rank int) byte{
		"one machine":      nil,
		"as many as jobs":  func(job, _ int) byte { return byte(1 + job) },
		"two, mixed":       func(job, rank int) byte { return byte(1 + (job+rank)%2) },
		"machine not said": func(job, rank int) byte { return byte(7 * job * (1 - job%2)) },
	} {
		for _, sizes := range [][]int{{1, 1}, {2, 2}, {1, 8}, {3, 5}, {2, 1, 2}} {
			t.Run(fmt.Sprint(name, sizes), func(t *testing.T) {
				all := jobs(t, machine, nil, sizes...)
				assemble(t, all)
				for i, p := range all {
					want := 0
					for k, q := range all {
						if q.job == p.job {
							continue
						}
						want++
						at := slices.IndexFunc(p.guests, func(g transport.Guest) bool { return g.Number == numberOf(k) })
						if at < 0 {
							t.Fatalf("%d has no link to %d", i, k)
						}
						g := p.guests[at]
						if near := p.conf.Machine == q.conf.Machine; g.Near != near || (g.By == transport.Transport(p.memory)) != near {
							t.Errorf("%d has the link %+v to %d", i, g, k)
						}
					}
					if len(p.guests) != want {
						t.Errorf("%d has %d links, not %d", i, len(p.guests), want)
					}
				}
				talk(t, all)
				talk(t, all)
				part(t, all)
			})
		}
	}
}

func TestConnectionsAreSealedWhereBothWantIt(t *testing.T) {
	for _, both := range []bool{true, false} {
		n := 0
		all := jobs(t, func(job, _ int) byte { return byte(1 + job) }, func(c *Config) {
			c.Sealed = both || n == 0
			n++
		}, 1, 1)
		assemble(t, all)
		talk(t, all)
		part(t, all)
	}
}

// unwilling is memory of which a meeting gets nothing.
type unwilling struct {
	Memory
	offers, admits bool
}

func (u *unwilling) Offer() (*shm.Pair, error) {
	if !u.offers {
		return nil, errors.New("none to be had")
	}
	return u.Memory.Offer()
}

func (u *unwilling) Admit(number int32, pair, home, local int, offered bool) error {
	err := u.Memory.Admit(number, pair, home, local, offered)
	if err == nil && !u.admits {
		u.Memory.Part(number)
		return errors.New("not to be mapped")
	}
	return err
}

func TestWhoCannotShareMemoryIsConnectedAsBothEndsAgree(t *testing.T) {
	for _, u := range []unwilling{{offers: false, admits: true}, {offers: true, admits: false}} {
		for who := range 3 {
			all := jobs(t, nil, nil, 2, 1)
			spoiled := u
			spoiled.Memory = all[who].conf.Memory
			all[who].conf.Memory = &spoiled
			var said []string
			var mu sync.Mutex
			for _, p := range all {
				p.conf.Warn = func(s string) { mu.Lock(); said = append(said, s); mu.Unlock() }
			}
			assemble(t, all)
			for i, p := range all {
				for _, g := range p.guests {
					other := int(g.Number - 1000)
					near := i != who && other != who
					if dials := max(i, other); !u.offers && dials != who {
						near = true // it listens, and makes nothing
					}
					if g.Near != near {
						t.Errorf("%+v, %d cannot: %d has the link %+v", u, who, i, g)
					}
				}
			}
			if u.admits == false && len(said) == 0 {
				t.Error("nobody has been told why")
			}
			talk(t, all)
			part(t, all)
		}
	}
}

func TestAProcessWithoutMemoryMeetsByTCP(t *testing.T) {
	all := jobs(t, nil, nil, 1, 2)
	all[0].conf.Memory = nil
	assemble(t, all)
	for _, g := range all[0].guests {
		if g.Near {
			t.Errorf("%+v", g)
		}
	}
	talk(t, all)
	part(t, all)
}

func TestAMeetingThatSomebodyDoesNotJoinFailsForAllAndNamesIt(t *testing.T) {
	for name, machine := range map[string]func(job, rank int) byte{
		"near": nil,
		"far":  func(job, _ int) byte { return byte(1 + job) },
	} {
		for _, gone := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " gone ", gone), func(t *testing.T) {
				all := jobs(t, machine, nil, 2, 2)
				list := invite(t, all)
				if gone {
					all[1].meeting.Close()
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				errs := make([]error, 4)
				var joined sync.WaitGroup
				for _, i := range []int{0, 2, 3} {
					joined.Go(func() {
						all[i].guests, errs[i] = all[i].meeting.Join(ctx, seenBy(list, all, i), all[i], func() {})
					})
				}
				joined.Wait()
				for _, i := range []int{2, 3} {
					if errs[i] == nil || !strings.Contains(errs[i].Error(), "process 1001 (at 127.0.0.1:") || all[i].guests != nil {
						t.Errorf("%d: %v, %v", i, errs[i], all[i].guests)
					}
				}
				for _, p := range all {
					p.meeting.Close()
				}
			})
		}
	}
}

func TestWhoHasAnotherSecretIsNotLetIn(t *testing.T) {
	for name, machine := range map[string]func(job, rank int) byte{
		"near": nil,
		"far":  func(job, _ int) byte { return byte(1 + job) },
	} {
		all := jobs(t, machine, nil, 1, 1)
		list := invite(t, all)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		var joined sync.WaitGroup
		for i, p := range all {
			seen := seenBy(list, all, i)
			seen.Secret[0] ^= byte(i)
			joined.Go(func() {
				if guests, err := p.meeting.Join(ctx, seen, p, func() {}); err == nil || guests != nil {
					t.Errorf("%s: %d has joined", name, i)
				}
				p.meeting.Close()
			})
		}
		joined.Wait()
		cancel()
	}
}

func TestStrangersAtTheUnixSocketKeepNobodyOut(t *testing.T) {
	all := jobs(t, nil, nil, 1, 1)
	list := invite(t, all)
	c, err := decodeCard(all[0].card)
	if err != nil {
		t.Fatal(err)
	}
	var flood sync.WaitGroup
	for i := range 500 {
		flood.Go(func() {
			x, err := net.Dial("unix", c.unix.String())
			if err != nil {
				return
			}
			defer x.Close()
			switch i % 3 {
			case 0:
				x.Write(said(newHello(0, 1)))
				x.Write(make([]byte, proofSize))
			case 1:
				x.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			}
			x.SetDeadline(time.Now().Add(time.Second))
			x.Read(make([]byte, 500))
		})
	}
	if err := errors.Join(join(deadline(t), list, all)...); err != nil {
		t.Error(err)
	}
	flood.Wait()
	talk(t, all)
	part(t, all)
}

func TestWhatIsWrongWithAListOfParticipantsIsSaid(t *testing.T) {
	all := jobs(t, nil, nil, 1, 1)
	list := invite(t, all)
	defer all[0].meeting.Close()
	defer all[1].meeting.Close()
	for what, spoil := range map[string]func(p *transport.Participants){
		"2 cards, 1 numbers": func(p *transport.Participants) { p.Number = p.Number[:1] },
		"participant -1":     func(p *transport.Participants) { p.Me = -1 },
		"came back":          func(p *transport.Participants) { p.Me = 1 },
		"another version":    func(p *transport.Participants) { p.Cards = [][]byte{p.Cards[0], {9}} },
		"stands for two": func(p *transport.Participants) {
			p.Cards, p.Number = append(p.Cards, p.Cards[1]), []int32{-1, 5, 5}
		},
		"a card of 83 bytes": func(p *transport.Participants) { p.Cards = [][]byte{p.Cards[0], p.Cards[1][:83]} },
		"0.0.0.0:5, which is nobo": func(p *transport.Participants) {
			p.Cards = [][]byte{p.Cards[0], (&card{tcp: nobody}).encode()}
		},
	} {
		p := seenBy(list, all, 0)
		p.Cards = slices.Clone(p.Cards)
		spoil(&p)
		_, err := all[0].meeting.Join(deadline(t), p, all[0], func() {})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m, _ := New(Config{})
	if _, err := m.Join(deadline(t), list, all[0], func() {}); err == nil {
		t.Error("joined without a card")
	}
	if _, err := New(Config{Memory: all[0].memory}); err == nil {
		t.Error("memory without a lock")
	}
}

// resources are the descriptors of this process and its goroutines, counted.
func resources(t testing.TB) (fds, goroutines int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list), runtime.NumGoroutine()
}

func TestNothingIsLeftOfManyMeetings(t *testing.T) {
	many := 1000
	if testing.Short() {
		many = 50
	}
	all := jobs(t, func(job, rank int) byte { return byte(1 + rank) }, nil, 1, 2)
	p := open(t, Config{})
	round := func() {
		a, b := meetAt(t, p, Config{})
		a.Close()
		b.Close()
		assemble(t, all)
		talk(t, all)
		part(t, all)
	}
	round()
	fds, goroutines := resources(t)
	for range many {
		round()
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		nowFDs, nowGoroutines := resources(t)
		if nowFDs <= fds+2 && nowGoroutines <= goroutines+2 {
			return
		}
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d descriptors, %d before; %d goroutines, %d before\n%s", nowFDs, fds, nowGoroutines, goroutines,
				buf[:runtime.Stack(buf, true)])
		}
	}
}
