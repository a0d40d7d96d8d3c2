// Package settings is the table of everything that a user can set: impi-info shows it, docs/settings.md has its rows,
// and the tool information interface makes control variables of it (MPI 5.0, 15.3.6). Nothing else says what a setting
// means.
package settings

import (
	"regexp"
	"strconv"
	"strings"
)

// Setting is an environment variable that libimpi reads.
type Setting struct {
	Name    string
	Default string // as the page shows it
	Meaning string // Markdown: the page's
	Group   string // the section of the page that it stands in, by its Group.Name
	Secret  bool   // its value is never shown
	Scope   Scope
	Detail  Detail
	Kind    Kind
	Choices []Choice // of a Choose
	Written When     // the last time at which a process may set it for itself
}

// Kind is what values a setting has.
type Kind int

const (
	Text   Kind = iota // any text; empty while it is unset
	Number             // an integer of 32 bits
	Choose             // one of Choices
)

// Choice is a value of a Choose.
type Choice struct {
	Value int32
	Name  string
	Text  string // in the environment; empty: unset
}

// Scope is which processes have to set a variable alike.
type Scope int

const (
	Constant Scope = iota // nobody sets it once the process runs
	Local                 // each process for itself
	AllEqual              // all processes of the job, to the same value
)

// When is a time in the life of a process.
type When int

const (
	Never  When = iota // the launcher reads it, or it is what the launcher says
	Before             // until MPI is first initialized
	Always
)

// Writable says when a tool may write a setting.
func Writable(w When) string {
	return [...]string{Never: "cannot be written", Before: "can be written until MPI is initialized",
		Always: "can be written at any time"}[w]
}

// Detail is whom a setting is for.
type Detail int

const (
	Basic    Detail = iota // any user
	Detailed               // users who know why
	Tuning                 // those who tune
	Internal               // the launcher sets it for its ranks, and users do not
)

// Group is a section of the page, and a category of control variables.
type Group struct{ Name, Title, About string }

// Groups are in the order of the page.
var Groups = []Group{
	{"security", "Who may join a job of several clients", "who may join a job of several clients"},
	{"transport", "How ranks and clients talk", "how ranks and clients talk"},
	{"machine", "Inside a machine", "what holds inside a machine"},
	{"collective", "Collective operations", "how collective operations are carried out"},
	{"launcher", "Launcher and compilers", "the launcher and the compilers"},
	{"rank", "Set by the launcher for its ranks", "what the launcher says to each of its ranks"},
}

// InForce returns the value and where it comes from. A secret is never shown.
func (s *Setting) InForce(lookup func(string) (string, bool)) (value, source string) {
	v, ok := lookup(s.Name)
	switch {
	case !ok:
		return s.Default, "default"
	case s.Secret:
		return "(hidden)", "environment"
	}
	return v, "environment"
}

// Text is the value as text: empty if it is unset and has no default that could be set.
func (s *Setting) Text(lookup func(string) (string, bool)) string {
	if v, source := s.InForce(lookup); source != "default" || v != "unset" && v != "none" {
		return v
	}
	return ""
}

// Integer is the value of a Number or a Choose; what nobody could mean is the default.
func (s *Setting) Integer(lookup func(string) (string, bool)) int32 {
	if n, ok := s.Parse(s.Text(lookup)); ok {
		return n
	}
	n, _ := s.Parse(s.Text(func(string) (string, bool) { return "", false }))
	return n
}

// Parse reads the text of a Number or a Choose.
func (s *Setting) Parse(text string) (int32, bool) {
	if s.Kind == Number {
		n, err := strconv.ParseInt(text, 10, 32)
		return int32(n), err == nil
	}
	for _, c := range s.Choices {
		if c.Text == text {
			return c.Value, true
		}
	}
	return 0, false
}

// Format is the text of an integer; ok says whether the setting has such a value.
func (s *Setting) Format(n int32) (text string, ok bool) {
	if s.Kind == Number {
		return strconv.Itoa(int(n)), true
	}
	for _, c := range s.Choices {
		if c.Value == n {
			return c.Text, true
		}
	}
	return "", false
}

var link = regexp.MustCompile(`\[([^\]]*)\]\(([^)#]*)[^)]*\)`)

// Plain is the meaning without Markdown.
func (s *Setting) Plain() string { return Plain(s.Meaning) }

// Plain is a text without Markdown: a page is named, and `code` is code no more.
func Plain(markdown string) string {
	return strings.ReplaceAll(link.ReplaceAllString(markdown, "see $2"), "`", "")
}
