package wrapper

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/fortran"
)

// fortranFlags finds those of mpifort: the modules of the compiler in use, mpif.h, and the library of both, in the
// variant that words ask for. If the words are not run, nobody is told what was built for the answer, or is missing.
func (c *call) fortranFlags(words []string, question string) error {
	kinds := fortran.KindsOf(slices.Concat(c.compiler, words))
	variant, err := kinds.Variant()
	if err != nil {
		return err
	}
	if compilesFortran(words) || namesFolders(question) && !namesFiles(words, kinds) {
		if found, err := c.system.Identify(c.compiler); err == nil {
			c.options = found.Lenient()
			modules := c.system.Modules(found, kinds, question != "")
			if modules.Folder != "" {
				c.folders = append(c.folders, modules.Folder)
			}
			c.lacks = modules.Lacks
		} else {
			c.lacks = err.Error()
		}
	}
	if variant != "" {
		c.folders = append(c.folders, filepath.Join(c.at.sources(), variant))
	}
	integers := kinds.Integer
	if links(words) {
		if integers, err = c.integers(words, integers); err != nil {
			return err
		}
	}
	library := "mpifort_abi"
	if integers == 8 {
		library += "_i8"
	}
	c.libraries = []string{library, "mpi_abi"}
	return nil
}

// integers are the bytes of an INTEGER to link for: those of objects, as few linker's command lines repeat the options
// with which these were compiled; n if no object says.
func (c *call) integers(words []string, n int) (int, error) {
	objects := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return strings.HasPrefix(w, "-") || !strings.HasSuffix(w, ".o") && !strings.HasSuffix(w, ".a")
	})
	if i := slices.Index(words, "-o"); i >= 0 && i+1 < len(words) {
		objects = slices.DeleteFunc(objects, func(w string) bool { return w == words[i+1] })
	}
	found, err := c.system.Integers(objects)
	if err != nil || found == 0 {
		return n, err
	}
	if found != n && compilesFortran(words) {
		return 0, &mixed{objects: found, sources: n}
	}
	return found, nil
}

// mixed are objects and sources of one command line for INTEGERs of different lengths.
type mixed struct{ objects, sources int }

func (m *mixed) Error() string {
	bytes := map[int]string{4: "4", 8: "8"}
	return "the objects were compiled for INTEGERs of " + bytes[m.objects] + " bytes, and the sources are for those of " +
		bytes[m.sources] + ": give both the same options"
}

// namesFolders reports whether the answer to a question has folders of include files and modules.
func namesFolders(question string) bool {
	switch question {
	case "show", "showme", "showme:compile", "showme:incdirs", "show-incdir":
		return true
	}
	return strings.HasSuffix(question, "info")
}

// namesFiles reports whether there are words that are not options, which say what is to be compiled.
func namesFiles(words []string, kinds fortran.Kinds) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, "-") && !slices.Contains(kinds.Options, w)
	})
}

// suffixes are those of files that compilers take for Fortran, in small letters.
var suffixes = []string{".f", ".for", ".ftn", ".fpp", ".f77", ".f90", ".f95", ".f03", ".f08", ".f18", ".f23", ".i90",
	".cuf"}

// compilesFortran reports whether words compile something that may use a module.
func compilesFortran(words []string) bool {
	for i, w := range words {
		switch {
		case w == "-E":
			return false
		case strings.HasPrefix(w, "-xf"), w == "-x" && i+1 < len(words) && strings.HasPrefix(words[i+1], "f"):
			return true
		}
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, "-") && slices.Contains(suffixes, strings.ToLower(filepath.Ext(w)))
	})
}
