package main

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
)

func TestACallbackHasNumbersForWhatIsTheProgramsAndPointersForResults(t *testing.T) {
	got, err := callbacksHeader(tables(t).constants)
	if err != nil {
		t.Fatal(err)
	}
	want := `static inline int impi_call_Comm_copy_attr(uintptr_t fn, uintptr_t comm, int keyval,
        uintptr_t extra_state, uintptr_t attribute_val_in, void *attribute_val_out, int *flag)
`
	if !strings.Contains(string(got), want) {
		t.Errorf("%s", got)
	}
}

func TestACallbackThatTheTableDoesNotHaveIsRefused(t *testing.T) {
	_, err := callbacksHeader([]table.Constant{{Name: "MPI_Comm_copy_attr_function", Value: "int"}})
	if err == nil || !strings.Contains(err.Error(), "MPI_Comm_copy_attr_function") {
		t.Errorf("%v", err)
	}
}
