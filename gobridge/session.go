package main

// #include "shim/shim.h"
import "C"

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	pointer "github.com/mattn/go-pointer"
)

// Sessions (MPI 5.0, 11.3): independent ways into MPI. What is made in a session, groups and from them
// communicators, remembers it, for its attached buffer.
type session struct {
	handle  uintptr
	handler atomic.Pointer[errhandler]
	used    *info // hints, as they are followed

	buffer   *libimpi.Buffer
	attached attachedMemory
}

func (s *session) errhandler() *errhandler { return s.handler.Load() }

// join makes a communicator one of a session; nil is the world model.
func (c *communicator) join(s *session) {
	if s == nil {
		return
	}
	c.session = s
	c.UseBuffer(s.buffer)
}

func sessionQuery(fn string, h uintptr) (k check) {
	k.fn = fn
	if k.s = sessions.Find(h); k.s != nil && started() != nil {
		return k
	}
	if h == abi.MPI_SESSION_NULL {
		k.set(abi.MPI_ERR_SESSION, "argument session is MPI_SESSION_NULL")
	} else {
		k.set(abi.MPI_ERR_SESSION, "argument session (%#x) is not a session, or has been finalized", h)
	}
	return k
}

//export impi_Session_init
func impi_Session_init(info, errhandler, newsession uintptr) int32 {
	k := check{fn: "MPI_Session_init"}
	with := k.info(info)
	h := k.errhandler(errhandler)
	k.result(newsession, "session")
	if h != nil {
		k.s = &session{} // errors of this call are the new handler's
		k.s.handler.Store(h)
	}
	if k.err != nil {
		return k.fail()
	}
	starting.Lock()
	defer starting.Unlock()
	p, err := enter()
	if err != nil {
		return k.failed(err)
	}
	p.watchExit()
	s := k.s
	s.used, s.buffer = sessionInfo(with), p.engine.NewBuffer()
	level, _ := s.used.get("thread_level")
	p.allow(threadLevels[level])
	s.handle = sessions.Add(s)
	hadSessions.Store(true)
	if s.handle != 0 {
		p.sessions++
	}
	return k.answer(s.handle, newsession)
}

// sessionInfo is what MPI_Session_get_info answers: the reserved keys (MPI 5.0, 11.3.1), and no others.
func sessionInfo(with *info) *info {
	level := "MPI_THREAD_MULTIPLE" // what the library supports, unless the program asks for less
	if with != nil {
		if asked, ok := with.get("thread_level"); ok {
			if _, ok = threadLevels[asked]; ok {
				level = asked
			}
		}
	}
	used := &info{}
	used.set("thread_level", level)
	kinds := askedKinds()
	if with != nil {
		if asked, ok := with.get(kindsKey); ok { // it precedes what the launcher was given
			kinds = asked
		}
	}
	used.set(kindsKey, supportedKinds(kinds))
	return used
}

var threadLevels = map[string]int32{"MPI_THREAD_SINGLE": abi.MPI_THREAD_SINGLE,
	"MPI_THREAD_FUNNELED": abi.MPI_THREAD_FUNNELED, "MPI_THREAD_SERIALIZED": abi.MPI_THREAD_SERIALIZED,
	"MPI_THREAD_MULTIPLE": abi.MPI_THREAD_MULTIPLE}

//export impi_Session_finalize
func impi_Session_finalize(sessionRef uintptr) int32 {
	k := check{fn: "MPI_Session_finalize"}
	if k.result(sessionRef, "session"); k.err != nil {
		return k.fail()
	}
	h := *ref[uintptr](sessionRef)
	defer endFreed()
	starting.Lock()
	defer starting.Unlock()
	if k = sessionQuery(k.fn, h); k.err != nil {
		return k.fail()
	}
	p := started()
	if p.sessions == 1 && finalized.Load() && !p.stays() {
		if err := p.end(false); err != nil {
			return k.failed(err)
		}
	}
	sessions.Drop(h)
	if p.sessions--; p.sessions == 0 && p.world.Load() == nil {
		p.rest()
	}
	put[uintptr](sessionRef, abi.MPI_SESSION_NULL)
	return 0
}

// watchExit has the C library hand the process back when it exits. The caller holds starting.
func (p *process) watchExit() {
	if p.exit != 0 {
		return
	}
	p.exit = uintptr(pointer.Save(p))
	if C.impi_watch_exit(C.uintptr_t(p.exit)) != 0 {
		pointer.Unref(at(p.exit)) // no room: the others notice that this process is gone
		p.exit = 0
	}
}

// impi_process_ends is the end of a process all of whose sessions are finalized, and which MPI_Finalize has not ended:
// only now it is certain that no other session begins. The others may go on. It gets back what watchExit gave.
//
//export impi_process_ends
func impi_process_ends(exit uintptr) {
	if !starting.TryLock() { // a thread is inside: not an end in order
		return
	}
	defer starting.Unlock()
	p := pointer.Restore(at(exit)).(*process)
	pointer.Unref(at(exit))
	if started() != nil || p.ended {
		return
	}
	p.segment.Return()
	p.recording.End(warn) // alone
	if err := p.end(p.engine.Connected() && !p.engine.MayLeave()); err != nil {
		lost(libimpi.AsError(err))
	}
	p.segment.Leave()
}

// Process sets (MPI 5.0, 11.3.2), of those that the process belongs to: the two that MPI demands, and the
// processes of its IMPI client.

const clientSet = "impi://client/"

// psets are the names of the process's sets.
func psets(e *libimpi.Engine) [3]string {
	job := e.Job()
	return [3]string{"mpi://WORLD", "mpi://SELF", clientSet + strconv.Itoa(int(job.Procs[job.Me].Client))}
}

// pset returns the group of a set, nil if there is none of this name. Names are URIs; in ours, case does not matter.
func pset(e *libimpi.Engine, name string) *libimpi.Group {
	names := psets(e)
	switch {
	case strings.EqualFold(name, names[0]):
		return e.World().Group()
	case strings.EqualFold(name, names[1]):
		return e.Self().Group()
	case strings.EqualFold(name, names[2]):
		job := e.Job()
		var members []int32
		for w, p := range job.Procs {
			if p.Client == job.Procs[job.Me].Client {
				members = append(members, int32(w))
			}
		}
		return libimpi.NewGroup(members)
	}
	return nil
}

//export impi_Session_get_num_psets
func impi_Session_get_num_psets(session, info, npset_names uintptr) int32 {
	k := sessionQuery("MPI_Session_get_num_psets", session)
	k.info(info)
	if k.result(npset_names, "npset_names"); k.err != nil {
		return k.fail()
	}
	put(npset_names, int32(len(psets(engine()))))
	return 0
}

//export impi_Session_get_nth_pset
func impi_Session_get_nth_pset(session, info uintptr, n int32, pset_len, pset_name uintptr) int32 {
	k := sessionQuery("MPI_Session_get_nth_pset", session)
	k.info(info)
	if k.err != nil {
		return k.fail()
	}
	names := psets(engine())
	if uint32(n) >= uint32(len(names)) {
		k.set(abi.MPI_ERR_ARG, "argument n is %d, and there are %d process sets", n, len(names))
	}
	k.result(pset_len, "pset_len")
	if k.err == nil && *ref[int32](pset_len) > 0 {
		k.result(pset_name, "pset_name")
	}
	if k.err != nil {
		return k.fail()
	}
	if room := *ref[int32](pset_len); room > 0 {
		putText(pset_name, names[n], int(room))
	}
	put(pset_len, int32(len(names[n])+1))
	return 0
}

// psetArg reads the name of a set.
func (k *check) psetArg(name uintptr) string {
	if k.result(name, "pset_name"); k.err != nil {
		return ""
	}
	return text(name, abi.MPI_MAX_PSET_NAME_LEN)
}

//export impi_Session_get_pset_info
func impi_Session_get_pset_info(session, pset_name, infoOut uintptr) int32 {
	k := sessionQuery("MPI_Session_get_pset_info", session)
	name := k.psetArg(pset_name)
	if k.result(infoOut, "info"); k.err != nil {
		return k.fail()
	}
	g := pset(engine(), name)
	if g == nil {
		k.set(abi.MPI_ERR_ARG, "there is no process set %q", name)
		return k.fail()
	}
	i := &info{}
	i.set("mpi_size", strconv.Itoa(g.Size()))
	return k.answer(infos.Add(i), infoOut)
}

//export impi_Session_get_info
func impi_Session_get_info(session, info_used uintptr) int32 {
	k := sessionQuery("MPI_Session_get_info", session)
	if k.result(info_used, "info_used"); k.err != nil {
		return k.fail()
	}
	return k.answer(infos.Add(k.s.used.clone()), info_used)
}

// impi_Group_from_session_pset returns MPI_GROUP_NULL for a set that does not exist (MPI 5.0, 11.3.2).
//
//export impi_Group_from_session_pset
func impi_Group_from_session_pset(session, pset_name, newgroup uintptr) int32 {
	k := sessionQuery("MPI_Group_from_session_pset", session)
	name := k.psetArg(pset_name)
	if k.result(newgroup, "newgroup"); k.err != nil {
		return k.fail()
	}
	g := pset(engine(), name)
	if g == nil {
		put[uintptr](newgroup, abi.MPI_GROUP_NULL)
		return 0
	}
	return k.answer(saveGroup(g, k.s), newgroup)
}

//export impi_Session_set_errhandler
func impi_Session_set_errhandler(session, errhandler uintptr) int32 {
	k := sessionQuery("MPI_Session_set_errhandler", session)
	h := k.errhandler(errhandler)
	if k.err != nil {
		return k.fail()
	}
	k.s.handler.Store(h)
	return 0
}

//export impi_Session_get_errhandler
func impi_Session_get_errhandler(session, errhandler uintptr) int32 {
	k := sessionQuery("MPI_Session_get_errhandler", session)
	if k.result(errhandler, "errhandler"); k.err != nil {
		return k.fail()
	}
	return k.answer(k.s.errhandler().hold(), errhandler)
}

//export impi_Session_fromint
func impi_Session_fromint(session int32) uintptr {
	return fromIntOr(&sessions, session, abi.MPI_SESSION_NULL)
}

//export impi_Session_attach_buffer
func impi_Session_attach_buffer(session, buffer uintptr, size int64) int32 {
	k := sessionQuery("MPI_Session_attach_buffer", session)
	room := k.bufferRoom(buffer, size)
	if k.err != nil {
		return k.fail()
	}
	if err := k.s.buffer.Attach(room); err != nil {
		return k.failed(err)
	}
	k.s.attached = attachedMemory{buffer, size, nil}
	return 0
}

//export impi_Session_detach_buffer
func impi_Session_detach_buffer(session, buffer_addr, size uintptr) int32 {
	k := sessionQuery("MPI_Session_detach_buffer", session)
	k.result(buffer_addr, "buffer_addr")
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	if err := k.s.buffer.Detach(); err != nil {
		return k.failed(err)
	}
	return k.s.attached.giveBack(buffer_addr, size)
}

//export impi_Session_flush_buffer
func impi_Session_flush_buffer(session uintptr) int32 {
	k := sessionQuery("MPI_Session_flush_buffer", session)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.s.buffer.Flush())
}

//export impi_Session_iflush_buffer
func impi_Session_iflush_buffer(session, request uintptr) int32 {
	k := sessionQuery("MPI_Session_iflush_buffer", session)
	if k.result(request, "request"); k.err != nil {
		return k.fail()
	}
	k.give(request, k.s.buffer.Iflush())
	return 0
}
