package startup

import (
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
)

// What a rank's threads wait for, for whoever asks the launcher why the job does not go on:
//
//	launcher                    rank
//	report {number}         ->
//	                        <-  report {number, a report.Process, encoded}
//
// The program's threads have no part in it: a rank answers that computes, or that waits. A rank that is asked again
// before it has answered answers the last question alone.

// Report is a rank's answer.
type Report struct {
	Number  uint32
	Process *report.Process // nil: it has none, or it makes no sense
}

type reportBody struct {
	Number uint32 `json:"number"`
	Report []byte `json:"report,omitempty"` // report.Process.Encode
}

// Describe makes the link answer the launcher with what source returns. It is called after Job. source is called on a
// goroutine of its own, of which there is one at a time.
func (l *Link) Describe(source func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.describe = source
}

// tellReport answers the launcher. Before Describe there is nothing to say, and after the end nobody who would hear it.
func (l *Link) tellReport(m message) error {
	b, err := decode[reportBody](m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.question = b.Number
	if !l.describing && !l.ended {
		l.describing = true
		go l.tellReports()
	}
	return nil
}

// tellReports answers until nothing is asked any more.
func (l *Link) tellReports() {
	for {
		l.mu.Lock()
		number, source := l.question, l.describe
		l.mu.Unlock()
		b := reportBody{Number: number}
		if source != nil {
			b.Report = source()
		}
		// If that fails, the launcher has gone, and whoever reads the link notices it.
		l.port.send(msgReport, b, time.Now().Add(sendTime))
		l.mu.Lock()
		if l.ended || l.question == number {
			l.describing = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// AskReport asks the rank what its threads wait for. It returns false if the rank cannot answer: it has not heard yet
// who else is in the job. It does not block for longer than limit.
func (l *LauncherEnd) AskReport(number uint32, limit time.Duration) bool {
	return l.told.Load() && l.port.send(msgReport, reportBody{Number: number}, time.Now().Add(limit)) == nil
}

// reportOf reads a rank's answer.
func reportOf(m message) (Message, error) {
	b, err := decode[reportBody](m)
	if err != nil {
		return nil, err
	}
	p, err := report.Parse(b.Report)
	if err != nil {
		p = nil
	}
	return Report{b.Number, p}, nil
}
