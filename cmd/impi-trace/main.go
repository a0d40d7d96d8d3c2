// Command impi-trace shows where the time of a job went, whose processes have noted their calls (IMPI_TRACE).
//
// Flow: words -> a job from its traces (load) -> messages, waits, critical path (analysis) -> views: a summary (text),
// a page (page), a file for Perfetto, tables (csv), an archive for other tools (otf2).
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/csv"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/load"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/otf2"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/page"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/perfetto"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/text"
	"github.com/libimpi/libimpi/cmd/internal/usage"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/gobridge/callsite"
)

// Exit codes.
const (
	codeFailed = 1
	codeUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// asked is what the command line asks for.
type asked struct {
	dir                       string
	perfetto, html, csv, otf2 string
	text                      bool
	window                    load.Window
	job, events               int
}

// run is the command. It returns the exit code.
func run(words []string, out, errs io.Writer) int {
	a, what, err := parse(words)
	switch {
	case err != nil:
		fmt.Fprintf(errs, "impi-trace: %v; try impi-trace --help\n", err)
		return codeUsage
	case what == "help":
		fmt.Fprint(out, usage.Trace.Help())
		return 0
	case what == "version":
		fmt.Fprintf(out, "impi-trace (%s)\n", version.Text())
		return 0
	}
	if err := a.show(out); err != nil {
		fmt.Fprintf(errs, "impi-trace: %v\n", err)
		return codeFailed
	}
	return 0
}

// parse reads the words. what is "help" or "version" if that is all that is asked for.
func parse(words []string) (a asked, what string, err error) {
	a.job, a.events = 1, 1e6
	for i := 0; i < len(words); i++ {
		word := words[i]
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		if name == word || name == "" {
			if a.dir != "" {
				return a, "", fmt.Errorf("%s and %s are two folders", a.dir, word)
			}
			a.dir = word
			continue
		}
		switch name {
		case "help", "h":
			return a, "help", nil
		case "version", "V":
			return a, "version", nil
		case "text":
			a.text = true
			continue
		}
		name, value, joined := strings.Cut(name, "=")
		if !joined {
			if i++; i == len(words) {
				return a, "", fmt.Errorf("%s is no option, or needs a value", word)
			}
			value = words[i]
		}
		if err := a.set(name, value); err != nil {
			return a, "", fmt.Errorf("-%s %s: %v", name, value, err)
		}
	}
	if a.dir == "" {
		return a, "", errors.New("it needs the folder of a trace")
	}
	if a.window.To != 0 && a.window.To <= a.window.From {
		return a, "", errors.New("-to is not after -from")
	}
	return a, "", nil
}

// set sets an option.
func (a *asked) set(name, value string) (err error) {
	if value == "" {
		return errors.New("its value is empty")
	}
	switch name {
	case "o":
		a.perfetto = value
	case "html":
		a.html = value
	case "csv":
		a.csv = value
	case "otf2":
		a.otf2 = value
	case "from":
		a.window.From, err = moment(value)
	case "to":
		a.window.To, err = moment(value)
	case "job":
		a.job, err = number(value, 1)
	case "events":
		a.events, err = number(value, 0)
	default:
		return errors.New("there is no such option")
	}
	return err
}

func number(s string, least int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > 1e9 {
		return 0, fmt.Errorf("not a number from %d on", least)
	}
	return n, nil
}

// moment is a time in nanoseconds: 1.5 are seconds.
func moment(s string) (int64, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("not a time (1.5, 200ms)")
	}
	return int64(d), nil
}

// show reads the trace, prints the summary and writes the files.
func (a *asked) show(out io.Writer) error {
	if !a.text && a.perfetto+a.html+a.csv+a.otf2 == "" {
		a.html, a.perfetto = filepath.Join(a.dir, "trace.html"), filepath.Join(a.dir, "trace.pftrace")
	}
	j, err := load.Folder(a.dir, a.job, a.window, lines{}.of)
	if err != nil {
		return err
	}
	r := analysis.Analyze(j)
	if err := text.Write(out, r); err != nil {
		return err
	}
	var written []string
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{a.html, func(w io.Writer) error { return page.Write(w, r, a.events) }},
		{a.perfetto, func(w io.Writer) error { return perfetto.Write(w, r) }},
	} {
		if f.name == "" {
			continue
		}
		if err := file(f.name, f.write); err != nil {
			return err
		}
		written = append(written, f.name)
	}
	if a.csv != "" {
		if err := csv.Write(a.csv, r); err != nil {
			return err
		}
		written = append(written, filepath.Join(a.csv, "*.csv"))
	}
	if a.otf2 != "" {
		if err := otf2.Write(a.otf2, r); err != nil {
			return err
		}
		written = append(written, filepath.Join(a.otf2, "traces.otf2"))
	}
	if len(written) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(out, "\nWritten: %s\n", text.Clean(strings.Join(written, ", ")))
	return err
}

// file writes a file under another name first: whoever has the old one open keeps it, and none is half written.
func file(name string, write func(io.Writer) error) error {
	half := fmt.Sprintf("%s.%d", name, os.Getpid())
	f, err := os.OpenFile(half, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("%w (-o, -html and -csv name other places)", err)
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(half, name)
	}
	if err != nil {
		os.Remove(half)
	}
	return err
}

// lines finds the lines of calls by the debug information of programs, each of which it reads once.
type lines map[string]*callsite.Program

func (l lines) of(path string, offset uint64) (string, int, bool) {
	program, known := l[path]
	if !known {
		if stat, err := os.Stat(path); err == nil && stat.Mode().IsRegular() {
			program, _ = callsite.Open(path)
		}
		l[path] = program
	}
	if program == nil {
		return "", 0, false
	}
	site, ok := program.Line(offset)
	return site.File, site.Line, ok
}
