package main

import "C"

// Hints of communicators (MPI 5.0, 7.4.4): the assertions that the standard defines. Matching looks at what is posted
// and not at promises: a context in which no receive has a wildcard does not pay for them (libimpi/match). So the
// assertions are known, kept and reported, and need nothing else. Other keys are ignored, as the standard has it.
// MPI_Comm_dup hands no hints on (MPI 5.0, 7.4.2).

var assertions = [...]string{"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
	"mpi_assert_allow_overtaking"}

// hints are the values of the assertions.
type hints struct {
	said  [len(assertions)]bool
	kinds *string // the memory allocation kinds that the program says it uses; nil until it does
}

// take notes the assertions of an info, and leaves those alone that it does not mention or has no valid value for.
func (h *hints) take(with *info) {
	if with == nil {
		return
	}
	for n, key := range assertions {
		switch value, _ := with.get(key); value {
		case "true":
			h.said[n] = true
		case "false":
			h.said[n] = false
		}
	}
	if kinds, ok := with.get(assertKindsKey); ok {
		h.kinds = &kinds
	}
}

// info are all assertions with their values.
func (h *hints) info() *info {
	all := &info{}
	for n, key := range assertions {
		all.set(key, map[bool]string{true: "true", false: "false"}[h.said[n]])
	}
	if h.kinds != nil {
		all.set(assertKindsKey, *h.kinds)
	}
	return all
}

//export impi_Comm_set_info
func impi_Comm_set_info(comm, info uintptr) int32 {
	k := objectQuery("MPI_Comm_set_info", comm)
	with := k.someInfo(info)
	if k.err != nil {
		return k.fail()
	}
	k.c.hints.take(with)
	return 0
}

//export impi_Comm_get_info
func impi_Comm_get_info(comm, info_used uintptr) int32 {
	k := objectQuery("MPI_Comm_get_info", comm)
	k.result(info_used, "info_used")
	if k.err != nil {
		return k.fail()
	}
	used := k.c.hints.info()
	used.set(kindsKey, k.c.session.memoryKinds())
	return k.answer(infos.Add(used), info_used)
}
