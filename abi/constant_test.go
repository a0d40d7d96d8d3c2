package abi

import "testing"

func TestConstantsHaveNames(t *testing.T) {
	for value, want := range map[uint64]string{MPI_INT: "MPI_INT", MPI_COMM_WORLD: "MPI_COMM_WORLD", MPI_SUM: "MPI_SUM",
		MPI_REQUEST_NULL: "MPI_REQUEST_NULL", MPI_ERRORS_RETURN: "MPI_ERRORS_RETURN", 1: "", 1 << 40: ""} {
		if got := HandleName(value); got != want {
			t.Errorf("%#x: %q, and not %q", value, got, want)
		}
	}
	for _, c := range []struct {
		group string
		value int64
		want  string
	}{{Ranks, MPI_ANY_SOURCE, "MPI_ANY_SOURCE"}, {Ranks, 4, ""}, {Modes, MPI_MODE_RDWR, "MPI_MODE_RDWR"},
		{Assertions, MPI_MODE_NOPUT, "MPI_MODE_NOPUT"}, {ThreadLevels, MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"},
		{Orders, MPI_ORDER_FORTRAN, "MPI_ORDER_FORTRAN"}, {Distribution, MPI_DISTRIBUTE_NONE, "MPI_DISTRIBUTE_NONE"},
		{SplitTypes, MPI_COMM_TYPE_SHARED, "MPI_COMM_TYPE_SHARED"}, {LockTypes, MPI_LOCK_SHARED, "MPI_LOCK_SHARED"},
		{Positioning, MPI_SEEK_END, "MPI_SEEK_END"}, {Keys, MPI_TAG_UB, "MPI_TAG_UB"},
		{TypeClasses, MPI_TYPECLASS_REAL, "MPI_TYPECLASS_REAL"}, {Classes, MPI_ERR_TAG, "MPI_ERR_TAG"}} {
		if got := ConstantName(c.group, c.value); got != c.want {
			t.Errorf("%s %d: %q, and not %q", c.group, c.value, got, c.want)
		}
	}
}
