package main

import "C"

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
	b := newCommunicator(k.c.Unopened(), 0)
	b.hints.take(with)
	b.handler.Store(k.c.errhandler())
	if code := k.c.attrs.copyAll(k.c.handle, &b.attrs); code != 0 {
		return k.refused(code, "copy")
	}
	b.join(k.c.session)
	b.pending.Store(true)
	b.handle = comms.Add(b)
	put(newcomm, b.handle)
	put(request, k.c.Idup(b.Comm, func() {
		b.openFast(engine())
		b.pending.Store(false)
	}))
	return 0
}
