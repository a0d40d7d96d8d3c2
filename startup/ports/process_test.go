package ports

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// envPort has the name of a port for a process of its own, which this program is then.
const envPort = "LIBIMPI_TEST_PORT"

func TestMain(m *testing.M) {
	if name := os.Getenv(envPort); name != "" {
		os.Exit(visit(name))
	}
	os.Exit(m.Run())
}

// failing is a test of a process that has none: it ends with what has gone wrong.
type failing struct{ testing.TB }

func (failing) Helper()        {}
func (failing) Cleanup(func()) {}
func (failing) Fatal(a ...any) { fmt.Println("failed:", fmt.Sprint(a...)); os.Exit(1) }
func (failing) Fatalf(f string, a ...any) {
	fmt.Println("failed:", fmt.Sprintf(f, a...))
	os.Exit(1)
}
func (failing) Errorf(f string, a ...any) { failing{}.Fatalf(f, a...) }

// introduce makes links of two processes that have a line. The one that comes first there does so in the list.
func introduce(t testing.TB, p *process, l transport.Line) {
	t.Helper()
	invite(t, []*process{p})
	theirs, err := l.Exchange(deadline(t), p.card)
	if err != nil {
		t.Fatal(err)
	}
	list := transport.Participants{Cards: [][]byte{p.card, theirs}, Number: []int32{-1, 1001}, Secret: l.Secret()}
	if !l.First() {
		list = transport.Participants{Cards: [][]byte{theirs, p.card}, Me: 1, Number: []int32{1000, -1}, Secret: l.Secret()}
	}
	if p.guests, err = p.meeting.Join(deadline(t), list, p, func() {}); err != nil {
		t.Fatal(err)
	}
	p.meeting.Close()
}

// visit dials a port and returns each word of the process that is met there, until it is told to part.
func visit(name string) int {
	var t failing
	l, err := Dial(deadline(t), name, Config{})
	if err != nil {
		t.Fatal(err)
	}
	far := strings.HasPrefix(os.Getenv("LIBIMPI_TEST_MACHINE"), "other")
	p := jobs(t, func(int, int) byte {
		if far {
			return 2
		}
		return 1
	}, nil, 1)[0]
	introduce(t, p, l)
	fmt.Println("met")
	by := p.guests[0].By
	for {
		until(t, []*process{p}, "a word", func() bool { return len(p.got[1000]) > 0 })
		word := p.got[1000][0]
		p.got[1000] = p.got[1000][1:]
		if word == "part" {
			break
		}
		h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1000, Len: len(word), MsgLen: uint64(len(word))}
		until(t, []*process{p}, "room", func() bool {
			p.lock.Lock()
			defer p.lock.Unlock()
			return by.Send(&h, []byte(word))
		})
	}
	p.lock.Lock()
	by.(transport.Parter).Part(1000)
	p.lock.Unlock()
	until(t, []*process{p}, "the end", func() bool { return by.(transport.Parter).Parted(1000) })
	return 0
}

func TestProcessesMeetTalkPartAndDie(t *testing.T) {
	for _, machine := range []string{"this one", "other one"} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint(machine, " dies ", dies), func(t *testing.T) {
				port := open(t, Config{})
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, os.Args[0])
				cmd.Env = append(os.Environ(), envPort+"="+port.Name(), "LIBIMPI_TEST_MACHINE="+machine)
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
				l, err := port.Accept(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				p := jobs(t, nil, nil, 1)[0]
				introduce(t, p, l)
				if line, _ := bufio.NewReader(out).ReadString('\n'); line != "met\n" {
					t.Fatalf("%q", line)
				}
				if near := machine == "this one"; len(p.guests) != 1 || p.guests[0].Near != near {
					t.Fatalf("%+v", p.guests)
				}
				for i := range 100 {
					p.tell(fmt.Sprint("word ", i))
					until(t, []*process{p}, "an echo", func() bool { return len(p.got[1001]) > i })
					if got := p.got[1001][i]; got != fmt.Sprint("word ", i) {
						t.Fatalf("%q", got)
					}
				}
				if dies {
					cmd.Process.Kill()
					until(t, []*process{p}, "the loss", func() bool { p.look(); return p.lost[1001] != nil })
					return
				}
				p.tell("part")
				part(t, []*process{p})
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// tell sends a word to the one guest.
func (p *process) tell(word string) {
	until(p.t, []*process{p}, "room", func() bool {
		p.lock.Lock()
		defer p.lock.Unlock()
		h := transport.Header{Kind: transport.Data, Src: p.rank, Dst: 1001, Len: len(word), MsgLen: uint64(len(word))}
		return p.guests[0].By.Send(&h, []byte(word))
	})
}

// look looks for processes that have died, as a thread does that has slept for long.
func (p *process) look() {
	time.Sleep(time.Millisecond)
	p.lock.Lock()
	defer p.lock.Unlock()
	if x, ok := p.guests[0].By.(transport.Examiner); ok {
		x.CheckPeers()
	}
}
