package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// The HPC Challenge benchmark, for who has its source: Linpack, transposition, random access, Fourier transform,
// latency and bandwidth one after another, as one row of the apps group. Debian's binary belongs to Open MPI; its
// source (apt-get --tar-only source hpcc) builds with each library's compiler, and needs a BLAS.

const (
	hpccResult  = "hpccoutf.txt"
	hpccSuccess = "Success=1"
)

// hpccMake is the file of an architecture that HPCC's build asks for: the compiler, and the linker's words for a BLAS.
const hpccMake = `SHELL = /bin/sh
CD = cd
MKDIR = mkdir -p
RM = rm -f
TOPdir = ../../..
INCdir = $(TOPdir)/include
HPLlib = $(TOPdir)/lib/$(arch)/libhpl.a
DEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$(INCdir) -I$(INCdir)/$(arch)
CC = %s
CCNOOPT = $(DEFS)
CCFLAGS = $(DEFS) -O2 -w
LINKER = $(CC)
LINKFLAGS = $(CCFLAGS)
HPL_LIBS = $(HPLlib) %s -lm
ARCHIVER = ar
ARFLAGS = r
RANLIB = ranlib
`

// hpcc is the row of the source in a folder.
func hpcc(tree, blas string) app {
	return app{
		name:  "hpcc",
		build: func(l *library) (string, error) { return buildHPCC(l, tree, blas) },
		input: func(folder string, ranks int) error { return hpccInput(tree, folder, ranks) },
		check: checkHPCC,
	}
}

// buildHPCC builds in a copy, which is the library's own.
func buildHPCC(l *library, tree, blas string) (string, error) {
	folder := filepath.Join(l.folder, "hpcc")
	program := filepath.Join(folder, "hpcc")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if _, err := os.Stat(folder); err == nil {
		return "", fmt.Errorf("hpcc cannot be built with %s", l.title())
	}
	if err := os.CopyFS(folder, os.DirFS(tree)); err != nil {
		return "", err
	}
	if err := modernize(filepath.Join(folder, "hpl/src/comm/HPL_packL.c")); err != nil {
		return "", err
	}
	file := filepath.Join(folder, "hpl", "Make.bench")
	if err := os.WriteFile(file, fmt.Appendf(nil, hpccMake, l.ccPath, blas), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("make", "-C", folder, "-j", strconv.Itoa(runtime.NumCPU()), "arch=bench")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("hpcc with %s: %w\n%s", l.title(), err, out[max(0, len(out)-1000):])
	}
	return program, nil
}

// mpi1 are the functions of HPCC that MPI-3.0 removed; not every library still has them.
var mpi1 = strings.NewReplacer("MPI_Address(", "MPI_Get_address(", "MPI_Type_struct(", "MPI_Type_create_struct(")

func modernize(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(mpi1.Replace(string(text))), 0o644)
}

// hpccInput writes the small problem that comes with the source, for this number of ranks.
func hpccInput(tree, folder string, ranks int) error {
	text, err := os.ReadFile(filepath.Join(tree, "_hpccinf.txt"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "hpccinf.txt"), []byte(onGrid(string(text), ranks)), 0o644)
}

var gridLine = regexp.MustCompile(`(?m)^\d+(\s+[PQ]s)`)

// onGrid puts a grid of ranks into HPCC's input, as square as it can be.
func onGrid(text string, ranks int) string {
	rows := 1
	for d := 1; d*d <= ranks; d++ {
		if ranks%d == 0 {
			rows = d
		}
	}
	return gridLine.ReplaceAllStringFunc(text, func(line string) string {
		rest := strings.TrimLeft(line, "0123456789")
		if strings.HasSuffix(rest, "Ps") {
			return strconv.Itoa(rows) + rest
		}
		return strconv.Itoa(ranks/rows) + rest
	})
}

// checkHPCC: the tests check their own results.
func checkHPCC(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, hpccResult))
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), hpccSuccess) {
		return fmt.Errorf("hpcc: no %s in its results", hpccSuccess)
	}
	return nil
}
