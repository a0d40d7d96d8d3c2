package main

// #include "shim/z_callbacks.h"
// #include "shim/z_shim.h"
import "C"

import (
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/mpit"
	"golang.org/x/sys/unix"
)

// Events (MPI 5.0, 15.3.8). The engine says what happens (reportEvent); it waits in mpit's dispatcher, and the
// program's functions are called when a thread of the program leaves a call of MPI (deliver). At that place nothing of
// the library is under way on the thread, and calls come one after the other: the functions may do anything, and those
// for any level of safety will do.

// registration is a registration handle.
type registration struct {
	mpit.Registration
}

// instance is an event that a function of the program is told.
type instance struct{ *mpit.Occurrence }

var (
	registrations = handle.Table[registration]{Kind: kindRegistration}
	instances     = handle.Table[instance]{Kind: kindInstance}

	dispatcher = mpit.Dispatcher{Clock: func() int64 { return int64(ticks()) }, Alert: alert}
)

// clockStart is a moment of the clock that MPI_Wtime reads, as that clock and as Go's show it.
var clockStart = func() (start struct {
	at  time.Time
	was uint64
}) {
	var t unix.Timespec
	start.at = time.Now()
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) == nil {
		start.was = uint64(t.Nano())
	}
	return start
}()

// ticks is the time of MPI_Wtime in nanoseconds.
func ticks() uint64 { return clockStart.was + uint64(time.Since(clockStart.at)) }

// alert says whether events wait for their calls.
func alert(waiting bool) {
	n := uint32(0)
	if waiting {
		n = 1
	}
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&C.impi_events)), n)
}

// reportEvent is the engine's observer.
func reportEvent(what libimpi.Happening, c *libimpi.Comm, numbers [5]int64) {
	dispatcher.Note(kindOf[what], c, numbers)
}

// kindOf is the kind of what happens.
var kindOf = [...]mpit.Kind{
	libimpi.MessageUnexpected: mpit.UnexpectedMessage, libimpi.RequestCompleted: mpit.RequestCompleted,
	libimpi.PeerLost: mpit.PeerLost, libimpi.CollectiveStarted: mpit.CollectiveStarted,
	libimpi.CollectiveEnded: mpit.CollectiveEnded,
}

// impi_deliver calls the program's functions for events that wait.
//
//export impi_deliver
func impi_deliver() {
	end, ok := dispatcher.Begin()
	if !ok {
		return
	}
	defer dispatcher.End()
	for {
		call, ok := dispatcher.Next(end)
		if !ok {
			return
		}
		if call.Event == nil {
			C.impi_call_T_event_dropped_cb(C.uintptr_t(call.Call), C.uintptr_t(call.Lost), C.uintptr_t(call.To.Handle), 0,
				abi.MPI_T_CB_REQUIRE_NONE, C.uintptr_t(call.Data))
		} else if h := instances.Add(&instance{call.Event}); h != 0 {
			C.impi_call_T_event_cb(C.uintptr_t(call.Call), C.uintptr_t(h), C.uintptr_t(call.To.Handle),
				abi.MPI_T_CB_REQUIRE_NONE, C.uintptr_t(call.Data))
			instances.Drop(h)
		}
		freed(call.To.Handle, dispatcher.Done(call))
	}
}

// freed tells the program that no event comes any more for a registration.
func freed(handle uintptr, f mpit.Function) {
	if f.Call != 0 {
		C.impi_call_T_event_free_cb(C.uintptr_t(f.Call), C.uintptr_t(handle), abi.MPI_T_CB_REQUIRE_NONE,
			C.uintptr_t(f.Data))
	}
}

// Sources: there is one.

const sourceName = "libimpi"

//export impi_T_source_get_num
func impi_T_source_get_num(num_sources uintptr) int32 { return putCount(num_sources, 1) }

// source checks the index of a source.
func source(index int32) int32 {
	code := lookAtTools()
	if code == abi.MPI_SUCCESS && index != 0 {
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	return code
}

//export impi_T_source_get_info
func impi_T_source_get_info(source_index int32, name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks,
	infoOut uintptr) int32 {
	if code := source(source_index); code != abi.MPI_SUCCESS {
		return code
	}
	putString(sourceName, name, name_len)
	putString("the library in this process; ticks are nanoseconds of the clock of MPI_Wtime", desc, desc_len)
	putInt(ordering, abi.MPI_T_SOURCE_ORDERED)
	if ticks_per_second != 0 {
		put[int64](ticks_per_second, int64(time.Second))
	}
	if max_ticks != 0 {
		put[int64](max_ticks, 1<<63-1)
	}
	return noHints(infoOut)
}

// noHints returns an info object without entries, if one is wanted: the library knows no hints.
func noHints(out uintptr) int32 {
	if out == 0 {
		return abi.MPI_SUCCESS
	}
	h := infos.Add(&info{})
	if h == 0 {
		return abi.MPI_T_ERR_OUT_OF_HANDLES
	}
	put(out, h)
	return abi.MPI_SUCCESS
}

// isInfo reports whether a handle is an info object, or none.
func isInfo(h uintptr) bool {
	return h == abi.MPI_INFO_NULL || h == abi.MPI_INFO_ENV || infos.Find(h) != nil
}

//export impi_T_source_get_timestamp
func impi_T_source_get_timestamp(source_index int32, timestamp uintptr) int32 {
	if code := source(source_index); code != abi.MPI_SUCCESS {
		return code
	}
	if timestamp == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	put(timestamp, int64(ticks()))
	return abi.MPI_SUCCESS
}

// Types of events.

//export impi_T_event_get_num
func impi_T_event_get_num(num_events uintptr) int32 { return putCount(num_events, len(mpit.Events)) }

//export impi_T_event_get_index
func impi_T_event_get_index(name, event_index uintptr) int32 {
	return search(name, event_index, mpit.FindEvent)
}

//export impi_T_event_get_info
func impi_T_event_get_info(event_index int32, name, name_len, verbosity, array_of_datatypes, array_of_displacements,
	num_elements, enumtype, infoOut, desc, desc_len, bind uintptr) int32 {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return code
	}
	if event_index < 0 || int(event_index) >= len(mpit.Events) {
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	e := &mpit.Events[event_index]
	putString(e.Name, name, name_len)
	putInt(verbosity, e.Detail)
	if num_elements != 0 {
		room := min(int(*ref[int32](num_elements)), len(e.Elements))
		types, places := slice[uintptr](array_of_datatypes, room), slice[int64](array_of_displacements, room)
		for i := range types {
			types[i] = uintptr(e.Elements[i].Type)
		}
		for i := range places {
			places[i] = e.Elements[i].At
		}
		putInt(num_elements, len(e.Elements))
	}
	putHandle(enumtype, enumOr(e.Enum))
	putString(e.About, desc, desc_len)
	putInt(bind, boundTo(e.OfComm))
	return noHints(infoOut)
}

// Registrations.

//export impi_T_event_handle_alloc
func impi_T_event_handle_alloc(event_index int32, obj_handle, infoHandle, event_registration uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	switch {
	case event_index < 0 || int(event_index) >= len(mpit.Events):
		return abi.MPI_T_ERR_INVALID_INDEX
	case event_registration == 0 || !isInfo(infoHandle):
		return abi.MPI_T_ERR_INVALID
	}
	r := &registration{mpit.Registration{Event: &mpit.Events[event_index]}}
	if r.Event.OfComm {
		c := bound(obj_handle)
		if c == nil {
			return abi.MPI_T_ERR_INVALID
		}
		r.Of = c
	}
	if r.Handle = registrations.Add(r); r.Handle == 0 {
		return abi.MPI_T_ERR_OUT_OF_HANDLES
	}
	dispatcher.Add(&r.Registration)
	tools.events = append(tools.events, r)
	put(event_registration, r.Handle)
	return abi.MPI_SUCCESS
}

//export impi_T_event_handle_free
func impi_T_event_handle_free(event_registration, user_data, free_cb_function uintptr) int32 {
	r, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	last := r.end(mpit.Function{Call: free_cb_function, Data: user_data})
	rewatch()
	tools.Unlock()
	freed(event_registration, last)
	return abi.MPI_SUCCESS
}

// end frees a registration, and returns the call that tells so, if it is to be made now.
func (r *registration) end(last mpit.Function) mpit.Function {
	registrations.Drop(r.Handle)
	tools.events = slices.DeleteFunc(tools.events, func(other *registration) bool { return other == r })
	return dispatcher.Free(&r.Registration, last)
}

// lockRegistration takes the tools' lock and finds a registration; if there is none, the lock is not held.
func lockRegistration(h uintptr) (*registration, int32) {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return nil, code
	}
	if r := registrations.Find(h); r != nil {
		return r, abi.MPI_SUCCESS
	}
	tools.Unlock()
	return nil, abi.MPI_T_ERR_INVALID_HANDLE
}

//export impi_T_event_handle_set_info
func impi_T_event_handle_set_info(event_registration, infoHandle uintptr) int32 {
	_, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if infoHandle == abi.MPI_INFO_NULL || !isInfo(infoHandle) {
		return abi.MPI_T_ERR_INVALID
	}
	return abi.MPI_SUCCESS
}

//export impi_T_event_handle_get_info
func impi_T_event_handle_get_info(event_registration, info_used uintptr) int32 {
	_, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if info_used == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	return noHints(info_used)
}

// safetyLevels are the levels of callback safety, the lowest first.
var safetyLevels = [mpit.SafetyLevels]int32{abi.MPI_T_CB_REQUIRE_NONE, abi.MPI_T_CB_REQUIRE_MPI_RESTRICTED,
	abi.MPI_T_CB_REQUIRE_THREAD_SAFE, abi.MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE}

//export impi_T_event_register_callback
func impi_T_event_register_callback(event_registration uintptr, cb_safety int32, infoHandle, user_data,
	event_cb_function uintptr) int32 {
	r, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	level := slices.Index(safetyLevels[:], cb_safety)
	if level < 0 || !isInfo(infoHandle) {
		return abi.MPI_T_ERR_INVALID
	}
	dispatcher.Set(&r.Registration, level, mpit.Function{Call: event_cb_function, Data: user_data})
	rewatch()
	return abi.MPI_SUCCESS
}

// callback finds the registration that has a function for a level; the tools' lock is held if it does.
func callback(event_registration uintptr, cb_safety int32) int32 {
	r, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	level := slices.Index(safetyLevels[:], cb_safety)
	if level < 0 || dispatcher.Function(&r.Registration, level).Call == 0 {
		tools.Unlock()
		return abi.MPI_T_ERR_INVALID
	}
	return abi.MPI_SUCCESS
}

//export impi_T_event_callback_set_info
func impi_T_event_callback_set_info(event_registration uintptr, cb_safety int32, infoHandle uintptr) int32 {
	if code := callback(event_registration, cb_safety); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if infoHandle == abi.MPI_INFO_NULL || !isInfo(infoHandle) {
		return abi.MPI_T_ERR_INVALID
	}
	return abi.MPI_SUCCESS
}

//export impi_T_event_callback_get_info
func impi_T_event_callback_get_info(event_registration uintptr, cb_safety int32, info_used uintptr) int32 {
	if code := callback(event_registration, cb_safety); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if info_used == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	return noHints(info_used)
}

//export impi_T_event_set_dropped_handler
func impi_T_event_set_dropped_handler(event_registration, dropped_cb_function uintptr) int32 {
	r, code := lockRegistration(event_registration)
	if code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	dispatcher.SetDropped(&r.Registration, dropped_cb_function)
	return abi.MPI_SUCCESS
}

// What a function of the program reads of an event.

// occurrence finds the event that a function is told.
func occurrence(h, out uintptr) (*mpit.Occurrence, int32) {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return nil, code
	}
	i := instances.Find(h)
	switch {
	case i == nil:
		return nil, abi.MPI_T_ERR_INVALID_HANDLE
	case out == 0:
		return nil, abi.MPI_T_ERR_INVALID
	}
	return i.Occurrence, abi.MPI_SUCCESS
}

// putElement stores an element of an event.
func putElement(o *mpit.Occurrence, index int, at uintptr) {
	if mpit.SizeOf(o.To.Event.Elements[index].Type) == 4 {
		put(at, int32(o.Values[index]))
	} else {
		put(at, o.Values[index])
	}
}

//export impi_T_event_read
func impi_T_event_read(event_instance uintptr, element_index int32, buffer uintptr) int32 {
	o, code := occurrence(event_instance, buffer)
	switch {
	case code != abi.MPI_SUCCESS:
		return code
	case element_index < 0 || int(element_index) >= len(o.To.Event.Elements):
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	putElement(o, int(element_index), buffer)
	return abi.MPI_SUCCESS
}

//export impi_T_event_copy
func impi_T_event_copy(event_instance, buffer uintptr) int32 {
	o, code := occurrence(event_instance, buffer)
	if code != abi.MPI_SUCCESS {
		return code
	}
	for i, element := range o.To.Event.Elements {
		putElement(o, i, buffer+uintptr(element.At))
	}
	return abi.MPI_SUCCESS
}

//export impi_T_event_get_timestamp
func impi_T_event_get_timestamp(event_instance, event_timestamp uintptr) int32 {
	o, code := occurrence(event_instance, event_timestamp)
	if code == abi.MPI_SUCCESS {
		put(event_timestamp, o.Time)
	}
	return code
}

//export impi_T_event_get_source
func impi_T_event_get_source(event_instance, source_index uintptr) int32 {
	_, code := occurrence(event_instance, source_index)
	if code == abi.MPI_SUCCESS {
		put[int32](source_index, 0)
	}
	return code
}
