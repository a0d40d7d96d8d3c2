package callsite

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
)

// Program is the debug information of a program or library, for who looks many of its calls up: it is read once.
type Program struct {
	parts []elf.ProgHeader
	data  *dwarf.Data
}

// Open reads the debug information of a file.
func Open(file string) (*Program, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := uint64(0)
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			size += s.Size
		}
	}
	if size == 0 || size > mostDebug {
		return nil, fmt.Errorf("%s: %d bytes of debug information", file, size)
	}
	p := &Program{}
	if p.data, err = f.DWARF(); err != nil {
		return nil, err
	}
	for _, part := range f.Progs {
		if part.Type == elf.PT_LOAD {
			p.parts = append(p.parts, part.ProgHeader)
		}
	}
	return p, nil
}

// Line returns the line of the instruction at an offset in the file.
func (p *Program) Line(offset uint64) (Site, bool) {
	for _, part := range p.parts {
		if part.Off <= offset && offset < part.Off+part.Filesz {
			return lineAt(p.data, offset-part.Off+part.Vaddr)
		}
	}
	return Site{}, false
}
