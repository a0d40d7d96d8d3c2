package wire

import (
	"math"

	"github.com/libimpi/libimpi/transport"
)

// CmdWatch and CmdTraffic are commands beyond IMPI 0.0; implementations that do not know them throw them away (2.3.2),
// and the server sends CmdWatch to libimpi clients only. It does so while the job runs and somebody looks at it. The
// payload is the number of the question, in WatchSize bytes. The client answers each question once, with CmdTraffic on
// the same connection: the number, how many rows there are, and the rows, TrafficMax of them at most. The server asks
// a client again when it has answered, so what comes unasked is of no interest to it.

// Traffic is a row of CmdTraffic.
type Traffic = transport.Traffic

// Flags of a row's State.
const (
	TrafficBlocked = transport.TrafficBlocked
	TrafficWaits   = transport.TrafficWaits
	TrafficEnded   = transport.TrafficEnded
)

// Sizes of the payloads, in bytes, and the number of rows.
const (
	WatchSize       = 4
	TrafficHead     = 8
	TrafficSize     = 72
	TrafficMax      = 1 << 10
	TrafficMaxBytes = TrafficHead + TrafficMax*TrafficSize
)

// AppendWatch adds a whole WATCH command.
func AppendWatch(b []byte, number uint32) []byte {
	return be.AppendUint32(Cmd{CmdWatch, WatchSize}.Append(b), number)
}

// ParseWatch reads the payload of WATCH. It returns false if its length is not WatchSize.
func ParseWatch(b []byte) (number uint32, ok bool) {
	if len(b) != WatchSize {
		return 0, false
	}
	return be.Uint32(b), true
}

// AppendTraffic adds a whole TRAFFIC command, without the rows beyond TrafficMax.
func AppendTraffic(b []byte, number uint32, rows []Traffic) []byte {
	all := uint32(min(uint64(len(rows)), math.MaxUint32))
	rows = rows[:min(len(rows), TrafficMax)]
	b = Cmd{CmdTraffic, int32(TrafficHead + len(rows)*TrafficSize)}.Append(b)
	b = be.AppendUint32(be.AppendUint32(b, number), all)
	return AppendRows(b, rows)
}

// AppendRows adds rows alone.
func AppendRows(b []byte, rows []Traffic) []byte {
	for i := range rows {
		r := &rows[i]
		b = be.AppendUint32(be.AppendUint32(b, uint32(r.Ours)), uint32(r.Theirs))
		for _, n := range []uint64{r.PacketsOut, r.PacketsIn, r.BytesOut, r.BytesIn, r.AcksOut, r.AcksIn} {
			b = be.AppendUint64(b, n)
		}
		for _, n := range []uint32{r.Outstanding, r.HighWater, r.Silence, r.State} {
			b = be.AppendUint32(b, n)
		}
	}
	return b
}

// ParseTraffic reads the payload of TRAFFIC. all is how many rows the client has, which may be more than there are
// here. It returns false if the length is none that TRAFFIC can have. Hosts are not checked.
func ParseTraffic(b []byte) (number, all uint32, rows []Traffic, ok bool) {
	if len(b) < TrafficHead {
		return 0, 0, nil, false
	}
	rows, ok = ParseRows(b[TrafficHead:])
	return be.Uint32(b), max(be.Uint32(b[4:]), uint32(len(rows))), rows, ok
}

// ParseRows reads rows alone: TrafficMax of them at most.
func ParseRows(b []byte) (rows []Traffic, ok bool) {
	if len(b)%TrafficSize != 0 || len(b) > TrafficMax*TrafficSize {
		return nil, false
	}
	for ; len(b) > 0; b = b[TrafficSize:] {
		r := Traffic{Ours: int32(be.Uint32(b)), Theirs: int32(be.Uint32(b[4:]))}
		for i, n := range []*uint64{&r.PacketsOut, &r.PacketsIn, &r.BytesOut, &r.BytesIn, &r.AcksOut, &r.AcksIn} {
			*n = be.Uint64(b[8+8*i:])
		}
		for i, n := range []*uint32{&r.Outstanding, &r.HighWater, &r.Silence, &r.State} {
			*n = be.Uint32(b[56+4*i:])
		}
		rows = append(rows, r)
	}
	return rows, true
}
