// Package linked answers which libraries a program needs, and which files of these names the dynamic loader takes, as
// ld.so(8) has it: without running anything.
//
// The loader looks in the RPATH of what needs the library, if that has no RUNPATH, and of the program; in
// LD_LIBRARY_PATH; in the RUNPATH of what needs it; and where the system has its libraries.
package linked

import (
	"bufio"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Library is one that a program, or a library of it, needs.
type Library struct {
	Name  string // as the linker wrote it down
	By    string // the file that needs it
	Path  string // the file that the loader takes; "": none where this package looks
	Fixed bool   // it is found in an RPATH: no LD_LIBRARY_PATH changes that
}

// base are libraries of the C library and the compiler, which need no others.
var base = regexp.MustCompile(`^(lib(c|m|dl|pthread|rt|util|resolv|gcc_s|stdc\+\+|gfortran)|ld-linux.*|ld)\.so`)

// most is how many libraries are looked at: a program with more is no reason to take long.
const most = 500

// Libraries are those that a program needs, and those that these need, in the order in which the loader takes them,
// without repetitions. libraryPath is the LD_LIBRARY_PATH that it is to run with; leaf says of which libraries it does
// not matter what they need. ok says whether the file is a program at all: a script is none.
func Libraries(file, libraryPath string, leaf func(name string) bool) (list []Library, ok bool) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	s := &search{machine: f.Machine, path: folders(libraryPath, ""), usual: usual()}
	s.take(f, file, filepath.Dir(real), nil)
	for next := 0; next < len(s.found) && next < most; next++ {
		l := &s.found[next]
		if l.Path == "" || base.MatchString(l.Name) || leaf(l.Name) {
			continue
		}
		if f, err := elf.Open(l.Path); err == nil {
			s.take(f, l.Path, filepath.Dir(l.Path), s.rpath)
			f.Close()
		}
	}
	return s.found, true
}

// Defines reports whether a function is part of a program or a library. What has been stripped tells only of functions
// that others may call.
func Defines(file, function string) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, _ := f.DynamicSymbols()
	if f.Section(".symtab") != nil {
		more, _ := f.Symbols()
		symbols = append(symbols, more...)
	}
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Name == function && s.Section != elf.SHN_UNDEF
	})
}

// Imports reports whether a program needs a symbol of such a name.
func Imports(file string, like *regexp.Regexp) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, _ := f.ImportedSymbols()
	return slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return like.MatchString(s.Name) })
}

// search is what the loader knows.
type search struct {
	machine elf.Machine
	rpath   []string // the program's
	path    []string // LD_LIBRARY_PATH
	usual   []string // where the system has libraries
	found   []Library
}

// take looks for all that a file in folder origin needs. above is the RPATH of the program, if the file is a library.
func (s *search) take(f *elf.File, file, origin string, above []string) {
	var rpath []string
	runpath := entries(f, elf.DT_RUNPATH, origin)
	if runpath == nil {
		rpath = append(entries(f, elf.DT_RPATH, origin), above...)
	}
	if above == nil && s.found == nil {
		s.rpath = rpath
	}
	names, _ := f.ImportedLibraries()
	for _, name := range names {
		if slices.ContainsFunc(s.found, func(l Library) bool { return l.Name == name }) {
			continue
		}
		l := Library{Name: name, By: file}
		if strings.Contains(name, "/") {
			l.Path, l.Fixed = name, true
		} else if l.Path = s.in(rpath, name); l.Path != "" {
			l.Fixed = true
		} else {
			l.Path = s.in(slices.Concat(s.path, runpath, s.usual), name)
		}
		s.found = append(s.found, l)
	}
}

// in is the first file of a name that is a library for this program's machine, "" if there is none.
func (s *search) in(folders []string, name string) string {
	for _, folder := range folders {
		file := filepath.Join(folder, name)
		if f, err := elf.Open(file); err == nil {
			machine := f.Machine
			f.Close()
			if machine == s.machine {
				return file
			}
		}
	}
	return ""
}

func entries(f *elf.File, tag elf.DynTag, origin string) (list []string) {
	values, _ := f.DynString(tag)
	for _, v := range values {
		list = append(list, folders(v, origin)...)
	}
	return list
}

// folders are those of a list with colons; an empty one is the current folder. origin is what $ORIGIN means there.
func folders(list, origin string) []string {
	if list == "" {
		return nil
	}
	all := strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ';' })
	for i := range all {
		all[i] = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(all[i])
	}
	return all
}

// triplets are the names that Debian has for folders of an architecture's libraries.
var triplets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "s390x": "s390x-linux-gnu",
	"ppc64le": "powerpc64le-linux-gnu", "riscv64": "riscv64-linux-gnu", "loong64": "loongarch64-linux-gnu"}

// Usual is where the loader looks at last.
func Usual() []string { return usual() }

// usual is where the system's libraries are: what the files of ldconfig name, and what the loader knows by itself.
func usual() []string {
	list := configured("/etc/ld.so.conf", 0)
	if triplet := triplets[runtime.GOARCH]; triplet != "" {
		list = append(list, "/lib/"+triplet, "/usr/lib/"+triplet)
	}
	return append(list, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
}

// configured are the folders that a file of ldconfig names, and the files that it includes.
func configured(file string, depth int) (list []string) {
	f, err := os.Open(file)
	if err != nil || depth > 4 {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "hwcap":
		case words[0] == "include":
			for _, pattern := range words[1:] {
				if !filepath.IsAbs(pattern) {
					pattern = filepath.Join(filepath.Dir(file), pattern)
				}
				files, _ := filepath.Glob(pattern)
				for _, included := range files {
					list = append(list, configured(included, depth+1)...)
				}
			}
		default:
			list = append(list, words...)
		}
	}
	return list
}
