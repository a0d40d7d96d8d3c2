// Package fortran serves mpifort: it tells Fortran compilers apart, knows the options that make INTEGER and REAL
// longer, and keeps the modules that a compiler can read.
//
// Files of modules (.mod) are good for one compiler in one version, and for one length of INTEGER and REAL. The
// installation has the sources, which have no code in them. Flow: what the compiler says to --version -> its family
// and version; words of the command line -> kinds -> a variant; both, and a sum over the sources, name a folder. It
// stands in the installation (mpifort -install-modules), or else in the user's cache, where Find makes it once.
package fortran

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Compiler is a Fortran compiler whose modules no other one is given.
type Compiler struct {
	Words   []string // that run it
	Family  string   // gfortran, flang, ifx, ifort, nvfortran, or the name of one that is not known here
	Version string
	known   bool // by its family, and so its options are
}

// family is what compilers of a name say to --version.
type family struct {
	name string
	says *regexp.Regexp
}

var families = []family{
	{"gfortran", regexp.MustCompile(`(?m)^GNU Fortran(?: 95)? \(.*\) (\d\S*)`)},
	{"flang", regexp.MustCompile(`(?m)\bflang(?:-new)? version (\d\S*)`)},
	{"ifx", regexp.MustCompile(`(?m)^ifx \(IFX\) (\d\S*)`)},
	{"ifort", regexp.MustCompile(`(?m)^ifort \(IFORT\) (\d\S*)`)},
	{"nvfortran", regexp.MustCompile(`(?m)^nvfortran (\d\S*)`)},
}

var (
	released = regexp.MustCompile(`^\d+(\.\d+)*(-\d+)?$`)
	unusual  = regexp.MustCompile(`[^A-Za-z0-9.+_-]+`)
)

// Identify tells which compiler it is that says this to --version. The version of one that is unknown, or was not
// released, is a sum over all that it says.
func Identify(words []string, says string) Compiler {
	for _, f := range families {
		if m := f.says.FindStringSubmatch(says); m != nil {
			version := m[1]
			if !released.MatchString(version) {
				version = unusual.ReplaceAllString(version, "_") + "-" + sum(says)
			}
			return Compiler{words, f.name, version, true}
		}
	}
	return Compiler{words, unusual.ReplaceAllString(filepath.Base(words[0]), "_"), sum(says), false}
}

// String is the compiler in a sentence.
func (c Compiler) String() string { return c.Family + " " + c.Version }

// major is the first number of the version, 0 if there is none.
func (c Compiler) major() int {
	first, _, _ := strings.Cut(c.Version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// Lenient are options with which the compiler takes calls of procedures that it knows nothing of, those of mpif.h, with
// buffers of different types. gfortran 10 began to take that for an error.
func (c Compiler) Lenient() []string {
	if c.Family == "gfortran" && c.known && c.major() >= 10 {
		return []string{"-fallow-argument-mismatch"}
	}
	return nil
}

// oldestF08 is the first gfortran whose descriptors are those of the standard. Older ones translate mpi_f08, and then
// pass descriptors of their own.
const oldestF08 = 9

// lacksF08 reports whether programs of this compiler cannot have module mpi_f08.
func (c Compiler) lacksF08() bool {
	return c.Family == "gfortran" && c.known && c.major() < oldestF08
}

// sum is a short sum over texts.
func sum(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
