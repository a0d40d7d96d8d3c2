// Package otf2 writes a job as an archive of the Open Trace Format 2, which Vampir, Cube and others read, by OTF2's own
// library where that is present: as the package otf2 of Python. A program without cgo cannot call the library of C.
//
// Flow: a script (write.py), which python3 runs -> what is defined, and events, as lines on its standard input
// (lines.go).
package otf2

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
)

//go:embed write.py
var script string

// Python is an interpreter that has the package, if there is one: the first python3, or the system's, which has what
// Debian's packages install.
func Python() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import otf2").Run() == nil {
			return name
		}
	}
	return "python3"
}

// Write writes an archive into a new folder.
func Write(dir string, r *analysis.Result) error {
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s is there already, and OTF2 writes new folders only", dir)
	}
	return write(dir, Python(), r)
}

// write is Write with an interpreter.
func write(dir, python string, r *analysis.Result) error {
	var errs bytes.Buffer
	cmd := exec.Command(python, "-c", script, dir)
	cmd.Stdout, cmd.Stderr = &errs, &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("an OTF2 archive needs python3 with the package otf2: %w", err)
	}
	w := &writer{Writer: bufio.NewWriterSize(in, 1<<16), r: r, j: r.Job}
	// If the script has ended, writing fails: what it said is the better reason.
	failed := errors.Join(w.all(), w.Flush(), in.Close())
	if err := cmd.Wait(); err != nil {
		text := bytes.TrimSpace(errs.Bytes())
		if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
			text = text[at+1:]
		}
		return fmt.Errorf("no OTF2 archive: %s", text)
	}
	return failed
}
