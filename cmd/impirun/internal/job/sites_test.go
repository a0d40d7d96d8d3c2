package job

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/libimpi/libimpi/libimpi/report"
)

func TestTheLauncherFindsTheLineThatARankLeavesToIt(t *testing.T) {
	dir := t.TempDir()
	source, object := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(source, []byte("\n\nint f(int a)\n{\n    return a * a;\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-shared", "-fPIC", "-o", object, source).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	var s sites
	found := ""
	for offset := uint64(0x1000); offset < 0x2000 && found == ""; offset++ {
		e := &report.Error{Call: "MPI_Send_c", Place: &report.Address{File: object, Offset: offset}}
		if text := s.place(e, "MPI_Send: MPI_ERR_TAG: no"); e.Line != 0 {
			found = text
		}
	}
	if found != "MPI_Send at a.c:4: MPI_ERR_TAG: no" {
		t.Errorf("%q", found)
	}
	for _, e := range []*report.Error{nil, {Call: "MPI_Send"}, {Call: "MPI_Send", Place: &report.Address{File: dir}},
		{Call: "MPI_Send", File: "b.c", Line: 3, Place: &report.Address{File: object, Offset: 0x1100}}} {
		if text := s.place(e, "MPI_Send: no"); text != "MPI_Send: no" {
			t.Errorf("%+v: %q", e, text)
		}
	}
}
