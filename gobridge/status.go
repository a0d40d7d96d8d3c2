package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

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
