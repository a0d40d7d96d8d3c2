package vendor

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// header is the beginning of an ELF file of a class (1: 32 bits, 2: 64) and byte order.
func header(class, order byte, machine uint16) string {
	b := make([]byte, 64)
	copy(b, "\x7fELF")
	b[4], b[5], b[6], b[16] = class, order, 1, 3
	if binary.LittleEndian.PutUint16(b[18:], machine); order == 2 {
		binary.BigEndian.PutUint16(b[18:], machine)
	}
	return string(b)
}

func TestAFileForOtherProgramsIsNoticed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	program := write("program", header(2, 1, 62))
	for text, want := range map[string]string{
		header(1, 1, 3):         "for programs of 32 bits, and this one has 64: give the path of the library for 64 bits",
		header(1, 2, 20):        "for programs of 32 bits",
		header(2, 1, 183):       "for another processor (machine 183 in its ELF header, and 62 in",
		header(2, 2, 22):        "for another processor (machine 22 ",
		header(2, 1, 62):        "<nil>",
		header(2, 1, 62)[:19]:   "<nil>",
		header(3, 1, 62):        "<nil>",
		"no ELF file, but long": "<nil>",
		"":                      "<nil>",
	} {
		if got := fmt.Sprint(ofAnotherKind(write("library", text), program)); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, file := range []string{"libmpi.so.12", filepath.Join(dir, "nothing")} {
		if err := ofAnotherKind(file, program); err != nil {
			t.Errorf("%s, which is not there: %v", file, err)
		}
	}
	if err := ofAnotherKind(self, self); err != nil {
		t.Error(err)
	}
}
