package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/page"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/report"
	"github.com/libimpi/libimpi/cmd/internal/version"
)

// files are what a run writes besides lines.
type files struct {
	flags
	began  time.Time
	record record.Record
	junit  report.JUnit
}

// newFiles notes what there is to say before the first case.
func newFiles(ctx context.Context, f flags) *files {
	o := &files{flags: f, began: time.Now()}
	if !o.traces() && f.junit == "" {
		return o
	}
	o.record = head(ctx, f)
	o.record.Date = o.began.Round(time.Second)
	for _, s := range o.record.Properties() {
		o.junit.Properties = append(o.junit.Properties, report.Property(s))
	}
	return o
}

// head is a record before the first case.
func head(ctx context.Context, f flags) record.Record {
	first := strings.Fields(strings.Join(append(f.client, f.server), " "))[0]
	host, _ := os.Hostname() // "" says that it is not known
	r := record.Record{Tester: version.Text(), Specification: "IMPI 0.0", Implementation: f.name, Version: f.version,
		Machine: fmt.Sprintf("%s, %s/%s, %d CPUs", host, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	if f.name == "" {
		r.Implementation = filepath.Base(first)
	}
	if f.version == "" && f.listen == "" {
		r.Version = said(ctx, first)
	}
	unseen, compiler := "", f.mpicc
	if f.listen != "" {
		unseen = "not seen: the commands were typed by hand"
		compiler = ""
	}
	for _, s := range []record.Setting{
		{Name: "server command", Value: f.server},
		{Name: "client command", Value: f.client.String()},
		{Name: "values", Value: f.values},
		{Name: "compiler", Value: compiler},
		{Name: "cases", Value: f.run},
		{Name: "deadline", Value: f.timeout.String()},
		{Name: "cases at a time", Value: fmt.Sprint(f.jobs)},
		{Name: "listening at", Value: strings.TrimSpace(f.listen + " " + f.ports)},
		{Name: "exit codes and output", Value: unseen},
	} {
		if s.Value != "" {
			r.Configuration = append(r.Configuration, s)
		}
	}
	return r
}

// said is the first line that a program writes with --version, "" if there is none soon.
func said(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return events.Clean(line, 256)
}

// traces reports whether anything that is written has traces.
func (o *files) traces() bool { return o.json != "" || o.html != "" }

func (o *files) ended(r conform.Result) {
	if o.traces() {
		o.record.Add(r)
	}
	o.junit.Ended(r)
}

// write writes all that is asked for.
func (o *files) write() error {
	o.record.Seconds = time.Since(o.began).Round(time.Millisecond).Seconds()
	for _, x := range []struct {
		option, path string
		write        func(io.Writer) error
	}{{"-junit", o.flags.junit, o.junit.Write}, {"-json", o.json, o.record.Write},
		{"-html", o.html, func(w io.Writer) error { return page.Write(w, &o.record) }}} {
		if x.path == "" {
			continue
		}
		if err := write(x.path, x.write); err != nil {
			return fmt.Errorf("%s: %w", x.option, err)
		}
	}
	return nil
}

func write(path string, to func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := to(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// compareRecords lists what changed between two records.
func compareRecords(a, b string, w io.Writer) int {
	var r [2]*record.Record
	for i, path := range []string{a, b} {
		file, err := os.Open(path)
		if err == nil {
			r[i], err = record.Read(file)
			file.Close()
		}
		if err != nil {
			complain("-compare: %s: %v", path, err)
			return codeUsage
		}
	}
	if record.Print(w, record.Compare(r[0], r[1])) > 0 {
		return codeFailed
	}
	return 0
}
