package programs

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/libimpi/libimpi/cmd/internal/install"
)

// Some scripts put folders in front of LD_LIBRARY_PATH, and what they start finds another MPI there before ours. They
// are preloaded with a small library that undoes it (abi/front/first.c). Others are not: a library that is preloaded
// shows in all that a script starts.

// reordering are programs that start such a script, or are one of several files.
var reordering = []string{"R", "Rscript", "r"}

// mostScript is how much of a script is looked at.
const mostScript = 1 << 20

// Preload returns the library that a program needs preloaded so that the folders in front stay the first; "": none.
func Preload(program, dir, front string) string {
	if front == "" {
		return ""
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	if !slices.Contains(reordering, filepath.Base(program)) && !setsLibraryPath(program) {
		return ""
	}
	prefix, err := install.Prefix()
	if err != nil {
		return ""
	}
	if file := filepath.Join(prefix, "lib", "libimpi_first.so"); exists(file) {
		return file
	}
	return ""
}

// setsLibraryPath reports whether a file is a script that sets LD_LIBRARY_PATH.
func setsLibraryPath(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != "#!" {
		return false
	}
	text, _ := io.ReadAll(io.LimitReader(f, mostScript))
	return bytes.Contains(text, []byte("LD_LIBRARY_PATH="))
}
