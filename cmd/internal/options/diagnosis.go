package options

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Diagnosis is what is said of a job that does not go on.
type Diagnosis struct {
	ReportOn syscall.Signal // at which it is said what ranks wait for, and which ranks do not get; 0: none
	Deadlock Deadlock       // what a proven deadlock leads to
	// DeadlockAfter is how long all threads have to wait before it is called a deadlock.
	DeadlockAfter time.Duration
}

// defaultDeadlock is that time. The proof does not depend on it: it spares the questions to ranks that wait for less.
const defaultDeadlock = 5 * time.Second

// Deadlock is what a proven deadlock leads to.
type Deadlock int

// What a deadlock leads to: a report, a report and the end of the job, or nothing.
const (
	DeadlockReport Deadlock = iota
	DeadlockAbort
	DeadlockIgnore
)

var deadlocks = []string{"report", "abort", "ignore"}

func (d Deadlock) String() string { return deadlocks[d] }

// reportSignals are the signals that -report-on may name.
var reportSignals = map[string]syscall.Signal{"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2}

// diagnosisOptions are the rows of the table about jobs that do not go on.
func diagnosisOptions() []option {
	return []option{
		{names: []string{"report-on"}, values: []string{"SIGNAL"}, choices: []string{"USR1", "USR2"},
			help: "at this signal, USR1 or USR2, print what each rank waits for, instead of sending it on to the ranks; " +
				"impi-stat prints it at any time, and -timeout at its end",
			apply: func(p *parser, v []string) error {
				s, ok := reportSignals[strings.TrimPrefix(strings.ToUpper(v[0]), "SIG")]
				if !ok {
					return fmt.Errorf("the signals are USR1 and USR2")
				}
				p.plan.ReportOn = s
				return nil
			}},
		{names: []string{"deadlock"}, values: []string{"ACTION[:SECONDS]"}, choices: deadlocks,
			help: "what to do if no call of MPI can ever return: report (default), abort (end the job, too), ignore; all " +
				"ranks have to wait for SECONDS (default 5) before it is said",
			apply: func(p *parser, v []string) error {
				action, after, timed := strings.Cut(v[0], ":")
				i := slices.Index(deadlocks, action)
				if i < 0 {
					return fmt.Errorf("the words are %s", strings.Join(deadlocks, ", "))
				}
				p.plan.Deadlock, p.plan.DeadlockAfter = Deadlock(i), defaultDeadlock
				if !timed {
					return nil
				}
				d, err := seconds(after)
				if err == nil && d <= 0 {
					err = fmt.Errorf("the time is above 0")
				}
				p.plan.DeadlockAfter = d
				return err
			}},
		{names: []string{"trace"}, values: []string{"DIR"},
			help: "each rank notes its calls in a file in DIR on its machine, for impi-trace (IMPI_TRACE)",
			apply: func(p *parser, v []string) (err error) {
				p.trace.dir, err = filepath.Abs(v[0])
				return err
			}},
		{names: []string{"trace-size"}, values: []string{"BYTES"},
			help: "with -trace: bytes of such a file at most, as in 64M or 1G (default 256M)",
			apply: func(p *parser, v []string) error {
				if digits := strings.TrimRight(v[0], "kKmMgG"); len(v[0])-len(digits) > 1 || digits == "" ||
					strings.Trim(digits, "0123456789") != "" {
					return fmt.Errorf("a size is a number, and K, M or G")
				}
				p.trace.size = v[0]
				return nil
			}},
		{names: []string{"trace-keep"}, values: []string{"WHICH"}, choices: keeps,
			help: "with -trace: the calls that a full file keeps: oldest (default) or newest",
			apply: func(p *parser, v []string) error {
				if p.trace.keep = v[0]; !slices.Contains(keeps, v[0]) {
					return fmt.Errorf("the words are %s", strings.Join(keeps, ", "))
				}
				return nil
			}},
		{names: []string{"summary"}, values: []string{"PAGE"}, optional: true, endings: []string{".txt", ".html", ".json"},
			help: "at the end print where the time went, or write that to the file PAGE: as text, HTML or JSON, as the " +
				"end of its name says, .txt, .html or .json (IMPI_SUMMARY)",
			apply: func(p *parser, v []string) (err error) {
				if p.summary = "1"; len(v) > 0 {
					p.summary, err = filepath.Abs(v[0])
				}
				return err
			}},
	}
}

var keeps = []string{"oldest", "newest"}

// traceOptions is what is said of traces.
type traceOptions struct{ dir, size, keep string }

// settleRecording hands on to the ranks what they are to record.
func (p *parser) settleRecording() error {
	if p.summary != "" {
		p.globE.set = append(p.globE.set, "IMPI_SUMMARY="+p.summary)
	}
	t := &p.trace
	if t.dir == "" {
		if t.size+t.keep != "" {
			return fmt.Errorf("-trace-size and -trace-keep go with -trace")
		}
		return nil
	}
	value := "IMPI_TRACE=" + t.dir
	for _, v := range []string{t.size, t.keep} {
		if v != "" {
			value += "," + v
		}
	}
	p.globE.set = append(p.globE.set, value)
	return nil
}
