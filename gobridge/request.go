package main

import "C"

import (
	"fmt"

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
	put(request, id)
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
	put(request, id)
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

//export impi_Request_toint
func impi_Request_toint(request uintptr) int32 {
	if request < handle.First {
		return int32(request)
	}
	return int32(uint32(request)) + handle.First
}

//export impi_Request_fromint
func impi_Request_fromint(request int32) uintptr {
	if request < handle.First || engine() == nil {
		return uintptr(request)
	}
	return uintptr(engine().RequestBySlot(uint32(request - handle.First)))
}
