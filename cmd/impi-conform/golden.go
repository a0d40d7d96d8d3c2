package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/trace"
)

// golden records every job and compares it with its trace, or writes the trace.
func golden(ctx context.Context, f flags, at *target.Target) int {
	if !at.HasServer() || !at.HasClient() || at.ByHand() {
		complain("-golden needs -server-cmd and -client-cmd, and not -listen")
		return codeUsage
	}
	bad := 0
	for _, job := range trace.Jobs {
		if err := compare(ctx, f, at, job); err != nil {
			fmt.Printf("FAIL %s: %v\n", job.Name, err)
			bad++
			continue
		}
		fmt.Printf("pass %s: %s\n", job.Name, job.About)
	}
	if bad > 0 {
		return codeFailed
	}
	return 0
}

func compare(ctx context.Context, f flags, at *target.Target, job trace.Job) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	got, err := trace.Record(ctx, at, job)
	if err != nil {
		return err
	}
	path := filepath.Join(f.golden, job.Name+".trace")
	if f.rewrite {
		return os.WriteFile(path, got.Bytes(), 0o644)
	}
	want, err := read(path)
	if err != nil {
		return err
	}
	if d := trace.Differ(got, want); d != "" {
		return errors.New(d)
	}
	return nil
}

func read(path string) (*trace.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := trace.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// show prints a trace in words.
func show(path string, w io.Writer) int {
	t, err := read(path)
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	t.Print(w)
	return 0
}
