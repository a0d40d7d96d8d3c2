// Package callsite finds the line of the program that has called the library, by the debug information of the program
// (DWARF), for messages about its last call. It is slow, and meant for processes that are about to end.
//
// Flow: return addresses -> Find: mapping of each address -> first one outside of MPI's own libraries -> line. Of a
// crash (function.go): address of the instruction -> Crash -> line and function.
package callsite

import (
	"bufio"
	"debug/dwarf"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Site is a line of a source file.
type Site struct {
	File string // as the compiler has noted it
	Line int
}

func (s Site) String() string { return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line) }

// mostDebug bounds, in bytes, the debug information that is read of a file: it is read as a whole. fewDebug is how much
// each rank of a job may read at the same time.
const (
	mostDebug = 256 << 20
	fewDebug  = 16 << 20
)

// Find returns the line of the innermost call from outside of MPI's libraries. The addresses are those to which
// functions return, innermost first; maps has the format of /proc/PID/maps. False: that code has no debug information,
// or its file is not there any more.
func Find(maps io.Reader, returns []uintptr) (Site, bool) {
	if calls := Outside(maps, returns); len(calls) > 0 {
		return calls[0].Line()
	}
	return Site{}, false
}

// Call is an instruction that calls another function.
type Call struct {
	File   string // that it is in
	Offset uint64 // there, in bytes
}

// Outside returns the calls from the innermost one outside of MPI's libraries on, as far as they are in files. The
// arguments are those of Find.
func Outside(maps io.Reader, returns []uintptr) (calls []Call) {
	mapped := parse(maps)
	for _, pc := range returns {
		m, ok := mapped.of(uint64(pc))
		if !ok {
			break
		}
		if len(calls) > 0 || !strings.HasPrefix(filepath.Base(m.file), "libmpi") {
			// The call lies before the address it returns to.
			calls = append(calls, Call{m.file, uint64(pc) - 1 - m.start + m.offset})
		}
	}
	return calls
}

// Through reports whether a library of MPI's whose file name contains a word has made a call for the program. The
// arguments are those of Find.
func Through(maps io.Reader, returns []uintptr, word string) bool {
	mapped := parse(maps)
	for _, pc := range returns {
		m, ok := mapped.of(uint64(pc))
		name := filepath.Base(m.file)
		if !ok || !strings.HasPrefix(name, "libmpi") {
			return false
		}
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Line returns the line of a call. False: the code has no debug information, or its file is not there any more.
func (c Call) Line() (Site, bool) { return lineIn(c.File, c.Offset, mostDebug) }

// QuickLine is Line of a file with little debug information. Of others it knows no line: the ranks of a job would need
// much memory if all of them looked, and the launcher does it once.
func (c Call) QuickLine() (Site, bool) { return lineIn(c.File, c.Offset, fewDebug) }

// Mapping is a range of addresses that shows a file from an offset on.
type Mapping struct {
	Start, End, Offset uint64
	File               string
}

// Code returns the mappings of code; maps has the format of /proc/PID/maps.
func Code(maps io.Reader) (code []Mapping) {
	for _, m := range parse(maps) {
		if m.runs {
			code = append(code, Mapping{m.start, m.end, m.offset, m.file})
		}
	}
	return code
}

// mapping is a range of addresses that shows a file from an offset on.
type mapping struct {
	start, end, offset uint64
	file               string
	runs               bool // code in it may run
}

type mappings []mapping

func parse(maps io.Reader) (all mappings) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var m mapping
		var access, device string
		var inode uint64
		line := lines.Text()
		n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.start, &m.end, &access, &m.offset, &device, &inode)
		at := strings.IndexByte(line, '/')
		if n < 6 || at < 0 {
			continue // memory without a file
		}
		m.file, m.runs = line[at:], strings.Contains(access, "x")
		all = append(all, m)
	}
	return all
}

func (all mappings) of(pc uint64) (mapping, bool) {
	for _, m := range all {
		if m.start <= pc && pc < m.end {
			return m, true
		}
	}
	return mapping{}, false
}

// lineIn returns the line of the instruction at an offset in a file, if that has at most so many bytes of debug
// information.
func lineIn(file string, offset, most uint64) (Site, bool) {
	p, err := open(file, most)
	if err != nil {
		return Site{}, false
	}
	return p.Line(offset)
}

// lineAt goes through all of a unit's lines: its sequences are in no order (LineReader.SeekPC wants the lowest first).
func lineAt(data *dwarf.Data, pc uint64) (Site, bool) {
	unit, err := data.Reader().SeekPC(pc)
	if err != nil {
		return Site{}, false
	}
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return Site{}, false
	}
	var before, entry dwarf.LineEntry
	for inside := false; lines.Next(&entry) == nil; inside = !entry.EndSequence {
		if inside && before.Address <= pc && pc < entry.Address && before.File != nil && before.Line != 0 {
			return Site{File: before.File.Name, Line: before.Line}, true
		}
		before = entry
	}
	return Site{}, false
}
