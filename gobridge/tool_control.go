package main

// #include <stdlib.h>
import "C"

import (
	"slices"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/mpit"
	"github.com/libimpi/libimpi/settings"
	"github.com/libimpi/libimpi/transport/tcp"
)

// Control variables (MPI 5.0, 15.3.6): the settings. Their values stand in the environment, where MPI_Init looks for
// them; those that can change later are applied at once, too.

// controlHandles are by what a handle stands for: a setting.
var controlHandles = handle.Table[settings.Setting]{Kind: kindControl}

// textRoom is the room for a value that is text, with its end, in bytes.
const textRoom = 4096

//export impi_T_cvar_get_num
func impi_T_cvar_get_num(num_cvar uintptr) int32 { return putCount(num_cvar, len(settings.All)) }

//export impi_T_cvar_get_index
func impi_T_cvar_get_index(name, cvar_index uintptr) int32 {
	return search(name, cvar_index, func(name string) int {
		return slices.IndexFunc(settings.All, func(s settings.Setting) bool { return s.Name == name })
	})
}

var (
	scopes = [...]int{settings.Constant: abi.MPI_T_SCOPE_CONSTANT, settings.Local: abi.MPI_T_SCOPE_LOCAL,
		settings.AllEqual: abi.MPI_T_SCOPE_ALL_EQ}
	details = [...]int{settings.Basic: abi.MPI_T_VERBOSITY_USER_BASIC, settings.Detailed: abi.MPI_T_VERBOSITY_USER_DETAIL,
		settings.Tuning: abi.MPI_T_VERBOSITY_TUNER_BASIC, settings.Internal: abi.MPI_T_VERBOSITY_MPIDEV_DETAIL}
)

// aboutControl describes a setting, and says what is asked of who writes it.
func aboutControl(s *settings.Setting) string {
	about := s.Plain() + " (" + settings.Writable(s.Written)
	if s.Scope == settings.AllEqual {
		about += ", to the same value by all processes, while no collective operation is under way"
	}
	return about + ")"
}

//export impi_T_cvar_get_info
func impi_T_cvar_get_info(cvar_index int32, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind,
	scope uintptr) int32 {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return code
	}
	if cvar_index < 0 || int(cvar_index) >= len(settings.All) {
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	s := &settings.All[cvar_index]
	putString(s.Name, name, name_len)
	putInt(verbosity, details[s.Detail])
	if s.Kind == settings.Text {
		putHandle(datatype, abi.MPI_CHAR)
	} else {
		putHandle(datatype, abi.MPI_INT)
		putHandle(enumtype, enumOr(controlEnums()[int(cvar_index)]))
	}
	putString(aboutControl(s), desc, desc_len)
	putInt(bind, abi.MPI_T_BIND_NO_OBJECT)
	putInt(scope, scopes[s.Scope])
	return abi.MPI_SUCCESS
}

// enumOr is the handle of an enumeration, MPI_T_ENUM_NULL if there is none.
func enumOr(e *mpit.Enum) uintptr {
	if e == nil {
		return abi.MPI_T_ENUM_NULL
	}
	return enumHandles[e]
}

//export impi_T_cvar_handle_alloc
func impi_T_cvar_handle_alloc(cvar_index int32, obj_handle, handleOut, count uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	switch {
	case cvar_index < 0 || int(cvar_index) >= len(settings.All):
		return abi.MPI_T_ERR_INVALID_INDEX
	case handleOut == 0 || count == 0:
		return abi.MPI_T_ERR_INVALID
	}
	s := &settings.All[cvar_index]
	h := controlHandles.Add(s)
	if h == 0 {
		return abi.MPI_T_ERR_OUT_OF_HANDLES
	}
	tools.controls = append(tools.controls, h)
	put(handleOut, h)
	n := 1
	if s.Kind == settings.Text {
		n = textRoom
	}
	putInt(count, n)
	return abi.MPI_SUCCESS
}

//export impi_T_cvar_handle_free
func impi_T_cvar_handle_free(handleIn uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if handleIn == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	h := *ref[uintptr](handleIn)
	if !controlHandles.Drop(h) {
		return abi.MPI_T_ERR_INVALID_HANDLE
	}
	tools.controls = slices.DeleteFunc(tools.controls, func(other uintptr) bool { return other == h })
	put[uintptr](handleIn, abi.MPI_T_CVAR_HANDLE_NULL)
	return abi.MPI_SUCCESS
}

//export impi_T_cvar_read
func impi_T_cvar_read(handleIn, buf uintptr) int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	s := controlHandles.Find(handleIn)
	switch {
	case s == nil:
		return abi.MPI_T_ERR_INVALID_HANDLE
	case buf == 0:
		return abi.MPI_T_ERR_INVALID
	case s.Kind == settings.Text:
		putText(buf, s.Text(lookupEnv), textRoom)
	default:
		put(buf, s.Integer(lookupEnv))
	}
	return abi.MPI_SUCCESS
}

//export impi_T_cvar_write
func impi_T_cvar_write(handleIn, buf uintptr) int32 {
	starting.Lock() // nobody initializes MPI meanwhile, or ends it
	defer starting.Unlock()
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	s, e := controlHandles.Find(handleIn), toolEngine.Load()
	switch {
	case s == nil:
		return abi.MPI_T_ERR_INVALID_HANDLE
	case s.Written == settings.Never || s.Written == settings.Before && e != nil:
		return abi.MPI_T_ERR_CVAR_SET_NEVER
	case buf == 0:
		return abi.MPI_T_ERR_INVALID
	case s.Scope == settings.AllEqual && e != nil && e.CollectiveUnderWay():
		return abi.MPI_T_ERR_CVAR_SET_NOT_NOW
	}
	value, ok := "", true
	if s.Kind == settings.Text {
		value = text(buf, textRoom-1)
	} else {
		value, ok = s.Format(*ref[int32](buf))
	}
	if !ok {
		return abi.MPI_T_ERR_INVALID
	}
	if code := apply(s, value, e); code != abi.MPI_SUCCESS {
		return code
	}
	setEnvironment(s.Name, value)
	return abi.MPI_SUCCESS
}

// apply makes a value the one in force. e is nil before MPI is initialized, which will look at the environment.
func apply(s *settings.Setting, value string, e *libimpi.Engine) int32 {
	switch s.Name {
	case "IMPI_ALGORITHM":
		if choose.Choose(value) != nil {
			rechoose(environment("IMPI_ALGORITHM"), environment("IMPI_REPRODUCIBLE"))
			return abi.MPI_T_ERR_INVALID
		}
		rechoose(value, environment("IMPI_REPRODUCIBLE"))
	case "IMPI_REPRODUCIBLE":
		rechoose(environment("IMPI_ALGORITHM"), value)
	case "IMPI_CHECK":
		if s, err := checks.Parse(value); err == nil && e != nil {
			inspect(e, s)
		}
	case "IMPI_SINGLE_COPY":
		if e == nil {
			break
		}
		if (value == "0") != (environment("IMPI_SINGLE_COPY") == "0") {
			return abi.MPI_T_ERR_CVAR_SET_NEVER // whether memory is read at all is decided when MPI is initialized
		}
		e.SetReadAll(value == "1")
	case "IMPI_SILENCE":
		if _, err := tcp.ParseSilence(value); err != nil {
			return abi.MPI_T_ERR_INVALID
		}
	}
	if e != nil {
		avoidBoards(e)
	}
	return abi.MPI_SUCCESS
}

// rechoose takes algorithms as the two settings say.
func rechoose(algorithms, reproducible string) {
	choose.Choose(algorithms) // has been accepted before
	if reproducible == "1" {
		choose.Reproduce()
	}
}

// setEnvironment stores a variable; empty is unset.
func setEnvironment(name, value string) {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	if value == "" {
		C.unsetenv(n)
		return
	}
	v := C.CString(value)
	defer C.free(unsafe.Pointer(v))
	C.setenv(n, v, 1)
}
