package callsite

import (
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Crash returns the instruction of the program that a crash at pc has to be looked for: that one itself or, if it is in
// a library of the system or of MPI, the call that has led there. returns are as those of Find; they may have been
// looked for in a handler of signals, whose own functions are in such libraries, too. False: it is not known, yet.
func Crash(maps io.Reader, pc uintptr, returns []uintptr) (Call, bool) {
	mapped := parse(maps)
	if m, ok := mapped.of(uint64(pc)); ok && !m.foreign() {
		return Call{m.file, uint64(pc) - m.start + m.offset}, true
	}
	for _, r := range returns {
		if m, ok := mapped.of(uint64(r)); ok && !m.foreign() {
			return Call{m.file, uint64(r) - 1 - m.start + m.offset}, true
		}
	}
	return Call{}, false
}

// InMPI reports whether MPI's library was at work: the first of these addresses that is in no other library of the
// system is in it.
func InMPI(maps io.Reader, path []uintptr) bool {
	mapped := parse(maps)
	for _, pc := range path {
		m, ok := mapped.of(uint64(pc))
		if ok && strings.HasPrefix(filepath.Base(m.file), "libmpi") {
			return true
		}
		if ok && !m.foreign() {
			return false
		}
	}
	return false
}

// At returns the instruction at an address; false if that is not in a file.
func At(maps io.Reader, pc uintptr) (Call, bool) {
	m, ok := parse(maps).of(uint64(pc))
	return Call{m.file, uint64(pc) - m.start + m.offset}, ok
}

// systems are the beginnings of the names of libraries that are not the program's.
var systems = []string{"libmpi", "ld-", "ld.", "libc.", "libc-", "libm.", "libm-", "libmvec", "libpthread", "libdl",
	"librt", "libgcc_s", "libstdc++", "libgfortran", "libquadmath", "libasan", "libtsan", "libubsan", "liblsan"}

func (m *mapping) foreign() bool {
	name := filepath.Base(m.file)
	for _, s := range systems {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

// Function is the name of the function that an instruction is in, by the symbols of its file. Without symbols it is the
// file and the offset there.
func (c Call) Function() string {
	if f, err := elf.Open(c.File); err == nil {
		defer f.Close()
		if pc, ok := address(f.Progs, c.Offset); ok {
			for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
				symbols, _ := read()
				for _, s := range symbols {
					if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value <= pc && pc < s.Value+s.Size {
						return s.Name
					}
				}
			}
		}
	}
	return fmt.Sprintf("%s+%#x", filepath.Base(c.File), c.Offset)
}

// address is where the linker has put what stands at an offset in a file.
func address(parts []*elf.Prog, offset uint64) (uint64, bool) {
	for _, p := range parts {
		if p.Type == elf.PT_LOAD && p.Off <= offset && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}
