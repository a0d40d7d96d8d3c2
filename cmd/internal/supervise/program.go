package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Exit codes of a program that cannot be started, as in the shell.
const (
	// CodeNotFound is that of a program that is not there, or of which a library is not.
	CodeNotFound = 127
	// CodeNotExecutable is that of a file which is there, and cannot be run.
	CodeNotExecutable = 126
)

// StartError is a program that cannot be started.
type StartError struct {
	Code int
	Text string
}

func (e *StartError) Error() string { return e.Text }

// FindProgram returns the path of the file that name means to a shell that stands in directory dir ("" is
// here), with path as its PATH; failing that, a file of that name in dir itself.
func FindProgram(name, dir, path string) (string, error) {
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", &StartError{CodeNotFound, fmt.Sprintf("working directory %s does not exist", dir)}
		}
	}
	if strings.Contains(name, "/") {
		return name, executable(resolve(name, dir), name)
	}
	var found error
	for _, folder := range append(filepath.SplitList(path), ".") {
		if folder == "" {
			folder = "."
		}
		file := resolve(filepath.Join(folder, name), dir)
		err := executable(file, name)
		if err == nil {
			if !filepath.IsAbs(file) {
				file = "./" + file
			}
			return file, nil
		}
		if e := (*StartError)(nil); found == nil && errors.As(err, &e) && e.Code == CodeNotExecutable {
			found = err
		}
	}
	if found != nil {
		return "", found
	}
	return "", &StartError{CodeNotFound, fmt.Sprintf("program %s not found, neither in PATH nor here", name)}
}

func resolve(file, dir string) string {
	if filepath.IsAbs(file) || dir == "" {
		return file
	}
	return filepath.Join(dir, file)
}

func executable(file, name string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be run: permission denied", name)}
	case err != nil:
		return &StartError{CodeNotFound, fmt.Sprintf("program %s does not exist", name)}
	case info.IsDir():
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be run: it is a directory", name)}
	case info.Mode()&0o111 == 0:
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be run: it is not executable (chmod +x)", name)}
	}
	return nil
}

// startFailed explains what the kernel said when it was to run a file that exists.
func startFailed(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return &StartError{CodeNotFound,
			fmt.Sprintf("program %s cannot be run: its interpreter or loader does not exist", name)}
	case errors.Is(err, syscall.EAGAIN):
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be started: no process left (raise %s)", name,
			tightest())}
	case errors.Is(err, syscall.ENOMEM):
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be started: no memory left (ulimit -v)", name)}
	case errors.Is(err, syscall.EMFILE):
		return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be started: no file left (ulimit -n)", name)}
	case errors.Is(err, syscall.ENOEXEC):
		return &StartError{CodeNotExecutable,
			fmt.Sprintf("program %s cannot be run: neither a program for this machine nor a script with #!", name)}
	}
	return &StartError{CodeNotExecutable, fmt.Sprintf("program %s cannot be run: %v", name, err)}
}
