package options

import (
	"fmt"
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
	}
}
