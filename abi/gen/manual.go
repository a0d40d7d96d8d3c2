package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/fortran"
	"github.com/libimpi/libimpi/abi/table"
	"github.com/libimpi/libimpi/tools/roff"
)

// manual writes section 3 of the manual: a page for each function, which is that of its large form, too, and one for
// the constants. The build does it (-man): nobody reads a change of a page that follows from a table.

// page is a file of the manual: its text, or the page beside it that it is a second name of.
type page struct{ text, link string }

// manualPages are all pages by their path below share/man.
func manualPages(in input, w words, of roff.Software) (map[string]page, error) {
	impl, err := assign(in.allFunctions(), in.allCalls(), in.found)
	if err != nil {
		return nil, err
	}
	m := manual{in.allFunctions(), impl, w, of, map[string]bool{}, in.procedures}
	for _, f := range m.functions {
		m.names[f.Name] = true
	}
	pages := map[string]page{"man3/MPI_Constants.3": {text: constantsPage(in.constants, of)}}
	for _, c := range in.allCalls() {
		text, err := m.page(c)
		if err != nil {
			return nil, err
		}
		pages["man3/"+c.Small.Name+".3"] = page{text: text}
		if c.Large != nil {
			pages["man3/"+c.Large.Name+".3"] = page{link: c.Small.Name + ".3"}
		}
	}
	for _, s := range in.procedures {
		if s.OnlyF {
			text, err := m.fortranPage(s)
			if err != nil {
				return nil, err
			}
			pages["man3/"+s.Name+".3"] = page{text: text}
		}
	}
	return pages, nil
}

type manual struct {
	functions []table.Function
	impl      map[string]implementation
	words     words
	of        roff.Software
	names     map[string]bool
	fortran   map[string]fortran.Synopsis
}

func (m manual) page(c table.Call) (string, error) {
	f := c.Small
	purpose := m.words.purpose(f.Name)
	if purpose == "" {
		return "", fmt.Errorf("abi/purposes.tsv does not say what %s is for", f.Name)
	}
	names := []string{f.Name}
	if c.Large != nil {
		names = append(names, c.Large.Name)
	}
	p := roff.New(f.Name, "3", m.of, "MPI "+mpiVersion)
	p.Names(names, purpose)
	p.Section("Synopsis")
	header := "mpi.h"
	if f.Extension() {
		header = "mpix.h"
	}
	p.Lines("#include <" + header + ">\n\n" + m.prototypes(c))
	s, bound := m.fortran[f.Name]
	showFortran(p, s)
	p.Section("Description")
	for _, text := range m.description(c) {
		p.Paragraph(text)
	}
	m.arguments(p, c)
	p.Section("Return value")
	p.Paragraph(returns(f))
	if bound && f.ReturnsCode() {
		p.Paragraph("Procedures of Fortran store it in ierror, which is optional in mpi_f08.")
	}
	m.errors(p, f)
	p.Section("Standard")
	p.Paragraph(standard(c))
	p.SeeAlso(m.seeAlso(f))
	return p.String(), nil
}

func (m manual) prototypes(c table.Call) string {
	text := wrap(c.Small.Result+" "+c.Small.Name+"(", c.Small.ParamList(), ");")
	if c.Large != nil {
		text += "\n" + wrap(c.Large.Result+" "+c.Large.Name+"(", c.Large.ParamList(), ");")
	}
	return text
}

// description returns what follows from the tables: the purpose, who calls, which form it is.
func (m manual) description(c table.Call) []string {
	f := c.Small
	list := []string{sentence(m.words.purpose(f.Name))}
	if f.Collective {
		list = append(list, "It is collective: all processes of the communicator, window, file or group call it, in the "+
			"same order as other collective functions.")
	}
	if of, ok := formOf(f.Name, m.known); ok {
		switch of.kind {
		case nonblocking:
			list = append(list, "It is the nonblocking form of "+of.base+": it returns at once, and the request tells "+
				"when the operation has completed (MPI_Wait, MPI_Test). Until then its buffers belong to the library.")
		case persistent:
			list = append(list, "It is the persistent form of "+of.base+": it prepares the operation, which each "+
				"MPI_Start of the request begins.")
		case splitBegin, splitEnd:
			list = append(list, "It is the "+of.kind+" of "+of.base+"; between beginning and end a file has no other "+
				"collective access of the process.")
		case countForm:
			list = append(list, "It is "+of.base+" "+of.kind+".")
		}
	}
	if c.Large != nil {
		list = append(list, c.Large.Name+" is the same for large counts: its numbers have 64 bits.")
	}
	switch i := m.impl[f.Name]; {
	case i.missing():
		list = append(list, "This release does not have it yet.")
	case i.as.Name != f.Name:
		list = append(list, "It is the same as "+i.as.Name+".")
	}
	return list
}

func (m manual) known(name string) bool { return m.names[name] }

// sentence makes one of a purpose.
func sentence(purpose string) string { return strings.ToUpper(purpose[:1]) + purpose[1:] + "." }

// arguments lists the parameters of which the tables know what they mean.
func (m manual) arguments(p *roff.Page, c table.Call) {
	begun := false
	for _, a := range c.Form().Params {
		text := m.words.meaning(c.Small, a)
		if text == "" {
			continue
		}
		if !begun {
			p.Section("Arguments")
			begun = true
		}
		p.Item(roff.Italic(a.Name), sentence(text))
	}
}

func returns(f table.Function) string {
	switch {
	case f.Tool():
		return "MPI_SUCCESS, or an error code of the tool interface, MPI_T_ERR_X. No error handler is called."
	case f.ReturnsCode():
		return "MPI_SUCCESS, or an error code if the error handler returns. The predefined handler " +
			"MPI_ERRORS_ARE_FATAL, which holds unless the program sets another, ends the job instead."
	}
	return "The result, of type " + f.Result + "."
}

// errors lists the classes of errors that wrong arguments are: what abi/gen/wrong.go makes tests of, and the handles.
func (m manual) errors(p *roff.Page, f table.Function) {
	arguments := map[string][]string{}
	i := m.impl[f.Name]
	switch {
	case i.missing() && f.Tool():
		arguments["MPI_T_ERR_NOT_SUPPORTED"] = nil
	case i.missing():
		arguments["MPI_ERR_UNSUPPORTED_OPERATION"] = nil
	case !f.ReturnsCode() || f.Tool() || chapterOf(f).file == "interop":
	default:
		for _, a := range f.Params {
			for _, class := range classes(f, a) {
				if !slices.Contains(arguments[class], a.Name) {
					arguments[class] = append(arguments[class], a.Name)
				}
			}
		}
	}
	if len(arguments) == 0 {
		return
	}
	p.Section("Errors")
	for _, class := range slices.Sorted(maps.Keys(arguments)) {
		text := "This release does not have the function."
		if of := arguments[class]; of != nil {
			text = "The argument " + strings.Join(of, " or ") + " is not valid."
		}
		p.Item(roff.Bold(class), text)
	}
}

// handleClass is the class of the error that no valid handle of a type is (MPI 5.0, 9.4).
var handleClass = map[string]string{"MPI_Comm": "MPI_ERR_COMM", "MPI_Datatype": "MPI_ERR_TYPE",
	"MPI_Win": "MPI_ERR_WIN", "MPI_File": "MPI_ERR_FILE", "MPI_Op": "MPI_ERR_OP", "MPI_Info": "MPI_ERR_INFO",
	"MPI_Group": "MPI_ERR_GROUP"}

func classes(f table.Function, p table.Param) []string {
	if tested[chapterOf(f).file] {
		var list []string
		for _, w := range wrongs(f, p) {
			list = append(list, w.class)
		}
		return list
	}
	if class := handleClass[p.Type]; class != "" && depth(p) == 0 {
		return []string{class}
	}
	return nil
}

// standard returns where the function comes from and what has become of it.
func standard(c table.Call) string {
	f := c.Small
	text := ""
	switch {
	case f.Extension():
		return "It is in no standard. MPICH and Open MPI have it in some versions, with the same arguments."
	case f.Since == "-":
		return "It is not in MPI " + mpiVersion + "; headers of the ABI have it."
	case f.Since == "":
	default:
		text = "Since MPI " + f.Since
		if c.Large != nil {
			text += "; " + c.Large.Name + " since MPI " + c.Large.Since
		}
		text += "."
	}
	if f.Status != "current" {
		text += " " + strings.ToUpper(f.Status[:1]) + f.Status[1:] + ": new programs do not use it."
	}
	if f.InABI == "no" {
		text += " It is not in the MPI ABI: a program that calls it runs with libimpi only."
	}
	return strings.TrimSpace(text)
}

// most is how many other functions a page names.
const most = 12

// seeAlso names the forms of a function and those of its area whose names are most like its own.
func (m manual) seeAlso(f table.Function) []string {
	type other struct {
		name string
		near int
	}
	var all []other
	base := f.Name
	if of, ok := formOf(f.Name, m.known); ok {
		base = of.base
	}
	for _, g := range m.functions {
		if g.Name == f.Name || strings.HasSuffix(g.Name, "_c") {
			continue
		}
		of, isForm := formOf(g.Name, m.known)
		near := 0
		switch {
		case g.Name == base, isForm && of.base == base:
			near = 1000
		case isForm: // its base stands for it
		case g.Areas[0] == f.Areas[0]:
			near = 1 + common(g.Name, base)
		}
		if near > 0 {
			all = append(all, other{g.Name, near})
		}
	}
	slices.SortStableFunc(all, func(a, b other) int { return cmp.Compare(b.near, a.near) })
	all = all[:min(most, len(all))]
	slices.SortFunc(all, func(a, b other) int { return cmp.Compare(a.name, b.name) })
	list := make([]string, 0, len(all)+2)
	for _, o := range all {
		list = append(list, o.name+"(3)")
	}
	return append(list, "MPI_Constants(3)", "mpirun(1)")
}

// common is how many letters two names begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// mpiVersion is the standard that the tables are of.
const mpiVersion = "5.0"

// constantsPage lists the constants that a program can name, in the groups of the table.
func constantsPage(constants []table.Constant, of roff.Software) string {
	p := roff.New("MPI_Constants", "3", of, "MPI "+mpiVersion)
	p.Names([]string{"MPI_Constants"}, "constants of mpi.h and their values in the MPI ABI")
	p.Section("Synopsis")
	p.Lines("#include <mpi.h>")
	group := ""
	for _, c := range constants {
		ctype, ok := c.CType()
		if !ok || strings.HasPrefix(c.Name, "MPIX_") {
			continue
		}
		if c.Group != group {
			group = c.Group
			p.Section(group)
		}
		text := c.Value + ", " + ctype
		if c.Own {
			text += ", not in the ABI"
		}
		if c.Note != "" {
			text += ": " + c.Note
		}
		p.Item(roff.Bold(c.Name), text)
	}
	p.SeeAlso([]string{"mpicc(1)", "mpirun(1)"})
	return p.String()
}

// writeManual writes the pages below dir, and touches none that stays as it was.
func writeManual(dir string, pages map[string]page) error {
	if err := os.MkdirAll(filepath.Join(dir, "man3"), 0o777); err != nil {
		return err
	}
	for path, p := range pages {
		name := filepath.Join(dir, path)
		if p.link != "" {
			if old, err := os.Readlink(name); err == nil && old == p.link {
				continue
			}
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err := os.Symlink(p.link, name); err != nil {
				return err
			}
			continue
		}
		if old, err := os.ReadFile(name); err == nil && string(old) == p.text {
			continue
		}
		if err := os.WriteFile(name, []byte(p.text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
