package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func scanned(t *testing.T, files map[string]string) (implementations, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return scan(dir)
}

func TestExportsAndDirectFunctionsAreFound(t *testing.T) {
	found, err := scanned(t, map[string]string{
		"send.go": `package main

// impi_Send sends.
//
//export impi_Send
func impi_Send(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 { return 0 }

//export impi_progress
func impi_progress() {}

// The line "//export impi_Recv" in a comment within a comment exports nothing.
func notExported() {}

//export impi_Wtick
func impi_Wtick() (tick float64) { return 1 }
`,
		"clock.c": `
double impi_direct_Wtime(void)
{
}
int
impi_direct_Initialized(int *flag) {
}
MPI_Comm impi_direct_Comm_fromint(int comm) { return 0; }
int impi_direct_Send(const void *buf, int count, MPI_Datatype datatype,
        int dest, int tag, MPI_Comm comm)
{
    return impi_direct_Ssend(buf, count, datatype, dest, tag, comm);
}
int impi_direct_Recv(void *buf);
/* int impi_direct_Bsend(void) {
 * int impi_direct_Rsend(void) { */
// int impi_direct_Isend(void) {
int impi_exec_Recv(void *buf, MPI_Count count)
{
    return impi_exec_Probe();
}
static int f(void) { if (impi_direct_Irecv()) { return 1; } return impi_direct_Probe(); }
`,
		"z_shim_x.c":   "int impi_direct_Barrier(int comm) {\n}\n",
		"send_test.go": "package main\n\n//export impi_Recv\nfunc impi_Recv() {}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(found.exports); got != "Send Wtick" {
		t.Errorf("exports: %s", got)
	}
	if got := keys(found.direct); got != "Comm_fromint Initialized Send Wtime" {
		t.Errorf("direct: %s", got)
	}
	if got := keys(found.executors); got != "Recv" {
		t.Errorf("executors: %s", got)
	}
	send := found.exports["Send"]
	if strings.Join(send.params, " ") != "uintptr int64 uintptr int32 int32 uintptr" || send.result != "int32" ||
		send.where != "send.go:6" {
		t.Errorf("Send: %+v", send)
	}
	if wtick := found.exports["Wtick"]; wtick.params != nil || wtick.result != "float64" {
		t.Errorf("Wtick: %+v", wtick)
	}
}

func TestWrongImplementationsAreRefused(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "package main\n\n//export impi_Barrier\nfunc impi_Barrier(comm int64) int32 { return 0 }\n",
			"a.go:4: the export must be\n\tfunc impi_Barrier(comm uintptr) int32\nbut has types (int64) int32"},
		{"a.go", "package main\n\n//export impi_Barrier\nfunc impi_Barrier(comm uintptr) {}\n", "but has types (uintptr) "},
		{"a.go", "package main\n\n//export impi_Barrier\nfunc impi_Barrier(comm *int32) int32 { return 0 }\n",
			"has types (?)"},
		{"a.go", "package main\n\n//export impi_Gatherv\n" +
			"func impi_Gatherv(a uintptr, b int64, c, d, e, f, g uintptr, h int32, i uintptr) int32 { return 0 }\n",
			"wide int32) int32"},
		{"a.go", "package main\n\n//export impi_Send_c\nfunc impi_Send_c() int32 { return 0 }\n",
			"impi_Send serves both forms"},
		{"a.go", "package main\n\n//export impi_Sendd\nfunc impi_Sendd() int32 { return 0 }\n",
			"impi_Sendd is no MPI function"},
		{"a.go", "package main\n\n//export impi_Wtime\nfunc impi_Wtime() float64 { return 0 }\n\n" +
			"//export impi_Wtime\nfunc x() float64 { return 0 }\n",
			"exported at a.go:4 already"},
		{"a.go", "package main\n\nfunc {\n", "a.go:3"},
		{"a.c", "int impi_direct_Sendd(int comm) {\n}\n", "impi_direct_Sendd is no MPI function"},
		{"a.c", "int impi_exec_Sendd(int comm) {\n}\n", "impi_exec_Sendd is no function that an executor can stand for"},
		{"a.c", "int impi_exec_Send_c(int comm) {\n}\n", "impi_exec_Send_c is no function that an executor can stand for"},
		{"a.c", "int impi_exec_Alltoallv(int comm) {\n}\n",
			"impi_exec_Alltoallv is no function that an executor can stand for"},
		{"a.c", "double impi_exec_Wtime(void) {\n}\n", "impi_exec_Wtime is no function that an executor can stand for"},
		{"a.c", "int impi_exec_Barrier(int comm) {\n}\n", "impi_exec_Barrier has no export that it could leave anything to"},
		{"a.c", "int impi_direct_Barrier(int a) {\n}\nint impi_direct_Barrier(int a) {\n}\n", "defined in a.c already"},
	} {
		found, err := scanned(t, map[string]string{c.file: c.text})
		if err == nil {
			in := tables(t)
			in.found = found
			_, err = generate(in)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q\ngot error %v\nwant one with %q", c.text, err, c.want)
		}
	}
}

func TestEverySubstituteFits(t *testing.T) {
	in := everyExport(tables(t))
	impl, err := assign(in.allFunctions(), in.allCalls(), in.found)
	if err != nil {
		t.Fatal(err)
	}
	var without []string
	for name, i := range impl {
		if i.missing() {
			without = append(without, name)
		}
		if i.as.Name != name {
			t.Errorf("%s has an export and is served by %s", name, i.as.Name)
		}
	}
	if without != nil {
		t.Errorf("without implementation: %v", without)
	}
	for _, c := range []struct{ old, now string }{
		{"Address", "Get_address"}, {"Type_size_x", "Type_size_c"}, {"Comm_c2f", "Comm_toint"},
		{"Type_f2c", "Type_fromint"}, {"Keyval_create", "Comm_create_keyval"}, {"Status_set_elements_x",
			"Status_set_elements_c"},
	} {
		delete(in.found.exports, c.old)
		impl, err := assign(in.allFunctions(), in.allCalls(), in.found)
		if err != nil {
			t.Fatal(err)
		}
		if got := impl["MPI_"+c.old].as.Short(); got != c.now {
			t.Errorf("%s is served by %s, want %s", c.old, got, c.now)
		}
	}
}
