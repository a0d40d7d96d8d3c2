package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Error is the error, the call of MPI_Abort, or the crash that ends a process, in parts: what the process tells its
// launcher of it, which tells the user, in text (Lines) or as an object.
type Error struct {
	// Call is the function of MPI that has met the error, or was called last before a crash.
	Call      string `json:"call,omitempty"`
	Class     string `json:"class,omitempty"`     // MPI_ERR_RANK
	Text      string `json:"text,omitempty"`      // what is wrong
	Arguments []Arg  `json:"arguments,omitempty"` // of the call, in its order
	// On is the communicator, window or file of the call, with its size, in words.
	On   string `json:"on,omitempty"`
	Peer *int   `json:"peer,omitempty"` // the other process of the call, in MPI_COMM_WORLD
	// Function, File and Line are where the program has called, or crashed, as far as its debug information tells.
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Place is where that is in the program's code, for whoever can make a line of it; nil: it has been tried, or there is
	// none.
	Place  *Address `json:"place,omitempty"`
	Signal int      `json:"signal,omitempty"` // of a crash
	Hint   string   `json:"hint,omitempty"`
}

// Bounds on what a launcher takes from a process.
const (
	mostArguments = 32
	mostErrorText = 1 << 10 // bytes of each text
	mostSignal    = 64
)

// Bounded is the error of another process with what breaks the bounds cut off, and without characters that a terminal
// would obey.
func (e *Error) Bounded() *Error {
	if e == nil {
		return nil
	}
	b := *e
	for _, s := range []*string{&b.Call, &b.Class, &b.Text, &b.On, &b.Function, &b.File, &b.Hint} {
		*s = plain(*s)
	}
	b.Arguments = nil
	for _, a := range first(e.Arguments, mostArguments) {
		b.Arguments = append(b.Arguments, Arg{plain(a.Name), plain(a.Text)})
	}
	if e.Place != nil {
		b.Place = &Address{File: plain(e.Place.File), Offset: e.Place.Offset}
	}
	if b.Line < 0 || b.File == "" {
		b.Line = 0
	}
	if b.Signal < 0 || b.Signal > mostSignal {
		b.Signal = 0
	}
	return &b
}

func plain(s string) string {
	if len(s) > mostErrorText {
		s = strings.ToValidUTF8(s[:mostErrorText], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// Where is the place in the program, as it follows a verb: " at solver.c:118" of a call, " in compute at solver.c:118"
// of a crash; "" if it is not known.
func (e *Error) Where() string {
	where := ""
	if e == nil {
		return where
	}
	if e.Signal != 0 && e.Function != "" {
		where = " in " + e.Function
	}
	if e.File != "" {
		where += fmt.Sprintf(" at %s:%d", e.File[strings.LastIndexByte(e.File, '/')+1:], e.Line)
	}
	return where
}

// Lines are what follows the line that says what is wrong, each without an indentation. machine names that of the peer;
// "" if it is not known.
func (e *Error) Lines(machine string) (lines []string) {
	aborts := e.Call == "MPI_Abort"
	if (e.Signal != 0 || aborts) && e.Text != "" {
		lines = append(lines, e.Text)
	}
	switch {
	case e.Signal != 0 && e.Call != "" && !strings.HasPrefix(e.Text, e.Call):
		lines = append(lines, "the last call of MPI was "+e.Call)
	case e.Signal == 0 && !aborts && len(e.Arguments) > 0:
		lines = append(lines, folded(e.Call+"(", e.Arguments)...)
	}
	if e.On != "" && !(aborts && strings.HasPrefix(e.On, "MPI_COMM_WORLD:")) {
		lines = append(lines, "on "+e.On)
	}
	if e.Peer != nil && machine != "" {
		lines = append(lines, fmt.Sprintf("the peer is rank %d of MPI_COMM_WORLD, on %s", *e.Peer, machine))
	}
	if e.Hint != "" {
		lines = append(lines, "hint: "+e.Hint)
	}
	return lines
}

// widest is how long a line of arguments becomes, in bytes, if none of them is longer.
const widest = 108

// folded is a call with its arguments, in lines that begin below the first argument.
func folded(head string, args []Arg) (lines []string) {
	line := head
	for i, a := range args {
		text := a.Name + "=" + a.Text + ", "
		if i == len(args)-1 {
			text = a.Name + "=" + a.Text + ")"
		}
		if len(line)+len(text) > widest && line != head {
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(head))
		}
		line += text
	}
	return append(lines, line)
}

// Same reports whether another process has met the same error: the same call at the same place, and a text that
// differs in numbers only.
func (e *Error) Same(o *Error) bool {
	return e != nil && o != nil && e.Call == o.Call && e.Class == o.Class && e.Function == o.Function &&
		e.File == o.File && e.Line == o.Line && e.Signal == o.Signal && withoutNumbers(e.Text) == withoutNumbers(o.Text)
}

// withoutNumbers is a text with one sign for each number, hexadecimal ones included.
func withoutNumbers(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		hex := strings.HasPrefix(text[i:], "0x")
		if hex {
			i += 2
		}
		for i < len(text) && (isDigit(text[i]) || hex && strings.IndexByte("abcdef", text[i]) >= 0) {
			i++
		}
		b.WriteByte('#')
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
