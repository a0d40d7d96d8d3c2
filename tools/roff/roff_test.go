package roff

import (
	"strings"
	"testing"
)

func TestAPageShowsCharactersThatTheFormatterWouldTakeForItsOwn(t *testing.T) {
	p := New("mpi-x", "1", Software{"libimpi 1", "2026-01-31"}, "Commands")
	p.Names([]string{"mpi-x", "mpi-y"}, "do it")
	p.Section("Text")
	p.Paragraph(".profile's \\ and \"quotes\"")
	p.Paragraph("second")
	p.Item(Bold("-n")+" "+Italic("N"), "ranks")
	p.Lines("  a\n.b\n")
	p.SeeAlso([]string{"mpirun(1)", "MPI_Send(3)"})
	const want = `.TH mpi\-x 1 "2026-01-31" "libimpi 1" "Commands"
.SH "NAME"
mpi\-x, mpi\-y \- do it
.SH "TEXT"
\&.profile\(aqs \e and \(dqquotes\(dq
.PP
second
.TP
\fB\-n\fR \fIN\fR
ranks
.PP
.nf
  a
\&.b
.fi
.SH "SEE ALSO"
.BR mpirun (1),
.BR MPI_Send (3)
`
	if got := p.String(); got != want {
		t.Errorf("the page is\n%s\nand should be\n%s", got, want)
	}
}

func TestAnEmptyListOfOtherPagesIsNoSection(t *testing.T) {
	p := New("x", "1", Software{}, "m")
	before := p.String()
	p.SeeAlso(nil)
	if p.String() != before {
		t.Error(p.String())
	}
}

func TestTextIsFilledAndNoLineOfItBecomesARequest(t *testing.T) {
	p := New("x", "1", Software{}, "m")
	p.Section("Text")
	word := "123456789"
	p.Paragraph(strings.Repeat(word+" ", 7) + "12345678 .profile")
	rows := strings.Split(strings.TrimSpace(p.String()), "\n")[2:]
	if len(rows) != 2 || len(rows[0]) != 78 || rows[1] != `\&.profile` {
		t.Errorf("%q", rows)
	}
}
