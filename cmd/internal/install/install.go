// Package install finds the installation that a program stands in, so that it may be moved as a whole.
package install

import (
	"os"
	"path/filepath"
)

// Prefix is the folder above the running program's own, symbolic links resolved: $prefix of $prefix/bin/mpicc.
func Prefix() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(exe)), nil
}
