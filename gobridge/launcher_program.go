package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
)

// launcherProgram finds the impirun of this library's installation, or else the user's: for a process that nobody has
// started, and that wants others.
func launcherProgram() (string, error) {
	if library := libraryFile(); library != "" {
		path := filepath.Join(filepath.Dir(filepath.Dir(library)), "bin", "impirun")
		if _, err := exec.LookPath(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("impirun")
	if err != nil {
		return "", fmt.Errorf("there is no launcher: impirun is neither beside this library nor in PATH: %w", err)
	}
	return path, nil
}

// libraryFile is the file that this code has been loaded from; empty if the system does not say.
func libraryFile() string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	here := uint64(reflect.ValueOf(libraryFile).Pointer())
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || here < from || here >= to {
			continue
		}
		if at := strings.IndexByte(line, '/'); at >= 0 {
			return strings.TrimSpace(line[at:])
		}
	}
	return ""
}
