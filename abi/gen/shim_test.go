package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
)

// The shims are compiled against recorders in the place of the Go exports and
// of the hand-written C, and every function is called.

// shimH is what the generated shims need of gobridge/shim/shim.h.
const shimH = `
#pragma once
#include <stdint.h>
int impi_raise(int code, int call, const uint64_t *args);
int impi_missing(char *function, int kind, uintptr_t handle);
enum { IMPI_FORKED = 1, IMPI_OBSERVED = 2 };
extern int impi_mode;
int impi_after_fork(const char *function);
int impi_flag_after_fork(const char *function, int *flag);
void impi_deliver(void);
struct impi_call { const char *names; const void *at[12]; int again; };
extern __thread struct impi_call impi_call;
struct impi_seen { int call; const uint64_t *args; };
void impi_before(struct impi_seen *seen, int call, const uint64_t *args);
int impi_after(struct impi_seen *seen, int code);
static inline int impi_again(void) { int again = impi_call.again; impi_call.again = 0; return again; }
`

const recorder = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "_cgo_export.h"
#include "shim.h"
#include "z_shim.h"

const char *called;           /* the export, or 0 */
long long args[32];           /* what it got */
int nargs;
long long result;             /* what it returns */
void (*effect)(void);         /* what it does */

const char *told;             /* the function that impi_missing or impi_after_fork was told */
int kind, raised;
int delivered;                /* 1: impi_deliver was called, and nothing had been raised */
uintptr_t handle;
int impi_mode;
__thread struct impi_call impi_call;

int raised_call, seen_before = -1, seen_after = -1;
const uint64_t *raised_args, *seen_args;
int impi_raise(int code, int call, const uint64_t *args)
{
    static uint64_t kept[2];
    raised = code, raised_call = call, kept[0] = args[0], kept[1] = args[1], raised_args = kept;
    return code + 1000;
}
void impi_before(struct impi_seen *seen, int call, const uint64_t *args)
{
    static uint64_t kept[6];
    seen_before = seen->call = call;
    memcpy(kept, args, sizeof kept);
    seen_args = kept;
    impi_call.again = 1;
}
int impi_after(struct impi_seen *seen, int code) { seen_after = seen->call; return code ? code + 1 : 0; }
void impi_deliver(void) { delivered = raised ? -1 : 1; }
int impi_after_fork(const char *function) { told = function; return 2000; }
int impi_flag_after_fork(const char *function, int *flag) { told = function; return 2000; }
int impi_missing(char *function, int k, uintptr_t h)
{
    told = function; kind = k; handle = h;
    return 2000;
}
`

const driverTop = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../mpi.h"
#include "shim.h"
#include "z_shim.h"
#include "z_calls.h"

extern const char *called, *told;
extern int raised_call, seen_before, seen_after;
extern const uint64_t *raised_args, *seen_args;
extern long long args[], result;
extern int nargs, kind, raised, delivered, impi_mode;
extern uintptr_t handle;
extern void (*effect)(void);
extern uint32_t impi_events;

static int failures, slot;
#define CHECK(condition) do { if (!(condition)) { \
    printf("%d: %s\n", __LINE__, #condition); failures++; } } while (0)

static void reset(void)
{
    called = told = 0;
    nargs = kind = raised = delivered = 0;
    handle = 0; result = 0; effect = 0;
}
static int is(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static void expect(const char *function, const char *export, int n, const long long *want)
{
    int i;
    if (!is(called, export) || nargs != n) {
        printf("%s: called %s with %d arguments, want %s with %d\n", function, called ? called : "nothing", nargs,
	export, n);
        failures++;
        return;
    }
    for (i = 0; i < n; i++)
        if (want[i] != -1 ? args[i] != want[i] : args[i] == 0 || args[i] == (long long)(uintptr_t)&slot) {
            printf("%s: argument %d is %llx, want %llx\n", function, i, args[i], want[i]);
            failures++;
        }
}

static void expect_unsupported(const char *function, int k, long long h)
{
    if (!is(told, function) || kind != k || handle != (uintptr_t)h || called) {
        printf("%s: told %s, kind %d, handle %llx; want kind %d, handle %llx\n", function, told ? told : "nothing",
            kind, (long long)handle, k, h);
        failures++;
    }
}
`

// value is what the driver passes for the n-th parameter, and what the export
// must get: negative in 32 bits, beyond 32 bits where there are more.
func value(p table.Param, n int) int64 {
	switch p.Class {
	case table.Int:
		return -1000 - int64(n)
	case table.Wide:
		return 1<<40 + int64(n)
	}
	return 0x7000_0000_0000 + int64(n)
}

// callOf writes the C call of f with these values; "slot" stands for addresses
// that the shim reads or writes itself.
func callOf(f table.Function, slot map[string]bool) string {
	var list []string
	for n, p := range f.Params {
		switch {
		case slot[p.Name]:
			list = append(list, "&slot")
		case depth(p) > 0 && p.Dims == "[][3]":
			list = append(list, fmt.Sprintf("(int (*)[3])%#x", value(p, n)))
		case p.Class == table.Pointer && depth(p) == 0:
			list = append(list, fmt.Sprintf("(%s *)%#x", p.Type, value(p, n)))
		default:
			list = append(list, fmt.Sprintf("(%s)%d", pointerType(p), value(p, n)))
		}
	}
	return f.Name + "(" + strings.Join(list, ", ") + ")"
}

// build compiles the shims of in, a fake _cgo_export.h, the recorder and the
// driver, runs the driver and reports what it prints.
func build(t *testing.T, in input, recorded, driver string) {
	t.Helper()
	dir := t.TempDir()
	var cgo, fakes strings.Builder
	cgo.WriteString("#include <stddef.h>\ntypedef int GoInt32;\ntypedef long long GoInt64;\n" +
		"typedef size_t GoUintptr;\ntypedef double GoFloat64;\n")
	for _, c := range in.allCalls() {
		if _, ok := in.found.exports[c.Small.Short()]; ok {
			writeFake(&cgo, &fakes, c)
		}
	}
	writeTree(t, dir, in, "gobridge/shim/_cgo_export.h", cgo.String(), "gobridge/shim/shim.h", shimH,
		"gobridge/shim/recorder.c", recorder+fakes.String()+recorded, "gobridge/shim/driver.c", driverTop+driver)
	sources, err := filepath.Glob(filepath.Join(dir, "gobridge", "shim", "*.c"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function", "-Werror", "-O0",
		"-o", "driver"}
	execute(t, dir, "gcc", append(args, sources...)...)
	if out := execute(t, dir, "./driver"); out != "" {
		t.Error(out)
	}
}

func writeFake(header, source *strings.Builder, c table.Call) {
	var params, record []string
	for n, p := range c.GoParams() {
		params = append(params, fmt.Sprintf("%s a%d", cgoTypes[p.Type], n))
		record = append(record, fmt.Sprintf("args[%d] = (long long)a%d;", n, n))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	declaration := fmt.Sprintf("%s %s(%s)", cgoTypes[c.Result], c.Export(), strings.Join(params, ", "))
	fmt.Fprintf(header, "extern %s;\n", declaration)
	fmt.Fprintf(source, "%s\n{\n    called = %q; nargs = %d; %s\n    if (effect) effect();\n    return result;\n}\n",
		declaration, c.Export(), len(record), strings.Join(record, " "))
}

func TestEveryFunctionCallsItsExportWithItsArguments(t *testing.T) {
	in := everyExport(tables(t))
	byName, calls := map[string]table.Function{}, map[string]table.Call{}
	for _, f := range in.allFunctions() {
		byName[f.Name] = f
		if substitute(f) != "" {
			delete(in.found.exports, f.Short())
		}
	}
	for _, c := range in.allCalls() {
		calls[c.Small.Name] = c
	}
	var b strings.Builder
	b.WriteString("static int intercepted;\n" +
		"int MPI_Barrier(MPI_Comm comm) { intercepted++; return PMPI_Barrier(comm); }\n")
	b.WriteString(conversions)
	b.WriteString("int main(void)\n{\n")
	for _, f := range in.allFunctions() {
		as := f
		if name := substitute(f); name != "" {
			as = byName[name]
		}
		base, large := strings.CutSuffix(as.Name, "_c")
		writeExpectation(&b, f, as, calls[base], large)
	}
	b.WriteString("    CHECK(intercepted == 1);\n    conversions();\n" +
		"    return failures != 0 ? puts(\"failed\") : 0;\n}\n")
	build(t, in, "", b.String())
}

// writeExpectation matches arguments by name, where the shim goes by position.
func writeExpectation(b *strings.Builder, f, as table.Function, c table.Call, large bool) {
	slot, sent := map[string]bool{}, map[string]int64{}
	for n, p := range f.Params {
		sent[as.Params[n].Name] = value(p, n)
	}
	var want []string
	for n, q := range c.Form().Params {
		v, ok := sent[q.Name]
		switch {
		case !ok: // only in the large form
			want = append(want, "0")
		case !large && c.Large != nil && (c.Diffs[n] == table.WiderOutput || c.Diffs[n] == table.WiderPosition):
			slot[q.Name] = true
			want = append(want, "-1")
		default:
			want = append(want, fmt.Sprint(v))
		}
	}
	if c.Wide {
		want = append(want, map[bool]string{false: "0", true: "1"}[large])
	}
	fmt.Fprintf(b, "    reset(); { static const long long want[] = { %s };\n", strings.Join(append(want, "0"), ", "))
	fmt.Fprintf(b, "    %s;\n    expect(%q, %q, %d, want); }\n", callOf(f, slot), f.Name, c.Export(), len(want))
}

// executors do what they can, and Go the rest: Pack where there is room for it, in both forms.
const executors = `
#include "z_direct.h"
int impi_exec_Send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return count < 10 ? 0 : count < 20 ? 7 : IMPI_IN_GO; }
int impi_exec_Pack(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
    MPI_Count *position, MPI_Comm comm)
{
    if (!position || incount > outsize - *position) return IMPI_IN_GO;
    *position += incount;
    return 0;
}
int impi_exec_Iscatter(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{ return sendcount < 10 ? 0 : IMPI_IN_GO; }
int impi_exec_Type_get_extent(MPI_Datatype datatype, MPI_Count *lb,
	MPI_Count *extent) { *lb = -1; *extent = 1LL << 40; return 0; }
`

const executed = `
static void done(void)
{
    int position = 3;
    MPI_Count at = 1LL << 33, size, lower;
    MPI_Aint lb, extent;
    reset();
    CHECK(MPI_Send(0, 3, MPI_INT, 4, 0, MPI_COMM_WORLD) == 0 && MPI_Send_c(0, 3, MPI_INT, 4, 0,
	MPI_COMM_WORLD) == 0 && !called);
    CHECK(MPI_Pack(0, 5, MPI_INT, 0, 8, &position, MPI_COMM_WORLD) == 0 && position == 8 && !called);
    CHECK(MPI_Pack_c(0, 5, MPI_INT, 0, 1LL << 40, &at, MPI_COMM_WORLD) == 0 && at == (1LL << 33) + 5 && !called);
    CHECK(MPI_Type_get_extent(MPI_INT, &lb, &extent) == 0 && lb == -1 && extent == 1LL << 40 && !called);
    CHECK(MPI_Type_get_extent_x(MPI_INT, &lower, &size) == 0 && lower == -1 && size == 1LL << 40 && !called);
    CHECK(MPI_Send(0, 10, MPI_INT, 4, 0, MPI_COMM_WORLD) == 1007 && raised == 7 && !called);
}

static void left_to_go(void)
{
    int position = 6;
    reset();
    CHECK(MPI_Send(0, 20, MPI_INT, 4, 0, MPI_COMM_WORLD) == 0 && is(called, "impi_Send") && args[1] == 20);
    reset(); result = 5;
    CHECK(MPI_Pack(0, 5, MPI_INT, 0, 8, &position, MPI_COMM_WORLD) == 1005 && is(called, "impi_Pack") && position == 6);
    CHECK(MPI_Pack_c(0, 5, MPI_INT, 0, 8, 0, MPI_COMM_WORLD) == 1005 && raised == 5);
}

int main(void) { done(); left_to_go(); return failures != 0 ? puts("failed") : 0; }
`

func TestAnExecutorComesBeforeTheExport(t *testing.T) {
	in := everyExport(tables(t))
	for _, name := range []string{"Send", "Pack", "Type_get_extent", "Iscatter"} {
		in.found.executors[name] = "recorder.c"
	}
	delete(in.found.exports, "Type_get_extent_x")
	build(t, in, executors, executed)
}

var firstOwner = regexp.MustCompile(`[(,] ?MPI_(Comm|Win|File|Session) (\w+)[,)]`)

func TestAFunctionWithoutImplementationSaysSo(t *testing.T) {
	in := tables(t)
	for _, name := range []string{"Wtime", "Send", "Comm_toint", "Type_create_struct", "Type_size_c"} {
		in.found.direct[name] = "recorder.c"
	}
	isDirect := map[string]bool{"MPI_Comm_c2f": true, "MPI_Type_struct": true, "MPI_Type_size_x": true}
	for name := range in.found.direct {
		isDirect["MPI_"+name] = true
	}
	kinds := map[string]int{"Comm": 1, "Win": 2, "File": 3, "Session": 4}
	var b strings.Builder
	b.WriteString(directChecks + "int main(void)\n{\n")
	for _, f := range in.allFunctions() {
		if isDirect[f.Name] {
			continue
		}
		call := callOf(f, nil)
		if f.Tool() {
			fmt.Fprintf(&b, "    reset(); CHECK(%s == MPI_T_ERR_NOT_SUPPORTED && !told);\n", call)
			continue
		}
		kind, handle := 0, int64(0)
		if m := firstOwner.FindStringSubmatch(f.Prototype); m != nil {
			kind = kinds[m[1]]
			for n, p := range f.Params {
				if p.Name == m[2] {
					handle = value(p, n)
				}
			}
		}
		want := "3000"
		switch {
		case f.Result == "int" && strings.HasSuffix(f.Name, "_toint"), f.Result == "MPI_Fint", f.Result == "MPI_Aint",
			f.Result == "double":
			want = "0"
		case f.Result != "int":
			want = strings.ToUpper(f.Result) + "_NULL"
		}
		fmt.Fprintf(&b, "    reset(); CHECK(%s == %s);\n    expect_unsupported(%q, %d, %d);\n", call, want, f.Name, kind,
			handle)
	}
	b.WriteString("    direct();\n    return failures != 0 ? puts(\"failed\") : 0;\n}\n")
	build(t, in, directFunctions, b.String())
}

const directFunctions = `
#include "z_direct.h"
double impi_direct_Wtime(void) { return 1.5; }
int impi_direct_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return count + dest; }
int impi_direct_Comm_toint(MPI_Comm comm) { return (int)(uintptr_t)comm; }
int impi_direct_Type_create_struct(int count, const int l[], const MPI_Aint d[], const MPI_Datatype t[],
	MPI_Datatype *n)
{ return l[0] + (int)d[0]; }
int impi_direct_Type_size_c(MPI_Datatype datatype, MPI_Count *size) { *size = 1LL << 40; return 0; }
`

const directChecks = `
static void direct(void)
{
    int length = 4;
    MPI_Aint displacement = 5;
    MPI_Datatype type = MPI_INT;
    MPI_Count size;
    reset();
    CHECK(MPI_Wtime() == 1.5 && PMPI_Wtime() == 1.5);
    CHECK(MPI_Send(0, 3, MPI_INT, 4, 0, MPI_COMM_WORLD) == 7);
    CHECK(MPI_Send(&length, 3, MPI_INT, 4, 0, MPI_COMM_WORLD) == 7 && impi_call.at[0] == &length);
    CHECK(!memcmp(impi_call.names, "MPI_Send\0buf\0", 14));
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_c2f(MPI_COMM_SELF) == 0x102);
    CHECK(MPI_Type_create_struct(1, &length, &displacement, &type, &type) == 9);
    CHECK(MPI_Type_struct(1, &length, &displacement, &type, &type) == 9);
    CHECK(MPI_Type_size_x(MPI_INT, &size) == 0 && size == 1LL << 40);
    CHECK(!told);
    impi_mode = IMPI_FORKED;
    CHECK(MPI_Send(0, 3, MPI_INT, 4, 0, MPI_COMM_WORLD) == 2000 && is(told, "MPI_Send"));
    CHECK(MPI_Wtime() == 1.5);
    impi_mode = 0;
}
`
