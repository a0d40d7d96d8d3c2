package launcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup"
)

// A rank that speaks with its launcher as libmpi does, and has no messages: this test program itself, whose arguments
// are what it does, one after the other.

const rankWord = "boot-rank"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rankWord {
		os.Exit(beRank(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == shellWord {
		os.Exit(beShell(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// self is this program.
func self() string {
	file, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return file
}

// does is the command line of a rank.
func does(steps ...string) []string { return append([]string{self(), rankWord}, steps...) }

// command is n processes that do the steps, with info given as NAME=VALUE.
func command(n int, info []string, steps ...string) startup.Command {
	c := startup.Command{Program: self(), Args: append([]string{rankWord}, steps...), Procs: int32(n)}
	for _, i := range info {
		key, value, _ := strings.Cut(i, "=")
		c.Info = append(c.Info, [2]string{key, value})
	}
	return c
}

// spawn is the step that spawns.
func spawn(list ...startup.Command) string {
	b, err := json.Marshal(startup.Spawn{Commands: list, Parent: "impi://parent"})
	if err != nil {
		panic(err)
	}
	return "spawn " + string(b)
}

type bootRank struct {
	link    *startup.Link
	welcome startup.Welcome
	start   time.Time
	opened  int // descriptors that the launcher had when it was looked at last
}

// openMore is how many descriptors more than before a launcher may have that leaks none.
const openMore = 4

// launcher returns how many descriptors our parent has open, and its resident memory in KiB.
func (r *bootRank) launcher() (open int, memory string, err error) {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
	if err != nil {
		return 0, "", err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getppid()))
	if err != nil {
		return 0, "", err
	}
	_, memory, _ = strings.Cut(string(status), "VmRSS:")
	return len(list), strings.Fields(memory)[0], nil
}

func beRank(steps []string) int {
	r := &bootRank{start: time.Now()}
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		if err := r.do(verb, rest); err != nil {
			fmt.Printf("%s: %v\n", verb, err)
		}
	}
	return 0
}

func (r *bootRank) do(verb, rest string) error {
	words := strings.Fields(rest)
	info := func(from int) (list [][2]string) {
		for _, w := range words[min(from, len(words)):] {
			key, value, _ := strings.Cut(w, "=")
			list = append(list, [2]string{key, value})
		}
		return list
	}
	ctx := context.Background()
	switch verb {
	case "init":
		var err error
		if r.link, r.welcome, err = startup.Attach(os.LookupEnv); err != nil {
			return err
		}
		if r.welcome.IMPI { // of a job on several machines, or of several clients
			at := netip.AddrPortFrom(r.welcome.Bind, 9)
			if !r.welcome.Agent {
				if err := r.link.Host(startup.Host{Addr: at, PID: uint32(os.Getpid())}); err != nil {
					return err
				}
			}
			if r.welcome.Job, _, err = r.link.Job(0); err != nil {
				return err
			}
		}
		r.link.Watch(func(err error) { os.Exit(99) })
	case "summon":
		var err error
		if r.link, r.welcome, err = startup.Summon(ctx, rest, os.Environ()); err != nil {
			return err
		}
		r.link.Watch(func(err error) { fmt.Println(err); os.Exit(99) })
	case "who":
		w := r.welcome
		fmt.Printf("rank %d of %d app %s parent %q universe %d\n", w.Job.Me, len(w.Job.Procs), os.Getenv(startup.EnvAppNum),
			w.Parent, w.Universe)
	case "env":
		fmt.Println(rest + "=" + os.Getenv(rest))
	case "pwd":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "cpus": // that it may use
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
		fmt.Println(os.Getenv(startup.EnvRank), "may use", strings.Fields(list)[0])
	case "say":
		fmt.Println(rest)
	case "stdin":
		name, _ := os.Readlink("/proc/self/fd/0")
		fmt.Println(name)
	case "only": // the other ranks wait for ever
		if os.Getenv(startup.EnvRank) != rest {
			time.Sleep(time.Hour)
		}
	case "unless": // rank and code: that one ends
		if os.Getenv(startup.EnvRank) == words[0] {
			code, _ := strconv.Atoi(words[1])
			os.Exit(code)
		}
	case "spawn":
		return r.spawn(rest, true)
	case "times": // N and a step
		n, step, _ := strings.Cut(rest, " ")
		count, _ := strconv.Atoi(n)
		_, request, _ := strings.Cut(step, " ")
		begin := time.Now()
		for range count {
			if err := r.spawn(request, false); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "%v each\n", time.Since(begin)/time.Duration(count))
	case "launcher": // what our parent has open, and its memory in KiB
		open, memory, err := r.launcher()
		// It closes what it has had for others when it hears that they have ended.
		for began := time.Now(); err == nil && r.opened > 0 && open > r.opened+openMore && time.Since(began) < patience/4; {
			time.Sleep(10 * time.Millisecond)
			open, memory, err = r.launcher()
		}
		if err != nil {
			return err
		}
		r.opened = open
		fmt.Println("launcher", open, memory)
	case "publish":
		return r.link.Publish(ctx, words[0], words[1], info(2))
	case "unpublish":
		port := "" // any
		if len(words) > 1 {
			port = words[1]
		}
		return r.link.Unpublish(ctx, words[0], port, info(2))
	case "lookup":
		port, err := r.link.Lookup(ctx, words[0], info(1))
		if err != nil {
			return fmt.Errorf("%s (%v)", err, reasonOf(err))
		}
		fmt.Println(words[0], "is at", port)
	case "until-gone": // a name
		for {
			if _, err := r.link.Lookup(ctx, rest, nil); errors.Is(err, startup.ErrNoName) {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	case "await": // until a file is there
		for {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	case "touch":
		return os.WriteFile(rest, nil, 0o600)
	case "abort":
		code, _ := strconv.Atoi(rest)
		r.link.Abort(startup.Abort{Code: code, Text: fmt.Sprintf("MPI_Abort(%d)", code)})
		time.Sleep(500 * time.Millisecond) // as libmpi does
		os.Exit(code)
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	case "dies": // a rank: that one
		if os.Getenv(startup.EnvRank) == rest {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	case "orphans": // a rank: its machine is lost
		if os.Getenv(startup.EnvRank) == rest {
			loseMachine(os.Getppid())
			time.Sleep(time.Hour)
		}
	case "lost": // waits until so many ranks are lost
		r.hear(rest)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "sleep":
		time.Sleep(time.Hour)
	case "fini":
		return r.link.Finalized(10 * time.Second)
	default:
		return errors.New("no such step")
	}
	return nil
}

// loseMachine kills a launcher, and first its guard, which would kill the ranks of all machines, which are this one.
// The kernel kills the launcher's ranks.
func loseMachine(launcher int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", launcher))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(word)
			line, _ := os.ReadFile(filepath.Join("/proc", word, "cmdline"))
			if bytes.Contains(line, []byte("\x00--guard\x00")) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	syscall.Kill(launcher, syscall.SIGKILL)
}

// hear waits until n ranks are lost, and says which, and why.
func (r *bootRank) hear(n string) {
	news := make(chan startup.Lost, 64)
	r.link.Losses(func(lost startup.Lost) { news <- lost })
	var said []string
	for want, _ := strconv.Atoi(n); len(said) < want; {
		for lost := <-news; len(lost.Ranks) > 0; lost.Ranks = lost.Ranks[1:] {
			said = append(said, fmt.Sprintf("%d lost: %s", lost.Ranks[0], lost.Text))
		}
	}
	r.link.Losses(func(startup.Lost) {})
	slices.Sort(said)
	fmt.Println(strings.Join(said, "; "))
}

func reasonOf(err error) error {
	var refusal *startup.Refusal
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return nil
}

func (r *bootRank) spawn(request string, say bool) error {
	if r.link == nil {
		return errors.New("no launcher")
	}
	var s startup.Spawn
	if err := json.Unmarshal([]byte(request), &s); err != nil {
		return err
	}
	a, err := r.link.Spawn(context.Background(), s)
	if err != nil {
		return err
	}
	if say {
		fmt.Println(strings.TrimSpace(fmt.Sprintf("spawned %d %v %s", a.Size, a.Codes, a.Text)))
	}
	return nil
}
