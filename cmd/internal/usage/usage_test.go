package usage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/tools/roff"
)

// launcher is a command of each kind of option.
var launcher = Command{Name: "run-it", Also: []string{"rit"}, Purpose: "run programs",
	Usage: []string{"run-it [options] p"},
	About: "Words about it.", Words: Programs, Options: []Option{
		{Names: []string{"n", "np"}, Values: []string{"N"}, Help: "start N ranks"},
		{Names: []string{"via"}, Values: []string{"HOW"}, Choices: []string{"direct", "agent"}, Help: "how"},
		{Names: []string{"hostfile"}, Values: []string{"FILE"}, Help: "hosts"},
		{Names: []string{"env"}, Values: []string{"NAME", "VALUE"}, Pair: true, Help: "a variable"},
		{Names: []string{"mca"}, Values: []string{"A", "B"}},
		{Names: []string{"verbose"}, Help: "say more"},
	}, Notes: []Note{{"Exit code", "0 if all is well.\n  1  not\nNothing else."}}, See: []string{"other(1)"}}

func TestHelpAndManualSayTheSame(t *testing.T) {
	const help = `usage: run-it [options] p

Words about it.

  -n, -np N                   start N ranks
  -via HOW                    how
  -hostfile FILE              hosts
  -env NAME VALUE             a variable
  -verbose                    say more

Exit code: 0 if all is well.
  1  not
Nothing else.
`
	if got := launcher.Help(); got != help {
		t.Errorf("the help is\n%s\nand should be\n%s", got, help)
	}
	const man = `.TH run\-it 1 "2026-01-31" "libimpi 1" "libimpi"
.SH "NAME"
run\-it, rit \- run programs
.SH "SYNOPSIS"
.nf
run\-it [options] p
.fi
.SH "DESCRIPTION"
Words about it.
.SH "OPTIONS"
.TP
\fB\-n\fR, \fB\-np\fR \fIN\fR
Start N ranks.
.TP
\fB\-via\fR \fIHOW\fR
How.
.TP
\fB\-hostfile\fR \fIFILE\fR
Hosts.
.TP
\fB\-env\fR \fINAME\fR \fIVALUE\fR
A variable.
.TP
\fB\-verbose\fR
Say more.
.SH "EXIT CODE"
0 if all is well.
.PP
.nf
  1  not
.fi
.PP
Nothing else.
.SH "SEE ALSO"
.BR other (1)
`
	if got := launcher.Man(roff.Software{Name: "libimpi 1", Date: "2026-01-31"}); got != man {
		t.Errorf("the page is\n%s\nand should be\n%s", got, man)
	}
}

// asked is a line up to the cursor, and what bash or zsh is told about the word at its end.
type asked struct{ line, want string }

// bashDriver does what bash does when the completion key is pressed.
const bashDriver = `. ./script
while IFS= read -r COMP_LINE; do
    COMP_POINT=${#COMP_LINE} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:' COMPREPLY=()
    _libimpi_run_it
    echo "${COMPREPLY[*]}"
done`

func TestBashCompletesOptionsAndTheirValues(t *testing.T) {
	complete(t, "bash", launcher.Bash(), bashDriver, []asked{
		{"run-it -v", "-via -verbose"},
		{"run-it --v", "--via --verbose"},
		{"run-it -via ", "direct agent"},
		{"run-it --via=d", "direct"},
		{"run-it -n 4 -via a", "agent"},
		{"run-it -n 4 -hostfile scr", "script"},
		{"run-it -mca a b -verb", "-verbose"},
		{"run-it -env A=b -verb", "-verbose"},
		{"run-it -env A b -verb", "-verbose"},
		{"run-it -n 4 ./p -verb", ""},
		{"run-it -n 4 ./p scri", "script"},
		{"run-it ./p : -verb", "-verbose"},
		{"run-it -- -p : -verb", "-verbose"},
		{"run-it ./scri", "./script"},
	})
	compiler := Command{Name: "cc-it", Dashes: One, Words: Files, Options: []Option{
		{Names: []string{"cc"}, Values: []string{"COMPILER"}, Joined: true, Help: "compiler"},
		{Names: []string{"showme:link"}, Help: "flags"}}}
	complete(t, "bash", strings.ReplaceAll(compiler.Bash(), "_cc_it", "_run_it"), bashDriver, []asked{
		{"cc-it -showme:l", "link"},
		{"cc-it -c", "-cc="},
		{"cc-it -cc=bas -show", "-showme:link"},
		{"cc-it x", ""},
	})
}

// In zsh the script is the body of a function; what it calls of the completion system says what it was asked for.
func TestZshCompletesOptionsAndTheirValues(t *testing.T) {
	complete(t, "zsh", launcher.Zsh(), `
_describe() { print "options $options[1]" }
compadd() { shift; print $* }
_files() { print files }
_message() { print $* }
_normal() { print "program $CURRENT $words" }
compset() { }
functions[complete]=$(<script)
while IFS= read -r line; do
    words=("${(@s: :)line}") CURRENT=$#words
    complete
done`, []asked{
		{"run-it -v", "options -n:start N ranks"},
		{"run-it --v", "options --n:start N ranks"},
		{"run-it -via ", "direct agent"},
		{"run-it --via=d", "direct agent"},
		{"run-it -hostfile x", "files"},
		{"run-it -n ", "value"},
		{"run-it -mca a b -verb", "options -n:start N ranks"},
		{"run-it -env A=b -verb", "options -n:start N ranks"},
		{"run-it -env A b -verb", "options -n:start N ranks"},
		{"run-it -n 4 ./p -verb", "program 2 ./p -verb"},
		{"run-it ./p : -verb", "options -n:start N ranks"},
		{"run-it -- -p x", "program 2 -p x"},
		{"run-it ./p", "program 1 ./p"},
	})
}

// complete runs a driver in a folder where the completion is the file script, and compares its answers to all lines.
func complete(t *testing.T, shell, script, driver string, lines []asked) {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	var input, complaints strings.Builder
	for _, a := range lines {
		input.WriteString(a.line + "\n")
	}
	cmd := exec.Command(shell, map[string]string{"bash": "--norc", "zsh": "-f"}[shell], "-c", driver)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(input.String()), &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v\n%s", shell, err, complaints.String())
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(lines), out)
	}
	for i, a := range lines {
		if got := strings.TrimSpace(answers[i]); got != a.want {
			t.Errorf("%q is completed by %q, want %q", a.line, got, a.want)
		}
	}
}
