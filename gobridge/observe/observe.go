// Package observe records the calls of a process: into a trace (IMPI_TRACE, libimpi/trace), and as sums for the page at
// the end of the job (IMPI_SUMMARY, libimpi/summary). C notes each call (record.c), without a lock, in what each thread
// has of its own; Go makes that, says what handles stand for when C first meets them, and reads it all in the end.
package observe

// #include <stdlib.h>
// #include "record.h"
// #include "../shim/shim.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/trace"
	"golang.org/x/sys/unix"
)

// Config says what is recorded, and of which process.
type Config struct {
	Trace   string // the folder; "": no trace
	Size    int64  // bytes of its file, at most
	Keep    trace.Keep
	Suffix  string // of the file's name: "" in the first job of a folder
	Program string
	Machine string
	Calls   []string // names by number

	Job                 uint64
	Rank, Ranks, Client int32
	Distances           []uint8 // by rank in the world
	Object              func(handle uintptr) Object
}

// Object is what a handle stands for.
type Object struct {
	Size    int64 // of a datatype, in bytes
	Comm    *trace.Comm
	In, Out int // degrees of its topology
	Window  *trace.Named
	File    *trace.Named
	Op      string
	Ranks   []int32 // in the world, of those that messages or accesses go to
	Rank    int
}

// Recorder records the calls of this process. There is at most one.
type Recorder struct {
	config Config
	writer *trace.Writer // nil: no trace
	memory []byte        // of its file
	path   string        // its file: it is not kept open, since programs close descriptors, and open others
	stat   unix.Stat_t   // when it was made
	offset int64         // what is to be added to CLOCK_MONOTONIC for UTC
	start  trace.Reading
	second float64 // ticks
	boot   uint64
	mapped []trace.Mapping

	mu      sync.Mutex
	threads []*C.struct_impi_noted
	ids     map[uintptr]uint32 // by handle
	last    uint32
	groups  map[string]*C.struct_impi_group // by members
	room    int                             // for more groups, in bytes
	held    []atomic.Bool                   // by block
	full    bool                            // the disk
}

// current is for the calls that C makes.
var current atomic.Pointer[Recorder]

// mostGroups bounds the memory of groups, in bytes.
const mostGroups = 64 << 20

// Start begins to record.
func Start(c Config) (*Recorder, error) {
	r := &Recorder{config: c, ids: map[uintptr]uint32{}, groups: map[string]*C.struct_impi_group{}, room: mostGroups}
	rec := &C.impi_recorder
	if source, _ := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource"); strings.TrimSpace(
		string(source)) == "tsc" {
		rec.tsc = 1
	}
	r.calibrate()
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	h := fnv.New64a()
	h.Write(id)
	if r.boot = h.Sum64(); len(id) == 0 {
		h.Write([]byte(c.Machine))
		r.boot = h.Sum64()
	}
	if c.Trace != "" {
		if err := r.create(strings.TrimSpace(string(id))); err != nil {
			return nil, err
		}
	}
	distances := (*C.uint8_t)(C.calloc(C.size_t(c.Ranks), 1))
	if distances == nil {
		return nil, errors.New("there is no memory for recording calls")
	}
	copy(unsafe.Slice((*uint8)(unsafe.Pointer(distances)), c.Ranks), c.Distances)
	rec.distance = distances
	current.Store(r)
	return r, nil
}

// On makes C record from now on.
func (r *Recorder) On() {
	atomic.StoreInt32((*int32)(unsafe.Pointer(&C.impi_recorder.on)), 1)
	mode := (*int32)(unsafe.Pointer(&C.impi_mode))
	atomic.OrInt32(mode, C.IMPI_OBSERVED)
}

// off ends that. What C has of the trace stays mapped: a thread may be in a call.
func (r *Recorder) off() { atomic.StoreInt32((*int32)(unsafe.Pointer(&C.impi_recorder.on)), 0) }

func monotonic() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// read reads both clocks at once, or as nearly so as some tries come.
func read() (best trace.Reading) {
	gap := int64(1 << 62)
	for range 5 {
		before := monotonic()
		ticks := uint64(C.impi_ticks())
		after := monotonic()
		if after-before < gap {
			gap, best = after-before, trace.Reading{Ticks: ticks, Monotonic: before + (after-before)/2}
		}
	}
	return best
}

// calibrateTime is how long the clock's rate is measured at first. Blocks and the end of the trace measure it better.
const calibrateTime = 2 * time.Millisecond

func (r *Recorder) calibrate() {
	r.start, r.second = read(), 1e9
	r.offset = time.Now().UnixNano() - monotonic()
	if C.impi_recorder.tsc != 0 {
		time.Sleep(calibrateTime)
		now := read()
		r.second = float64(now.Ticks-r.start.Ticks) / float64(now.Monotonic-r.start.Monotonic) * 1e9
	}
}

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

// mappings notes where code is.
func (r *Recorder) mappings() {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range callsite.Code(maps) {
		if found := trace.Mapping(m); !slices.Contains(r.mapped, found) {
			r.mapped = append(r.mapped, found)
			r.writer.Mapping(found)
		}
	}
}

// Align compares the machines' clocks, at the start. All processes of the client call it.
func (r *Recorder) Align(p Peers) error {
	a, err := align(p, r.boot, monotonic, r.offset)
	if err != nil {
		return err
	}
	r.offset = a.Offset
	if r.writer != nil {
		a.Known = r.aligned()
		r.writer.Align(a)
		if !a.Known {
			r.writer.Remark("the clocks of different clients are not compared: they show the time of day of their own machines")
		}
	}
	return nil
}

// aligned reports whether the clock of the client's first machine is that of rank 0's.
func (r *Recorder) aligned() bool { return r.config.Client == 0 }

// End ends recording, and compares the clocks once more.
func (r *Recorder) End(p Peers) error {
	r.off()
	if r.writer == nil {
		return nil
	}
	a, err := align(p, r.boot, monotonic, r.offset)
	if a.Known = a.Known && r.aligned(); err != nil {
		return err
	}
	r.close(a)
	return nil
}

func (r *Recorder) close(a trace.Align) {
	r.mappings()
	for _, t := range r.threads {
		for range max(t.lost, 1) - 1 {
			r.bump(trace.AtLost)
		}
	}
	size := r.writer.End(read(), a)
	r.reopen(func(f *os.File) error { return f.Truncate(size) })
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

//export impi_record_object
func impi_record_object(handle uintptr, o *C.struct_impi_object) {
	r := current.Load()
	found := r.config.Object(handle)
	*o = C.struct_impi_object{handle: C.uint64_t(handle), size: C.int64_t(found.Size), rank: C.int32_t(found.Rank),
		in: C.int32_t(found.In), out: C.int32_t(found.Out)}
	if found.Comm == nil && found.Window == nil && found.File == nil && found.Op == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o.group = r.group(found.Ranks)
	id := r.ids[handle]
	if id == 0 {
		r.last++
		id = r.last
		r.ids[handle] = id
		r.define(id, &found)
	}
	o.id = C.uint32_t(id)
}

// define writes what an object is.
func (r *Recorder) define(id uint32, o *Object) {
	if r.writer == nil {
		return
	}
	switch w := r.writer; {
	case o.Comm != nil:
		o.Comm.ID = id
		w.Comm(o.Comm)
	case o.Window != nil:
		o.Window.ID = id
		w.Window(o.Window)
	case o.File != nil:
		o.File.ID = id
		w.File(o.File)
	default:
		w.Op(id, o.Op)
	}
}

// Renamed writes what an object is once more.
func Renamed(handle uintptr) {
	r := current.Load()
	if r == nil {
		return
	}
	found := r.config.Object(handle)
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := r.ids[handle]; id != 0 {
		r.define(id, &found)
	}
}

// group returns the members in C's memory, where they stay.
func (r *Recorder) group(ranks []int32) *C.struct_impi_group {
	if len(ranks) == 0 {
		return nil
	}
	key := string(unsafe.Slice((*byte)(unsafe.Pointer(&ranks[0])), 4*len(ranks)))
	g := r.groups[key]
	if g != nil || 4*len(ranks) > r.room {
		return g
	}
	g = (*C.struct_impi_group)(C.malloc(C.size_t(4 + 4*len(ranks))))
	if g == nil {
		return nil
	}
	g.n = C.int32_t(len(ranks))
	copy(unsafe.Slice((*int32)(unsafe.Add(unsafe.Pointer(g), 4)), len(ranks)), ranks)
	r.room -= 4 * len(ranks)
	r.groups[key] = g
	return g
}

// ParseTrace reads IMPI_TRACE: a folder, and maybe how many bytes a trace may have, and which calls a full one keeps.
func ParseTrace(text string) (c Config) {
	c.Size = 256 << 20
	for {
		i := strings.LastIndexByte(text, ',')
		if i < 1 {
			break
		}
		word := text[i+1:]
		if n, ok := parseSize(word); ok {
			c.Size = n
		} else if word == trace.KeepOldest.String() || word == trace.KeepNewest.String() {
			c.Keep = map[string]trace.Keep{trace.KeepNewest.String(): trace.KeepNewest}[word]
		} else {
			break
		}
		text = text[:i]
	}
	c.Trace = text
	return c
}

// parseSize reads a number, and K, M or G for units of 1024.
func parseSize(text string) (int64, bool) {
	unit, digits := int64(1), text
	if n := len(text) - 1; n > 0 {
		if u := strings.IndexByte("KMG", text[n]&^0x20); u >= 0 {
			unit, digits = 1<<(10*(u+1)), text[:n]
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n * unit, err == nil && n > 0 && n <= 1<<40/unit
}
