// Package pmix makes a process part of a job that a PMIx server has started: Open MPI's mpirun, prterun,
// srun --mpi=pmix. It speaks with the server through the site's PMIx library, which it loads while the program runs, so
// that nothing of PMIx is needed to build libimpi, and one build serves PMIx 3, 4 and 5.
//
//	find.go     which file the library is
//	library.go  its calls
//	pmix.go     the manager.Manager over them
//
// The library has a thread of its own from PMIx_Init to PMIx_Finalize. It sleeps while the server says nothing.
package pmix

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/startup/manager"
	"golang.org/x/sys/unix"
)

// maxValue bounds a value. PMIx has no bound of its own, but the library of PMIx 5 compresses texts of more than 4 KiB,
// and answers them compressed.
const maxValue = 3 << 10

// server is the PMIx server that has started this process.
type server struct {
	library string // its file
	name    string
	me      process
	id      manager.Identity

	mu     sync.Mutex
	bell   *os.File    // rung when the server is lost; nil: nobody watches
	ending atomic.Bool // a loss is none any more
	ended  bool        // PMIx_Finalize has been called
}

// Open finds the server if PMIX_NAMESPACE and PMIX_RANK say that there is one.
func Open(env manager.Env) (manager.Manager, error) {
	_, job := env("PMIX_NAMESPACE")
	_, rank := env("PMIX_RANK")
	if !job || !rank {
		return nil, nil
	}
	file, err := find(candidates(env, "", launchers()), load)
	if err != nil {
		return nil, fmt.Errorf("this process was started by a PMIx launcher (Open MPI's mpirun, prterun, srun "+
			"--mpi=pmix), and no PMIx library could be loaded (%w). Set %s to the file %s that belongs to the launcher, or "+
			"start the program with libimpi's own impirun", err, EnvLibrary, soname)
	}
	s := &server{library: file, name: shortName(version())}
	if err := s.join(); err != nil {
		return nil, fmt.Errorf("%s (%s): %w. If the launcher has a PMIx library of another version, set %s to its file %s",
			s.name, file, err, EnvLibrary, soname)
	}
	return s, nil
}

var versionNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// shortName makes "PMIx 4.2.2" of what a library says of itself.
func shortName(version string) string {
	if n := versionNumber.FindString(version); n != "" {
		return "PMIx " + n
	}
	return "PMIx"
}

// join connects with the server, and asks who this process is.
func (s *server) join() (err error) {
	if s.me, err = start(); err != nil {
		return err
	}
	job := process{s.me.namespace, everybody}
	size, err := number(job, "pmix.job.size")
	if err != nil {
		return err
	}
	if size < 1 || size > 1<<31-1 || int64(s.me.rank) >= size {
		return fmt.Errorf("the server says that this process is rank %d of %d", s.me.rank, size)
	}
	s.id = manager.Identity{
		Rank: int(s.me.rank), Size: int(size), Job: s.me.namespace, AppNum: -1, MaxValue: maxValue,
	}
	// Not all servers say these two.
	if n, err := number(s.me, "pmix.appnum"); err == nil && n == int64(int32(n)) {
		s.id.AppNum = int32(n)
	}
	if n, err := number(job, "pmix.univ.size"); err == nil && n > 0 && n == int64(int32(n)) {
		s.id.Universe = int32(n)
	}
	return nil
}

func (s *server) Name() string               { return s.name }
func (s *server) Identity() manager.Identity { return s.id }

// ours is the name of a key among those of others who use PMIx in this process. PMIx keeps values by rank by itself.
func ours(key string) string { return "impi." + key }

// explain adds the library to an error.
func (s *server) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (%s)", err, s.library)
}

func (s *server) Put(key, value string) error {
	if len(value) > maxValue {
		return fmt.Errorf("the value of %s has %d bytes, and at most %d are allowed", key, len(value), maxValue)
	}
	return s.explain(put(ours(key), value))
}

func (s *server) Fence(ctx context.Context) error { return s.explain(within(ctx, "PMIx_Fence", fence)) }

func (s *server) Get(ctx context.Context, rank int, key string) (string, error) {
	var found string
	err := within(ctx, "PMIx_Get", func() (err error) {
		value, err := text(process{s.me.namespace, uint32(rank)}, ours(key))
		if err == nil {
			found = value
		}
		return err
	})
	if err != nil {
		return "", s.explain(err)
	}
	return found, nil
}

// within makes a call of the library, and does not wait for its end longer than ctx allows. A call cannot be broken
// off: it goes on by itself, and nobody looks at what it answers.
func within(ctx context.Context, what string, call func() error) error {
	if ctx.Done() == nil {
		return call()
	}
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
}

func (s *server) Watch(gone func(error)) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return
	}
	bell := os.NewFile(uintptr(fd), "eventfd")
	if watch(fd) != nil {
		bell.Close()
		return
	}
	s.mu.Lock()
	s.bell = bell
	s.mu.Unlock()
	go func() {
		var count [8]byte
		if _, err := bell.Read(count[:]); err == nil && s.ending.CompareAndSwap(false, true) {
			gone(fmt.Errorf("the connection with the PMIx server has ended (%s)", s.library))
		}
	}()
}

func (s *server) Abort(code int, text string) error {
	s.ending.Store(true)
	return s.explain(stop(code, text))
}

func (s *server) Finalize(ctx context.Context) error {
	s.ending.Store(true)
	err := within(ctx, "PMIx_Finalize", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		return end()
	})
	return s.explain(err)
}

// Close leaves the library where it is: without PMIx_Finalize its thread still runs, and rings.
func (s *server) Close() error {
	s.ending.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bell == nil || !s.ended {
		return nil
	}
	bell := s.bell
	s.bell = nil
	return bell.Close()
}
