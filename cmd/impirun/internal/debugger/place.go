package debugger

import (
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// surroundings are what decides where tools run that people talk to.
type surroundings struct {
	tmux     bool // we are inside it
	hasTmux  bool // it is installed
	terminal bool // our standard input, output and error are one
	display  bool // a graphical one
	emulator bool // a terminal for that is installed
	far      bool // a part of the job that another launcher has started: nobody sits here
}

// onSocket is the place of a terminal that is not shown: users are told how to get there.
const onSocket = "socket"

// placeOf decides where the tools of n ranks run, and says why that cannot be where the user wants it.
func placeOf(want string, n int, s surroundings) (string, error) {
	switch {
	case want == options.InTmux && !s.hasTmux:
		return "", fmt.Errorf("-debug-in tmux: there is no tmux")
	case want == options.InTmux && !s.tmux && !s.terminal:
		return "", fmt.Errorf("-debug-in tmux: this is neither inside tmux (TMUX is not set) nor at a terminal")
	case want == options.InWindows && !s.display:
		return "", fmt.Errorf("-debug-in windows: there is no display (DISPLAY is not set)")
	case want == options.InWindows && !s.emulator:
		return "", fmt.Errorf("-debug-in windows: there is no xterm; TERMINAL may name another, which has to know -e")
	case want == options.InHere && s.far:
		return "", fmt.Errorf("-debug-in here is for ranks of this machine, without -host")
	case want != "" && want != options.InAuto:
		return want, nil
	case s.tmux:
		return options.InTmux, nil
	case n == 1 && s.terminal:
		return options.InHere, nil
	case s.terminal && s.hasTmux:
		return options.InTmux, nil
	case s.display && s.emulator:
		return options.InWindows, nil
	case s.far:
		return onSocket, nil
	case n == 1:
		return options.InHere, nil // its input may be a file or a pipe
	}
	return options.InFiles, nil
}

// look finds out about our own surroundings. env is the environment of the launcher with which the user speaks.
func look(far bool, getenv func(string) string) surroundings {
	s := surroundings{far: far, tmux: getenv("TMUX") != "", display: getenv("DISPLAY")+getenv("WAYLAND_DISPLAY") != ""}
	s.terminal = !far && isTerminal(0) && isTerminal(1) && isTerminal(2)
	_, err := exec.LookPath("tmux")
	s.hasTmux = err == nil
	s.tmux = s.tmux && s.hasTmux
	_, err = exec.LookPath(emulator(getenv)[0])
	s.emulator = err == nil
	return s
}

// emulator is the command of a terminal; what is to run in it follows.
func emulator(getenv func(string) string) []string {
	switch t := getenv("TERMINAL"); t {
	case "":
		return []string{"xterm", "-e"}
	case "gnome-terminal", "kgx":
		return []string{t, "--"}
	default:
		return []string{t, "-e"}
	}
}

// isNull reports whether a file is /dev/null, or a device like it, that nobody types at.
func isNull(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && !isTerminal(fd)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}
