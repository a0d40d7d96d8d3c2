package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// saysOf are the lines that programs of so many ranks have written, sorted.
func saysOf(ranks int, names ...string) (lines []string) {
	for _, name := range names {
		for r := range ranks {
			lines = append(lines, fmt.Sprintf("%s %d/%d %d", name, r, ranks, ranks*(ranks-1)/2))
		}
	}
	slices.Sort(lines)
	return lines
}

// A shell that runs programs, one that closes the link in what it starts, as Python's subprocess does, and a program
// that has finalized: whoever comes is the rank's next life.
func TestARankRunsOneMPIProgramAfterTheOther(t *testing.T) {
	file := program(t, "lives")
	for _, n := range []int{1, 3} {
		for _, tt := range []struct{ script, names string }{
			{"$0 a && $0 b && $0 c", "a b c"},
			{"$0 a 3>&- && $0 b 3>&- && $0 c", "a b c"},
			{"$0 a && $0 b 3>&- && $0 c && true", "a b c"},
			{`$0 a after "$0 b" && $0 c`, "a b c"},
			{"exec 3>&-; $0 a", "a"},
		} {
			r := run(t, words(fmt.Sprint("-n ", n), "sh -c", []string{tt.script, file})...)
			r.expect(t, 0, "")
			got := strings.Split(strings.TrimSpace(r.stdout), "\n")
			slices.Sort(got)
			if want := saysOf(n, strings.Fields(tt.names)...); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", tt.script, got, want)
			}
		}
	}
	r := run(t, words("-clients 2 -n 3 sh -c", []string{"exec 3>&-; $0 a", file})...)
	r.expect(t, 0, "")
}

func TestProgramsOfARankThatCannotBeItsNextLifeAreToldWhy(t *testing.T) {
	file := program(t, "lives")
	for _, tt := range []struct {
		how, script string
		code        int
		said        string
	}{
		{"-n 3", "$0 a; test $IMPI_RANK = 2 || $0 b", 1, "rank 2"},
		{"-n 3", "$0 a; $0 b; test $IMPI_RANK = 2 || $0 c", 1, "ended after fewer MPI programs than rank"},
		{"-n 2", "$0 a leave; $0 b", 1, "rank 1: a second program of it called MPI_Init before the first had called"},
		{"-n 2", "$0 a leave 3>&-; sleep 100", 1, "which was in MPI as this rank, has ended without MPI_Finalize"},
		{"-n 2", "$0 a during \"$0 b\" 3>&-", 1, "is in MPI as the same rank"},
		{"-clients 2 -n 2", "$0 a; $0 b", 16, "since the job has several clients, or machines"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			r := run(t, words(tt.how, "sh -c", []string{tt.script, file})...)
			if r.code != tt.code || !strings.Contains(r.stderr, tt.said) {
				t.Errorf("code %d, want %d; stderr %q, want %q", r.code, tt.code, r.stderr, tt.said)
			}
			if n := strings.Count(r.stderr, "impirun: "); n != 1 {
				t.Errorf("%d lines of impirun: %q", n, r.stderr)
			}
		})
	}
}
