package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// writeRaw appends a section to a file, as those of bench/results: what was measured, the machine, the date and the
// commit; then a line for each metric, with slashes between the libraries' values and commas between the rounds'.
func writeRaw(file, group string, on cluster, present []*library, lines []*line) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var titles []string
	for _, l := range present {
		titles = append(titles, l.title())
	}
	text := fmt.Sprintf("# bench/compare, group %s: %s; the rounds of each between commas. %v.", group,
		strings.Join(titles, " / "), on)
	_, err = f.WriteString(text + "\n# " + thisMachine() + "\n" + rawLines(lines) + "\n")
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func rawLines(lines []*line) string {
	text := ""
	for _, l := range lines {
		var columns []string
		for i := range l.rounds[0] {
			var values []string
			for _, row := range l.rounds {
				if !math.IsNaN(row[i]) {
					values = append(values, number(row[i]))
				}
			}
			if values == nil {
				values = []string{"-"}
			}
			columns = append(columns, strings.Join(values, ","))
		}
		text += fmt.Sprintf("%-28s %-7s %s\n", l.metric, l.unit, strings.Join(columns, " / "))
	}
	return text
}

var processor = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)

// thisMachine is its processor, the date and the commit.
func thisMachine() string {
	name := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := processor.FindSubmatch(text); found != nil {
			name = string(found[1])
		}
	}
	commit, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return name + ", " + strconv.Itoa(runtime.NumCPU()) + " cores; " + time.Now().Format(time.DateOnly) + ", commit " +
		strings.TrimSpace(string(commit)) + "."
}
