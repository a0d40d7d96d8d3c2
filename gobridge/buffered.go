package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Buffered sends (MPI 5.0, 3.4 and 3.6).

// attachedMemory is a buffer the program has attached, to give back when it detaches it.
type attachedMemory struct {
	address uintptr
	size    int64
	by      *creation // the call, if somebody wants to know; nil once it is detached
}

var attached attachedMemory

// bufferRoom looks at a buffer that is to be attached, and returns how many bytes of messages it takes.
func (k *check) bufferRoom(buffer uintptr, size int64) int64 {
	switch {
	case buffer == abi.MPI_BUFFER_AUTOMATIC:
		return 1 << 62
	case size < 0:
		k.set(abi.MPI_ERR_ARG, "argument size is negative: %d", size)
	case buffer == 0 && size > 0:
		k.set(abi.MPI_ERR_BUFFER, "argument buffer is NULL")
	}
	return size
}

// giveBack stores what has been detached.
func (m *attachedMemory) giveBack(buffer_addr, size uintptr) int32 {
	put(buffer_addr, m.address)
	put(size, m.size)
	m.by = nil
	return 0
}

//export impi_Buffer_attach
func impi_Buffer_attach(buffer uintptr, size int64) int32 {
	k := check{fn: "MPI_Buffer_attach"}
	if k.notStarted() {
		return k.fail()
	}
	room := k.bufferRoom(buffer, size)
	if k.err != nil {
		return k.fail()
	}
	if err := engine().AttachBuffer(room); err != nil {
		return k.failed(err)
	}
	attached = attachedMemory{buffer, size, creationHere()}
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
	return attached.giveBack(buffer_addr, size)
}

//export impi_Buffer_flush
func impi_Buffer_flush() int32 {
	k := check{fn: "MPI_Buffer_flush"}
	if k.notStarted() {
		return k.fail()
	}
	return k.done(engine().FlushBuffer())
}

//export impi_Buffer_iflush
func impi_Buffer_iflush(request uintptr) int32 {
	k := check{fn: "MPI_Buffer_iflush"}
	if !k.notStarted() {
		k.result(request, "request")
	}
	if k.err != nil {
		return k.fail()
	}
	k.give(request, engine().IflushBuffer())
	return 0
}

//export impi_Comm_attach_buffer
func impi_Comm_attach_buffer(comm, buffer uintptr, size int64) int32 {
	k := check{fn: "MPI_Comm_attach_buffer"}
	k.comm(comm)
	room := k.bufferRoom(buffer, size)
	if k.err != nil {
		return k.fail()
	}
	if err := k.c.AttachBuffer(room); err != nil {
		return k.failed(err)
	}
	k.c.attached = attachedMemory{buffer, size, creationHere()}
	return 0
}

//export impi_Comm_detach_buffer
func impi_Comm_detach_buffer(comm, buffer_addr, size uintptr) int32 {
	k := check{fn: "MPI_Comm_detach_buffer"}
	k.comm(comm)
	k.result(buffer_addr, "buffer_addr")
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	if err := k.c.DetachBuffer(); err != nil {
		return k.failed(err)
	}
	return k.c.attached.giveBack(buffer_addr, size)
}

//export impi_Comm_flush_buffer
func impi_Comm_flush_buffer(comm uintptr) int32 {
	k := check{fn: "MPI_Comm_flush_buffer"}
	if k.comm(comm); k.err != nil {
		return k.fail()
	}
	return k.done(k.c.FlushBuffer())
}

//export impi_Comm_iflush_buffer
func impi_Comm_iflush_buffer(comm, request uintptr) int32 {
	k := check{fn: "MPI_Comm_iflush_buffer"}
	k.comm(comm)
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	k.give(request, k.c.IflushBuffer())
	return 0
}

//export impi_Bsend
func impi_Bsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	a := sendArgs("MPI_Bsend", buf, count, datatype, dest, tag, comm)
	if !a.begins() {
		return a.fail()
	}
	return a.over(a.done(a.c.Bsend(at(buf), count, a.t, int(dest), tag)))
}

//export impi_Ibsend
func impi_Ibsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	a := isendArgs("MPI_Ibsend", buf, count, datatype, dest, tag, comm, request)
	if !a.starts() {
		return a.fail()
	}
	id, err := a.c.Ibsend(at(buf), count, a.t, int(dest), tag)
	if err != nil {
		return a.over(a.failed(err))
	}
	a.give(request, id)
	return 0
}

//export impi_Bsend_init
func impi_Bsend_init(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return sendInit("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, request, libimpi.Buffered)
}
