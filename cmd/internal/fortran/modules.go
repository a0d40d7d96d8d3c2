package fortran

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Store is where modules are and come to be.
type Store struct {
	Sources   string // the folder of the sources: PREFIX/share/libimpi/fortran
	Installed string // what mpifort -install-modules has made: PREFIX/lib/fortran
	Getenv    func(string) string
	Say       func(line string) // that modules were made
}

// Modules are what a compiler can read of them.
type Modules struct {
	Folder string // "" if there are none
	Lacks  string // why one is missing: a sentence for who needs it
}

// sources are in an order in which each uses earlier ones alone.
var sources = []string{"mpi_types", "mpi", "mpi_f08"}

// note is the file of a folder that says what it lacks.
const note = "lacks"

// Find gives the modules of a compiler, and makes them if there are none: in the user's cache or, if that cannot be
// written, in a folder for temporary files.
func (s Store) Find(c Compiler, k Kinds) Modules {
	name, err := s.name(c, k)
	if err != nil {
		return Modules{Lacks: fmt.Sprintf("the sources of MPI's modules cannot be read: %v", err)}
	}
	if _, can := c.options(k); !can {
		return Modules{Lacks: fmt.Sprintf("%v has no option for these lengths of INTEGER and REAL that is known here", c)}
	}
	roots := s.own()
	for _, root := range append([]string{s.Installed}, roots...) {
		if m, found := open(filepath.Join(root, name)); found {
			return m
		}
	}
	var troubles []string
	for _, root := range roots {
		m, made, err := s.make(root, name, c, k)
		switch {
		case err == nil && made:
			s.Say(fmt.Sprintf("built MPI's modules for %v%s in %s", c, k.suffix(), m.Folder))
			return m
		case err == nil:
			return m
		case errors.As(err, new(*refusal)):
			return Modules{Lacks: err.Error()}
		}
		troubles = append(troubles, err.Error())
	}
	return Modules{Lacks: fmt.Sprintf("no folder for MPI's modules of %v can be written (%s): set XDG_CACHE_HOME, or run "+
		"mpifort -install-modules as who may write to %s", c, strings.Join(troubles, "; "), s.Installed)}
}

// Install makes the modules of a compiler in the installation, in all variants that it has, and returns the folders,
// that of the usual kinds first. Folders of other sources go.
func (s Store) Install(c Compiler) (folders []string, err error) {
	for _, k := range Variants {
		if _, can := c.options(k); !can {
			continue
		}
		name, err := s.name(c, k)
		if err != nil {
			return folders, err
		}
		m, found := open(filepath.Join(s.Installed, name))
		if !found {
			if m, _, err = s.make(s.Installed, name, c, k); err != nil {
				return folders, err
			}
		}
		if m.Lacks != "" && k.suffix() == "" {
			s.Say(m.Lacks)
		}
		folders = append(folders, m.Folder)
	}
	return folders, s.present(folders[0])
}

// present removes folders that were made of other sources, and shows those who do not ask mpifort, as pkg-config, the
// modules of the first compiler beside the folders.
func (s Store) present(folder string) error {
	now := folder[strings.LastIndex(folder, "-"):]
	all, err := os.ReadDir(s.Installed)
	if err != nil {
		return err
	}
	for _, entry := range all {
		if entry.IsDir() && !strings.HasSuffix(entry.Name(), now) {
			if err := os.RemoveAll(filepath.Join(s.Installed, entry.Name())); err != nil {
				return err
			}
		}
	}
	links, err := filepath.Glob(filepath.Join(s.Installed, "*.mod"))
	if err != nil {
		return err
	}
	for _, link := range links {
		if _, err := os.Stat(link); err == nil {
			return nil // of another compiler, and good
		}
		if err := os.Remove(link); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.mod"))
	for _, file := range files {
		name := filepath.Base(file)
		err = errors.Join(err, os.Symlink(filepath.Join(filepath.Base(folder), name), filepath.Join(s.Installed, name)))
	}
	return err
}

// suffix is the variant in a sentence.
func (k Kinds) suffix() string {
	if variant, _ := k.Variant(); variant != "" {
		return " (" + variant + ")"
	}
	return ""
}

// name is that of the folder for a compiler: gfortran-12.2.0-i8-0123abcd. It ends in a sum over the sources.
func (s Store) name(c Compiler, k Kinds) (string, error) {
	texts := []string{runtime.GOARCH}
	if !c.known {
		texts = append(texts, k.Options...)
	}
	for _, source := range sources {
		text, err := os.ReadFile(s.source(source))
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	variant, err := k.Variant()
	if variant != "" {
		variant = "-" + variant
	}
	return c.Family + "-" + c.Version + variant + "-" + sum(texts...), err
}

func (s Store) source(name string) string { return filepath.Join(s.Sources, name+".F90") }

// own are the user's folders, the best first.
func (s Store) own() []string {
	var roots []string
	cache := s.Getenv("XDG_CACHE_HOME")
	if home := s.Getenv("HOME"); cache == "" && filepath.IsAbs(home) {
		cache = filepath.Join(home, ".cache")
	}
	if filepath.IsAbs(cache) {
		roots = append(roots, filepath.Join(cache, "libimpi", "fortran"))
	}
	temporary := s.Getenv("TMPDIR")
	if !filepath.IsAbs(temporary) {
		temporary = "/tmp"
	}
	temporary = filepath.Join(temporary, fmt.Sprintf("libimpi-fortran-%d", os.Getuid()))
	// All users write there: a folder that another one has made, or may change, is not ours.
	if err := os.Mkdir(temporary, 0o700); err == nil || errors.Is(err, os.ErrExist) {
		info, err := os.Lstat(temporary)
		if err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 && owner(info) == os.Getuid() {
			roots = append(roots, temporary)
		}
	}
	return roots
}

func owner(info os.FileInfo) int {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(stat.Uid)
}

// open looks into a folder of modules. A folder of that name is complete.
func open(folder string) (Modules, bool) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return Modules{}, false
	}
	lacks, _ := os.ReadFile(filepath.Join(folder, note))
	return Modules{folder, strings.TrimSpace(string(lacks))}, true
}
