package launcher

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

// The error handler that a program begins with (MPI 5.0, 9.3 and 11.5).

func TestTheInitialErrorHandlerIsTheLaunchersChoice(t *testing.T) {
	file := program(t, "initial")
	for _, how := range []string{"-n 2", "-clients 2 -n 2", "-clients 2 -via agent -n 2"} {
		for _, tt := range []struct{ given, want string }{
			{"", "fatal fatal fatal 000"},
			{"-initial-errhandler mpi_errors_are_fatal", "fatal fatal fatal 000"},
			{"--initial-errhandler=mpi_errors_abort", "abort abort abort 000"},
			{"-initial-errhandler mpi_errors_return", "return return return 000"},
		} {
			r := run(t, words(how, tt.given, file)...)
			r.expect(t, 0, "")
			if r.stdout != strings.Repeat(tt.want+"\n", 2) {
				t.Errorf("%s %s: %q, want %q", how, tt.given, r.stdout, tt.want)
			}
		}
	}
}

func TestErrorsOutsideOfMPIGoToTheInitialErrorHandler(t *testing.T) {
	file := program(t, "initial")
	for when, want := range map[string]string{"before": "100", "during": "010", "after": "001"} {
		r := run(t, words("-n 1 -initial-errhandler mpi_errors_return", file, when)...)
		if r.code != 0 || r.stdout != "return return return "+want+"\n" {
			t.Errorf("an error %s: %+v", when, r)
		}
		for _, fatal := range []string{"", "-initial-errhandler mpi_errors_are_fatal",
			"-initial-errhandler mpi_errors_abort"} {
			if r := run(t, words("-n 1", fatal, file, when)...); r.code == 0 || r.stdout != "" ||
				!strings.Contains(r.stderr, "MPI_Comm_size") {
				t.Errorf("an error %s, %q: %+v", when, fatal, r)
			}
		}
	}
}

func TestEachProgramHasAnInitialErrorHandlerOfItsOwn(t *testing.T) {
	file := program(t, "initial")
	r := run(t, words("-n 1 -initial-errhandler mpi_errors_return", file, ": -n 1", file,
		": -n 1 -initial-errhandler mpi_errors_abort", file)...)
	r.expect(t, 0, "")
	got := strings.Split(strings.TrimSpace(r.stdout), "\n")
	sort.Strings(got)
	if want := []string{"abort abort abort 000", "fatal fatal fatal 000", "return return return 000"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
	// What an outer launcher has been told does not reach it.
	if r := startWith(t, []option{environ("IMPI_INITIAL_ERRHANDLER=mpi_errors_return")},
		words("-n 1", file)...).wait(); r.stdout != "fatal fatal fatal 000\n" {
		t.Errorf("%+v", r)
	}
	run(t, words("-initial-errhandler mpi_errors_ignore -n 1", file)...).expect(t, 2,
		"mpi_errors_ignore: the names are mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return")
}
