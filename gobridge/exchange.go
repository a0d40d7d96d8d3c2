package main

import "C"

// Nonblocking send and receive in one (MPI 5.0, 3.10).

//export impi_Isendrecv
func impi_Isendrecv(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32,
	recvbuf uintptr, recvcount int64, recvtype uintptr, source, recvtag int32, comm, request uintptr) int32 {
	k, st, rt := exchangeArgs("MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag,
		recvbuf, recvcount, recvtype, source, recvtag, comm)
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	put(request, k.c.Isendrecv(at(sendbuf), sendcount, st, int(dest), sendtag,
		at(recvbuf), recvcount, rt, int(source), recvtag))
	return 0
}

//export impi_Isendrecv_replace
func impi_Isendrecv_replace(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32,
	comm, request uintptr) int32 {
	a := replaceArgs("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm)
	a.result(request, "request")
	if a.err != nil {
		return a.fail()
	}
	id, err := a.c.IsendrecvReplace(at(buf), count, a.t, int(dest), sendtag, int(source), recvtag)
	if err != nil {
		return a.failed(err)
	}
	put(request, id)
	return 0
}
