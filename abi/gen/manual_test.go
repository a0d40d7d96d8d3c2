package main

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
	"github.com/libimpi/libimpi/tools/roff"
)

func allWords(t *testing.T) words {
	t.Helper()
	w, err := readWords("..")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestEveryFunctionHasAPurposeAndNoOtherNameHas(t *testing.T) {
	in, w := tables(t), allWords(t)
	names := map[string]bool{}
	for _, s := range in.procedures {
		if names[s.Name] = true; s.OnlyF && w.purpose(s.Name) == "" {
			t.Errorf("abi/purposes.tsv does not say what %s is for", s.Name)
		}
	}
	for _, c := range in.allCalls() {
		names[c.Small.Name] = true
		switch purpose := w.purpose(c.Small.Name); {
		case purpose == "":
			t.Errorf("abi/purposes.tsv does not say what %s is for", c.Small.Name)
		case strings.HasSuffix(purpose, "."), purpose[0] < 'a' || purpose[0] > 'z':
			t.Errorf("%s: %q begins with no small letter, or ends in a full stop", c.Small.Name, purpose)
		}
	}
	for name := range w.purposes {
		if !names[name] {
			t.Errorf("abi/purposes.tsv has a row for %s, which is no function", name)
		}
	}
}

func TestEveryMeaningIsThatOfSomeArgument(t *testing.T) {
	in, w := tables(t), allWords(t)
	used := make([]bool, len(w.meanings))
	for _, f := range in.allFunctions() {
		for _, p := range f.Params {
			if row := w.meaningRow(f, p); row >= 0 {
				used[row] = true
			}
		}
	}
	for i, m := range w.meanings {
		if !used[i] {
			t.Errorf("abi/arguments.tsv: no argument has the meaning of %s %s", m.functions, m.argument)
		}
	}
}

func TestAFormIsKnownByItsName(t *testing.T) {
	known := func(name string) bool {
		return strings.Contains(" MPI_Bcast MPI_Send MPI_File_read_at MPI_Buffer_flush MPI_Init MPI_Type_size ", " "+name+" ")
	}
	for name, want := range map[string]form{
		"MPI_Ibcast":                {"MPI_Bcast", nonblocking},
		"MPI_Bcast_init":            {"MPI_Bcast", persistent},
		"MPI_File_iread_at":         {"MPI_File_read_at", nonblocking},
		"MPI_File_read_at_begin":    {"MPI_File_read_at", splitBegin},
		"MPI_Buffer_iflush":         {"MPI_Buffer_flush", nonblocking},
		"MPI_Type_size_x":           {"MPI_Type_size", countForm},
		"MPI_Init":                  {},
		"MPI_Bcast":                 {},
		"MPI_Session_init":          {},
		"MPI_Abi_set_fortran_booli": {},
	} {
		if got, _ := formOf(name, known); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestThePagesShowBothFormsAndWhatTheTablesSay(t *testing.T) {
	in := tables(t)
	in.found.exports["Send"] = goExport{params: []string{"uintptr", "int64", "uintptr", "int32", "int32", "uintptr"},
		result: "int32"}
	pages, err := manualPages(in, allWords(t), roff.Software{Name: "libimpi 1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(in.allFunctions()) + 3; len(pages) != want {
		t.Errorf("%d pages, want one for each function, two of Fortran, and one for the constants: %d", len(pages), want)
	}
	send := pages["man3/MPI_Send.3"].text
	for _, part := range []string{"MPI_Send, MPI_Send_c \\- send a message\n",
		"int MPI_Send_c(const void *buf, MPI_Count count, ", "\\fIdest\\fR\nThe rank to send to, or MPI_PROC_NULL.\n",
		"\\fBMPI_ERR_TAG\\fR\nThe argument tag is not valid.\n", "Since MPI 1.1; MPI_Send_c since MPI 4.0.\n",
		".BR MPI_Isend (3),\n"} {
		if !strings.Contains(send, part) {
			t.Errorf("the page of MPI_Send has no %q:\n%s", part, send)
		}
	}
	if got := pages["man3/MPI_Send_c.3"]; got != (page{link: "MPI_Send.3"}) {
		t.Errorf("MPI_Send_c has the page %v", got)
	}
	if page := pages["man3/MPI_Recv.3"].text; !strings.Contains(page, "This release does not have it yet.") {
		t.Errorf("the page of a function that is missing does not say so:\n%s", page)
	}
	constants := pages["man3/MPI_Constants.3"].text
	if !strings.Contains(constants, "\\fBMPI_COMM_WORLD\\fR\n0x00000101, MPI_Comm\n") {
		t.Error("the page of constants has no MPI_COMM_WORLD")
	}
}

func TestAFunctionWithoutAPurposeHasNoPage(t *testing.T) {
	in, w := tables(t), allWords(t)
	delete(w.purposes, "MPI_Wait")
	if _, err := manualPages(in, w, roff.Software{}); err == nil || !strings.Contains(err.Error(), "MPI_Wait ") {
		t.Errorf("%v", err)
	}
}

func TestWhereAParameterIsOutputTheKeySaysSo(t *testing.T) {
	in := tables(t)
	keys := map[string]string{}
	for _, f := range in.functions {
		var list []string
		for _, p := range f.Params {
			list = append(list, parameterKey(p))
		}
		keys[f.Name] = strings.Join(list, " ")
	}
	for name, want := range map[string]string{
		"MPI_Send": "buf count datatype dest tag comm", "MPI_Comm_rank": "comm *rank",
		"MPI_Waitall": "count array_of_requests[] *array_of_statuses", "MPI_Get_processor_name": "*name *resultlen",
		"MPI_Get_count": "status datatype *count", "MPI_Init": "*argc ***argv",
	} {
		if keys[name] != want {
			t.Errorf("%s: %s, want %s", name, keys[name], want)
		}
	}
}

// Each page shows the bindings that there are. What MPI-3 removed, and the old names of attributes, mpi_f08 has not.
func TestPagesShowEachBinding(t *testing.T) {
	in := tables(t)
	pages, err := manualPages(in, allWords(t), roff.Software{Name: "libimpi 1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range in.procedures {
		text := pages["man3/"+name+".3"].text
		shows := func(part string) bool { return strings.Contains(text, "\n"+part) }
		if !shows("USE mpi\n") && !shows("USE mpi  !") || !shows(roff.Escape(firstLine(s.Old))) {
			t.Errorf("%s: not as mpif.h and mpi have it:\n%s", name, s.Old)
		}
		if s.F08 == "" {
			f := function(in, name)
			if !strings.HasPrefix(f.Status, "removed") && !strings.HasPrefix(f.Status, "deprecated 2.0") {
				t.Errorf("%s: not as mpi_f08 has it", name)
			}
		} else if !shows("USE mpi_f08\n") || !shows(roff.Escape(firstLine(s.F08))) {
			t.Errorf("%s: not as mpi_f08 has it:\n%s", name, s.F08)
		}
	}
	for _, f := range in.functions {
		for _, ending := range []string{"_c", "_c2f", "_f2c", "_toint", "_fromint", "_c2f08", "_f082c"} {
			if strings.HasSuffix(f.Name, ending) || f.Tool() {
				goto next
			}
		}
		if in.procedures[f.Name].Old == "" {
			t.Errorf("%s has no binding of Fortran", f.Name)
		}
	next:
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func function(in input, name string) table.Function {
	for _, f := range in.functions {
		if f.Name == name {
			return f
		}
	}
	return table.Function{}
}
