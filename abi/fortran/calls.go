package main

import (
	"fmt"
	"slices"
	"strings"
)

// Programs that call each procedure of a binding once, with a value of its own for each argument, and a library that
// stands for C's: it finds what it is called with to be these values, and answers others, which the program finds. So
// nothing is left of a name, a kind, an order or a conversion that is wrong.
//
//	Argument p comes as 1000+p, an array as 1000+p and 1001+p, a string as "argument p", a buffer as memory of 3000+p.
//	It goes back as 2000+p, 2001+p, "result p". LOGICALs are true. What is the length of an array is 2.

// binding is one of the three.
type binding struct {
	file, use string
	form      int
	keywords  bool // arguments by name
}

var bindings = []binding{
	{file: "calls_mpif.F90", use: "", form: old}, {file: "calls_mpi.F90", use: "mpi", form: old, keywords: true},
	{file: "calls_f08.F90", use: "mpi_f08", form: f08, keywords: true},
}

// calls are the sources of the programs and of the library, by name.
func (in input) calls() map[string]string {
	files := map[string]string{"stand_in.c": in.standIn()}
	for _, b := range bindings {
		files[b.file] = in.program(b)
	}
	return files
}

// skipped are the procedures that programs test in earnest: they take functions or their arguments depend on one
// another.
func skipped(p Procedure) bool {
	if p.Name == "MPI_Sizeof" || p.Name == "MPI_F_sync_reg" || p.Name == "MPI_Pcontrol" || p.Result != "" {
		return true
	}
	return byHand[p.Name]
}

// together is how many procedures are called in one subroutine: flang takes 20 ms for any subroutine.
const together = 12

// program is the source of one binding's.
func (in input) program(bind binding) string {
	var blocks, calls strings.Builder
	unless := func(macro string, write func()) { // for the preprocessor
		blocks.WriteString("#ifndef " + macro + "\n")
		write()
		blocks.WriteString("#endif\n")
	}
	add := func(p Procedure, form int) {
		blocks.WriteString(p.call(bind, form, ""))
		unless("WITHOUT_PROFILE", func() { blocks.WriteString(p.call(bind, form, "P")) })
	}
	n := 0
	for _, p := range in.procedures {
		if skipped(p) || bind.form == f08 && isOld(p.Name) {
			continue
		}
		if n%together == 0 {
			if n > 0 {
				blocks.WriteString("end subroutine\n")
			}
			fmt.Fprintf(&blocks, "subroutine t%d\n", n)
			fmt.Fprintf(&calls, "call t%d\n", n)
		}
		n++
		if p.recounts() { // by hand where INTEGERs have 8 bytes
			unless("IMPI_INTEGER8", func() { add(p, bind.form) })
		} else {
			add(p, bind.form)
		}
		if bind.form == f08 && p.Large != nil && p.distinct() {
			unless("IMPI_INTEGER8", func() { add(p, large) })
		}
	}
	blocks.WriteString("end subroutine\n")
	use, include := "use "+bind.use+"\n", ""
	if bind.use == "" {
		use, include = "", "include 'mpif.h'\n"
	}
	return notice + "module all_calls\nuse, intrinsic :: iso_c_binding, only: C_PTR, C_INTPTR_T\n" + use +
		"implicit none\n" + include + "contains\n" + blocks.String() + "subroutine everything\n" + calls.String() +
		"call report\nend subroutine\nend module\n\n" +
		"program calls\nuse all_calls, only: everything\ncall everything\nend program\n"
}

// sample is an argument of a call.
type sample struct {
	Argument
	position int
	name     string // of the variable
	length   bool   // of an array
	given    int    // its value in C: 1000+position
}

func (p Procedure) samples(form int) []sample {
	args := p.of(form == large)
	var list []sample
	for i, a := range args {
		s := sample{Argument: a, position: i + 1, name: fmt.Sprintf("a%d", i+1)}
		s.length = slices.ContainsFunc(args, func(b Argument) bool {
			return b.Length == a.Name || strings.HasPrefix(b.Length, "["+a.Name+",")
		}) || a.Name == "incount" || a.Name == "count" && strings.HasSuffix(p.Name, "all") ||
			strings.HasPrefix(a.Name, "maxin") ||
			strings.HasPrefix(a.Name, "maxout")
		s.given = 1000 + s.position
		if a.Name == "degrees" || a.Name == "index" && a.Length != "" { // they say how long the next array is
			s.given = 1
		}
		list = append(list, s)
	}
	return list
}

// call is a block that calls a procedure.
func (p Procedure) call(bind binding, form int, prefix string) string {
	var declare, set, check strings.Builder
	var args []string
	for _, s := range p.samples(form) {
		s.write(p, form, &declare, &set, &check)
		if bind.keywords {
			args = append(args, s.Argument.Name+"="+s.name)
		} else {
			args = append(args, s.name)
		}
	}
	if bind.keywords {
		args = append(args, "ierror=ierror")
	} else {
		args = append(args, "ierror")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "block\ninteger :: ierror\n%s%sierror = 1\ncall expect('%s')\n", declare.String(), set.String(),
		prefix+p.C.Name)
	b.WriteString(wrap("call " + prefix + p.Name + "(" + strings.Join(args, ", ") + ")"))
	fmt.Fprintf(&b, "if (ierror /= 0) call wrong(0_4)\ncall done\n%send block\n", check.String())
	return b.String()
}

// write declares the variable of an argument, sets it before the call, and checks it behind it.
func (s sample) write(p Procedure, form int, declare, set, check *strings.Builder) {
	array := s.Length != "" && s.Kind != "STRING"
	shape := ""
	if array {
		shape = "(6)"
	}
	if s.Length == "[n, 3]" {
		shape = "(3,2)"
	}
	put := func(typ, in, out string) {
		fmt.Fprintf(declare, "%s :: %s%s\n", typ, s.name, shape)
		if !array {
			fmt.Fprintf(set, "%s = %s\n", s.name, in)
		} else {
			fmt.Fprintf(set, "%s = %s\n%[1]s(2%[3]s) = %[4]s\n", s.name, in,
				map[bool]string{true: ",1"}[s.Length == "[n, 3]"], next(in))
		}
		if s.Dir == "in" || out == "" {
			return
		}
		if !array {
			fmt.Fprintf(check, "if (%s /= %s) call wrong(%d_4)\n", s.name, out, s.position)
		} else {
			fmt.Fprintf(check, "if (%s(1) /= %s .or. %[1]s(2) /= %[3]s) call wrong(%[4]d_4)\n", s.name, out, next(out),
				s.position)
		}
	}
	value := func(base int) string { return fmt.Sprint(base + s.position) }
	kind := s.handle()
	switch {
	case s.Kind == "BUFFER":
		fmt.Fprintf(declare, "integer(4) :: %s(16)\n", s.name)
		fmt.Fprintf(set, "%s = %s\n", s.name, value(3000))
	case s.Kind == "C_BUFFER" && form == old:
		put("integer(C_INTPTR_T)", "0", value(2000))
	case s.Kind == "C_BUFFER":
		fmt.Fprintf(declare, "type(C_PTR) :: %s\n", s.name)
		fmt.Fprintf(check, "if (transfer(%s, 0_C_INTPTR_T) /= %s) call wrong(%d_4)\n", s.name, value(2000), s.position)
	case s.Kind == "STATUS":
		s.status(form, declare, set, check)
	case s.Kind == "STRING":
		fmt.Fprintf(declare, "character(40) :: %s\n", s.name)
		fmt.Fprintf(set, "%s = 'argument %d'\n", s.name, s.position)
		if s.Dir != "in" {
			fmt.Fprintf(check, "if (%s /= 'result %d') call wrong(%[2]d_4)\n", s.name, s.position)
		}
	case kind != "" && form == old:
		put("integer", value(1000), value(2000))
	case kind != "":
		put("type(MPI_"+kind+")", "MPI_"+kind+"("+value(1000)+")", "MPI_"+kind+"("+value(2000)+")")
	case s.logical():
		fmt.Fprintf(declare, "logical :: %s%s\n", s.name, shape)
		fmt.Fprintf(set, "%s = %s\n", s.name, map[bool]string{true: ".true.", false: ".false."}[s.Dir == "in"])
		if s.Dir != "in" {
			first := s.name
			if array {
				first += "(1)"
			}
			fmt.Fprintf(check, "if (.not. %s) call wrong(%d_4)\n", first, s.position)
		}
	case s.length:
		put(strings.ToLower(s.types[form]), "2", "")
	default:
		out := value(2000)
		if s.Kind == "INDEX" && (strings.HasSuffix(p.Name, "any") || strings.HasSuffix(p.Name, "some")) {
			out = value(2001)
		}
		if s.Name == "outcount" {
			out = "2"
		}
		put(strings.ToLower(s.types[form]), fmt.Sprint(s.given), out)
	}
}

func (s sample) status(form int, declare, set, check *strings.Builder) {
	n := map[bool]string{true: "2", false: ""}[s.Length != ""]
	if form == old {
		shape, first := "(MPI_STATUS_SIZE)", "(MPI_SOURCE)"
		if n != "" {
			shape, first = "(MPI_STATUS_SIZE,2)", "(MPI_SOURCE,2)"
		}
		fmt.Fprintf(declare, "integer :: %s%s\n", s.name, shape)
		fmt.Fprintf(set, "%s = 1000+%d\n", s.name, s.position)
		if s.Dir != "in" {
			fmt.Fprintf(check, "if (%s%s /= 2000+%d) call wrong(%[3]d_4)\n", s.name, first, s.position)
		}
		return
	}
	shape, first := "", "%MPI_SOURCE"
	if n != "" {
		shape, first = "(2)", "(2)%MPI_SOURCE"
	}
	fmt.Fprintf(declare, "type(MPI_Status) :: %s%s\n", s.name, shape)
	fmt.Fprintf(set, "%s%%MPI_SOURCE = 1000+%d\n", s.name, s.position)
	if s.Dir != "in" {
		fmt.Fprintf(check, "if (%s%s /= 2000+%d) call wrong(%[3]d_4)\n", s.name, first, s.position)
	}
}

// next is the second element's value, where the first has this one.
func next(value string) string {
	head, tail, ok := strings.Cut(value, "(")
	number := strings.TrimSuffix(tail, ")")
	if !ok {
		number = value
	}
	var n int
	fmt.Sscan(number, &n)
	if ok {
		return fmt.Sprintf("%s(%d)", head, n+1)
	}
	return fmt.Sprint(n + 1)
}
