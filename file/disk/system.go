package disk

import "golang.org/x/sys/unix"

// system is the calls of the kernel that files need. Tests replace it, and let calls fail.
type system interface {
	Open(name string, flags int, perm uint32) (fd int, err error)
	Close(fd int) error
	Unlink(name string) error
	Stat(name string, st *unix.Stat_t) error
	Fstat(fd int, st *unix.Stat_t) error
	Pread(fd int, p []byte, off int64) (int, error)
	Pwrite(fd int, p []byte, off int64) (int, error)
	Read(fd int, p []byte) (int, error)
	Write(fd int, p []byte) (int, error)
	Seek(fd int, off int64, whence int) (int64, error)
	Ftruncate(fd int, size int64) error
	Fallocate(fd int, off, n int64) error
	Fsync(fd int) error
	Lock(fd int, command int, l *unix.Flock_t) error
	// FileLimit is the largest file that the process may write, beyond which the kernel sends SIGXFSZ.
	FileLimit() uint64
}

type linux struct{}

func (linux) Open(name string, flags int, perm uint32) (int, error) {
	return unix.Open(name, flags, perm)
}
func (linux) Close(fd int) error                                { return unix.Close(fd) }
func (linux) Unlink(name string) error                          { return unix.Unlink(name) }
func (linux) Stat(name string, st *unix.Stat_t) error           { return unix.Stat(name, st) }
func (linux) Fstat(fd int, st *unix.Stat_t) error               { return unix.Fstat(fd, st) }
func (linux) Pread(fd int, p []byte, off int64) (int, error)    { return unix.Pread(fd, p, off) }
func (linux) Pwrite(fd int, p []byte, off int64) (int, error)   { return unix.Pwrite(fd, p, off) }
func (linux) Read(fd int, p []byte) (int, error)                { return unix.Read(fd, p) }
func (linux) Write(fd int, p []byte) (int, error)               { return unix.Write(fd, p) }
func (linux) Seek(fd int, off int64, whence int) (int64, error) { return unix.Seek(fd, off, whence) }
func (linux) Ftruncate(fd int, size int64) error                { return unix.Ftruncate(fd, size) }
func (linux) Fallocate(fd int, off, n int64) error              { return unix.Fallocate(fd, 0, off, n) }
func (linux) Fsync(fd int) error                                { return unix.Fsync(fd) }
func (linux) Lock(fd int, command int, l *unix.Flock_t) error {
	return unix.FcntlFlock(uintptr(fd), command, l)
}

func (linux) FileLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil {
		return unix.RLIM_INFINITY
	}
	return limit.Cur
}

// again makes a call until no signal interrupts it.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
