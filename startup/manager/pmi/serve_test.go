package pmi

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The client's side of this package is a process of the server's.
func TestProcessesOfOurServerExchangeWhatTheyPut(t *testing.T) {
	const n = 3
	s := NewServer(n, "kvs_1")
	var all sync.WaitGroup
	for rank := range n {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fds[0]), "server")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := s.Serve(c); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			var set []string
			for _, v := range Environment(fds[1], rank, n) {
				name, value, _ := strings.Cut(v, "=")
				set = append(set, name, value)
			}
			m, err := Open(environment(set...))
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			if id := m.Identity(); id.Rank != rank || id.Size != n || id.Job != "kvs_1" || id.MaxValue < 1000 {
				t.Errorf("%+v", id)
			}
			for round := range 2 { // a barrier ends for all, and begins anew
				if err := m.Put("card", fmt.Sprint(rank, "in", round)); err != nil {
					t.Error(err)
				}
				if err := m.Fence(t.Context()); err != nil {
					t.Error(err)
				}
				for r := range n {
					if v, err := m.Get(t.Context(), r, "card"); err != nil || v != fmt.Sprint(r, "in", round) {
						t.Errorf("%q, %v", v, err)
					}
				}
				if err := m.Fence(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := m.Put("long", strings.Repeat("x", valueMax)); err == nil {
				t.Error("a value that is too long is kept")
			}
			if err := m.Finalize(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestOurServerAnswersWhatItDoesNotKnow(t *testing.T) {
	s := NewServer(2, "kvs_1")
	for asked, want := range map[string]string{
		"cmd=get kvsname=kvs_1 key=PMI_process_mapping": "value=(vector,(0,1,2))",
		"cmd=get kvsname=kvs_1 key=none":                "rc=-1",
		"cmd=spawn nprocs=1":                            "rc=-1",
		"cmd=put kvsname=kvs_1 key= value=a":            "rc=-1",
		"cmd=put kvsname=kvs_1 key=k value=a b":         "rc=0",
		"cmd=get_universe_size":                         "size=2",
	} {
		q, err := parseLine(asked)
		if err != nil {
			t.Fatal(err)
		}
		if said, over := s.answer(q, io.Discard); over || !strings.Contains(said, want) || !strings.HasSuffix(said, "\n") {
			t.Errorf("%s: %q, want %s", asked, said, want)
		}
	}
}

func TestOurServerGivesUpAProcessThatDoesNotSpeakPMI(t *testing.T) {
	for _, words := range []string{"GET / HTTP/1.1\n", "cmd=init", strings.Repeat("x", maxMessage+1)} {
		a, b := net.Pipe()
		go func() {
			io.WriteString(a, words)
			a.Close()
		}()
		if err := NewServer(1, "k").Serve(b); err == nil {
			t.Errorf("%.20q is taken for PMI", words)
		}
		a.Close()
	}
}
