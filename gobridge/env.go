package main

// #include <stdlib.h>
// #include "shim/shim.h"
import "C"

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/startup"
)

// Enquiries about the environment (MPI 5.0, 9.1), and memory (9.2).

// Version is the release. The string that programs see begins with the name, because tools read "impi" as that of
// another library.
const Version = "0.1.0"

// commit is what git describe said of the checkout that the library was built from, set by the build (-ldflags -X).
var commit string

//export impi_Get_version
func impi_Get_version(version, subversion uintptr) int32 {
	k := check{fn: "MPI_Get_version"}
	k.result(version, "version")
	k.result(subversion, "subversion")
	if k.err != nil {
		return k.fail()
	}
	put[int32](version, abi.MPI_VERSION)
	put[int32](subversion, abi.MPI_SUBVERSION)
	return 0
}

//export impi_Get_library_version
func impi_Get_library_version(version, resultlen uintptr) int32 {
	k := check{fn: "MPI_Get_library_version"}
	k.result(version, "version")
	k.result(resultlen, "resultlen")
	if k.err != nil {
		return k.fail()
	}
	s := fmt.Sprintf("libimpi %s (Interoperable MPI; not Intel MPI), MPI %d.%d, ABI %d.%d, IMPI 0.0, %s",
		Version, abi.MPI_VERSION, abi.MPI_SUBVERSION, abi.MPI_ABI_VERSION, abi.MPI_ABI_SUBVERSION, runtime.Version())
	if commit != "" {
		s += ", commit " + commit
	}
	put(resultlen, int32(putText(version, s, abi.MPI_MAX_LIBRARY_VERSION_STRING)))
	return 0
}

//export impi_Get_processor_name
func impi_Get_processor_name(name, resultlen uintptr) int32 {
	k := check{fn: "MPI_Get_processor_name"}
	if !k.notStarted() {
		k.result(name, "name")
		k.result(resultlen, "resultlen")
	}
	if k.err != nil {
		return k.fail()
	}
	host, err := os.Hostname()
	if err != nil {
		return k.failed(err)
	}
	put(resultlen, int32(putText(name, host, abi.MPI_MAX_PROCESSOR_NAME)))
	return 0
}

//export impi_Alloc_mem
func impi_Alloc_mem(size int64, info, baseptr uintptr) int32 {
	k := check{fn: "MPI_Alloc_mem"}
	if size < 0 {
		k.set(abi.MPI_ERR_ARG, "argument size is negative: %d", size)
	}
	alignment := alignmentOf(k.info(info))
	k.result(baseptr, "baseptr")
	if k.err != nil {
		return k.fail()
	}
	p := allocate(size, alignment)
	if p == nil {
		return k.failed(noMemory(size, alignment))
	}
	put(baseptr, p)
	return 0
}

// leastAlignment is a line of the caches, and enough for any predefined type.
const leastAlignment = 64

// allocate is memory for the program, at a multiple of an alignment, which is a power of two or 0; nil: there is none.
func allocate(size, alignment int64) (p unsafe.Pointer) {
	if C.posix_memalign(&p, C.size_t(max(alignment, leastAlignment)), C.size_t(max(size, 1))) != 0 {
		return nil
	}
	return p
}

func noMemory(size, alignment int64) error {
	if alignment <= leastAlignment {
		return libimpi.Errorf(abi.MPI_ERR_NO_MEM, "no memory for %d bytes", size)
	}
	return libimpi.Errorf(abi.MPI_ERR_NO_MEM, "no memory for %d bytes at a multiple of %d", size, alignment)
}

//export impi_Free_mem
func impi_Free_mem(base uintptr) int32 {
	C.free(at(base))
	return 0
}

// newPredefinedValues makes room for the values of predefined attributes in C memory: the program may keep their
// addresses.
func newPredefinedValues() *predefinedValues {
	return keepOne[predefinedValues]()
}

// newColors makes room for the values of IMPI's attributes of a communicator (IMPI 0.0, 2.5) in C memory.
func newColors(values [4]int32) *[4]int32 {
	c := keepOne[[4]int32]()
	*c = values
	return c
}

func freeColors(c *[4]int32) { letGo(unsafe.Pointer(c)) }

// The environment is C's: Go has taken a copy of it when the library was loaded, and a program may have changed it
// since.

// lookupEnv is os.LookupEnv.
func lookupEnv(name string) (string, bool) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	v := C.getenv(c)
	if v == nil {
		return "", false
	}
	return C.GoString(v), true
}

// environment is the value of a variable, empty if it is not set.
func environment(name string) string {
	v, _ := lookupEnv(name)
	return v
}

// parseSwitch reads a variable that is 0 or 1; unset is 0.
func parseSwitch(name string) (bool, error) {
	switch v := environment(name); v {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%s: it is 0, 1 or unset", name, v)
	}
}

// libraryFile is the file that this code has been loaded from; empty if the system does not say.
func libraryFile() string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	here := uint64(reflect.ValueOf(libraryFile).Pointer())
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || here < from || here >= to {
			continue
		}
		if at := strings.IndexByte(line, '/'); at >= 0 {
			return strings.TrimSpace(line[at:])
		}
	}
	return ""
}

// Splitting by kind of process, and what is known of the hardware (MPI 5.0, 7.4.2 and 9.1.2). Types of resources are
// URIs whose scheme says whose names they are: hwloc's.

const (
	resourceType   = "mpi_hw_resource_type"
	psetName       = "mpi_pset_name"
	sharedMemory   = "mpi_shared_memory" // a type of resource that the standard names
	resourceScheme = "hwloc://"
)

//export impi_Comm_split_type
func impi_Comm_split_type(comm uintptr, split_type, key int32, info, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_split_type", comm)
	k.result(newcomm, "newcomm")
	hints := k.info(info)
	switch split_type {
	case abi.MPI_UNDEFINED, abi.MPI_COMM_TYPE_SHARED, abi.MPI_COMM_TYPE_HW_GUIDED, abi.MPI_COMM_TYPE_HW_UNGUIDED,
		abi.MPI_COMM_TYPE_RESOURCE_GUIDED:
	default:
		k.set(abi.MPI_ERR_ARG, "argument split_type is %d", split_type)
	}
	if !k.agreeOn(func() []coll.Value {
		if split_type == abi.MPI_UNDEFINED {
			return []coll.Value{coll.Anything("argument split_type", abi.MPI_ERR_ARG)}
		}
		return []coll.Value{coll.Number("argument split_type", abi.MPI_ERR_ARG, int64(split_type))}
	}) {
		return k.fail()
	}
	c, err := splitType(k.c, split_type, key, hints)
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

// splitType returns the caller's new communicator, nil if it is in none.
func splitType(c *communicator, splitType, key int32, hints *info) (*libimpi.Comm, error) {
	switch splitType {
	case abi.MPI_COMM_TYPE_SHARED:
		return c.Split(c.MachineColor(), key)
	case abi.MPI_COMM_TYPE_HW_GUIDED:
		return splitGuided(c, key, hints)
	case abi.MPI_COMM_TYPE_RESOURCE_GUIDED:
		if name, given := hints.hint(psetName); given {
			return splitSet(c, key, name)
		}
		return splitGuided(c, key, hints)
	case abi.MPI_COMM_TYPE_HW_UNGUIDED:
		made, typ, err := c.SplitUnguided(key)
		if made != nil && hints != nil {
			hints.set(resourceType, resourceScheme+typ)
		}
		return made, err
	}
	return c.Split(abi.MPI_UNDEFINED, key)
}

func splitGuided(c *communicator, key int32, hints *info) (*libimpi.Comm, error) {
	typ, _ := hints.hint(resourceType)
	if typ == sharedMemory {
		return c.Split(c.MachineColor(), key)
	}
	name, _ := strings.CutPrefix(typ, resourceScheme)
	return c.SplitHardware(name, key)
}

// splitSet is for the processes of one set. Some may name another one, and get a communicator of that.
func splitSet(c *communicator, key int32, name string) (*libimpi.Comm, error) {
	color := int32(abi.MPI_UNDEFINED)
	if g := pset(engine(), name); g != nil {
		// The set's first process tells sets apart whose names the caller shares with others, as mpi://SELF is.
		color = g.World(0)
	}
	return c.Split(color, key)
}

// hint is get that knows of no info.
func (i *info) hint(key string) (string, bool) {
	if i == nil {
		return "", false
	}
	return i.get(key)
}

//export impi_Get_hw_resource_info
func impi_Get_hw_resource_info(hw_info uintptr) int32 {
	k := check{fn: "MPI_Get_hw_resource_info"}
	if k.result(hw_info, "hw_info"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	i := &info{}
	types, at := topo.HardwareTypes()
	for n, t := range types {
		value := "false"
		if at[n] >= 0 {
			value = "true"
		}
		i.set(resourceScheme+t, value)
	}
	return k.answer(infos.Add(i), hw_info)
}

// Memory allocation kinds (MPI 5.0, 11.4.3): of which memory buffers may be. libimpi reads and writes what the
// processor can, so it knows the two kinds of the standard, and those of accelerators are left out of what it supports.

const (
	kindsKey       = "mpi_memory_alloc_kinds"
	assertKindsKey = "mpi_assert_memory_alloc_kinds"
)

// kindRestrictors are the kinds that are supported, with what may stand behind their colons.
var kindRestrictors = map[string][]string{
	"mpi":    {"alloc_mem", "win_allocate", "win_allocate_shared"},
	"system": nil,
}

// askedKinds is the list of kinds that the launcher was given; the standard's default is as if it had been.
func askedKinds() string {
	if asked := environment(startup.EnvMemoryKinds); asked != "" {
		return asked
	}
	return "mpi,system"
}

// supportedKinds returns what is supported for objects of which these kinds were asked for, as a list: those of them
// that are known, as they were written, and the two kinds of the standard in any case.
func supportedKinds(asked string) string {
	var list []string
	for _, kind := range strings.Split(asked+",mpi,system", ",") {
		if kind = strings.TrimSpace(kind); knownKind(kind) && !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	return strings.Join(list, ",")
}

func knownKind(kind string) bool {
	words := strings.Split(kind, ":")
	allowed, known := kindRestrictors[words[0]]
	return known && !slices.ContainsFunc(words[1:], func(word string) bool { return !slices.Contains(allowed, word) })
}

// memoryKinds returns the kinds that the objects of a session support; nil is the world model.
func (s *session) memoryKinds() string {
	if s != nil {
		kinds, _ := s.used.get(kindsKey)
		return kinds
	}
	return supportedKinds(askedKinds())
}

// nameFaults lets the runtime (recordCrash) say who we are.
var nameFaults = sync.OnceFunc(func() { crashName = whoAmI() })

// When Go's runtime ends the process, because it gets no more memory, say, it writes a trace of a hundred lines. Users
// get the first; GOTRACEBACK, or GODEBUG, which asks for other output, leaves all of it.

//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32

func init() {
	if os.Getenv("GOTRACEBACK") == "" && os.Getenv("GODEBUG") == "" {
		overrideWrite = writeFirstLine
	}
}

// crash is how far the line is. Only the runtime's own crash uses it, from which no way leads back.
var crash struct{ begun, over bool }

// crashName begins the line; what comes with MPI_Init says more (nameFaults).
var crashName = "libimpi"

const crashHint = " (GOTRACEBACK=all tells more)\n"

// writeFirstLine is write(2) for the runtime, which calls it with pieces of lines, and to wake its poller, on any stack
// and with any locks held: it must neither allocate nor grow the stack.
//
//go:nosplit
//go:norace
func writeFirstLine(fd uintptr, p unsafe.Pointer, n int32) int32 {
	if fd != uintptr(syscall.Stderr) {
		written, _, err := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
		if err != 0 {
			return -int32(err)
		}
		return int32(written)
	}
	if crash.over {
		return n
	}
	if !crash.begun {
		crash.begun = true
		writeString(fd, crashName)
		writeString(fd, ": ")
	}
	length := int32(0)
	for length < n && *(*byte)(unsafe.Add(p, length)) != '\n' {
		length++
	}
	syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(length))
	if length < n {
		crash.over = true
		writeString(fd, crashHint)
	}
	return n
}

//go:nosplit
//go:norace
func writeString(fd uintptr, s string) {
	syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(len(s)))
}
