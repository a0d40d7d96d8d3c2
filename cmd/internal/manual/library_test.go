package main

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/tools/roff"
)

func TestThePageOfTheLibraryIsMadeOfMarkdown(t *testing.T) {
	page, err := libraryPage("# it - a thing\n\nFor readers.\n\n## Signals\n\nTwo are [used](x.md):\n\n"+
		"- `A`, `B`: the first,\n  in short\n- `C`: the other\n\n"+
		"## Environment\n\nAll of these.\n\n## See also\n\nx(1),\ny(3)\n",
		roff.Software{Name: "it 1", Date: "2026-01-31"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".TH it 7 \"2026-01-31\" \"it 1\" \"MPI\"\n.SH \"NAME\"\nit \\- a thing\n.SH \"SIGNALS\"\nTwo are see x.md:\n",
		".TP\n\\fBA\\fR, \\fBB\\fR\nthe first, in short\n.TP\n\\fBC\\fR\nthe other\n.SH \"ENVIRONMENT\"\nAll of these.\n",
		".TP\n\\fBIMPI_SILENCE\\fR (30)\nseconds after which",
		".SH \"SEE ALSO\"\n.BR x (1),\n.BR y (3)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	if strings.Contains(page, "For readers") {
		t.Error("what stands before the first section is in the page")
	}
	if _, err := libraryPage("# nothing\n", roff.Software{}); err == nil {
		t.Error("a page without a purpose or sections passes")
	}
}
