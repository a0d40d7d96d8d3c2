package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Buffered sends (MPI 5.0, 3.4 and 3.6).

// attached is the buffer the program has attached, to give back when it detaches it.
var attached struct {
	address uintptr
	size    int64
}

//export impi_Buffer_attach
func impi_Buffer_attach(buffer uintptr, size int64) int32 {
	k := check{fn: "MPI_Buffer_attach"}
	if k.notStarted() {
		return k.fail()
	}
	most := size
	switch {
	case buffer == abi.MPI_BUFFER_AUTOMATIC:
		most = 1 << 62
	case size < 0:
		k.set(abi.MPI_ERR_ARG, "argument size is negative: %d", size)
	case buffer == 0 && size > 0:
		k.set(abi.MPI_ERR_BUFFER, "argument buffer is NULL")
	}
	if k.err != nil {
		return k.fail()
	}
	if err := engine().AttachBuffer(most); err != nil {
		return k.failed(err)
	}
	attached.address, attached.size = buffer, size
	return 0
}

//export impi_Buffer_detach
func impi_Buffer_detach(buffer_addr, size uintptr) int32 {
	k := check{fn: "MPI_Buffer_detach"}
	if !k.notStarted() {
		k.result(buffer_addr, "buffer_addr")
		k.result(size, "size")
	}
	if k.err != nil {
		return k.fail()
	}
	if err := engine().DetachBuffer(); err != nil {
		return k.failed(err)
	}
	put(buffer_addr, attached.address)
	put(size, attached.size)
	return 0
}

//export impi_Buffer_flush
func impi_Buffer_flush() int32 {
	k := check{fn: "MPI_Buffer_flush"}
	if k.notStarted() {
		return k.fail()
	}
	return k.done(engine().FlushBuffer())
}

//export impi_Bsend
func impi_Bsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	a := sendArgs("MPI_Bsend", buf, count, datatype, dest, tag, comm)
	if a.err != nil {
		return a.fail()
	}
	return a.done(a.c.Bsend(at(buf), count, a.t, int(dest), tag))
}

//export impi_Ibsend
func impi_Ibsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	a := sendArgs("MPI_Ibsend", buf, count, datatype, dest, tag, comm)
	a.result(request, "request")
	if a.err != nil {
		return a.fail()
	}
	id, err := a.c.Ibsend(at(buf), count, a.t, int(dest), tag)
	if err != nil {
		return a.failed(err)
	}
	put(request, id)
	return 0
}

//export impi_Bsend_init
func impi_Bsend_init(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return sendInit("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, request, libimpi.Buffered)
}
