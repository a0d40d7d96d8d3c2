package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Point-to-point communication (MPI 5.0, chapter 3).

// endpoint are the checked arguments of a send or a receive.
type endpoint struct {
	check
	t *datatype.Type
}

func sendArgs(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) == nil {
		return a
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	a.dest(dest, "dest")
	a.sendTag(tag, "tag")
	a.buffer(buf, count, a.t, "buf")
	return a
}

func recvArgs(fn string, buf uintptr, count int64, dt uintptr, source, tag int32, comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) == nil {
		return a
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	a.source(source, "source")
	a.recvTag(tag, "tag")
	a.buffer(buf, count, a.t, "buf")
	return a
}

func send(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm uintptr, mode libimpi.SendMode) int32 {
	a := sendArgs(fn, buf, count, dt, dest, tag, comm)
	if a.err != nil {
		return a.fail()
	}
	if err := a.c.Send(at(buf), count, a.t, int(dest), tag, mode); err != nil {
		return a.failed(err)
	}
	return 0
}

//export impi_Send
func impi_Send(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	return send("MPI_Send", buf, count, datatype, dest, tag, comm, libimpi.Standard)
}

//export impi_Ssend
func impi_Ssend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	return send("MPI_Ssend", buf, count, datatype, dest, tag, comm, libimpi.Synchronous)
}

//export impi_Rsend
func impi_Rsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	return send("MPI_Rsend", buf, count, datatype, dest, tag, comm, libimpi.Ready)
}

//export impi_Recv
func impi_Recv(buf uintptr, count int64, datatype uintptr, source, tag int32, comm, status uintptr) int32 {
	return recv("MPI_Recv", buf, count, datatype, source, tag, comm, status)
}

// impi_sendrecv_rest is MPI_Sendrecv, or MPI_Sendrecv_replace, when C has sent already.
//
//export impi_sendrecv_rest
func impi_sendrecv_rest(buf uintptr, count int64, datatype uintptr, source, tag int32, comm, status uintptr,
	replace int32) int32 {
	fn := "MPI_Sendrecv"
	if replace != 0 {
		fn = "MPI_Sendrecv_replace"
	}
	return recv(fn, buf, count, datatype, source, tag, comm, status)
}

func recv(fn string, buf uintptr, count int64, dt uintptr, source, tag int32, comm, status uintptr) int32 {
	a := recvArgs(fn, buf, count, dt, source, tag, comm)
	if a.err != nil {
		return a.fail()
	}
	var st libimpi.Status
	err := a.c.Recv(at(buf), count, a.t, int(source), tag, &st)
	if status != 0 {
		ref[libimpi.CStatus](status).Set(&st)
	}
	if err != nil {
		return a.failed(err)
	}
	return 0
}

func isend(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm, request uintptr,
	mode libimpi.SendMode) int32 {
	a := sendArgs(fn, buf, count, dt, dest, tag, comm)
	a.result(request, "request")
	if a.err != nil {
		return a.fail()
	}
	put(request, a.c.Isend(at(buf), count, a.t, int(dest), tag, mode))
	return 0
}

//export impi_Isend
func impi_Isend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return isend("MPI_Isend", buf, count, datatype, dest, tag, comm, request, libimpi.Standard)
}

//export impi_Issend
func impi_Issend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return isend("MPI_Issend", buf, count, datatype, dest, tag, comm, request, libimpi.Synchronous)
}

//export impi_Irsend
func impi_Irsend(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm, request uintptr) int32 {
	return isend("MPI_Irsend", buf, count, datatype, dest, tag, comm, request, libimpi.Ready)
}

//export impi_Irecv
func impi_Irecv(buf uintptr, count int64, datatype uintptr, source, tag int32, comm, request uintptr) int32 {
	a := recvArgs("MPI_Irecv", buf, count, datatype, source, tag, comm)
	a.result(request, "request")
	if a.err != nil {
		return a.fail()
	}
	put(request, a.c.Irecv(at(buf), count, a.t, int(source), tag))
	return 0
}

//export impi_Sendrecv
func impi_Sendrecv(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32,
	recvbuf uintptr, recvcount int64, recvtype uintptr, source, recvtag int32, comm, status uintptr) int32 {
	k := check{fn: "MPI_Sendrecv"}
	if k.comm(comm) == nil {
		return k.fail()
	}
	k.count(sendcount, "sendcount")
	st := k.typ(sendtype, "sendtype")
	k.dest(dest, "dest")
	k.sendTag(sendtag, "sendtag")
	k.buffer(sendbuf, sendcount, st, "sendbuf")
	k.count(recvcount, "recvcount")
	rt := k.typ(recvtype, "recvtype")
	k.source(source, "source")
	k.recvTag(recvtag, "recvtag")
	k.buffer(recvbuf, recvcount, rt, "recvbuf")
	if k.err != nil {
		return k.fail()
	}
	var result libimpi.Status
	err := k.c.Sendrecv(at(sendbuf), sendcount, st, int(dest), sendtag, at(recvbuf), recvcount, rt, int(source), recvtag,
		&result)
	return k.received(err, &result, status)
}

//export impi_Sendrecv_replace
func impi_Sendrecv_replace(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32, comm,
	status uintptr) int32 {
	a := replaceArgs("MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm)
	if a.err != nil {
		return a.fail()
	}
	var result libimpi.Status
	err := a.c.SendrecvReplace(at(buf), count, a.t, int(dest), sendtag, int(source), recvtag, &result)
	return a.received(err, &result, status)
}

func replaceArgs(fn string, buf uintptr, count int64, dt uintptr, dest, sendtag, source, recvtag int32,
	comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) == nil {
		return a
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	a.dest(dest, "dest")
	a.sendTag(sendtag, "sendtag")
	a.source(source, "source")
	a.recvTag(recvtag, "recvtag")
	a.buffer(buf, count, a.t, "buf")
	return a
}

// received stores a status and answers the code of a blocking receive.
func (k *check) received(err error, st *libimpi.Status, status uintptr) int32 {
	if status != 0 {
		ref[libimpi.CStatus](status).Set(st)
	}
	if err != nil {
		return k.failed(err)
	}
	return 0
}

func probeArgs(fn string, source, tag int32, comm uintptr) (k check) {
	k.fn = fn
	if k.comm(comm) != nil {
		k.source(source, "source")
		k.recvTag(tag, "tag")
	}
	return k
}

//export impi_Probe
func impi_Probe(source, tag int32, comm, status uintptr) int32 {
	k := probeArgs("MPI_Probe", source, tag, comm)
	if k.err != nil {
		return k.fail()
	}
	var st libimpi.Status
	return k.received(k.c.Probe(int(source), tag, &st), &st, status)
}

//export impi_Iprobe
func impi_Iprobe(source, tag int32, comm, flag, status uintptr) int32 {
	k := probeArgs("MPI_Iprobe", source, tag, comm)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	var st libimpi.Status
	found, err := k.c.Iprobe(int(source), tag, &st)
	putFlag(flag, found)
	if !found {
		status = 0
	}
	return k.received(err, &st, status)
}

//export impi_Mprobe
func impi_Mprobe(source, tag int32, comm, message, status uintptr) int32 {
	k := probeArgs("MPI_Mprobe", source, tag, comm)
	k.result(message, "message")
	if k.err != nil {
		return k.fail()
	}
	var st libimpi.Status
	if source == abi.MPI_PROC_NULL {
		put[uintptr](message, abi.MPI_MESSAGE_NO_PROC)
		return k.received(k.c.Probe(int(source), tag, &st), &st, status)
	}
	m, err := k.c.Mprobe(int(source), tag, &st)
	if err != nil {
		return k.received(err, &st, status)
	}
	if code := k.answer(messages.Add(m), message); code != 0 {
		return code
	}
	return k.received(nil, &st, status)
}

//export impi_Improbe
func impi_Improbe(source, tag int32, comm, flag, message, status uintptr) int32 {
	k := probeArgs("MPI_Improbe", source, tag, comm)
	k.result(flag, "flag")
	k.result(message, "message")
	if k.err != nil {
		return k.fail()
	}
	var st libimpi.Status
	if source == abi.MPI_PROC_NULL {
		putFlag(flag, true)
		put[uintptr](message, abi.MPI_MESSAGE_NO_PROC)
		return k.received(k.c.Probe(int(source), tag, &st), &st, status)
	}
	m, err := k.c.Improbe(int(source), tag, &st)
	putFlag(flag, m != nil)
	if m == nil {
		status = 0
	} else if code := k.answer(messages.Add(m), message); code != 0 {
		return code
	}
	return k.received(err, &st, status)
}

// messageArgs checks the arguments of a matched receive, and ends the message's handle if they are right. m is nil for
// MPI_MESSAGE_NO_PROC.
func messageArgs(fn string, buf uintptr, count int64, dt, message uintptr) (a endpoint, m *libimpi.Matched) {
	a.fn = fn
	if a.notStarted() {
		return a, nil
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	a.buffer(buf, count, a.t, "buf")
	a.result(message, "message")
	if a.err != nil {
		return a, nil
	}
	h := *ref[uintptr](message)
	if h == abi.MPI_MESSAGE_NO_PROC {
		return a, nil
	}
	m = messages.Find(h)
	if m == nil || !messages.Drop(h) { // one receive has it, also of several threads'
		a.set(abi.MPI_ERR_ARG, "argument message (%#x) is not a matched message, or has been received", h)
		return a, nil
	}
	a.c = bridged(m.Comm())
	return a, m
}

//export impi_Mrecv
func impi_Mrecv(buf uintptr, count int64, datatype, message, status uintptr) int32 {
	var request uint64
	if code := imrecv("MPI_Mrecv", buf, count, datatype, message, &request); code != 0 {
		return code
	}
	if err := engine().Wait(&request, ref[libimpi.CStatus](status)); err != nil {
		return fail("MPI_Mrecv", nil, err)
	}
	return 0
}

//export impi_Imrecv
func impi_Imrecv(buf uintptr, count int64, datatype, message, request uintptr) int32 {
	if request == 0 {
		return fail("MPI_Imrecv", nil, libimpi.Errorf(abi.MPI_ERR_ARG, "argument request is NULL"))
	}
	return imrecv("MPI_Imrecv", buf, count, datatype, message, ref[uint64](request))
}

func imrecv(fn string, buf uintptr, count int64, datatype, message uintptr, request *uint64) int32 {
	a, m := messageArgs(fn, buf, count, datatype, message)
	if a.err != nil {
		return a.fail()
	}
	put[uintptr](message, abi.MPI_MESSAGE_NULL)
	if m == nil {
		*request = engine().Self().Irecv(at(buf), count, a.t, abi.MPI_PROC_NULL, 0) // MPI_COMM_SELF may not be there
		return 0
	}
	*request = m.Imrecv(at(buf), count, a.t)
	return 0
}

//export impi_Message_toint
func impi_Message_toint(message uintptr) int32 { return handle.Int(message) }

//export impi_Message_fromint
func impi_Message_fromint(message int32) uintptr {
	return fromIntOr(&messages, message, abi.MPI_MESSAGE_NULL)
}
