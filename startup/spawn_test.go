package startup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
)

// joined is a rank with its launcher, after the welcome.
func joined(t *testing.T) (*Link, *LauncherEnd) {
	t.Helper()
	l, env := pair(t)
	done := make(chan error, 1)
	go func() {
		_, err := l.Next()
		if err == nil {
			err = l.Welcome(Welcome{LocalSize: 1, Shared: -1, Job: job(0, 1), Parent: "impi://h:1/k", Universe: 7})
		}
		done <- err
	}()
	link, w, err := Attach(env)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if w.Parent != "impi://h:1/k" || w.Universe != 7 {
		t.Errorf("the welcome is %+v", w)
	}
	t.Cleanup(func() { link.Close() })
	return link, l
}

func TestAnswersFindTheirRequestsInAnyOrder(t *testing.T) {
	link, l := joined(t)
	const n = 64
	go func() {
		var list []Request
		for range n {
			m, err := l.Next()
			if err != nil {
				return
			}
			list = append(list, m.(Request))
		}
		slices.Reverse(list)
		for _, r := range list {
			if r.Name != nil {
				l.Answer(r.ID, Answer{Port: "port of " + r.Name.Service})
			} else {
				l.Answer(r.ID, Answer{Spawned: &Spawned{Codes: make([]int32, r.Spawn.Commands[0].Procs),
					Size: r.Spawn.Commands[0].Procs}})
			}
		}
	}()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if i%2 == 0 {
				port, err := link.Lookup(t.Context(), fmt.Sprint(i), nil)
				if want := fmt.Sprintf("port of %d", i); err != nil || port != want {
					t.Errorf("lookup %d: %q, %v", i, port, err)
				}
				return
			}
			s, err := link.Spawn(t.Context(), Spawn{Commands: []Command{{Program: "p", Procs: int32(i)}}})
			if err != nil || s.Size != int32(i) {
				t.Errorf("spawn %d: %+v, %v", i, s, err)
			}
		})
	}
	all.Wait()
}

func TestReasonsTravel(t *testing.T) {
	link, l := joined(t)
	list := []error{ErrNoName, ErrNameExists, ErrUnreachable, ErrInfo, ErrRefused}
	go func() {
		for _, reason := range list {
			m, err := l.Next()
			if err != nil {
				return
			}
			l.Answer(m.(Request).ID, Answer{Err: Refuse(reason, "it is %s", "so")})
		}
	}()
	for _, reason := range list {
		if err := link.Publish(t.Context(), "s", "p", nil); !errors.Is(err, reason) || err.Error() != "it is so" {
			t.Errorf("got %v, want %v", err, reason)
		}
	}
}

func TestRequestsEndWithTheLauncherOrTheContext(t *testing.T) {
	link, l := joined(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := link.Lookup(ctx, "s", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	go func() {
		for range 2 {
			l.Next()
		}
		l.Close()
	}()
	if _, err := link.Lookup(t.Context(), "s", nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if _, err := link.Lookup(t.Context(), "s", nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

func TestTheCodeOfAProcessThatIsNotSpawnedIsMPIs(t *testing.T) {
	if CodeSpawn != abi.MPI_ERR_SPAWN {
		t.Errorf("%d, and MPI_ERR_SPAWN is %d", CodeSpawn, abi.MPI_ERR_SPAWN)
	}
}

func TestRequestsThatAreWrongAreRefusedOnBothSides(t *testing.T) {
	link, _ := joined(t)
	for _, s := range []Spawn{{}, {Commands: []Command{{}}}, {Commands: []Command{{Program: "p", Procs: -1}}},
		{Commands: []Command{{Program: "p", Procs: 1 << 16}, {Program: "p", Procs: 1}}},
		{Commands: []Command{{Program: "p", Args: []string{"a\x00b"}}}},
		{Commands: []Command{{Program: "p"}}, Errhandler: "mine"},
		{Commands: []Command{{Program: "p", Args: []string{string(make([]byte, 3<<20))}}}}} {
		if _, err := link.Spawn(t.Context(), s); !errors.Is(err, ErrRefused) {
			t.Errorf("%.80v: %v", s, err)
		}
	}
	for _, text := range []string{`{"type":"spawn"}`, `{"type":"spawn","body":{"id":1,"commands":[]}}`,
		`{"type":"spawn","body":{"id":1,"commands":[{"program":"","procs":1}]}}`,
		`{"type":"names","body":{"id":1,"what":"burn","service":"s"}}`, `{"type":"names","body":[]}`} {
		link, l := joined(t)
		link.port.conn.Write(append(be.AppendUint32(nil, uint32(len(text))), text...))
		if m, err := l.Next(); err == nil {
			t.Errorf("%s: accepted: %+v", text, m)
		}
	}
}

func TestALauncherThatAnswersWhatWasNotAskedIsLost(t *testing.T) {
	link, l := joined(t)
	gone := make(chan error, 1)
	link.Watch(func(err error) { gone <- err })
	l.Answer(3, Answer{})
	if err := <-gone; err == nil {
		t.Error("nothing was said")
	}
}

func TestASummonedLauncherThatIsNoneIsAnError(t *testing.T) {
	for _, path := range []string{"/no/such/impirun", "/bin/true", "/bin/cat"} {
		if _, _, err := Summon(t.Context(), path, nil); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	sleeper := t.TempDir() + "/sleeper"
	writeScript(t, sleeper, "#!/bin/sh\nexec sleep 1000 >/dev/null 2>&1\n")
	if _, _, err := Summon(ctx, sleeper, os.Environ()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTheLauncherOfALibraryStandsInItsInstallation(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"bin", "lib"} {
		if err := os.Mkdir(dir+"/"+folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeScript(t, dir+"/lib/libmpi.so.1", "")
	if err := os.Symlink("libmpi.so.1", dir+"/lib/libmpi.so"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if path, err := LauncherNear(dir + "/lib/libmpi.so"); err == nil {
		t.Errorf("%s is found", path)
	}
	writeScript(t, dir+"/impirun", "")
	if path, err := LauncherNear(dir + "/lib/libmpi.so"); path != dir+"/impirun" || err != nil {
		t.Error(path, err)
	}
	writeScript(t, dir+"/bin/impirun", "")
	if path, err := LauncherNear(dir + "/lib/libmpi.so"); path != dir+"/bin/impirun" || err != nil {
		t.Error(path, err)
	}
	if path, err := LauncherNear(""); path != dir+"/impirun" || err != nil {
		t.Error(path, err)
	}
}

func writeScript(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
