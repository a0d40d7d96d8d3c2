package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Point-to-point communication (MPI 5.0, chapter 3).

// endpoint are the checked arguments of a send or a receive.
type endpoint struct {
	check
	t *datatype.Type
}

// argNames are what a function calls the arguments of a message.
type argNames struct{ buf, count, datatype, peer, tag string }

var (
	outgoing = argNames{"buf", "count", "datatype", "dest", "tag"}
	incoming = argNames{"buf", "count", "datatype", "source", "tag"}

	exchangeOut  = argNames{"sendbuf", "sendcount", "sendtype", "dest", "sendtag"}
	exchangeIn   = argNames{"recvbuf", "recvcount", "recvtype", "source", "recvtag"}
	exchangeBoth = argNames{"buf", "count", "datatype", "dest", "sendtag"}
)

// outgoing checks the arguments of a message that is sent, and returns its type.
func (k *check) outgoing(buf uintptr, count int64, dt uintptr, dest, tag int32, names *argNames) *datatype.Type {
	k.count(count, names.count)
	t := k.typ(dt, names.datatype)
	k.dest(dest, names.peer)
	k.sendTag(tag, names.tag)
	k.buffer(buf, count, t, names.buf)
	if inspecting.Load() && dest != abi.MPI_PROC_NULL && k.err == nil {
		k.sends(dest, tag)
		if names != &exchangeBoth {
			k.reads(names.buf, buf, count, t)
		}
	}
	return t
}

// incoming is outgoing for a message that is received.
func (k *check) incoming(buf uintptr, count int64, dt uintptr, source, tag int32, names *argNames) *datatype.Type {
	k.count(count, names.count)
	t := k.typ(dt, names.datatype)
	k.source(source, names.peer)
	k.recvTag(tag, names.tag)
	k.buffer(buf, count, t, names.buf)
	if inspecting.Load() && source != abi.MPI_PROC_NULL {
		k.writes(names.buf, buf, count, t)
	}
	return t
}

func sendArgs(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) != nil {
		a.t = a.outgoing(buf, count, dt, dest, tag, &outgoing)
	}
	return a
}

func recvArgs(fn string, buf uintptr, count int64, dt uintptr, source, tag int32, comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) != nil {
		a.t = a.incoming(buf, count, dt, source, tag, &incoming)
	}
	return a
}

// isendArgs and irecvArgs check the same where a request stands for the operation.
func isendArgs(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm, request uintptr) endpoint {
	a := sendArgs(fn, buf, count, dt, dest, tag, comm)
	a.result(request, "request")
	return a
}

func irecvArgs(fn string, buf uintptr, count int64, dt uintptr, source, tag int32, comm, request uintptr) endpoint {
	a := recvArgs(fn, buf, count, dt, source, tag, comm)
	a.result(request, "request")
	return a
}

func send(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm uintptr, mode libimpi.SendMode) int32 {
	a := sendArgs(fn, buf, count, dt, dest, tag, comm)
	if !a.begins() {
		return a.fail()
	}
	return a.over(a.done(a.c.Send(at(buf), count, a.t, int(dest), tag, mode)))
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
	if !a.begins() {
		return a.fail()
	}
	var st libimpi.Status
	return a.over(a.received(a.c.Recv(at(buf), count, a.t, int(source), tag, &st), &st, status))
}

func isend(fn string, buf uintptr, count int64, dt uintptr, dest, tag int32, comm, request uintptr,
	mode libimpi.SendMode) int32 {
	a := isendArgs(fn, buf, count, dt, dest, tag, comm, request)
	if !a.starts() {
		return a.fail()
	}
	a.give(request, a.c.Isend(at(buf), count, a.t, int(dest), tag, mode))
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
	a := irecvArgs("MPI_Irecv", buf, count, datatype, source, tag, comm, request)
	if !a.starts() {
		return a.fail()
	}
	a.give(request, a.c.Irecv(at(buf), count, a.t, int(source), tag))
	return 0
}

// exchangeArgs checks the arguments of a send and a receive in one.
func exchangeArgs(fn string, sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32,
	recvbuf uintptr, recvcount int64, recvtype uintptr, source, recvtag int32,
	comm uintptr) (k check, st, rt *datatype.Type) {
	k.fn = fn
	if k.comm(comm) != nil {
		st = k.outgoing(sendbuf, sendcount, sendtype, dest, sendtag, &exchangeOut)
		rt = k.incoming(recvbuf, recvcount, recvtype, source, recvtag, &exchangeIn)
	}
	return k, st, rt
}

// replaceArgs is exchangeArgs for a buffer that both use.
func replaceArgs(fn string, buf uintptr, count int64, dt uintptr, dest, sendtag, source, recvtag int32,
	comm uintptr) (a endpoint) {
	a.fn = fn
	if a.comm(comm) != nil {
		a.t = a.outgoing(buf, count, dt, dest, sendtag, &exchangeBoth)
		a.source(source, exchangeIn.peer)
		a.recvTag(recvtag, exchangeIn.tag)
		if inspecting.Load() && source != abi.MPI_PROC_NULL { // what it sends is a copy
			a.writes(exchangeBoth.buf, buf, count, a.t)
		}
	}
	return a
}

//export impi_Sendrecv
func impi_Sendrecv(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32,
	recvbuf uintptr, recvcount int64, recvtype uintptr, source, recvtag int32, comm, status uintptr) int32 {
	k, st, rt := exchangeArgs("MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag,
		recvbuf, recvcount, recvtype, source, recvtag, comm)
	if !k.begins() {
		return k.fail()
	}
	var result libimpi.Status
	err := k.c.Sendrecv(at(sendbuf), sendcount, st, int(dest), sendtag,
		at(recvbuf), recvcount, rt, int(source), recvtag, &result)
	return k.over(k.received(err, &result, status))
}

//export impi_Sendrecv_replace
func impi_Sendrecv_replace(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32,
	comm, status uintptr) int32 {
	a := replaceArgs("MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm)
	if !a.begins() {
		return a.fail()
	}
	var result libimpi.Status
	err := a.c.SendrecvReplace(at(buf), count, a.t, int(dest), sendtag, int(source), recvtag, &result)
	return a.over(a.received(err, &result, status))
}

// received stores a status and returns the code of a blocking receive.
func (k *check) received(err error, st *libimpi.Status, status uintptr) int32 {
	if status != 0 {
		ref[libimpi.CStatus](status).Set(st)
	}
	return k.done(err)
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
	m, err := k.c.Mprobe(int(source), tag, &st)
	if err == nil {
		if code := k.matched(m, message); code != 0 {
			return code
		}
	}
	return k.received(err, &st, status)
}

// matched stores the handle of what a matched probe has found.
func (k *check) matched(m *libimpi.Matched, message uintptr) int32 {
	if m.NoProc() {
		return k.answer(abi.MPI_MESSAGE_NO_PROC, message)
	}
	return k.answer(messages.Add(m), message)
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
	m, err := k.c.Improbe(int(source), tag, &st)
	putFlag(flag, m != nil)
	if m == nil {
		status = 0
	} else if code := k.matched(m, message); code != 0 {
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
	if inspecting.Load() {
		a.writes("buf", buf, count, a.t)
	}
	if !a.starts() {
		return a, nil
	}
	h := *ref[uintptr](message)
	if h == abi.MPI_MESSAGE_NO_PROC {
		a.over(0)
		return a, nil
	}
	m = messages.Find(h)
	if m == nil || !messages.Drop(h) { // one receive has it, also of several threads'
		a.over(0)
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
	k := check{fn: "MPI_Mrecv"}
	return k.done(engine().Wait(&request, ref[libimpi.CStatus](status)))
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
	a.track(*request)
	return 0
}

//export impi_Message_fromint
func impi_Message_fromint(message int32) uintptr {
	return fromIntOr(&messages, message, abi.MPI_MESSAGE_NULL)
}

// Partitioned communication (MPI 5.0, chapter 4).

// partitioned checks what a partitioned send and a receive have in common; count is of one partition.
func (a *endpoint) partitioned(buf uintptr, partitions int32, count int64, dt uintptr) {
	if partitions < 0 {
		a.set(abi.MPI_ERR_ARG, "argument partitions is negative: %d", partitions)
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	if a.err == nil {
		a.buffer(buf, count*int64(min(partitions, 1)), a.t, "buf")
		a.volume(count, int64(partitions), a.t, "buf")
	}
}

//export impi_Psend_init
func impi_Psend_init(buf uintptr, partitions int32, count int64, datatype uintptr, dest, tag int32, comm, info,
	request uintptr) int32 {
	a := endpoint{check: check{fn: "MPI_Psend_init"}}
	if a.comm(comm) != nil {
		a.partitioned(buf, partitions, count, datatype)
		a.dest(dest, "dest")
		a.sendTag(tag, "tag")
		a.info(info)
		a.result(request, "request")
	}
	if a.err != nil {
		return a.fail()
	}
	a.keep(request, a.c.PsendInit(at(buf), partitions, count, a.t, int(dest), tag))
	return 0
}

//export impi_Precv_init
func impi_Precv_init(buf uintptr, partitions int32, count int64, datatype uintptr, source, tag int32, comm, info,
	request uintptr) int32 {
	a := endpoint{check: check{fn: "MPI_Precv_init"}}
	if a.comm(comm) != nil {
		a.partitioned(buf, partitions, count, datatype)
		a.dest(source, "source") // there are no wildcards
		a.sendTag(tag, "tag")
		a.info(info)
		a.result(request, "request")
	}
	if a.err != nil {
		return a.fail()
	}
	a.keep(request, a.c.PrecvInit(at(buf), partitions, count, a.t, int(source), tag))
	return 0
}

// ready returns the code of the Pready functions.
func (k *check) ready(err *libimpi.Error) int32 {
	if err != nil {
		return k.failed(err)
	}
	return 0
}

//export impi_Pready
func impi_Pready(partition int32, request uintptr) int32 {
	k := check{fn: "MPI_Pready"}
	if k.notStarted() {
		return k.fail()
	}
	return k.ready(engine().Pready(uint64(request), partition, partition))
}

//export impi_Pready_range
func impi_Pready_range(partition_low, partition_high int32, request uintptr) int32 {
	k := check{fn: "MPI_Pready_range"}
	if k.notStarted() {
		return k.fail()
	}
	if partition_low > partition_high {
		k.set(abi.MPI_ERR_ARG, "argument partition_low is %d, above partition_high, %d", partition_low, partition_high)
		return k.fail()
	}
	return k.ready(engine().Pready(uint64(request), partition_low, partition_high))
}

//export impi_Pready_list
func impi_Pready_list(length int32, array_of_partitions, request uintptr) int32 {
	k := check{fn: "MPI_Pready_list"}
	if k.notStarted() {
		return k.fail()
	}
	k.count(int64(length), "length")
	k.array(array_of_partitions, int(length), "array_of_partitions")
	if k.err != nil {
		return k.fail()
	}
	return k.ready(engine().PreadyList(uint64(request), slice[int32](array_of_partitions, int(length))))
}

//export impi_Parrived
func impi_Parrived(request uintptr, partition int32, flag uintptr) int32 {
	k := check{fn: "MPI_Parrived"}
	if k.notStarted() {
		return k.fail()
	}
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	if request == abi.MPI_REQUEST_NULL { // as an inactive one (MPI 5.0, 4.2.2)
		putFlag(flag, true)
		return 0
	}
	arrived, err := engine().Parrived(uint64(request), partition)
	if err != nil {
		return k.failed(err)
	}
	putFlag(flag, arrived)
	return 0
}

// Nonblocking send and receive in one (MPI 5.0, 3.10).

//export impi_Isendrecv
func impi_Isendrecv(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32,
	recvbuf uintptr, recvcount int64, recvtype uintptr, source, recvtag int32, comm, request uintptr) int32 {
	k, st, rt := exchangeArgs("MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag,
		recvbuf, recvcount, recvtype, source, recvtag, comm)
	k.result(request, "request")
	if !k.starts() {
		return k.fail()
	}
	k.give(request, k.c.Isendrecv(at(sendbuf), sendcount, st, int(dest), sendtag,
		at(recvbuf), recvcount, rt, int(source), recvtag))
	return 0
}

//export impi_Isendrecv_replace
func impi_Isendrecv_replace(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32,
	comm, request uintptr) int32 {
	a := replaceArgs("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm)
	a.result(request, "request")
	if !a.starts() {
		return a.fail()
	}
	id, err := a.c.IsendrecvReplace(at(buf), count, a.t, int(dest), sendtag, int(source), recvtag)
	if err != nil {
		return a.over(a.failed(err))
	}
	a.give(request, id)
	return 0
}
