package main

import "C"

import (
	"github.com/libimpi/libimpi/libimpi"
)

// Nonblocking duplication (MPI 5.0, 7.4.2). The handle is there at once, and names nothing until the request is done;
// attributes are copied at once, too.

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
	b := &communicator{}
	b.hints.take(with)
	b.handler.Store(k.c.errhandler())
	if code := k.c.attrs.copyAll(k.c.handle, &b.attrs); code != 0 {
		return k.refused(code, "copy")
	}
	b.handle = comms.add(nil)
	put(newcomm, b.handle)
	from := k.c.session
	put(request, k.c.Idup(func(c *libimpi.Comm) {
		b.Comm, c.Bridge = c, b
		b.join(from)
		comms.fill(b.handle, b)
		b.openFast(engine())
		b.openQueries()
	}))
	return 0
}
