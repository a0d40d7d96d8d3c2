package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Requests (MPI 5.0, 3.7 and 3.9). The engine's ids are the handles.

// requests looks at an array of requests; nil and the error's code if it cannot be.
func requests(k *check, n int32, array uintptr) []uint64 { return someRequests(k, n, array, "count") }

func someRequests(k *check, n int32, array uintptr, count string) []uint64 {
	if k.notStarted() {
		return nil
	}
	k.count(int64(n), count)
	k.array(array, int(n), "array_of_requests")
	if k.err != nil {
		return nil
	}
	return slice[uint64](array, int(n))
}

func oneRequest(k *check, request uintptr) *uint64 {
	if k.notStarted() {
		return nil
	}
	k.result(request, "request")
	return ref[uint64](request)
}

//export impi_Wait
func impi_Wait(request, status uintptr) int32 {
	k := check{fn: "MPI_Wait"}
	id := oneRequest(&k, request)
	if k.err != nil {
		return k.fail()
	}
	return k.done(engine().Wait(id, ref[libimpi.CStatus](status)))
}

//export impi_Test
func impi_Test(request, flag, status uintptr) int32 {
	k := check{fn: "MPI_Test"}
	id := oneRequest(&k, request)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	done, err := engine().Test(id, ref[libimpi.CStatus](status))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Waitall
func impi_Waitall(count int32, array_of_requests, array_of_statuses uintptr) int32 {
	k := check{fn: "MPI_Waitall"}
	ids := requests(&k, count, array_of_requests)
	if k.err != nil {
		return k.fail()
	}
	return k.done(engine().WaitAll(ids, slice[libimpi.CStatus](array_of_statuses, int(count))))
}

//export impi_Testall
func impi_Testall(count int32, array_of_requests, flag, array_of_statuses uintptr) int32 {
	k := check{fn: "MPI_Testall"}
	ids := requests(&k, count, array_of_requests)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	done, err := engine().TestAll(ids, slice[libimpi.CStatus](array_of_statuses, int(count)))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Waitany
func impi_Waitany(count int32, array_of_requests, index, status uintptr) int32 {
	k := check{fn: "MPI_Waitany"}
	ids := requests(&k, count, array_of_requests)
	k.result(index, "index")
	if k.err != nil {
		return k.fail()
	}
	i, err := engine().WaitAny(ids, ref[libimpi.CStatus](status))
	put(index, int32(i))
	return k.done(err)
}

//export impi_Testany
func impi_Testany(count int32, array_of_requests, index, flag, status uintptr) int32 {
	k := check{fn: "MPI_Testany"}
	ids := requests(&k, count, array_of_requests)
	k.result(index, "index")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	i, done, err := engine().TestAny(ids, ref[libimpi.CStatus](status))
	put(index, int32(i))
	putFlag(flag, done)
	return k.done(err)
}

type someFunc func(ids []uint64, done []int32, st []libimpi.CStatus) (int, error)

func some(fn string, n int32, array, outcount, indices, statuses uintptr, run someFunc) int32 {
	k := check{fn: fn}
	ids := someRequests(&k, n, array, "incount")
	k.result(outcount, "outcount")
	k.array(indices, int(n), "array_of_indices")
	if k.err != nil {
		return k.fail()
	}
	m, err := run(ids, slice[int32](indices, int(n)), slice[libimpi.CStatus](statuses, int(n)))
	put(outcount, int32(m))
	return k.done(err)
}

//export impi_Waitsome
func impi_Waitsome(incount int32, array_of_requests, outcount, array_of_indices, array_of_statuses uintptr) int32 {
	return some("MPI_Waitsome", incount, array_of_requests, outcount, array_of_indices, array_of_statuses,
		func(ids []uint64, done []int32, st []libimpi.CStatus) (int, error) {
			return engine().WaitSome(ids, done, st)
		})
}

//export impi_Testsome
func impi_Testsome(incount int32, array_of_requests, outcount, array_of_indices, array_of_statuses uintptr) int32 {
	return some("MPI_Testsome", incount, array_of_requests, outcount, array_of_indices, array_of_statuses,
		func(ids []uint64, done []int32, st []libimpi.CStatus) (int, error) {
			return engine().TestSome(ids, done, st)
		})
}

//export impi_Request_get_status
func impi_Request_get_status(request uintptr, flag, status uintptr) int32 {
	k := check{fn: "MPI_Request_get_status"}
	if k.notStarted() {
		return k.fail()
	}
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	done, err := engine().GetStatus(uint64(request), ref[libimpi.CStatus](status))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Request_free
func impi_Request_free(request uintptr) int32 {
	k := check{fn: "MPI_Request_free"}
	id := oneRequest(&k, request)
	if k.err != nil {
		return k.fail()
	}
	return k.done(engine().FreeRequest(id))
}

//export impi_Cancel
func impi_Cancel(request uintptr) int32 {
	k := check{fn: "MPI_Cancel"}
	id := oneRequest(&k, request)
	if k.err != nil {
		return k.fail()
	}
	return k.done(engine().Cancel(*id))
}

func sendInit(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm, request uintptr,
	mode libimpi.SendMode) int32 {
	a := isendArgs(fn, buf, count, dt, dest, tag, comm, request)
	if a.err != nil {
		return a.fail()
	}
	id := a.c.SendInit(at(buf), count, a.t, int(dest), tag, mode)
	if mode == libimpi.Standard || mode == libimpi.Ready {
		offer(id, buf, count, dt, dest, tag, comm, libimpi.PersistentSend)
	}
	a.keep(request, id)
	return 0
}

//export impi_Send_init
func impi_Send_init(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return sendInit("MPI_Send_init", buf, count, datatype, dest, tag, comm, request, libimpi.Standard)
}

//export impi_Ssend_init
func impi_Ssend_init(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return sendInit("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, request, libimpi.Synchronous)
}

//export impi_Rsend_init
func impi_Rsend_init(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return sendInit("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, request, libimpi.Ready)
}

//export impi_Recv_init
func impi_Recv_init(buf uintptr, count int64, datatype uintptr, source, tag int32, comm, request uintptr) int32 {
	a := irecvArgs("MPI_Recv_init", buf, count, datatype, source, tag, comm, request)
	if a.err != nil {
		return a.fail()
	}
	id := a.c.RecvInit(at(buf), count, a.t, int(source), tag)
	offer(id, buf, count, datatype, source, tag, comm, libimpi.PersistentReceive)
	a.keep(request, id)
	return 0
}

// offer lets C start a persistent request. It finds out each time whether it can.
func offer(id uint64, buf uintptr, count int64, dt uintptr, peer, tag int32, comm uintptr, kind uint32) {
	engine().Offer(id, libimpi.Persistent{Buf: uint64(buf), Count: count, Datatype: uint64(dt), Comm: uint64(comm),
		Peer: peer, Tag: tag, Kind: kind})
}

//export impi_Start
func impi_Start(request uintptr) int32 {
	k := check{fn: "MPI_Start"}
	id := oneRequest(&k, request)
	if k.err != nil {
		return k.fail()
	}
	if err := engine().Start(*id); err != nil {
		return k.failed(err)
	}
	return 0
}

//export impi_Startall
func impi_Startall(count int32, array_of_requests uintptr) int32 {
	k := check{fn: "MPI_Startall"}
	ids := requests(&k, count, array_of_requests)
	if k.err != nil {
		return k.fail()
	}
	return startFrom(&k, ids, 0)
}

// impi_startall_rest is MPI_Startall when C has started the first requests.
//
//export impi_startall_rest
func impi_startall_rest(count int32, array_of_requests uintptr, first int32) int32 {
	k := check{fn: "MPI_Startall"}
	ids := requests(&k, count, array_of_requests)
	if k.err != nil {
		return k.fail()
	}
	return startFrom(&k, ids, int(first))
}

func startFrom(k *check, ids []uint64, first int) int32 {
	for i := first; i < len(ids); i++ {
		if err := engine().Start(ids[i]); err != nil {
			err.Text = fmt.Sprintf("array_of_requests[%d]: request %#x: %s", i, ids[i], err.Text)
			return k.failed(err)
		}
	}
	return 0
}

//export impi_Request_fromint
func impi_Request_fromint(request int32) uintptr {
	if request < handle.First || engine() == nil {
		return uintptr(request)
	}
	return uintptr(engine().RequestBySlot(uint32(request - handle.First)))
}

// Generalized requests (MPI 5.0, 13.2). The engine calls these methods with its lock given up.
type generalRequest struct{ query, free, cancel, extra uintptr }

// Query implements libimpi.General.
func (g *generalRequest) Query(st *libimpi.CStatus) error {
	if st == nil { // the program wants none, but the function expects one
		st = new(libimpi.CStatus)
	}
	*st = libimpi.CStatus{Source: abi.MPI_ANY_SOURCE, Tag: abi.MPI_ANY_TAG, Error: st.Error}
	status := (*C.MPI_Status)(unsafe.Pointer(st))
	return answered(C.impi_call_Grequest_query(C.uintptr_t(g.query), C.uintptr_t(g.extra), status), "query")
}

// Free implements libimpi.General.
func (g *generalRequest) Free() error {
	return answered(C.impi_call_Grequest_free(C.uintptr_t(g.free), C.uintptr_t(g.extra)), "free")
}

// Cancel implements libimpi.General.
func (g *generalRequest) Cancel(complete bool) error {
	c := C.int(0)
	if complete {
		c = 1
	}
	return answered(C.impi_call_Grequest_cancel(C.uintptr_t(g.cancel), C.uintptr_t(g.extra), c), "cancel")
}

// answered is the error of a function's code; its class is the code's.
func answered(code C.int, what string) error {
	if code == abi.MPI_SUCCESS {
		return nil
	}
	class, ok := errorClass(int32(code))
	if !ok {
		class = abi.MPI_ERR_OTHER
	}
	return libimpi.Errorf(int(class), "the %s function of a generalized request answered error %d", what, code)
}

//export impi_Grequest_start
func impi_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request uintptr) int32 {
	k := check{fn: "MPI_Grequest_start"}
	if k.notStarted() {
		return k.fail()
	}
	k.result(query_fn, "query_fn")
	k.result(free_fn, "free_fn")
	k.result(cancel_fn, "cancel_fn")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	k.give(request, engine().StartGeneral(&generalRequest{query_fn, free_fn, cancel_fn, extra_state}))
	return 0
}

//export impi_Grequest_complete
func impi_Grequest_complete(request uintptr) int32 {
	k := check{fn: "MPI_Grequest_complete"}
	if k.notStarted() {
		return k.fail()
	}
	return k.done(engine().CompleteGeneral(uint64(request)))
}

// Looking at several requests without completing them (MPI 5.0, 3.7.6).

//export impi_Request_get_status_all
func impi_Request_get_status_all(count int32, array_of_requests, flag, array_of_statuses uintptr) int32 {
	k := check{fn: "MPI_Request_get_status_all"}
	ids := requests(&k, count, array_of_requests)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	done, err := engine().GetStatusAll(ids, slice[libimpi.CStatus](array_of_statuses, int(count)))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Request_get_status_any
func impi_Request_get_status_any(count int32, array_of_requests, index, flag, status uintptr) int32 {
	k := check{fn: "MPI_Request_get_status_any"}
	ids := requests(&k, count, array_of_requests)
	k.result(index, "index")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	i, done, err := engine().GetStatusAny(ids, ref[libimpi.CStatus](status))
	put(index, int32(i))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Request_get_status_some
func impi_Request_get_status_some(incount int32, array_of_requests, outcount, array_of_indices,
	array_of_statuses uintptr) int32 {
	return some("MPI_Request_get_status_some", incount, array_of_requests, outcount, array_of_indices, array_of_statuses,
		func(ids []uint64, done []int32, st []libimpi.CStatus) (int, error) {
			return engine().GetStatusSome(ids, done, st)
		})
}

// What a status says about the message (MPI 5.0, 3.2.5 and 13.3).

// getField returns a field of a status at out.
func getField(fn string, status, out uintptr, name string, field func(*libimpi.CStatus) *int32) int32 {
	k := check{fn: fn}
	k.result(status, "status")
	k.result(out, name)
	if k.err != nil {
		return k.fail()
	}
	put(out, *field(ref[libimpi.CStatus](status)))
	return 0
}

func setField(fn string, status uintptr, value int32, field func(*libimpi.CStatus) *int32) int32 {
	k := check{fn: fn}
	k.result(status, "status")
	if k.err != nil {
		return k.fail()
	}
	*field(ref[libimpi.CStatus](status)) = value
	return 0
}

func sourceOf(st *libimpi.CStatus) *int32 { return &st.Source }
func tagOf(st *libimpi.CStatus) *int32    { return &st.Tag }
func errorOf(st *libimpi.CStatus) *int32  { return &st.Error }

//export impi_Status_get_source
func impi_Status_get_source(status, source uintptr) int32 {
	return getField("MPI_Status_get_source", status, source, "source", sourceOf)
}

//export impi_Status_get_tag
func impi_Status_get_tag(status, tag uintptr) int32 {
	return getField("MPI_Status_get_tag", status, tag, "tag", tagOf)
}

//export impi_Status_get_error
func impi_Status_get_error(status, err uintptr) int32 {
	return getField("MPI_Status_get_error", status, err, "err", errorOf)
}

//export impi_Status_set_source
func impi_Status_set_source(status uintptr, source int32) int32 {
	return setField("MPI_Status_set_source", status, source, sourceOf)
}

//export impi_Status_set_tag
func impi_Status_set_tag(status uintptr, tag int32) int32 {
	return setField("MPI_Status_set_tag", status, tag, tagOf)
}

//export impi_Status_set_error
func impi_Status_set_error(status uintptr, err int32) int32 {
	return setField("MPI_Status_set_error", status, err, errorOf)
}

// statusArgs checks the arguments of a count query.
func statusArgs(fn string, status, dt, count uintptr) (k check, st *libimpi.CStatus, t *datatype.Type) {
	k.fn = fn
	if k.notStarted() {
		return k, nil, nil
	}
	k.result(status, "status")
	t = k.anyType(dt, "datatype")
	k.result(count, "count")
	return k, ref[libimpi.CStatus](status), t
}

func representation(st *libimpi.CStatus) datatype.Rep {
	if st.External() {
		return datatype.External32
	}
	return datatype.Native
}

// copyStatus converts a status between C and Fortran: in all three forms it is the same eight integers (MPI 5.0, 20.3
// and 18.2.5).
func copyStatus(fn string, from, to uintptr) int32 {
	k := check{fn: fn}
	k.result(from, "status, which is given,")
	k.result(to, "status, which is wanted,")
	if k.err != nil {
		return k.fail()
	}
	put(to, *ref[libimpi.CStatus](from))
	return 0
}

//export impi_Status_c2f
func impi_Status_c2f(c_status, f_status uintptr) int32 {
	return copyStatus("MPI_Status_c2f", c_status, f_status)
}

//export impi_Status_f2c
func impi_Status_f2c(f_status, c_status uintptr) int32 {
	return copyStatus("MPI_Status_f2c", f_status, c_status)
}

//export impi_Status_c2f08
func impi_Status_c2f08(c_status, f08_status uintptr) int32 {
	return copyStatus("MPI_Status_c2f08", c_status, f08_status)
}

//export impi_Status_f082c
func impi_Status_f082c(f08_status, c_status uintptr) int32 {
	return copyStatus("MPI_Status_f082c", f08_status, c_status)
}

//export impi_Status_f2f08
func impi_Status_f2f08(f_status, f08_status uintptr) int32 {
	return copyStatus("MPI_Status_f2f08", f_status, f08_status)
}

//export impi_Status_f082f
func impi_Status_f082f(f08_status, f_status uintptr) int32 {
	return copyStatus("MPI_Status_f082f", f08_status, f_status)
}

//export impi_Get_count
func impi_Get_count(status, datatype, count uintptr) int32 {
	k, st, t := statusArgs("MPI_Get_count", status, datatype, count)
	if k.err != nil {
		return k.fail()
	}
	put(count, t.Count(st.Bytes(), representation(st)))
	return 0
}

//export impi_Get_elements
func impi_Get_elements(status, datatype, count uintptr) int32 {
	k, st, t := statusArgs("MPI_Get_elements", status, datatype, count)
	if k.err != nil {
		return k.fail()
	}
	put(count, t.Elements(st.Bytes(), representation(st)))
	return 0
}

//export impi_Status_set_elements
func impi_Status_set_elements(status, datatype uintptr, count int64) int32 {
	k, st, t := statusArgs("MPI_Status_set_elements", status, datatype, status)
	k.count(count, "count")
	if k.err != nil {
		return k.fail()
	}
	bytes, ok := t.FirstBytes(count)
	if !ok {
		return k.failed(libimpi.Errorf(abi.MPI_ERR_VALUE_TOO_LARGE, "%d elements of the datatype exceed 2^63-1 bytes", count))
	}
	st.SetBytes(bytes)
	st.SetExternal(false)
	return 0
}

//export impi_Test_cancelled
func impi_Test_cancelled(status, flag uintptr) int32 {
	k := check{fn: "MPI_Test_cancelled"}
	k.result(status, "status")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	putFlag(flag, ref[libimpi.CStatus](status).Cancelled())
	return 0
}

//export impi_Status_set_cancelled
func impi_Status_set_cancelled(status uintptr, flag int32) int32 {
	k := check{fn: "MPI_Status_set_cancelled"}
	k.result(status, "status")
	if k.err != nil {
		return k.fail()
	}
	ref[libimpi.CStatus](status).SetCancelled(flag != 0)
	return 0
}
