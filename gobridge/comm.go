package main

import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/gobridge/observe"
	"github.com/libimpi/libimpi/libimpi"
)

// Communicators (MPI 5.0, chapter 7). A communicator is what a handle stands for: the engine's, and what only the
// program sees of it.
type communicator struct {
	*libimpi.Comm
	handle  uintptr
	attrs   attributes
	handler atomic.Pointer[errhandler]
	// The program has set the handler; before that it is inherited.
	handlerIsOwn atomic.Bool
	hints        hints
	session      *session    // that it comes from; nil if that is the world model
	pending      atomic.Bool // its MPI_Comm_idup or MPIX_Comm_ishrink is under way: it cannot communicate
	isShut       bool        // it is revoked: C leaves all of its calls to Go. known has the lock

	attached attachedMemory // for buffered sends
	board    board
	lists    lists

	coloring sync.Once
	colors   *[4]int32 // in C memory; nil until they are asked for
}

func (c *communicator) errhandler() *errhandler { return c.handler.Load() }

// String names the communicator in messages; the nil one too.
func (c *communicator) String() string {
	switch {
	case c == nil:
		return "no communicator"
	case c.pending.Load():
		return "a communicator whose MPI_Comm_idup is not complete"
	}
	return c.Comm.String()
}

// commOf returns the communicator of a handle, nil if it is none on which the program may communicate.
func commOf(h uintptr) *communicator {
	if c := objectOf(h); c != nil && !c.pending.Load() {
		return c
	}
	return nil
}

// objectOf is commOf that also answers one whose MPI_Comm_idup is under way.
func objectOf(h uintptr) *communicator {
	p := started()
	if p == nil {
		return nil
	}
	switch h {
	case abi.MPI_COMM_WORLD:
		return p.world.Load()
	case abi.MPI_COMM_SELF:
		return p.self.Load()
	}
	return comms.Find(h)
}

// unattached returns the communicator whose error handler gets the errors of calls without an object: MPI_COMM_SELF
// (MPI 5.0, 9.3). Programs that were written before MPI 4 set the handler of MPI_COMM_WORLD alone, which MPI 3.1 named
// here: until the program sets that of MPI_COMM_SELF, the two are one in this. It returns nil outside the world model.
func unattached() *communicator {
	p := started()
	if p == nil {
		return nil
	}
	self := p.self.Load()
	if self != nil && !self.handlerIsOwn.Load() {
		return p.world.Load()
	}
	return self
}

// bridged returns the communicator of an engine's. The engine has MPI_COMM_WORLD and MPI_COMM_SELF always, the program
// from MPI_Init to MPI_Finalize only: otherwise they answer nil.
func bridged(c *libimpi.Comm) *communicator {
	b, _ := c.Bridge.(*communicator)
	if b != nil && b.handle < handle.First {
		return commOf(b.handle)
	}
	return b
}

func newCommunicator(c *libimpi.Comm, handle uintptr) *communicator {
	b := &communicator{Comm: c, handle: handle}
	b.handler.Store(defaultHandler())
	c.Bridge = b
	return b
}

// publish gives a new communicator its handle, and its error handler from the one it was made of
// (MPI 5.0, 9.3). A nil one is MPI_COMM_NULL.
func publish(c *libimpi.Comm, from *communicator, out uintptr) *communicator {
	if c == nil {
		put[uintptr](out, abi.MPI_COMM_NULL)
		return nil
	}
	return newHandle(c, from.errhandler(), from.session, out)
}

// newHandle gives a communicator its handle.
func newHandle(c *libimpi.Comm, h *errhandler, of *session, out uintptr) *communicator {
	b := newCommunicator(c, 0)
	b.handler.Store(h)
	b.join(of)
	b.handle = comms.Add(b)
	b.openFast()
	put(out, b.handle)
	return b
}

func commQuery(fn string, comm uintptr) (k check) {
	k.fn = fn
	k.comm(comm)
	return k
}

// objectQuery is commQuery for what may be done to a communicator whose MPI_Comm_idup is under way, too.
func objectQuery(fn string, comm uintptr) (k check) {
	k.fn = fn
	k.object(comm)
	return k
}

//export impi_Comm_rank
func impi_Comm_rank(comm, rank uintptr) int32 {
	k := commQuery("MPI_Comm_rank", comm)
	k.result(rank, "rank")
	if k.err != nil {
		return k.fail()
	}
	put(rank, int32(k.c.Rank()))
	return 0
}

//export impi_Comm_size
func impi_Comm_size(comm, size uintptr) int32 {
	k := commQuery("MPI_Comm_size", comm)
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	put(size, int32(k.c.Size()))
	return 0
}

//export impi_Comm_test_inter
func impi_Comm_test_inter(comm, flag uintptr) int32 {
	k := commQuery("MPI_Comm_test_inter", comm)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	putFlag(flag, k.c.Inter())
	return 0
}

//export impi_Comm_group
func impi_Comm_group(comm, group uintptr) int32 {
	k := commQuery("MPI_Comm_group", comm)
	k.result(group, "group")
	if k.err != nil {
		return k.fail()
	}
	return k.answer(saveGroup(k.c.Group(), k.c.session), group)
}

//export impi_Comm_compare
func impi_Comm_compare(comm1, comm2, result uintptr) int32 {
	k := check{fn: "MPI_Comm_compare"}
	first := k.commArg(comm1, "comm1")
	if k.err != nil {
		return k.fail()
	}
	second := k.commArg(comm2, "comm2")
	k.c = first
	k.result(result, "result")
	if k.err != nil {
		return k.fail()
	}
	put(result, int32(first.Compare(second.Comm)))
	return 0
}

func dup(fn string, comm, newcomm uintptr, with *info) int32 {
	k := commQuery(fn, comm)
	k.result(newcomm, "newcomm")
	if !k.agree(nil) {
		return k.fail()
	}
	c, err := k.c.Dup()
	if err != nil {
		return k.failed(err)
	}
	b := publish(c, k.c, newcomm)
	b.hints.take(with)
	if code := k.c.attrs.copyAll(comm, &b.attrs); code != 0 {
		put[uintptr](newcomm, abi.MPI_COMM_NULL)
		b.closeFast()
		comms.Drop(b.handle)
		c.Discard()
		return k.refused(code, "copy")
	}
	return 0
}

//export impi_Comm_dup
func impi_Comm_dup(comm, newcomm uintptr) int32 {
	return dup("MPI_Comm_dup", comm, newcomm, nil)
}

//export impi_Comm_dup_with_info
func impi_Comm_dup_with_info(comm, info, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_dup_with_info", comm)
	k.result(newcomm, "newcomm")
	with := k.info(info)
	if k.err != nil {
		return k.fail()
	}
	return dup("MPI_Comm_dup_with_info", comm, newcomm, with)
}

//export impi_Comm_create
func impi_Comm_create(comm, group, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_create", comm)
	k.result(newcomm, "newcomm")
	if k.err != nil {
		return k.fail()
	}
	g := k.group(group, "group")
	if g != nil {
		k.subgroup(g)
	}
	if k.err == nil {
		k.err = libimpi.AsError(k.c.AgreeOnGroup(k.fn, g))
	}
	if k.err != nil {
		return k.fail()
	}
	c, err := k.c.Create(g)
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

// subgroup looks whether all of g belong to the communicator.
func (k *check) subgroup(g *libimpi.Group) {
	for r := 0; r < g.Size(); r++ {
		if k.c.Group().Rank(g.World(r)) == abi.MPI_UNDEFINED {
			k.set(abi.MPI_ERR_GROUP, "rank %d of argument group is not in %s", r, k.c)
			return
		}
	}
}

//export impi_Comm_split
func impi_Comm_split(comm uintptr, color, key int32, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_split", comm)
	k.result(newcomm, "newcomm")
	if color < 0 && color != abi.MPI_UNDEFINED {
		k.set(abi.MPI_ERR_ARG, "argument color is negative: %d", color)
	}
	if !k.agree(nil) {
		return k.fail()
	}
	c, err := k.c.Split(color, key)
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

//export impi_Comm_create_group
func impi_Comm_create_group(comm, group uintptr, tag int32, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_create_group", comm)
	k.intra()
	k.result(newcomm, "newcomm")
	if k.err != nil {
		return k.fail()
	}
	g := k.group(group, "group")
	k.sendTag(tag, "tag")
	if g != nil {
		k.subgroup(g)
	}
	if k.err != nil {
		return k.fail()
	}
	if g.Rank(engine().Me()) == abi.MPI_UNDEFINED {
		put[uintptr](newcomm, abi.MPI_COMM_NULL)
		return 0
	}
	c, err := k.c.CreateGroup(g, tag)
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

//export impi_Comm_free
func impi_Comm_free(comm uintptr) int32 { return freeComm("MPI_Comm_free", comm, (*libimpi.Comm).Free) }

//export impi_Comm_disconnect
func impi_Comm_disconnect(comm uintptr) int32 {
	return freeComm("MPI_Comm_disconnect", comm, (*libimpi.Comm).Disconnect)
}

func freeComm(fn string, comm uintptr, give func(*libimpi.Comm) error) int32 {
	k := check{fn: fn}
	if k.result(comm, "comm"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](comm)
	c := k.comm(h)
	if c == nil {
		return k.fail()
	}
	if h < handle.First {
		k.set(abi.MPI_ERR_COMM, "%s is there from MPI_Init to MPI_Finalize", c)
		return k.fail()
	}
	if fn == "MPI_Comm_disconnect" && !k.agree(nil) { // MPI_Comm_free need not wait for anybody
		return k.fail()
	}
	if code := c.attrs.deleteAll(h); code != 0 {
		return k.refused(code, "delete")
	}
	c.closeFast()
	c.closeBoard()
	if err := give(c.Comm); err != nil {
		return k.failed(err)
	}
	comms.Drop(h)
	freeColors(c.colors)
	put[uintptr](comm, abi.MPI_COMM_NULL)
	return 0
}

//export impi_Comm_set_name
func impi_Comm_set_name(comm, comm_name uintptr) int32 {
	k := objectQuery("MPI_Comm_set_name", comm)
	k.result(comm_name, "comm_name")
	if k.err != nil {
		return k.fail()
	}
	k.c.Rename(text(comm_name, abi.MPI_MAX_OBJECT_NAME-1))
	observe.Renamed(comm)
	return 0
}

//export impi_Comm_get_name
func impi_Comm_get_name(comm, comm_name, resultlen uintptr) int32 {
	k, name := check{fn: "MPI_Comm_get_name"}, "MPI_COMM_NULL"
	if comm != abi.MPI_COMM_NULL && k.object(comm) != nil {
		name = k.c.Name
	}
	k.result(comm_name, "comm_name")
	k.result(resultlen, "resultlen")
	if k.err != nil {
		return k.fail()
	}
	put(resultlen, int32(putText(comm_name, name, abi.MPI_MAX_OBJECT_NAME)))
	return 0
}

//export impi_Comm_fromint
func impi_Comm_fromint(comm int32) uintptr { return fromIntOr(&comms, comm, abi.MPI_COMM_NULL) }

// predefinedKey reports whether a key is one of those that every communicator, or MPI_COMM_WORLD, has.
func predefinedKey(key int32) bool {
	return key >= abi.MPI_TAG_UB && key <= abi.MPI_UNIVERSE_SIZE || key >= abi.IMPI_CLIENT_SIZE &&
		key <= abi.MPIX_FT
}

// predefinedAttr returns the address of a predefined attribute's value (MPI 5.0, 9.1.2).
func (k *check) predefinedAttr(c *communicator, key int32, value, flag uintptr) int32 {
	k.result(value, "attribute_val")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	p := started().values.at(key)
	if p == nil {
		p = &c.impiColors()[key-abi.IMPI_CLIENT_SIZE]
	}
	set := true
	switch key {
	case abi.MPI_UNIVERSE_SIZE:
		set = *p > 0 // else nothing limits the job (MPI 5.0, 11.10.1)
	case abi.MPIX_FT:
		set = c.handle == abi.MPI_COMM_WORLD
	}
	putFlag(flag, set)
	if set {
		put(value, uintptr(unsafe.Pointer(p)))
	}
	return 0
}

// impiColors are the values of IMPI's attributes, made when they are first asked for.
func (c *communicator) impiColors() *[4]int32 {
	c.coloring.Do(func() { c.colors = newColors(c.Colors()) })
	return c.colors
}

// predefinedValues stand in C memory: the program holds their addresses.
type predefinedValues struct {
	tagUB, io, host, wtimeIsGlobal, appnum, universe, lastCode, survives int32
}

// at is where a predefined attribute's value stands.
func (v *predefinedValues) at(key int32) *int32 {
	switch key {
	case abi.MPI_TAG_UB:
		return &v.tagUB
	case abi.MPI_IO:
		return &v.io
	case abi.MPI_HOST:
		return &v.host
	case abi.MPI_WTIME_IS_GLOBAL:
		return &v.wtimeIsGlobal
	case abi.MPI_APPNUM:
		return &v.appnum
	case abi.MPI_UNIVERSE_SIZE:
		return &v.universe
	case abi.MPI_LASTUSEDCODE:
		return &v.lastCode
	case abi.MPIX_FT:
		return &v.survives
	}
	return nil
}

// Hints of communicators (MPI 5.0, 7.4.4): the assertions that the standard defines. Matching looks at what is posted
// and not at promises: a context in which no receive has a wildcard does not pay for them (libimpi/match). So the
// assertions are known, kept and reported, and need nothing else. Other keys are ignored, as the standard has it.
// MPI_Comm_dup hands no hints on (MPI 5.0, 7.4.2).

var assertions = [...]string{"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
	"mpi_assert_allow_overtaking"}

// hints are the values of the assertions.
type hints struct {
	said  [len(assertions)]bool
	kinds *string // the memory allocation kinds that the program says it uses; nil until it does
}

// take notes the assertions of an info, and leaves those alone that it does not mention or has no valid value for.
func (h *hints) take(with *info) {
	if with == nil {
		return
	}
	for n, key := range assertions {
		switch value, _ := with.get(key); value {
		case "true":
			h.said[n] = true
		case "false":
			h.said[n] = false
		}
	}
	if kinds, ok := with.get(assertKindsKey); ok {
		h.kinds = &kinds
	}
}

// info are all assertions with their values.
func (h *hints) info() *info {
	all := &info{}
	for n, key := range assertions {
		all.set(key, map[bool]string{true: "true", false: "false"}[h.said[n]])
	}
	if h.kinds != nil {
		all.set(assertKindsKey, *h.kinds)
	}
	return all
}

//export impi_Comm_set_info
func impi_Comm_set_info(comm, info uintptr) int32 {
	k := objectQuery("MPI_Comm_set_info", comm)
	with := k.someInfo(info)
	if k.err != nil {
		return k.fail()
	}
	k.c.hints.take(with)
	return 0
}

//export impi_Comm_get_info
func impi_Comm_get_info(comm, info_used uintptr) int32 {
	k := objectQuery("MPI_Comm_get_info", comm)
	k.result(info_used, "info_used")
	if k.err != nil {
		return k.fail()
	}
	used := k.c.hints.info()
	used.set(kindsKey, k.c.session.memoryKinds())
	return k.answer(infos.Add(used), info_used)
}

// Nonblocking duplication (MPI 5.0, 7.4.2). The handle is there at once, and the attributes are copied at once. Until
// the request is done the program may give it an error handler, attributes, hints and a name (check.object); all else
// is refused.

//export impi_Comm_idup
func impi_Comm_idup(comm, newcomm, request uintptr) int32 {
	k := commQuery("MPI_Comm_idup", comm)
	k.result(newcomm, "newcomm")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	return k.idup(nil, newcomm, request)
}

//export impi_Comm_idup_with_info
func impi_Comm_idup_with_info(comm, info, newcomm, request uintptr) int32 {
	k := commQuery("MPI_Comm_idup_with_info", comm)
	with := k.info(info)
	k.result(newcomm, "newcomm")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	return k.idup(with, newcomm, request)
}

func (k *check) idup(with *info, newcomm, request uintptr) int32 {
	b := k.unfinished(k.c.Unopened())
	b.hints.take(with)
	if code := k.c.attrs.copyAll(k.c.handle, &b.attrs); code != 0 {
		comms.Drop(b.handle)
		return k.refused(code, "copy")
	}
	put(newcomm, b.handle)
	k.give(request, k.c.Idup(b.Comm, func() {
		b.openFast()
		b.pending.Store(false)
	}))
	return 0
}

// unfinished is a communicator that is made of that of the call, and has its handle before it can communicate.
func (k *check) unfinished(c *libimpi.Comm) *communicator {
	b := newCommunicator(c, 0)
	b.handler.Store(k.c.errhandler())
	b.join(k.c.session)
	b.pending.Store(true)
	b.handle = comms.Add(b)
	return b
}
