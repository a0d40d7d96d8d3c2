package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// job is one run of wan.c.
type job struct {
	impirun, program, part  string
	clients, ranks, streams int // ranks of each client
	via                     string
}

// figures are what a run has measured, by name: seconds, or, of bw, bytes a second.
type figures map[string]float64

// run runs a job, with one client at each of the first ends of the link, and the server at the first.
func (l *link) run(j job) (figures, error) {
	server := l.command(0, j.impirun, "-server", strconv.Itoa(j.clients))
	pipe, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer server.Wait()
	defer server.Process.Kill()
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server says nothing: %w", err)
	}
	at := address(0) + ":" + strings.TrimSpace(line[strings.LastIndex(line, ":")+1:])
	var out bytes.Buffer
	var errs []error
	var clients []*exec.Cmd
	for i := range j.clients {
		c := l.command(i, j.impirun, "-client", strconv.Itoa(i), at, "-via", j.via, "-streams", strconv.Itoa(j.streams),
			"-np", strconv.Itoa(j.ranks), j.program, j.part)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if i == 0 {
			c.Stdout = &out
		}
		if err := c.Start(); err != nil {
			errs = append(errs, err)
			break
		}
		clients = append(clients, c)
	}
	for _, c := range clients {
		if len(clients) < j.clients {
			c.Process.Kill()
		}
		errs = append(errs, c.Wait())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return parse(out.String())
}

// parse reads lines of a name and a figure.
func parse(out string) (figures, error) {
	f := figures{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		f[fields[0]] = v
	}
	if len(f) == 0 {
		return nil, fmt.Errorf("no figures in %q", out)
	}
	return f, nil
}
