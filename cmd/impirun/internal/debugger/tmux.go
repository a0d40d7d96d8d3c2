package debugger

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"golang.org/x/sys/unix"
)

// Panes of tmux. A launcher that runs inside tmux opens them there. One that has a terminal starts a tmux of its own,
// and in its first pane itself once more, with the same words.

// launcherPane is a script that runs the launcher in the first pane, and notes how it ends in the file $0.
const launcherPane = `"$@"; code=$?; echo $code >"$0"
printf '\n[impirun has ended with code %d; Enter closes tmux]' $code; read line; tmux kill-session`

// InsideTmux runs the launcher in a tmux of its own, if there the plan's ranks are to have panes and there is none yet.
// done: the job is over, and err is how it ended.
func InsideTmux(plan *options.Plan) (done bool, err error) {
	n := 0
	for rank := range plan.Size() {
		if d := plan.DebugOf(rank); d != nil && isInteractive(d) {
			n++
		}
	}
	s := look(false, os.Getenv)
	if where, err := placeOf(plan.DebugIn, n, s); n == 0 || err != nil || where != options.InTmux || s.tmux {
		return false, nil
	}
	self, err := shells.Self()
	if err != nil {
		return true, err
	}
	dir, err := os.MkdirTemp("", "impirun-tmux-")
	if err != nil {
		return true, err
	}
	defer os.RemoveAll(dir)
	code := filepath.Join(dir, "code")
	cmd := exec.Command("tmux", slices.Concat([]string{"-S", filepath.Join(dir, "socket"), "new-session", "-n", "impirun",
		"/bin/sh", "-c", launcherPane, code, self}, os.Args[1:])...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	ended := cmd.Run()
	text, err := os.ReadFile(code)
	if err != nil {
		return true, fmt.Errorf("tmux has ended before the job: %w", cmp.Or(ended, err))
	}
	awaitServer()
	if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); n != 0 {
		return true, &outcome.Error{Cause: &supervise.Cause{Code: n}, Quiet: true} // it was said in the pane
	}
	return true, nil
}

// serverTime bounds the wait for the server of tmux, which ends by itself with its last session.
const serverTime = 2 * time.Second

// awaitServer returns when the server has ended, and what ran in its panes: nothing is left behind. They are children of
// this process, as tmux's client, which has started them, has ended.
func awaitServer() {
	for end := time.Now().Add(serverTime); time.Now().Before(end); {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.ECHILD {
			return
		}
		if pid == 0 {
			time.Sleep(serverTime / 1000)
		}
	}
}

// isInteractive reports whether people talk to a tool.
func isInteractive(d *options.Debug) bool {
	if len(d.Tool) == 0 {
		return true
	}
	return !scripted(d) && commandOf(d.Tool, "", []string{""}, site{}).talks
}

// panesOfWindow is how many panes of a window of tmux can still be read.
const panesOfWindow = 9

// showInTmux opens a pane for each terminal: one beside ours, or several in windows of their own.
func showInTmux(list []*terminal, env []string) error {
	self, err := shells.Self()
	if err != nil {
		return err
	}
	window := ""
	for i, t := range list {
		attend := []string{self, TerminalWord, t.name, t.title}
		words := []string{"split-window", "-P", "-F", "#{window_id}"}
		switch {
		case len(list) == 1:
			if pane := valueIn(env, "TMUX_PANE"); pane != "" {
				words = append(words, "-t", pane)
			}
		case i%panesOfWindow == 0:
			words = []string{"new-window", "-n", "ranks", "-P", "-F", "#{window_id}"}
		default:
			words = append(words, "-t", window)
		}
		made, err := tmux(env, append(words, attend...)...)
		if err != nil {
			return err
		}
		if window = made; len(list) > 1 {
			if _, err := tmux(env, "select-layout", "-t", window, "tiled"); err != nil {
				return err
			}
		}
	}
	return nil
}

// tmux runs a command of tmux, and returns what it says.
func tmux(env []string, words ...string) (string, error) {
	cmd := exec.Command("tmux", words...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("tmux %s: %s", words[0], cmp.Or(text, err.Error()))
	}
	return text, nil
}
