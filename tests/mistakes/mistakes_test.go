// Package mistakes runs C programs that make one mistake each, and compares all that is said of them with a text.
//
// programs/NAME.c begins with comment lines: what the mistake is, and then
//
//	// ranks: 2
//	// options: -deadlock abort:0.2 (of impirun, behind those that every job gets; none: nothing)
//	// environment: IMPI_CHECK=types (none: nothing)
//	// where: shm machines clients agents servers hydra (none: shm)
//	// lines: any (they come in any order)
//
// programs/NAME.txt is what the job has printed, and its exit code. Names of machines, numbers of processes, times and
// addresses are replaced. Where the text depends on where the program runs, it stands there once for each. The text of
// a program called near-* is empty, for it makes no mistake. "-rewrite" writes the texts.
//
// IMPI_STAGE names the stage; ctest sets it. Jobs run at the same time, as they mostly wait.
package mistakes

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the texts of programs")

const (
	patience  = 200 * time.Second // after which a job hangs
	compilers = 2                 // at the same time
	jobs      = 12                // at the same time
)

// program is a program with a mistake.
type program struct {
	name                 string
	ranks                int
	options, environment []string
	where                []string
	any                  bool
	file                 string
}

// read reads the first lines of a program.
func read(t *testing.T, file string) *program {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{name: strings.TrimSuffix(filepath.Base(file), ".c"), where: []string{"shm"}}
	for line := range strings.Lines(string(text)) {
		line, is := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !is {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch words := strings.Fields(value); key {
		case "ranks":
			p.ranks, _ = strconv.Atoi(value)
		case "options":
			p.options = words
		case "environment":
			p.environment = words
		case "where":
			p.where = words
		case "lines":
			p.any = value == "any"
		}
	}
	if p.ranks <= 0 {
		t.Fatalf("%s does not say how many ranks it has", file)
	}
	return p
}

// compile makes the program, in a folder that goes with the test.
func (p *program) compile(t *testing.T, stage, dir string) {
	t.Helper()
	p.file = filepath.Join(dir, p.name)
	c := exec.Command(filepath.Join(stage, "bin", "mpicc"), "-std=gnu11", "-g", "-O0", "-Wall", "-Werror", "-pthread",
		"-o", p.file, p.name+".c", "-lm")
	c.Dir = "programs"
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// turns bounds how many do something at the same time.
type turns chan struct{}

func (t turns) take(do func()) {
	t <- struct{}{}
	defer func() { <-t }()
	do()
}

// TestMistakes runs all programs, everywhere.
func TestMistakes(t *testing.T) {
	stage := os.Getenv("IMPI_STAGE")
	if stage == "" {
		t.Skip("IMPI_STAGE is not set: this test runs under make test")
	}
	files, err := filepath.Glob("programs/*.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	dir := t.TempDir()
	compiling, running := make(turns, compilers), make(turns, jobs)
	for _, file := range files {
		p := read(t, file)
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			compiling.take(func() { p.compile(t, stage, dir) })
			said := make([]string, len(p.where))
			var all sync.WaitGroup
			for i, where := range p.where {
				all.Go(func() { running.take(func() { said[i] = p.run(t, stage, where) }) })
			}
			if all.Wait(); !t.Failed() {
				p.compare(t, said)
			}
		})
	}
}

const (
	textOf  = "== " // begins the line before a text that is not that of all places
	success = "exit code 0\n"
)

// compare compares what was said in each place with the program's text, or writes that.
func (p *program) compare(t *testing.T, said []string) {
	file := filepath.Join("programs", p.name+".txt")
	if strings.HasPrefix(p.name, "near-") {
		for i, text := range said {
			if text != "" && text != success {
				t.Errorf("%s, which makes no mistake:\n%s", p.where[i], text)
			}
		}
		return
	}
	var places []string // of each text
	var texts []string
	for i, text := range said {
		k := slices.Index(texts, text)
		switch {
		case text == "": // it could not run there
		case k < 0:
			texts, places = append(texts, text), append(places, p.where[i])
		default:
			places[k] += " " + p.where[i]
		}
	}
	was := p.texts(file)
	if *rewrite {
		var b strings.Builder
		for i, text := range texts {
			if len(texts) > 1 {
				b.WriteString(textOf + places[i] + "\n")
			}
			b.WriteString(text)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, text := range said {
		if want := was(p.where[i]); text != "" && text != want {
			t.Errorf("%s says\n%s\nand not\n%s", p.where[i], text, want)
		}
	}
}

// texts reads the text of each place.
func (p *program) texts(file string) func(where string) string {
	b, _ := os.ReadFile(file) // none: it has still to be written
	if !strings.HasPrefix(string(b), textOf) {
		return func(string) string { return string(b) }
	}
	of, at := map[string]string{}, []string{}
	for line := range strings.Lines(string(b)) {
		if places, is := strings.CutPrefix(line, textOf); is {
			at = strings.Fields(places)
			continue
		}
		for _, where := range at {
			of[where] += line
		}
	}
	return func(where string) string { return of[where] }
}

// run runs the program, and returns what was said, and its exit code. "": it cannot run there.
func (p *program) run(t *testing.T, stage, where string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := newCommands(ctx, t, stage, p, where)
	if c == nil {
		return ""
	}
	defer c.end()
	output, code := c.run()
	if ctx.Err() != nil {
		t.Errorf("%s hangs, and has said:\n%s", where, output)
	}
	text := plain(output, p.any)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("exit code %d\n", code)
}

// codeOf is the exit code of a command that has ended.
func codeOf(t *testing.T, err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Error(err)
	return -1
}

// output is what commands print, line by line as it comes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
