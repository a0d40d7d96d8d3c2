package startup

import (
	"encoding/json"
	"fmt"
	"time"
)

// What a rank does, and what it waits for, for whoever asks why a job does not go on:
//
//	launcher                   rank
//	report {number}        ->
//	                       <-  report {number, JSON}
//
// The rank answers on a goroutine of its own, so that it does so while its program computes. A rank that has been
// stopped does not. What the answer says is package libimpi/report's. A rank that is asked again before its answer has
// left answers the last question, too: whoever asks twice needs an answer that was made after the second question.

// MaxReport is the longest answer, in bytes.
const MaxReport = 1 << 20

// Report is a rank's answer to the question of a number; no text if it has nothing to say.
type Report struct {
	Number uint32
	Text   []byte
}

type reportBody struct {
	Number uint32          `json:"number"`
	Report json.RawMessage `json:"report,omitempty"`
}

// Tell makes the link answer the launcher's questions with the JSON that source returns. It is called after Job. source
// is called on a goroutine of its own, of which there is one at a time.
func (l *Link) Tell(source func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = source
}

// tell answers a question. Before Tell there is nothing to say, and after the end nobody who would hear it.
func (l *Link) tell(m message) error {
	b, err := decode[reportBody](m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.question = b.Number
	if !l.telling && !l.ended {
		l.telling = true
		go l.answers()
	}
	return nil
}

// answers answers until the last question has been answered.
func (l *Link) answers() {
	for more := true; more; {
		l.mu.Lock()
		source, b := l.state, reportBody{Number: l.question}
		l.mu.Unlock()
		if source != nil {
			b.Report = source()
		}
		if len(b.Report) > MaxReport || !json.Valid(b.Report) {
			b.Report = nil
		}
		// If that fails, the launcher has gone, and whoever reads the link notices it.
		l.port.send(msgReport, b, time.Now().Add(sendTime))
		l.mu.Lock()
		more = l.question != b.Number && !l.ended
		l.telling = more
		l.mu.Unlock()
	}
}

// AskReport asks the rank what it does, by a number that it was not asked by before. It returns false if the rank would
// not answer: it is of another release, or waits for the job's tables. The answer may not come: the rank may be
// stopped, or have ended MPI meanwhile. AskReport does not block for longer than limit.
func (l *LauncherEnd) AskReport(number uint32, limit time.Duration) bool {
	return l.tells.Load() && l.tabled.Load() &&
		l.port.send(msgReport, reportBody{Number: number}, time.Now().Add(limit)) == nil
}

// Entering reports whether the rank still waits for the job's tables.
func (l *LauncherEnd) Entering() bool { return !l.tabled.Load() }

// reportOf reads a rank's answer.
func reportOf(m message) (Message, error) {
	b, err := decode[reportBody](m)
	if err != nil {
		return nil, err
	}
	if len(b.Report) > MaxReport {
		return nil, fmt.Errorf("the process tells what it does in %d bytes", len(b.Report))
	}
	return Report{b.Number, b.Report}, nil
}
