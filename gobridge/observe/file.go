package observe

// #include <stdlib.h>
// #include "record.h"
// #include "../shim/shim.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/libimpi/trace"
	"golang.org/x/sys/unix"
)

// The file of a trace: its blocks, which threads take one after the other.

// create makes the file of the trace.
func (r *Recorder) create(boot string) error {
	c := &r.config
	if err := os.MkdirAll(c.Trace, 0o777); err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(c.Trace, trace.FileName(c.Rank, c.Suffix)))
	if err != nil {
		return err
	}
	os.Remove(path) // another process may still have an earlier one mapped
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	size, definitions := trace.Size(c.Size)
	if err = f.Truncate(size); err == nil {
		err = reserve(f, 0, trace.HeaderBytes+int64(definitions))
	}
	if err == nil {
		r.memory, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err == nil {
		err = unix.Fstat(int(f.Fd()), &r.stat)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.path = path
	r.writer = trace.NewWriter(r.memory, trace.Header{Keep: c.Keep, Rank: c.Rank, Size: c.Ranks, Client: c.Client,
		PID: int64(os.Getpid()), Job: c.Job, Clock: trace.Clock{PerSecond: r.second, Start: r.start,
			AtStart: trace.Align{Offset: r.offset, At: r.start.Monotonic}}})
	r.writer.Machine(c.Machine)
	r.writer.Boot(boot)
	r.writer.Program(c.Program)
	r.writer.Calls(c.Calls)
	r.mappings()
	_, n := r.writer.Blocks()
	r.held = make([]atomic.Bool, n)
	C.impi_recorder.base = (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(r.memory)))
	return nil
}

// reserve asks for room on the disk for a part of a file: where there is none, a store into its memory would end the
// process. Not all file systems can be asked.
func reserve(f *os.File, offset, bytes int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, offset, bytes)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}

// reopen does something with the file, if it is there still.
func (r *Recorder) reopen(do func(f *os.File) error) error {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var now unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &now); err != nil || now.Ino != r.stat.Ino || now.Dev != r.stat.Dev {
		return errors.New("another file has its name")
	}
	return do(f)
}

// What C asks for.

//export impi_record_thread
func impi_record_thread() *C.struct_impi_noted {
	r := current.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.threads {
		if atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(&t.taken)), 0, 1) {
			return t
		}
	}
	t := (*C.struct_impi_noted)(C.calloc(1, C.sizeof_struct_impi_noted))
	n := C.size_t(r.config.Ranks)
	lists := C.calloc(n, C.sizeof_struct_impi_traffic+8)
	if t == nil || lists == nil {
		C.free(unsafe.Pointer(t))
		C.free(lists)
		return nil
	}
	t.to = (*C.struct_impi_traffic)(lists)
	t.waited = (*C.uint64_t)(unsafe.Add(lists, uintptr(n)*C.sizeof_struct_impi_traffic))
	t.number, t.taken = C.uint32_t(len(r.threads)), 1
	r.threads = append(r.threads, t)
	return t
}

//export impi_record_block
func impi_record_block(t *C.struct_impi_noted) {
	r := current.Load()
	start, n := r.writer.Blocks()
	at := func(p *C.uint64_t) uint64 {
		return uint64(uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(&r.memory[0])))
	}
	if t.block != nil {
		r.held[(at(t.block)-start)/trace.BlockBytes].Store(false)
	}
	t.block, t.w, t.last = nil, nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	i, number, ok := r.take(n)
	if !ok {
		r.bump(trace.AtLost) // C counts the others
		return
	}
	b := r.memory[start+i*trace.BlockBytes:][:trace.BlockBytes]
	unix.Madvise(b, unix.MADV_POPULATE_WRITE) // where that is known: it costs less than a fault for each page
	now := read()
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), trace.BlockBytes/8)
	words[2] = trace.BlockHeader
	binary.NativeEndian.PutUint32(b, trace.BlockMagic)
	binary.NativeEndian.PutUint32(b[4:], uint32(t.number))
	words[1], words[3], words[4], words[5] = number, now.Ticks, uint64(now.Monotonic), uint64(unix.Gettid())
	t.block = (*C.uint64_t)(unsafe.Pointer(&words[0]))
	t.w = (*C.uint64_t)(unsafe.Pointer(&words[trace.BlockHeader/8]))
	t.end = (*C.uint64_t)(unsafe.Add(unsafe.Pointer(&words[0]), trace.BlockBytes))
}

// take finds a block that no thread writes.
func (r *Recorder) take(n uint64) (block, number uint64, ok bool) {
	for range n {
		begun := binary.NativeEndian.Uint64(r.memory[trace.AtBegun:])
		if r.full || begun >= n && r.config.Keep == trace.KeepOldest {
			return 0, 0, false
		}
		block = begun % n
		if begun < n {
			start, _ := r.writer.Blocks()
			err := r.reopen(func(f *os.File) error {
				return reserve(f, int64(start+block*trace.BlockBytes), trace.BlockBytes)
			})
			if err != nil {
				r.full = true
				r.writer.Remark(fmt.Sprintf("recording has ended: %v", err))
				return 0, 0, false
			}
		}
		r.bump(trace.AtBegun)
		if r.held[block].CompareAndSwap(false, true) {
			return block, begun + 1, true
		}
	}
	return 0, 0, false
}

// bump counts in the header.
func (r *Recorder) bump(at int) {
	b := r.memory[at:]
	binary.NativeEndian.PutUint64(b, binary.NativeEndian.Uint64(b)+1)
}
