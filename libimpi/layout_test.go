package libimpi

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/onesided"
)

// z_layout.h: what the bridge's C and the engine both see, generated from the Go types and constants.

var rewrite = flag.Bool("rewrite", false, "write z_layout.h anew")

// seen are the types, in the order in which C needs them.
var seen = []reflect.Type{
	reflect.TypeFor[Shared](), reflect.TypeFor[QuickSlot](), reflect.TypeFor[quickQueue](), reflect.TypeFor[Quick](),
	reflect.TypeFor[Persistent](), reflect.TypeFor[CStatus](), reflect.TypeFor[onesided.Member](),
	reflect.TypeFor[onesided.Target](), reflect.TypeFor[onesided.View](), reflect.TypeFor[board.COperation](),
	reflect.TypeFor[board.CBoardPeer](), reflect.TypeFor[board.CBoard](), reflect.TypeFor[board.CBoardType](),
	reflect.TypeFor[board.CBoards](),
	reflect.TypeFor[board.CLane](),
}

// cNames are the C names of Go types, and of what fields that are pointers point to, if it is a structure.
var cNames = map[string]string{
	"Shared": "impi_shared", "QuickSlot": "impi_quick_slot", "quickQueue": "impi_quick_queue", "Quick": "impi_quick",
	"Persistent": "impi_persistent", "CStatus": "impi_status", "QuickSlot.Held": "impi_type",
	"Member": "impi_window_member", "Target": "impi_window_target", "View": "impi_window",
	"Target.Words": "impi_window_member", "Target.Control": "impi_shm_control", "View.Targets": "impi_window_target",
	"CBoard":         "impi_board",
	"CBoard.Members": "impi_shm_board_member",
	"CBoard.Wide":    "impi_shm_board_wide", "CBoardPeer": "impi_board_peer",
	"CBoardType": "impi_board_type", "CBoards": "impi_boards", "CBoardPeer.Ctl": "impi_shm_control",
	"COperation": "impi_operation", "CLane": "impi_lane", "CLane.Board": "impi_board",
	"CLane.Slots": "impi_shm_board_slot",
}

// cPointers are the types of fields that point to something else.
var cPointers = map[string]string{
	"COperation.Own": "const void *", "COperation.OwnPlan": "const struct impi_plan *",
	"COperation.Plan":    "const struct impi_plan *",
	"COperation.Combine": "void (*combine)(void *left, const void *right, int64_t count)",
}

// constants are the enumerations, and the numbers that have to be as wide as a handle.
func constants(b *bytes.Buffer) {
	for _, e := range []struct {
		prefix string
		names  string
		values []uint64
	}{
		{"QUICK", "SLOTS", []uint64{quickSlots}},
		{"QUICK", "FREE POSTED DONE ADOPTED", []uint64{quickFree, quickPosted, quickDone, quickAdopted}},
		{"PERSISTENT", "SLOTS", []uint64{persistentSlots}},
		{"PERSISTENT", "SEND RECEIVE COLLECTIVE",
			[]uint64{PersistentSend, PersistentReceive, persistentCollective}},
		{"PERSISTENT", "INACTIVE SENT POSTED ENGINE",
			[]uint64{persistentInactive, persistentSent, persistentPosted, persistentEngine}},
		{"STATUS", "CANCELLED EXTERNAL", []uint64{statusCancelled, statusExternal}},
		{"WINDOW", "CLOSED FENCED IN_FENCE IN_START IN_LOCKS IN_LOCK_ALL", []uint64{uint64(onesided.NoAccess),
			uint64(onesided.Fenced), uint64(onesided.InFence), uint64(onesided.InStart), uint64(onesided.InLocks),
			uint64(onesided.InLockAll)}},
		{"WINDOW", "NOT_HELD OPEN SHARED EXCLUSIVE", []uint64{uint64(onesided.NotHeld), uint64(onesided.Open),
			uint64(onesided.Shared), uint64(onesided.Exclusive)}},
	} {
		var list []string
		for i, name := range strings.Fields(e.names) {
			list = append(list, fmt.Sprintf("IMPI_%s_%s = %d", e.prefix, name, e.values[i]))
		}
		fmt.Fprintf(b, "enum { %s };\n", strings.Join(list, ", "))
	}
	fmt.Fprintf(b, "enum { IMPI_FAST_TYPES = %d, IMPI_BOARD_OP_HANDLES = %d };\n", board.CTypes, board.COps)
	fmt.Fprintf(b, "#define IMPI_QUICK_BIT ((uintptr_t)%#x)\n", quickBit)
	fmt.Fprintf(b, "#define IMPI_SENT_REQUEST ((uintptr_t)%#x)\n\n", sentRequest)
}

// cName is the C name of a field.
func cName(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// declared is the C declaration of a field of this type.
func declared(of reflect.Type, f reflect.StructField, name string) string {
	typ := f.Type
	if typ.Kind() == reflect.Array {
		name, typ = fmt.Sprintf("%s[%d]", name, typ.Len()), typ.Elem()
	}
	switch typ.Kind() {
	case reflect.Struct:
		return "struct " + cNames[typ.Name()] + " " + name
	case reflect.UnsafePointer:
		if c := cPointers[of.Name()+"."+f.Name]; strings.HasSuffix(c, ")") {
			return c
		} else if c != "" {
			return c + name
		}
		if to := cNames[of.Name()+"."+f.Name]; to != "" {
			return "struct " + to + " *" + name
		}
		return "void *" + name
	case reflect.Pointer:
		return typ.Elem().Kind().String() + "_t *" + name
	}
	return typ.Kind().String() + "_t " + name
}

// cHeader is z_layout.h: constants and types, and an assertion for each place.
func cHeader() []byte {
	var b, places bytes.Buffer
	b.WriteString("/* Generated by layout_test.go (go test -run TestTheCHeader -rewrite). DO NOT EDIT.\n" +
		"   What the fields mean is said in engine.go, quick.go, board/layout.go, complete.go and onesided. For 64-bit\n" +
		"   machines. */\n" +
		"#ifndef IMPI_LAYOUT_H\n#define IMPI_LAYOUT_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n")
	constants(&b)
	for _, name := range []string{"type", "plan", "shm_control", "shm_board_member", "shm_board_wide", "shm_board_slot"} {
		fmt.Fprintf(&b, "struct impi_%s;\n", name)
	}
	b.WriteString("\n")
	for _, t := range seen {
		name, lines := cNames[t.Name()], []string(nil)
		for i := range t.NumField() {
			f := t.Field(i)
			field := cName(f.Name)
			if f.Name == "_" {
				field = "pad"
			}
			lines = append(lines, "\t"+declared(t, f, field)+";")
			fmt.Fprintf(&places, "_Static_assert(offsetof(struct %s, %s) == %d, \"layout\");\n", name, field, f.Offset)
		}
		fmt.Fprintf(&places, "_Static_assert(sizeof(struct %s) == %d, \"layout\");\n", name, t.Size())
		if t == reflect.TypeFor[Shared]() { // a part of a structure of C's, which has the fields as its own
			const as = "#define IMPI_SHARED_FIELDS \\\n%s\n\nstruct %s { IMPI_SHARED_FIELDS };\n\n"
			fmt.Fprintf(&b, as, strings.Join(lines, " \\\n"), name)
			continue
		}
		fmt.Fprintf(&b, "struct %s {\n%s\n};\n\n", name, strings.Join(lines, "\n"))
	}
	b.Write(places.Bytes())
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

func TestTheCHeaderIsTheLayout(t *testing.T) {
	const name = "z_layout.h"
	if *rewrite {
		if err := os.WriteFile(name, cHeader(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, cHeader()) {
		t.Fatalf("%s is not what this package has: run go test with -rewrite (%v)", name, err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the assertions in the header are not checked here")
	}
	out := filepath.Join(t.TempDir(), "o")
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-x", "c", "-c", "-o", out, name}
	if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
}
