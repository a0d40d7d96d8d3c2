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

// Folder is where a user's server has its socket: in $XDG_RUNTIME_DIR, or else under the temporary directory. It makes
// the folder, and answers an error if others may enter it.
func Folder(getenv func(string) string) (string, error) {
	dir := filepath.Join(os.TempDir(), "libimpi-"+strconv.Itoa(os.Getuid()))
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		dir = filepath.Join(run, "libimpi")
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || st == nil || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s must be a directory of this user that nobody else may enter (mode 0700)", dir)
	}
	return dir, nil
}

// In dials the server of a folder. If there is none, it calls start, which is to start one, and waits for it until the
// context is done. start is nil if the answer is to be ErrNoServer instead.
func In(folder string, start func() error) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var started time.Time
		for {
			c, err := net.Dial("unix", filepath.Join(folder, socketName))
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

// startTime is after how long another server is started, if the last one does not appear: one that was being ended may
// have kept it from its place.
const startTime = 200 * time.Millisecond

// ErrNoServer: this user has no name server on this machine, and so no name.
var ErrNoServer = errors.New("there is no name server")

// ServeIn is the server of a folder. It answers nil at once if there is one already.
func ServeIn(ctx context.Context, folder string, idle time.Duration) error {
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if err == unix.EWOULDBLOCK {
			return nil
		}
		return os.NewSyscallError("flock", err)
	}
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

// temporary says whether accepting connections may work again later.
func temporary(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
