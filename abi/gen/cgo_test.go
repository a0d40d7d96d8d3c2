package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A small library out of real Go exports: what the recorders of shim_test.go
// stand for.
const tinyBridge = `package main

// #cgo CFLAGS: -Wall -Werror
// #include "shim/z_exports.h"
import "C"

import _ "tiny/gobridge/shim"

//export impi_Get_count
func impi_Get_count(status, datatype, count uintptr) int32 { return int32(datatype) }

//export impi_Send
func impi_Send(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32 {
	return int32(count)
}

//export impi_Comm_fromint
func impi_Comm_fromint(comm int32) uintptr { return uintptr(comm) }

//export impi_Wtick
func impi_Wtick() float64 { return 0.5 }

//export impi_section
func impi_section(layout uintptr, count int64, datatype uintptr) uintptr { return datatype }

func main() {}
`

const tinyC = `#include "shim.h"
#include "z_shim.h"
#include "z_direct.h"
int impi_mode;
__thread struct impi_call impi_call;
int impi_raise(int code, int call, const uint64_t *args) { return code; }
void impi_before(struct impi_seen *seen, int call, const uint64_t *args) {}
int impi_after(struct impi_seen *seen, int code) { return code; }
int impi_after_fork(const char *function) { return MPI_ERR_OTHER; }
int impi_flag_after_fork(const char *function, int *flag) { return MPI_ERR_OTHER; }
int impi_missing(char *function, int kind, uintptr_t handle) { return MPI_ERR_UNSUPPORTED_OPERATION; }
void impi_deliver(void) {}
double impi_direct_Wtime(void) { return 1.5; }
`

const tinyProgram = `#include <mpi.h>
int main(void)
{
    int count;
    return !(MPI_Send(0, 17, MPI_INT, 0, 0, MPI_COMM_WORLD) == 17 && PMPI_Send_c(0, 18, MPI_INT, 0, 0,
	MPI_COMM_WORLD) == 18
        && MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 0x209 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD
        && MPI_Comm_f2c(0x101) == MPI_COMM_WORLD && MPI_Wtick() == 0.5 && MPI_Wtime() == 1.5
        && MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_UNSUPPORTED_OPERATION);
}
`

func tiny(t *testing.T, dir, bridge string) input {
	t.Helper()
	t.Setenv("CGO_CFLAGS", "-O0") // what is compiled is looked at, and hardly run
	gobridge := filepath.Join(dir, "gobridge")
	if err := os.MkdirAll(filepath.Join(gobridge, "shim"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.26.0\n", "gobridge/main.go": bridge,
		"gobridge/shim/shim.go": "package shim\n\nimport \"C\"\n",
		"gobridge/shim/tiny.c":  tinyC, "gobridge/shim/shim.h": shimH, "program.c": tinyProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in := tables(t)
	var err error
	if in.found, err = scan(gobridge); err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, in)
	return in
}

func TestALibraryOfRealExportsWorksAndExportsTheTable(t *testing.T) {
	dir := t.TempDir()
	in := tiny(t, dir, tinyBridge)
	execute(t, dir, "go", "build", "-buildmode=c-shared", "-o", "libmpi.so",
		"-ldflags=-s -w -extldflags=-Wl,--version-script="+filepath.Join(dir, "gobridge", "shim", "z_exports.map"),
		"./gobridge")
	if err := compareSymbols(filepath.Join(dir, "libmpi.so"), in.allFunctions(), forFortran...); err != nil {
		t.Error(err)
	}
	execute(t, dir, "gcc", "-Wall", "-Werror", "-I.", "-o", "program", "program.c", "-L.", "-lmpi", "-Wl,-rpath,"+dir)
	execute(t, dir, "./program")
}

// The generator refuses an export of another type; so does the compiler, when
// the generator was not run again.
func TestAnExportThatChangedAfterwardsDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	tiny(t, dir, tinyBridge)
	changed := strings.Replace(tinyBridge, "dest, tag int32, comm uintptr) int32",
		"dest int32, tag int64, comm uintptr) int32", 1)
	if changed == tinyBridge {
		t.Fatal("nothing changed")
	}
	if err := os.WriteFile(filepath.Join(dir, "gobridge", "main.go"), []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", "libmpi.so", "./gobridge")
	build.Dir = dir
	out, err := build.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "conflicting types for") || !strings.Contains(string(out),
		"impi_Send") {
		t.Errorf("error %v\n%s", err, out)
	}
}
