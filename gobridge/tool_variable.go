package main

import "C"

import (
	"runtime/metrics"
	"slices"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/counters"
	"github.com/libimpi/libimpi/mpit"
)

// Performance variables (MPI 5.0, 15.3.7). The engine's numbers only grow; each handle has its own view of them
// (mpit.Measure). The tools' lock guards sessions and handles.

// toolSession is a performance experiment session.
type toolSession struct {
	handle  uintptr
	handles []*variableHandle
}

// variableHandle is a variable in a session, bound to a communicator if need be.
type variableHandle struct {
	session  *toolSession
	handle   uintptr
	variable *mpit.Variable
	comm     *libimpi.Comm

	measure   mpit.Measure
	clock     mpit.Measure  // of MatchRate: nanoseconds
	peak      counters.Peak // of UnexpectedPeak
	following bool          // the peak grows
}

var (
	toolSessions    = handle.Table[toolSession]{Kind: kindToolSession}
	variableHandles = handle.Table[variableHandle]{Kind: kindVariable}
)

//export impi_T_pvar_get_num
func impi_T_pvar_get_num(num_pvar uintptr) int32 { return putCount(num_pvar, len(mpit.Variables)) }

//export impi_T_pvar_get_index
func impi_T_pvar_get_index(name uintptr, var_class int32, pvar_index uintptr) int32 {
	return search(name, pvar_index, func(name string) int { return mpit.FindVariable(name, int(var_class)) })
}

//export impi_T_pvar_get_info
func impi_T_pvar_get_info(pvar_index int32, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len,
	bind, readonly, continuous, atomic uintptr) int32 {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return code
	}
	if pvar_index < 0 || int(pvar_index) >= len(mpit.Variables) {
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	v := &mpit.Variables[pvar_index]
	putString(v.Name, name, name_len)
	putInt(verbosity, v.Detail)
	putInt(var_class, v.Class)
	putHandle(datatype, uintptr(v.Type))
	if v.Type == abi.MPI_INT {
		putHandle(enumtype, enumOr(v.Enum))
	}
	putString(v.About, desc, desc_len)
	putInt(bind, boundTo(v.OfComm))
	putYes(readonly, v.ReadOnly())
	putYes(continuous, v.Continuous)
	putYes(atomic, !v.ReadOnly())
	return abi.MPI_SUCCESS
}

func boundTo(comm bool) int {
	if comm {
		return abi.MPI_T_BIND_MPI_COMM
	}
	return abi.MPI_T_BIND_NO_OBJECT
}

// bound finds the communicator at an address; nil if there is none.
func bound(object uintptr) *libimpi.Comm {
	if object == 0 {
		return nil
	}
	if c := commOf(*ref[uintptr](object)); c != nil {
		return c.Comm
	}
	return nil
}

//export impi_T_pvar_session_create
func impi_T_pvar_session_create(pe_session uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if pe_session == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	s := &toolSession{}
	if s.handle = toolSessions.Add(s); s.handle == 0 {
		return abi.MPI_T_ERR_OUT_OF_SESSIONS
	}
	tools.sessions = append(tools.sessions, s)
	put(pe_session, s.handle)
	return abi.MPI_SUCCESS
}

//export impi_T_pvar_session_free
func impi_T_pvar_session_free(pe_session uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if pe_session == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	s := toolSessions.Find(*ref[uintptr](pe_session))
	if s == nil {
		return abi.MPI_T_ERR_INVALID_SESSION
	}
	s.end()
	rewatch()
	put[uintptr](pe_session, abi.MPI_T_PVAR_SESSION_NULL)
	return abi.MPI_SUCCESS
}

// end frees a session with all its handles.
func (s *toolSession) end() {
	for _, h := range slices.Clone(s.handles) {
		h.end()
	}
	toolSessions.Drop(s.handle)
	tools.sessions = slices.DeleteFunc(tools.sessions, func(other *toolSession) bool { return other == s })
}

// end frees a handle.
func (h *variableHandle) end() {
	h.stop()
	variableHandles.Drop(h.handle)
	s := h.session
	s.handles = slices.DeleteFunc(s.handles, func(other *variableHandle) bool { return other == h })
}

//export impi_T_pvar_handle_alloc
func impi_T_pvar_handle_alloc(pe_session uintptr, pvar_index int32, obj_handle, handleOut, count uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	s := toolSessions.Find(pe_session)
	switch {
	case s == nil:
		return abi.MPI_T_ERR_INVALID_SESSION
	case pvar_index < 0 || int(pvar_index) >= len(mpit.Variables):
		return abi.MPI_T_ERR_INVALID_INDEX
	case handleOut == 0 || count == 0:
		return abi.MPI_T_ERR_INVALID
	}
	h := &variableHandle{session: s, variable: &mpit.Variables[pvar_index]}
	if h.variable.OfComm {
		if h.comm = bound(obj_handle); h.comm == nil {
			return abi.MPI_T_ERR_INVALID
		}
	}
	if h.handle = variableHandles.Add(h); h.handle == 0 {
		return abi.MPI_T_ERR_OUT_OF_HANDLES
	}
	s.handles = append(s.handles, h)
	if h.variable.Continuous && !h.variable.ReadOnly() {
		h.measure.Start(h.raw())
	}
	put(handleOut, h.handle)
	putInt(count, 1)
	return abi.MPI_SUCCESS
}

//export impi_T_pvar_handle_free
func impi_T_pvar_handle_free(pe_session, handleIn uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if handleIn == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	h, code := inSession(pe_session, *ref[uintptr](handleIn))
	if code != abi.MPI_SUCCESS {
		return code
	}
	h.end()
	rewatch()
	put[uintptr](handleIn, abi.MPI_T_PVAR_HANDLE_NULL)
	return abi.MPI_SUCCESS
}

// inSession finds a handle of a session.
func inSession(pe_session, h uintptr) (*variableHandle, int32) {
	s := toolSessions.Find(pe_session)
	if s == nil {
		return nil, abi.MPI_T_ERR_INVALID_SESSION
	}
	if v := variableHandles.Find(h); v != nil && v.session == s {
		return v, abi.MPI_SUCCESS
	}
	return nil, abi.MPI_T_ERR_INVALID_HANDLE
}

// onHandles does something to a handle, or to all of a session that are apt, in the order of their allocation.
func onHandles(pe_session, h uintptr, apt func(*variableHandle) bool, refused int32, do func(*variableHandle)) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if h == abi.MPI_T_PVAR_ALL_HANDLES {
		s := toolSessions.Find(pe_session)
		if s == nil {
			return abi.MPI_T_ERR_INVALID_SESSION
		}
		for _, v := range s.handles {
			if apt(v) {
				do(v)
			}
		}
		rewatch()
		return abi.MPI_SUCCESS
	}
	v, code := inSession(pe_session, h)
	switch {
	case code != abi.MPI_SUCCESS:
		return code
	case !apt(v):
		return refused
	}
	do(v)
	rewatch()
	return abi.MPI_SUCCESS
}

func (h *variableHandle) startable() bool  { return !h.variable.Continuous }
func (h *variableHandle) resettable() bool { return !h.variable.ReadOnly() }

//export impi_T_pvar_start
func impi_T_pvar_start(pe_session, handleIn uintptr) int32 {
	return onHandles(pe_session, handleIn, (*variableHandle).startable, abi.MPI_T_ERR_PVAR_NO_STARTSTOP,
		(*variableHandle).start)
}

//export impi_T_pvar_stop
func impi_T_pvar_stop(pe_session, handleIn uintptr) int32 {
	return onHandles(pe_session, handleIn, (*variableHandle).startable, abi.MPI_T_ERR_PVAR_NO_STARTSTOP,
		(*variableHandle).stop)
}

//export impi_T_pvar_reset
func impi_T_pvar_reset(pe_session, handleIn uintptr) int32 {
	return onHandles(pe_session, handleIn, (*variableHandle).resettable, abi.MPI_T_ERR_PVAR_NO_WRITE,
		(*variableHandle).reset)
}

//export impi_T_pvar_read
func impi_T_pvar_read(pe_session, handleIn, buf uintptr) int32 {
	return onHandle(pe_session, handleIn, buf, nil, 0, func(h *variableHandle) { h.put(buf, h.value()) })
}

//export impi_T_pvar_readreset
func impi_T_pvar_readreset(pe_session, handleIn, buf uintptr) int32 {
	return onHandle(pe_session, handleIn, buf, (*variableHandle).resettable, abi.MPI_T_ERR_PVAR_NO_ATOMIC,
		func(h *variableHandle) { h.put(buf, h.readReset()) })
}

//export impi_T_pvar_write
func impi_T_pvar_write(pe_session, handleIn, buf uintptr) int32 {
	return onHandle(pe_session, handleIn, buf, (*variableHandle).resettable, abi.MPI_T_ERR_PVAR_NO_WRITE,
		func(h *variableHandle) {
			if h.variable.Type == abi.MPI_DOUBLE {
				h.write(uint64(*ref[float64](buf) * float64(time.Second)))
			} else {
				h.write(*ref[uint64](buf))
			}
		})
}

// onHandle reads or writes the value of one handle.
func onHandle(pe_session, handleIn, buf uintptr, apt func(*variableHandle) bool, refused int32,
	do func(*variableHandle)) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	h, code := inSession(pe_session, handleIn)
	switch {
	case code != abi.MPI_SUCCESS:
		return code
	case apt != nil && !apt(h):
		return refused
	case buf == 0:
		return abi.MPI_T_ERR_INVALID
	}
	do(h)
	return abi.MPI_SUCCESS
}

// running reports whether a handle is started.
func (h *variableHandle) running() bool { return h.measure.Running() || h.following }

func (h *variableHandle) start() {
	if h.running() {
		return
	}
	if h.variable.Quantity == mpit.UnexpectedPeak {
		h.following = true
		if e := toolEngine.Load(); e != nil {
			e.Follow(&h.peak, started() != nil)
		}
		return
	}
	h.measure.Start(h.raw())
	h.clock.Start(ticks())
}

func (h *variableHandle) stop() {
	if h.following {
		h.following = false
		if e := toolEngine.Load(); e != nil {
			e.Unfollow(&h.peak)
		}
		return
	}
	if h.measure.Running() {
		h.measure.Stop(h.raw())
		h.clock.Stop(ticks())
	}
}

func (h *variableHandle) reset() {
	if h.variable.Quantity == mpit.UnexpectedPeak {
		if e := toolEngine.Load(); e != nil {
			e.Peak(&h.peak, true)
		}
		return
	}
	h.write(0)
}

// write makes v the value.
func (h *variableHandle) write(v uint64) {
	if h.variable.Quantity == mpit.UnexpectedPeak {
		if e := toolEngine.Load(); e != nil {
			e.SetPeak(&h.peak, int(v))
		}
		return
	}
	h.measure.Write(h.raw(), v)
}

// value is what the handle shows: of a time in nanoseconds, of a rate how often.
func (h *variableHandle) value() uint64 {
	switch {
	case h.variable.Quantity == mpit.UnexpectedPeak:
		if e := toolEngine.Load(); e != nil {
			return uint64(e.Peak(&h.peak, false))
		}
		return 0
	case h.variable.Continuous && h.variable.ReadOnly():
		return h.raw()
	}
	return h.measure.Read(h.raw())
}

// readReset is value, and reset at the same time.
func (h *variableHandle) readReset() uint64 {
	if h.variable.Quantity == mpit.UnexpectedPeak {
		if e := toolEngine.Load(); e != nil {
			return uint64(e.Peak(&h.peak, true))
		}
		return 0
	}
	raw := h.raw()
	v := h.measure.Read(raw)
	h.measure.Write(raw, 0)
	return v
}

// put stores a value as the variable's datatype has it.
func (h *variableHandle) put(buf uintptr, v uint64) {
	switch {
	case h.variable.Type == abi.MPI_INT:
		put(buf, int32(v))
	case h.variable.Quantity == mpit.MatchRate:
		rate := 0.0
		if t := h.clock.Read(ticks()); t > 0 {
			rate = float64(v) / time.Duration(t).Seconds()
		}
		put(buf, rate)
	case h.variable.Type == abi.MPI_DOUBLE:
		put(buf, time.Duration(v).Seconds())
	default:
		put(buf, v)
	}
}

// raw is the number behind a variable. Without an engine there is nothing to count.
func (h *variableHandle) raw() uint64 {
	e, which := toolEngine.Load(), h.variable.Which
	switch h.variable.Quantity {
	case mpit.State:
		return uint64(stateOfMPI())
	case mpit.GoMemory:
		return goMemory()
	case mpit.Taken:
		return timesTaken(which)
	}
	if e == nil {
		return 0
	}
	inUse := started() != nil
	switch h.variable.Quantity {
	case mpit.MessagesSent:
		return e.Counters().Sent[which].Messages
	case mpit.BytesSent:
		return e.Counters().Sent[which].Bytes
	case mpit.MessagesReceived:
		return e.Counters().Received[which].Messages
	case mpit.BytesReceived:
		return e.Counters().Received[which].Bytes
	case mpit.Eager:
		return e.Counters().Eager
	case mpit.Rendezvous:
		return e.Counters().Rendezvous
	case mpit.Matches, mpit.MatchRate:
		return e.Counters().Matches
	case mpit.Packed:
		return e.Counters().Packed
	case mpit.Unpacked:
		return e.Counters().Unpacked
	case mpit.Arrivals:
		return e.Counters().Unexpected
	case mpit.Waits:
		return e.Counters().Waits
	case mpit.Waiting:
		return uint64(e.Counters().Waiting)
	case mpit.Operations:
		return e.Counters().Collectives
	case mpit.UnexpectedLength:
		return uint64(e.Levels(inUse).Unexpected)
	case mpit.UnexpectedBytes:
		return uint64(e.Levels(inUse).UnexpectedBytes)
	case mpit.PostedLength:
		return uint64(e.Levels(inUse).Posted)
	case mpit.ActiveRequests:
		return uint64(e.Levels(inUse).Active)
	case mpit.RequestMemory:
		return uint64(e.Levels(false).Requests)
	case mpit.PacketsSent:
		return e.Network().Sent
	case mpit.PacketsReceived:
		return e.Network().Received
	case mpit.WindowWaits:
		return e.Network().Waits
	case mpit.Retransmissions:
		return e.Network().Retransmitted
	case mpit.SharedMemory:
		return segmentSize.Load()
	case mpit.CommMessagesSent:
		return h.comm.Counters().Sent.Messages
	case mpit.CommBytesSent:
		return h.comm.Counters().Sent.Bytes
	case mpit.CommMessagesReceived:
		return h.comm.Counters().Received.Messages
	case mpit.CommBytesReceived:
		return h.comm.Counters().Received.Bytes
	case mpit.CommOperations:
		return h.comm.Counters().Collectives
	case mpit.CommUnexpectedLength:
		return uint64(h.comm.Levels(inUse).Unexpected)
	case mpit.CommPostedLength:
		return uint64(h.comm.Levels(inUse).Posted)
	}
	panic("a variable that measures nothing: " + h.variable.Name)
}

// stateOfMPI is a value of mpit.States.
func stateOfMPI() int {
	switch {
	case started() != nil:
		return 1
	case finalized.Load():
		return 2
	}
	return 0
}

// goMemory is what Go's runtime has from the system, in bytes, without what it has given back.
func goMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// timesTaken is how often an algorithm has been taken, counted as mpit.Algorithms.
func timesTaken(which int) uint64 {
	for _, o := range choose.Operations {
		if which < len(o.Algorithms) {
			return uint64(o.Algorithms[which].Used())
		}
		which -= len(o.Algorithms)
	}
	return 0
}
