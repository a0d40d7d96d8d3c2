package job

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// Of three clients of two ranks each this is client 1, with ranks 2 and 3.
var three = &transport.Job{Procs: []transport.Proc{{}, {}, {Client: 1}, {Client: 1}, {Client: 2}, {Client: 2}}}

func suspect(ranks ...int32) startup.Suspects {
	return startup.Suspects{Lost: startup.Lost{Ranks: ranks, Text: "reset"}}
}

// errSilent is how a connection ends of which nothing is heard.
var errSilent = fmt.Errorf("lost: %w", &net.OpError{Op: "read", Err: syscall.ETIMEDOUT})

// A client decides for itself when the server has gone, and ends if it has gone together with all others, or if the
// network to it has failed together with that to another.
func TestWithoutTheServerAClientDecidesForItself(t *testing.T) {
	session := &client.Session{} // one of another library: it is not asked
	for name, tt := range map[string]struct {
		do   func(o *Others) Ruling
		lost []int32
		cut  bool
	}{
		"the server decides": {func(o *Others) Ruling {
			return o.Suspect(session, three, []int32{2}, suspect(0, 4), 0)
		}, nil, false},
		"it has gone, and one is suspected": {func(o *Others) Ruling {
			o.Part(three, 1, 0, nil)
			return o.Suspect(session, three, []int32{2}, suspect(4), 0)
		}, []int32{4}, false},
		"one was suspected, and it has gone": {func(o *Others) Ruling {
			o.Suspect(session, three, []int32{2}, suspect(0, 4), 0)
			return o.Part(three, 1, 0, nil)
		}, []int32{0, 4}, false},
		"the server had said its word before": {func(o *Others) Ruling {
			o.Suspect(session, three, []int32{2}, suspect(0, 4), 0)
			o.Hear([]int32{0, 4})
			return o.Part(three, 1, 0, nil)
		}, nil, false},
		"all are lost, at a time": {func(o *Others) Ruling {
			o.Suspect(session, three, []int32{2}, suspect(0, 1, 4), 0)
			o.Part(three, 1, 0, nil)
			return o.Suspect(session, three, []int32{3}, suspect(5), 0)
		}, []int32{5}, true},
		"all are lost, and the server was long before": {func(o *Others) Ruling {
			o.Part(three, 1, time.Second, nil)
			o.parted = o.parted.Add(-togetherTime)
			return o.Suspect(session, three, []int32{2}, suspect(0, 1, 4, 5), time.Second)
		}, []int32{0, 1, 4, 5}, false},
		"the network to it has failed, and a client is suspected": {func(o *Others) Ruling {
			o.Part(three, 1, 0, errSilent)
			o.Suspect(session, three, []int32{2}, suspect(4), 0)
			return o.Suspect(session, three, []int32{2}, suspect(5), 0)
		}, []int32{5}, true},
		"a client is suspected, and the network to it has failed": {func(o *Others) Ruling {
			o.Suspect(session, three, []int32{2}, suspect(0, 1), 0)
			return o.Part(three, 1, 0, errSilent)
		}, []int32{0, 1}, true},
		"the network to it has failed, and a part of a client is suspected": {func(o *Others) Ruling {
			o.Part(three, 1, 0, errSilent)
			return o.Suspect(session, three, []int32{2}, suspect(4), 0)
		}, []int32{4}, false},
		"the network to it alone has failed": {func(o *Others) Ruling { return o.Part(three, 1, 0, errSilent) }, nil, false},
		"the network to it has failed long before": {func(o *Others) Ruling {
			o.Part(three, 1, time.Second, errSilent)
			o.parted = o.parted.Add(-togetherTime)
			return o.Suspect(session, three, []int32{2}, suspect(4, 5), time.Second)
		}, []int32{4, 5}, false},
		"one was suspected long before, and the server had said its word": {func(o *Others) Ruling {
			o.Suspect(session, three, []int32{2}, suspect(0, 1), 0)
			o.Hear([]int32{0, 1})
			o.since = o.since.Add(-time.Hour)
			o.Part(three, 1, 0, nil)
			return o.Suspect(session, three, []int32{2}, suspect(4, 5), 0)
		}, []int32{4, 5}, true},
		"before the tables": {func(o *Others) Ruling { return o.Part(nil, 1, 0, nil) }, nil, false},
	} {
		var o Others
		r := tt.do(&o)
		if !slices.Equal(r.Ranks, tt.lost) || (r.CutOff != nil) != tt.cut {
			t.Errorf("%s: %+v", name, r)
		}
		if len(tt.lost) > 0 && !strings.HasSuffix(r.Text, " says: reset") {
			t.Errorf("%s: %q", name, r.Text)
		}
	}
}
