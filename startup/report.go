package startup

import (
	"encoding/json"
	"fmt"
	"time"
)

// What a rank does, and what it waits for, for whoever asks why a job does not go on:
//
//	launcher                   rank
//	report {}              ->
//	                       <-  report {JSON}
//
// The rank answers on a goroutine of its own, so that it does so while its program computes. A rank that has been
// stopped does not. What the answer says is package libimpi/report's.

// MaxReport is the longest answer, in bytes.
const MaxReport = 1 << 20

// Report is a rank's answer; nothing if it has nothing to say.
type Report struct{ Text []byte }

type reportBody struct {
	Report json.RawMessage `json:"report,omitempty"`
}

// Tell makes the link answer the launcher's questions with the JSON that source returns. It is called after Job. source
// is called on a goroutine of its own, of which there is one at a time.
func (l *Link) Tell(source func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = source
}

// tell answers the launcher. All questions that come before the answer to another one has left get one answer, after
// that. Before Tell there is nothing to say, and after the end nobody who would hear it.
func (l *Link) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again = l.telling; l.again || l.ended {
		return
	}
	l.telling = true
	go func() {
		for more := true; more; {
			l.answerReport()
			l.mu.Lock()
			more = l.again && !l.ended
			l.again, l.telling = false, more
			l.mu.Unlock()
		}
	}()
}

// answerReport sends one answer.
func (l *Link) answerReport() {
	l.mu.Lock()
	source := l.state
	l.mu.Unlock()
	var b reportBody
	if source != nil {
		b.Report = source()
	}
	if len(b.Report) > MaxReport || !json.Valid(b.Report) {
		b.Report = nil
	}
	// If that fails, the launcher has gone, and whoever reads the link notices it.
	l.port.send(msgReport, b, time.Now().Add(sendTime))
}

// AskReport asks the rank what it does. It returns false if the rank would not answer: it is of another release. The
// answer may not come: the rank may be stopped, or have ended MPI meanwhile. Call it only after Job.
func (l *LauncherEnd) AskReport() bool {
	return l.tells.Load() && l.port.send(msgReport, nil, time.Now().Add(sendTime)) == nil
}

// reportOf reads a rank's answer.
func reportOf(m message) (Message, error) {
	b, err := decode[reportBody](m)
	if err != nil {
		return nil, err
	}
	if len(b.Report) > MaxReport {
		return nil, fmt.Errorf("the process tells what it does in %d bytes", len(b.Report))
	}
	return Report{b.Report}, nil
}
