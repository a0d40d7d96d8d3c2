// Package tuned finds the file of parameters that make tune has written (choose.Parameters).
package tuned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/coll/choose"
)

// Setting is the environment variable that names the file. "none" stands for no file.
const Setting = "IMPI_TUNE"

// mostBytes is the longest file that is read.
const mostBytes = 64 << 10

// Find returns the parameters to use and the file they come from, "" for those that are built in. An error is a
// warning for the user: of a file that cannot be used, and says where it is wrong; the parameters are then those that
// are built in. Files are looked for in this order, and the first one that is there counts:
//
//	the one that the setting names
//	tune in the user's folder of the library: $XDG_CONFIG_HOME/libimpi or $HOME/.config/libimpi
//	share/libimpi/tune in the installation
func Find(lookup func(string) string, prefix string) (p choose.Parameters, from string, err error) {
	named := lookup(Setting)
	if named == "none" {
		return choose.BuiltIn, "", nil
	}
	if named != "" {
		return read(named)
	}
	for _, path := range places(lookup, prefix) {
		p, from, err = read(path)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOTDIR) {
			continue // HOME is another user's, after su or in a container
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return p, from, err
		}
	}
	return choose.BuiltIn, "", nil
}

func places(lookup func(string) string, prefix string) (list []string) {
	if config := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(config) {
		list = append(list, filepath.Join(config, "libimpi", "tune"))
	} else if home := lookup("HOME"); home != "" {
		list = append(list, filepath.Join(home, ".config", "libimpi", "tune"))
	}
	return append(list, filepath.Join(prefix, "share", "libimpi", "tune"))
}

func read(path string) (choose.Parameters, string, error) {
	text, err := readAll(path)
	if err != nil {
		return choose.BuiltIn, "", err
	}
	p, err := choose.ParseParameters(text)
	if err != nil {
		return choose.BuiltIn, "", fmt.Errorf("%s:%w", path, err)
	}
	return p, path, nil
}

func readAll(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if about, err := f.Stat(); err == nil && !about.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, mostBytes)
	}
	return string(text), err
}
