package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// What the machine allows: sends of several layouts beside what two cores reach without MPI (bound.c).
// send:bound is the ratio within the round, 1 if the library costs nothing.

// bounds measures ours only: the others copy once where they can, which bound.c does not.
func bounds(l *library) ([]sample, error) {
	if l.name != ours {
		return nil, nil
	}
	sends, err := l.samples(job{ranks: 2, path: l.mpibench, args: []string{"send"}})
	if err != nil {
		return nil, err
	}
	alone, err := plain(l, "bound")
	if err != nil {
		return nil, err
	}
	return compareBounds(sends, alone), nil
}

// compareBounds puts each bound beside the send of the same layout.
func compareBounds(sends, alone []sample) []sample {
	rate := map[string]float64{}
	for _, s := range sends {
		rate[strings.TrimPrefix(s.metric, "send/")] = s.value
	}
	var all []sample
	for _, b := range alone {
		layout := strings.TrimPrefix(b.metric, "bound/")
		if r := rate[layout]; r > 0 && b.value > 0 {
			all = append(all, sample{"send/" + layout, r, "MB/s"}, b, sample{"send:bound/" + layout, r / b.value, "x"})
		}
	}
	return all
}

// plain builds and runs a program of this directory that needs no MPI.
func plain(l *library, name string) ([]sample, error) {
	program, source := filepath.Join(filepath.Dir(l.mpibench), name), filepath.Join(l.bench, name+".c")
	if out, err := exec.Command("cc", "-O2", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cc %s: %w\n%s", source, err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return parseSamples(string(out))
}
