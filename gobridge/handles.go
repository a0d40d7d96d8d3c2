package main

// #include "shim/shim.h"
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/calling"
	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/checks"
)

// Handles. Predefined ones are the ABI's small integers; those of objects that are made at run time are package
// handle's. The low half of a handle is what MPI_X_toint answers.
//
// C may end a datatype by itself; the slot is given back a little later (types.go). Requests are the engine's
// (libimpi/request.go, quick.go); their generations have 32 bits, and begin anew. Attribute keys are integers that are
// given once.

const (
	kindComm handle.Kind = iota + 1
	kindType
	kindOp
	kindGroup
	kindSession
	kindWin
	kindInfo
	kindErrhandler
	kindMessage
	kindFile
	kindEnum
	kindControl
	kindToolSession
	kindVariable
	kindRegistration
	kindInstance
)

// C has the same idea of the first handle.
const (
	_ = uint(C.IMPI_FIRST_HANDLE - handle.First)
	_ = uint(handle.First - C.IMPI_FIRST_HANDLE)
)

var (
	comms       = handle.Table[communicator]{Kind: kindComm}
	types       = handle.Table[dataType]{Kind: kindType}
	ops         = handle.Table[operation]{Kind: kindOp}
	groups      = handle.Table[group]{Kind: kindGroup}
	sessions    = handle.Table[session]{Kind: kindSession}
	windows     = handle.Table[window]{Kind: kindWin}
	infos       = handle.Table[info]{Kind: kindInfo}
	errhandlers = handle.Table[errhandler]{Kind: kindErrhandler}
	files       = handle.Table[openFile]{Kind: kindFile}
	messages    = handle.Table[libimpi.Matched]{Kind: kindMessage}
)

// What the program makes is noted where leaks are looked for (IMPI_CHECK=leaks), by its slot: so there are at most as
// many notes as there were objects at once. At the end those are left whose handles still lead to an object.

// creation is a call that has made something.
type creation struct {
	handle  uintptr
	call    string
	returns []uintptr
}

var created struct {
	sync.Mutex
	by map[uint64]creation // kind and slot
}

// mostReturns is how many return addresses are noted: the library has some of its own.
const mostReturns = 24

func returnsHere() []uintptr {
	returns := make([]uintptr, mostReturns)
	return returns[:calling.Trace(returns)]
}

// creationHere is the call that the thread is in; nil if nobody wants to know.
func creationHere() *creation {
	if e := engine(); e == nil || !e.Checks().Has(checks.Leaks) {
		return nil
	}
	return &creation{0, calling.Name(calling.Call()), returnsHere()}
}

// noteCreation notes that a handle has been given to an object.
func noteCreation(h uintptr) {
	if c := creationHere(); c != nil && leaking[handle.KindOf(h)].one != "" {
		c.handle = h
		created.Lock()
		defer created.Unlock()
		if created.by == nil {
			created.by = map[uint64]creation{}
		}
		created.by[creationKey(h)] = *c
	}
}

func creationKey(h uintptr) uint64 { return uint64(handle.KindOf(h))<<32 | uint64(handle.Slot(h)) }

// forgetCreation is for an object that the program does not have to free.
func forgetCreation(h uintptr) {
	created.Lock()
	defer created.Unlock()
	delete(created.by, creationKey(h))
}

// leaking are the objects that the program has to give back.
var leaking = [...]struct {
	one   string
	lives func(h uintptr) bool
	fate  string
}{
	kindComm:       {"communicator", func(h uintptr) bool { return comms.Find(h) != nil }, "never freed"},
	kindType:       {"datatype", func(h uintptr) bool { d := published(h); return d != nil && !d.fixed }, "never freed"},
	kindOp:         {"operation", func(h uintptr) bool { return ops.Find(h) != nil }, "never freed"},
	kindGroup:      {"group", func(h uintptr) bool { return groups.Find(h) != nil }, "never freed"},
	kindWin:        {"window", func(h uintptr) bool { return windows.Find(h) != nil }, "never freed"},
	kindInfo:       {"info", func(h uintptr) bool { return infos.Find(h) != nil }, "never freed"},
	kindErrhandler: {"error handler", func(h uintptr) bool { return errhandlers.Find(h) != nil }, "never freed"},
	kindFile:       {"file", func(h uintptr) bool { return files.Find(h) != nil }, "never closed"},
	kindMessage:    {"matched message", func(h uintptr) bool { return messages.Find(h) != nil }, "never received"},
	kindInstance:   {},
}

// leftObjects are the objects that the program has made and not given back. The communicator with the parents of a
// spawned job is MPI_Init's.
func leftObjects() (left []checks.Leak) {
	created.Lock()
	defer created.Unlock()
	for _, c := range created.by {
		k := &leaking[handle.KindOf(c.handle)]
		if k.lives(c.handle) && !strings.HasPrefix(c.call, "MPI_Init") && !c.ofBindings() {
			left = append(left, checks.Leak{One: k.one, Made: c.made(), Fate: k.fate, Count: 1})
		}
	}
	return left
}

// ofBindings reports whether the C++ bindings have made an error handler, as they do for those that throw exceptions.
func (c *creation) ofBindings() bool {
	if handle.KindOf(c.handle) != kindErrhandler {
		return false
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return false
	}
	defer maps.Close()
	return callsite.Through(maps, c.returns, "cxx")
}

func (c *creation) made() string { return strings.TrimSuffix(c.call, "_c") + whereIs(c.returns) }

// whereIs is the place of a call of the program, as it follows the function's name: " at solver.c:118"; "": the program
// has no debug information.
func whereIs(returns []uintptr) string {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return ""
	}
	defer maps.Close()
	if site, known := callsite.Find(maps, returns); known {
		return " at " + site.String()
	}
	return ""
}

// leftMessages are those that have arrived and that the program has not received.
func leftMessages(e *libimpi.Engine) (left []checks.Leak) {
	e.Levels(true)
	s := e.State()
	for _, m := range s.Unexpected {
		c := s.Find(m.Comm)
		if m.Internal || c == nil { // of a communicator that has been freed
			continue
		}
		on := "a communicator"
		if c.Name != "" {
			on = c.Name
		}
		one := fmt.Sprintf("message of %d bytes from rank %d with tag %d on %s", m.Bytes, m.Peer, m.Tag, on)
		left = append(left, checks.Leak{One: one, Fate: "never received", Count: 1,
			Message: checks.Message{From: m.World, To: s.Rank, Comm: m.Comm, Tag: m.Tag}})
	}
	if more := s.UnexpectedCount - len(s.Unexpected); more > 0 {
		left = append(left, checks.Leak{One: "more message", Fate: "never received", Count: more})
	}
	return left
}

// sent are the latest calls that have sent messages, for who receives none of them. Only the first so many kinds are
// kept.
var sent struct {
	sync.Mutex
	by map[checks.Message]*checks.Use
}

const mostSent = 4096

// sends notes where a message is sent.
func (k *check) sends(dest, tag int32) {
	if k.c.Inter() || !engine().Checks().Has(checks.Leaks) {
		return
	}
	m := checks.Message{From: int(engine().Me()), To: int(k.c.Group().World(int(dest))), Comm: k.c.ReportName(),
		Tag: int(tag)}
	sent.Lock()
	defer sent.Unlock()
	if sent.by == nil {
		sent.by = map[checks.Message]*checks.Use{}
	}
	if _, known := sent.by[m]; known || len(sent.by) < mostSent {
		sent.by[m] = k.used()
	}
}

// sentBy is the call that has sent a message; "": it is not known.
func sentBy(m checks.Message) string {
	sent.Lock()
	defer sent.Unlock()
	if u := sent.by[m]; u != nil {
		return u.Call + whereIs(u.Returns)
	}
	return ""
}

// left is what the process has left behind; nothing if a session goes on, which may still need it.
func (p *process) left() []checks.Leak {
	if p.sessions > 0 {
		return nil
	}
	left := append(leftObjects(), p.engine.Left()...)
	left = append(left, leftMessages(p.engine)...)
	for _, a := range []*attachedMemory{&attached, &p.world.Load().attached, &p.self.Load().attached} {
		if a.by != nil {
			left = append(left, checks.Leak{One: "buffer", Made: a.by.made(), Fate: "never detached", Count: 1})
		}
	}
	return checks.Gather(left)
}

// tellLeft says on stderr what the program has left behind, when it calls MPI_Finalize: all ranks together, or each for
// itself if some are of another implementation, which knows nothing of this.
func (p *process) tellLeft() {
	if !p.engine.Checks().Has(checks.Leaks) {
		return
	}
	world := p.engine.World()
	alone := world.Foreign()
	if !alone && world.Barrier() != nil { // what has been sent is here then, inside a machine at least
		return
	}
	told, answers := make([][]byte, world.Size()), [][]byte(nil)
	mine, some := checks.Encode(p.left()), false
	if told[world.Rank()] = mine; !alone {
		if told, some = gatherTexts(world, mine); some {
			question := spread(world, checks.Question(told))
			answers, _ = gatherTexts(world, checks.Answer(question, world.Rank(), sentBy))
		}
	}
	for _, line := range checks.Fold(told, answers) {
		fmt.Fprintf(os.Stderr, "libimpi: IMPI_CHECK: %s\n", line)
	}
}

// spread returns the text of rank 0 at all members.
func spread(c *libimpi.Comm, text []byte) []byte {
	n := []int32{int32(len(text))}
	if c.Bcast(intsBuf(n), 0) != nil || n[0] == 0 {
		return nil
	}
	if c.Rank() != 0 {
		text = make([]byte, n[0])
	}
	if c.Bcast(bytesBuf(text), 0) != nil {
		return nil
	}
	return text
}

// gatherTexts returns the texts of all members at rank 0, and none at the others, and whether there are any.
func gatherTexts(c *libimpi.Comm, mine []byte) (told [][]byte, some bool) {
	n := []int32{int32(len(mine))}
	lengths := make([]int32, c.Size())
	if c.Allgather(intsBuf(n), coll.Buf{Base: intsBuf(lengths).Base, Count: 1, Type: intsBuf(n).Type}) != nil {
		return nil, false
	}
	all := coll.VBuf{Type: datatype.Named(abi.MPI_BYTE), Counts: make([]int64, len(lengths)),
		Displs: make([]int64, len(lengths))}
	total := int64(0)
	for i, n := range lengths {
		all.Counts[i], all.Displs[i] = int64(n), total
		total += int64(n)
	}
	if total == 0 {
		return nil, false
	}
	texts := make([]byte, total)
	all.Base = bytesBuf(texts).Base
	if c.Gatherv(bytesBuf(mine), all, 0) != nil || c.Rank() != 0 {
		return nil, true
	}
	told = make([][]byte, len(lengths))
	for i := range told {
		told[i] = texts[all.Displs[i]:][:all.Counts[i]]
	}
	return told, true
}

// fromIntOr is the handle of an integer, null if there is none.
func fromIntOr[T any](t *handle.Table[T], n int32, null uintptr) uintptr {
	if n < handle.First {
		return uintptr(n)
	}
	if h := t.FromInt(n); h != 0 {
		return h
	}
	return null
}

// objects are what decode asks for: names of what handles stand for, and memory of the program.
type objects struct{}

// Name implements decode.Objects.
func (objects) Name(kind string, handle uint64) string {
	h := uintptr(handle)
	switch kind {
	case "COMMUNICATOR":
		if c := objectOf(h); c != nil {
			return c.String()
		}
	case "DATATYPE":
		if d := types.Find(h); d != nil && d.name != "" {
			return d.name
		} else if d != nil {
			return fmt.Sprintf("datatype of %d bytes", d.Size())
		}
	case "WINDOW":
		if w := windows.Find(h); w != nil {
			return w.String()
		}
	case "FILE":
		if f := files.Find(h); f != nil {
			return fmt.Sprintf("file %q", f.Name())
		}
	case "OPERATION":
		if ops.Find(h) != nil {
			return "operation of the program"
		}
	case "GROUP":
		if g := groupOf(h); g != nil {
			return fmt.Sprintf("group of size %d", g.Size())
		}
	case "ERRHANDLER":
		if errhandlers.Find(h) != nil {
			return "error handler of the program"
		}
	}
	return ""
}

// group returns the processes that the ranks of an object stand for, and the caller's rank.
func (objects) group(kind string, handle uint64) (g *libimpi.Group, rank int) {
	var c *libimpi.Comm
	h := uintptr(handle)
	switch kind {
	case "COMMUNICATOR":
		if o := objectOf(h); o != nil {
			c = o.Comm
		}
	case "WINDOW":
		if w := windows.Find(h); w != nil {
			c = w.Comm()
		}
	}
	if c == nil {
		return nil, 0
	}
	if c.Inter() {
		return c.RemoteGroup(), c.Rank()
	}
	return c.Group(), c.Rank()
}

// Members implements decode.Objects.
func (o objects) Members(kind string, handle uint64) (size, rank int, ok bool) {
	g, rank := o.group(kind, handle)
	if g == nil {
		return 0, 0, false
	}
	return g.Size(), rank, true
}

// World implements decode.Objects. Processes of other jobs have no such rank.
func (o objects) World(kind string, handle uint64, rank int) (int, bool) {
	g, _ := o.group(kind, handle)
	e := engine()
	if g == nil || e == nil || rank < 0 || rank >= g.Size() {
		return 0, false
	}
	w := int(g.World(rank))
	return w, w >= 0 && w < e.World().Size()
}

// Read implements decode.Objects.
func (objects) Read(address uint64, b []byte) int { return calling.Read(address, b) }
