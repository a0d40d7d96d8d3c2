package startup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// SummonWord makes impirun the launcher of a process that runs already. Its end of the link is the descriptor
// SummonFD. It ends when that process and all that were spawned have ended, and says nothing if all went well.
const (
	SummonWord = "--attend"
	SummonFD   = 3
)

// LauncherNear is the launcher of the installation that a library belongs to: bin/impirun beside the folder of that
// file, or else the impirun of PATH. The name may be empty: nobody knows it.
func LauncherNear(library string) (string, error) {
	if file, err := filepath.EvalSymlinks(library); err == nil {
		path := filepath.Join(filepath.Dir(filepath.Dir(file)), "bin", "impirun")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	path, err := exec.LookPath("impirun")
	if err != nil {
		return "", fmt.Errorf("there is no launcher: impirun is neither in the installation of this library (%s) nor in "+
			"PATH: %w", library, err)
	}
	return filepath.Abs(path)
}

// Summon starts a launcher for this process, which nobody has started as part of a job: path is that of impirun, and
// env its environment, in which processes will be spawned. It says hello as Attach does, and returns the link and the
// welcome, whose Job is of this one process, and whose Shared is -1. After that the link is as if we had been started
// by impirun: Watch tells if the launcher is lost, Finalized is due at the end, and Abort ends what was spawned.
//
// It blocks until the launcher has answered, for less than a second as a rule, or ctx is done.
func Summon(ctx context.Context, path string, env []string) (*Link, Welcome, error) {
	end, child, err := newLink()
	if err != nil {
		return nil, Welcome{}, err
	}
	p, err := newPort(end, maxToRank, true)
	if err != nil {
		child.Close()
		return nil, Welcome{}, err
	}
	pid, err := startLauncher(path, env, child)
	child.Close()
	if err != nil {
		p.conn.Close()
		return nil, Welcome{}, fmt.Errorf("a launcher cannot be started: %s: %w", path, err)
	}
	l := &Link{port: p, ack: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { p.conn.Close() })
	w, err := l.greet(time.Now().Add(sendTime))
	if err == nil && (w.IMPI || w.Job == nil || len(w.Job.Procs) != 1) {
		err = errors.New("it believes that there are others")
	}
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.conn.Close()
		p.dropDescriptors()
		syscall.Kill(pid, syscall.SIGKILL)
		await(pid)
		return nil, Welcome{}, fmt.Errorf("the launcher %s, which was started for this process, does not answer as it "+
			"should: %w", path, err)
	}
	go await(pid) // it must not stay a zombie
	return l, w, nil
}

func await(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// startLauncher runs path with our standard output and error, where these are open, in a process group of its own:
// signals from a terminal are for us.
func startLauncher(path string, env []string, link *os.File) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), 1, 2, SummonFD: link.Fd()}
	for i := 1; i <= 2; i++ {
		var st syscall.Stat_t
		if syscall.Fstat(i, &st) != nil {
			files[i] = null.Fd()
		}
	}
	return syscall.ForkExec(path, []string{path, SummonWord}, &syscall.ProcAttr{Env: env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true}})
}
