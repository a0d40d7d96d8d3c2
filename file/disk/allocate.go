package disk

import "golang.org/x/sys/unix"

// Allocate gives the file blocks from byte 0 to size. A file system that cannot do that by itself (FAT, NFS before 4.2)
// gets zeros: behind the end of the file, and where it reads as zeros and may have no blocks yet. Nothing else is to be
// written meanwhile, which MPI_File_preallocate, a collective call, asks of programs.
func (f *regular) Allocate(size int64) error {
	err := error(unix.EFBIG)
	if uint64(size) <= f.limit {
		err = f.allocate(size)
	}
	if err != nil {
		return failedAt("preallocate", f.name, 0, int(size), 0, err)
	}
	return nil
}

func (f *regular) allocate(size int64) error {
	if size == 0 || f.device {
		return nil
	}
	err := again(func() error { return f.sys.Fallocate(f.fd, 0, size) })
	if err != unix.EOPNOTSUPP && err != unix.ENOSYS && err != unix.EINVAL {
		return err
	}
	var st unix.Stat_t
	if err := again(func() error { return f.sys.Fstat(f.fd, &st) }); err != nil {
		return err
	}
	buf := make([]byte, min(size, 1<<20))
	if f.readable && st.Blocks*512 < st.Size {
		if err := f.fill(min(st.Size, size), buf); err != nil {
			return err
		}
	}
	clear(buf)
	for off := st.Size; off < size; {
		n, err := f.writeAt(buf[:min(int64(len(buf)), size-off)], off)
		if err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

// block is the smallest part of a file that has memory of its own.
const block = 512

// fill writes zeros where the file has whole blocks of zeros below size.
func (f *regular) fill(size int64, buf []byte) error {
	for off := int64(0); off < size; {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-off)], off)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		for lo := 0; lo < n; {
			hi := zeros(buf[:n], lo)
			if hi > lo {
				if _, err := f.writeAt(buf[lo:hi], off+int64(lo)); err != nil {
					return err
				}
			}
			lo = hi + block
		}
		off += int64(n)
	}
	return nil
}

// zeros is where the blocks of zeros end that begin at lo.
func zeros(p []byte, lo int) int {
	for lo < len(p) {
		end := min(lo+block, len(p))
		for _, b := range p[lo:end] {
			if b != 0 {
				return lo
			}
		}
		lo = end
	}
	return lo
}
