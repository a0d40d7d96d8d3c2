package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vendorRow is a predefined handle in gobridge/vendor/z_*.h.
var vendorRow = regexp.MustCompile(`X\((0x[0-9a-f]+), (\w+)\)`)

// Each handle that is written is that of the ABI's table, beside the number that libimpi knows it by.
func TestHandlesForOtherLibrariesAreThoseOfTheirABIs(t *testing.T) {
	in, err := readInput(root(t))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // by the number in the ABI of MPI 5.0
	for _, c := range in.constants {
		if v, err := c.Int(); err == nil && strings.HasPrefix(c.Kind, "handle ") && names[fmt.Sprintf("0x%x", v)] == "" {
			names[fmt.Sprintf("0x%x", v)] = c.Name
		}
	}
	for abi := range vendorABIs {
		text, err := vendorConstants(in.constants, in.foreign[abi], abi)
		if err != nil {
			t.Fatal(err)
		}
		rows := vendorRow.FindAllStringSubmatch(string(text), -1)
		if len(rows) != len(vendorHandles) {
			t.Errorf("%s: %d handles, want %d", abi, len(rows), len(vendorHandles))
		}
		for _, row := range rows {
			want := row[1]
			if of := in.foreign[abi][names[row[1]]]; of.symbol != "" {
				want = of.symbol
			} else if abi != "standard" {
				want = fmt.Sprintf("0x%x", uint32(of.number))
			}
			if row[2] != want {
				t.Errorf("%s: %s is %s, want %s", abi, names[row[1]], row[2], want)
			}
		}
	}
}

func TestAConstantThatAnABILacksIsAnError(t *testing.T) {
	in, err := readInput(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MPI_IN_PLACE", "MPI_UINT16_T"} {
		of := in.foreign["mpich"]
		value := of[name]
		delete(of, name)
		if _, err := vendorConstants(in.constants, of, "mpich"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		of[name] = value
	}
}

// What package coll leaves to another library, that library can be told.
func TestTypesThatAreLeftToOtherLibrariesHaveHandlesThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "coll", "vendor.go"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)leavableTypes = \[\]int\{(.*?)\}`).FindSubmatch(text)
	if list == nil {
		t.Fatal("coll/vendor.go has no leavableTypes")
	}
	types := regexp.MustCompile(`abi\.MPI_(\w+)`).FindAllSubmatch(list[1], -1)
	for _, m := range types {
		if !slices.Contains(vendorHandles, string(m[1])) {
			t.Errorf("MPI_%s is left to other libraries, and is not in vendorHandles", m[1])
		}
	}
	if len(types) < 20 {
		t.Errorf("only %d types are left to other libraries", len(types))
	}
}
