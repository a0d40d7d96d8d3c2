package startup

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// What a rank has exchanged with other hosts, for whoever watches the job:
//
//	launcher                    rank
//	traffic {}              ->
//	                        <-  traffic {rows}
//
// The launcher asks a rank again when that has answered. A rank that can answer says so in its hello.

// Traffic is a rank's answer.
type Traffic struct{ Rows []wire.Traffic }

type trafficBody struct {
	Rows []byte `json:"rows"` // wire.AppendRows
}

// Report makes the link answer the launcher with what source returns. It is called after Job. source is called on a
// goroutine of its own, of which there is one at a time.
func (l *Link) Report(source func() []wire.Traffic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.traffic = source
}

// reportTraffic answers the launcher, unless an answer is being made. Before Report there is nothing to say,
// and after the end nobody who would hear it.
func (l *Link) reportTraffic() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reporting || l.ended {
		return
	}
	l.reporting = true
	source := l.traffic
	go func() {
		var rows []wire.Traffic
		if source != nil {
			rows = source()
		}
		rows = rows[:min(len(rows), wire.TrafficMax)]
		l.mu.Lock()
		l.reporting = false // the launcher may ask again as soon as it has the answer
		l.mu.Unlock()
		// If that fails, the launcher has gone, and whoever reads the link notices it.
		l.port.send(msgTraffic, trafficBody{wire.AppendRows(nil, rows)}, time.Now().Add(sendTime))
	}()
}

// AskTraffic asks the rank for its traffic. It returns false if the rank would not answer: it is of another release.
// Call it only after Job.
func (l *LauncherEnd) AskTraffic() bool {
	return l.reports.Load() && l.port.send(msgTraffic, nil, time.Now().Add(sendTime)) == nil
}

// trafficOf reads a rank's answer.
func trafficOf(m message) (Message, error) {
	b, err := decode[trafficBody](m)
	if err != nil {
		return nil, err
	}
	rows, ok := wire.ParseRows(b.Rows)
	if !ok {
		return nil, fmt.Errorf("the process tells its traffic in %d bytes", len(b.Rows))
	}
	return Traffic{rows}, nil
}
