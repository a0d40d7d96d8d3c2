package names

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The server of one user on one machine listens at a Unix socket in a directory that nobody else may enter. It holds a
// lock there, so that there is one at most, and ends when nobody has needed it for IdleTime.

// IdleTime is how long the server of a user stays without a name and without a connection.
const IdleTime = time.Minute

const socketName, lockName = "names", "names.lock"

// Folder is where a user's server has its socket: in $XDG_RUNTIME_DIR, or else under the temporary directory. It is
// there while a server is.
func Folder(getenv func(string) string) string {
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		return filepath.Join(run, "libimpi")
	}
	return filepath.Join(os.TempDir(), "libimpi-"+strconv.Itoa(os.Getuid()))
}

// check returns an error if a folder is not there, or others may enter it.
func check(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || st == nil || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s must be a directory of this user that nobody else may enter (mode 0700)", folder)
	}
	return nil
}

// makeFolder makes a folder, unless it is there, and checks it.
func makeFolder(folder string) error {
	for {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := check(folder); !errors.Is(err, fs.ErrNotExist) {
			return err
		} // a server that has ended has just removed it
	}
}

// In dials the server of a folder. If there is none, it calls start, which is to start one, and waits for it until the
// context is done. start is nil if the answer is to be ErrNoServer instead.
func In(folder string, start func() error) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var started time.Time
		for {
			c, err := dialIn(folder)
			if err == nil {
				return c, nil
			}
			absent := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
			switch {
			case !absent && !errors.Is(err, syscall.EAGAIN):
				return nil, err
			case absent && start == nil:
				return nil, ErrNoServer
			case absent && time.Since(started) > startTime:
				if err := makeFolder(folder); err != nil { // the server could not tell us why it has none
					return nil, err
				}
				if err := start(); err != nil {
					return nil, err
				}
				started = time.Now()
			}
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return nil, err
			}
		}
	}
}

func dialIn(folder string) (net.Conn, error) {
	if err := check(folder); err != nil {
		return nil, err
	}
	return net.Dial("unix", filepath.Join(folder, socketName))
}

// startTime is after how long another server is started, if the last one does not appear: one that was being ended may
// have kept it from its place.
const startTime = 200 * time.Millisecond

// ErrNoServer: this user has no name server on this machine, and so no name.
var ErrNoServer = errors.New("there is no name server")

// ServeIn is the server of a folder. It returns nil at once if there is one already. The folder is made, and removed
// at the end with all that the server has put there.
func ServeIn(ctx context.Context, folder string, idle time.Duration) error {
	lock, err := lockIn(folder)
	if lock == nil {
		return err
	}
	defer unlock(lock, folder)
	file := filepath.Join(folder, socketName)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", file)
	syscall.Umask(old)
	if err != nil {
		return err
	}
	return Serve(ctx, l, Config{Idle: idle}) // closing the listener removes the socket
}

// lockIn makes the caller the one server of a folder, until it unlocks what is answered. That is nil if another has
// the lock. A server removes the file of the lock before it lets go, so that what was locked may not be the file that
// others find there by now: then it is tried again.
func lockIn(folder string) (*os.File, error) {
	name := filepath.Join(folder, lockName)
	for {
		if err := makeFolder(folder); err != nil {
			return nil, err
		}
		lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the folder has just been removed
		}
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isAt(lock, name) {
			return lock, nil
		}
		lock.Close()
		if err == unix.EWOULDBLOCK {
			return nil, nil
		}
		if err != nil {
			return nil, os.NewSyscallError("flock", err)
		}
	}
}

// isAt reports whether an open file is the one that has this name.
func isAt(file *os.File, name string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// unlock lets another server take the place. The folder stays if somebody has put something there in the meantime, such
// as the lock of the next one.
func unlock(lock *os.File, folder string) {
	os.Remove(filepath.Join(folder, lockName))
	os.Remove(folder)
	lock.Close()
}

// temporary reports whether accepting connections may work again later.
func temporary(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
