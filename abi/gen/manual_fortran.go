package main

import (
	"fmt"

	"github.com/libimpi/libimpi/abi/fortran"
	"github.com/libimpi/libimpi/tools/roff"
)

// Fortran in the manual: its bindings on the page of each function, and pages of procedures that C does not have.

func showFortran(p *roff.Page, s fortran.Synopsis) {
	if s.F08 != "" {
		p.Lines("USE mpi_f08\n\n" + s.F08)
	}
	use := "USE mpi  ! or INCLUDE 'mpif.h'"
	if s.Name == "MPI_Sizeof" {
		use = "USE mpi"
	}
	if s.Old != "" {
		p.Lines(use + "\n\n" + s.Old)
	}
}

// onlyFortran says of a procedure that C does not have what no table says.
var onlyFortran = map[string]struct {
	description, standard string
	others                []string
}{
	"MPI_Sizeof": {"It is for MPI_Type_match_size. x is a variable of a numeric type, or an array of them: size is the " +
		"number of bytes of one. mpif.h does not have it, where nothing tells the types of arguments.",
		"Since MPI 2.0. Deprecated 4.0: new programs use storage_size() of Fortran, or c_sizeof().",
		[]string{"MPI_Type_match_size(3)"}},
	"MPI_F_sync_reg": {"It does nothing. A compiler must take buf for changed by it, and so does not keep it in a " +
		"register while an operation that has begun before may change it.",
		"Since MPI 3.0.", []string{"MPI_Get_address(3)", "MPI_Wait(3)"}},
}

func (m manual) fortranPage(s fortran.Synopsis) (string, error) {
	purpose, only := m.words.purpose(s.Name), onlyFortran[s.Name]
	if purpose == "" || only.standard == "" {
		return "", fmt.Errorf("abi/purposes.tsv or abi/gen does not say what %s is for", s.Name)
	}
	p := roff.New(s.Name, "3", m.of, "MPI "+mpiVersion)
	p.Names([]string{s.Name}, purpose)
	p.Section("Synopsis")
	showFortran(p, s)
	p.Section("Description")
	p.Paragraph(sentence(purpose))
	p.Paragraph(only.description)
	p.Paragraph("It is a procedure of Fortran: C has no such function.")
	p.Section("Standard")
	p.Paragraph(only.standard)
	p.SeeAlso(append(only.others, "MPI_Constants(3)", "mpifort(1)"))
	return p.String(), nil
}
