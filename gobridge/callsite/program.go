package callsite

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
)

// Program is the debug information of a program or library, for who looks many of its calls up: it is read once.
type Program struct {
	parts []*elf.Prog
	data  *dwarf.Data
}

// Open reads the debug information of a file.
func Open(file string) (*Program, error) { return open(file, mostDebug) }

// open is Open of a file that has at most so many bytes of debug information.
func open(file string, most uint64) (*Program, error) {
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
	if size == 0 || size > most {
		return nil, fmt.Errorf("%s: %d bytes of debug information", file, size)
	}
	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	return &Program{parts: f.Progs, data: data}, nil
}

// Line returns the line of the instruction at an offset in the file.
func (p *Program) Line(offset uint64) (Site, bool) {
	pc, ok := address(p.parts, offset)
	if !ok {
		return Site{}, false
	}
	return lineAt(p.data, pc)
}
