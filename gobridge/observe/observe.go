// Package observe records the calls of a process: into a trace (IMPI_TRACE, libimpi/trace), and as sums for the page at
// the end of the job (IMPI_SUMMARY, libimpi/summary). C notes each call (record.c), without a lock, in what each thread
// has of its own; Go makes that, says what handles stand for when C first meets them, and reads it all in the end.
package observe

// #include <stdlib.h>
// #include "record.h"
// #include "../shim/shim.h"
import "C"

import (
	"errors"
	"hash/fnv"
	"os"
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
