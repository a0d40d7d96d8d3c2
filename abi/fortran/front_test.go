package fortran

import (
	"strings"
	"testing"
)

func TestAFrontsHeaderHasTheTypesAndValuesOfItsABI(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for front, want := range map[string][]string{
		"mpich": {
			"typedef int MPI_Comm;", "typedef struct MPI_ABI_File *MPI_File;", "extern int *const MPI_UNWEIGHTED;",
			"#define MPI_COMM_WORLD ((MPI_Comm)(intptr_t)1140850688)", "#define MPI_ERR_TRUNCATE (14)",
			"    X(comm_world, 1140850688)", "count_low, count_high, MPI_SOURCE", "#define MPIX_ERR_REVOKED (103)",
		},
		"openmpi": {
			"#define MPI_COMM_WORLD ((MPI_Comm)ompi_mpi_comm_world)", "#define MPI_ERR_TRUNCATE (15)",
			"    X(comm_world, 0)", "    X(2complex, 26)", "MPI_ERROR, marks;", "#define MPIX_FT (12)",
			"int PMPIX_Comm_revoke(MPI_Comm comm);",
		},
	} {
		text, err := frontHeader(root, front)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("mpi.h of %s has no %q", front, part)
			}
		}
		if strings.Contains(text, "MPI_internal[5];\n} MPI_Status;") {
			t.Errorf("mpi.h of %s has libimpi's status", front)
		}
		if strings.Contains(text, "X(MPIX_") || strings.Contains(text, "X(mpix_") {
			t.Errorf("mpi.h of %s takes an error class for a handle", front)
		}
	}
}

func TestFrontsHaveTheEntriesThatTheirModulesCall(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	in, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	mpich, openmpi := in.entries(target{4, "mpich"}), in.entries(target{4, "openmpi"})
	for _, name := range []string{"void F_(send)(", "void F08TS_(send)(struct descriptor *buf", "void LARGETS_(send)(",
		"CPTR(win_allocate, WIN_ALLOCATE)"} {
		if !strings.Contains(mpich, name) {
			t.Errorf("MPICH's have no %s", name)
		}
	}
	for _, name := range []string{"void F_(send)(void *buf", "ALSO_F08(send)", "EXTENSION(bcast_init, BCAST_INIT)"} {
		if !strings.Contains(openmpi, name) {
			t.Errorf("Open MPI's have no %s", name)
		}
	}
	own := in.entries(target{4, ""})
	for name, text := range map[string]string{"mpich": mpich, "openmpi": openmpi} {
		if !strings.Contains(text, "int e = MPIX_Comm_revoke(Comm_in(*comm));") || strings.Contains(text, "#pragma weak") {
			t.Errorf("%s looks whether its own functions are there", name)
		}
		if n, all := strings.Count(text, "EXTENSION_NAMES("), strings.Count(own, "EXTENSION_NAMES("); n != all || n == 0 {
			t.Errorf("%s has %d procedures of mpix.h of %d", name, n, all)
		}
	}
	for _, name := range []string{"descriptor", "LARGE", "Abi_get"} {
		if strings.Contains(openmpi, name) {
			t.Errorf("Open MPI's have %s", name)
		}
	}
	if strings.Contains(mpich, "MPI_Abi") || strings.Contains(mpich, "datarep->elem_len") {
		t.Error("MPICH's have what it has not")
	}
}
