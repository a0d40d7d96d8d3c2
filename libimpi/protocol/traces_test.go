package protocol

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

var rewrite = flag.Bool("rewrite", false, "write the golden traces anew")

// Golden traces: testdata/messages has, for each scene, which packets leave, in their
// order. go test -run Traces -rewrite writes them anew; a change there is one of the protocol.

// tracer notes packets that leave.
type tracer struct {
	text     *strings.Builder
	sends    map[uint64]string // names of rank 0's requests, by their ids
	receives map[uint64]string // of rank 1's
	starting string            // the request whose id is not known yet
	offers   bool              // addresses are offers
}

// note writes a packet that a transport has taken.
func (tr *tracer) note(h *transport.Header) {
	fmt.Fprintf(tr.text, "  %d > %d  %s", h.Src, h.Dst, kindNames[h.Kind])
	switch h.Kind {
	case transport.Data, transport.DataSync:
		fmt.Fprintf(tr.text, ", %d of %d bytes, tag %d", h.Len, h.MsgLen, h.Tag)
	case transport.SyncAck:
		if h.Tag != 0 {
			tr.text.WriteString(", shared")
		}
	case transport.Taken:
		fmt.Fprintf(tr.text, ", all but %d sections", h.Tag)
	case transport.Given:
		fmt.Fprintf(tr.text, ", %d bytes", h.MsgLen)
	}
	switch {
	case h.Addr == 0:
	case tr.offers:
		fmt.Fprintf(tr.text, ", offers %d bytes", transport.Offer(h.Addr).Bytes())
	default:
		tr.text.WriteString(", with an address")
	}
	if h.SrqID != 0 && h.Kind != transport.Given && (h.Kind != transport.Data || h.DrqID != 0) {
		tr.text.WriteString(", send " + tr.name(tr.sends, h.SrqID))
	}
	if h.DrqID != 0 && h.Kind != transport.DataSync {
		tr.text.WriteString(", receive " + tr.name(tr.receives, h.DrqID))
	}
	tr.text.WriteByte('\n')
}

// name returns the name of a request.
func (tr *tracer) name(of map[uint64]string, id uint64) string {
	if name, known := of[id]; known {
		return name
	}
	return tr.starting
}

// folded writes lines that follow each other and are the same once, with their number.
func folded(text string) string {
	var b strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		if n > 1 {
			fmt.Fprintf(&b, "%s (%d times)\n", strings.TrimSuffix(lines[i], "\n"), n)
		} else {
			b.WriteString(lines[i])
		}
		i += n
	}
	return b.String()
}

var kindNames = map[transport.Kind]string{transport.Data: "Data", transport.DataSync: "DataSync",
	transport.SyncAck: "SyncAck", transport.Cancel: "Cancel", transport.CancelYes: "CancelYes",
	transport.CancelNo: "CancelNo", transport.Taken: "Taken", transport.Given: "Given"}

// scene is two processes that the test steps.
type scene struct {
	*world
	log   *tracer
	check []func() // whether a message has come
}

func newScene(t *testing.T, c conditions, text *strings.Builder) *scene {
	s := &scene{log: &tracer{text: text, sends: map[uint64]string{}, receives: map[uint64]string{}, offers: c.offers}}
	c.room, c.note = 100, s.log.note
	s.world = newWorld(t, c)
	return s
}

// send starts a send of process 0, which is called name.
func (s *scene) send(name string, data []byte, count int64, typ *datatype.Type, tag int32, synchronous bool) *request {
	s.say("rank 0 sends " + name)
	s.log.starting = name
	r := s.of[0].send(tag, data, count, typ, synchronous)
	s.log.sends[r.ID] = name
	s.check = append(s.check, func() {
		if r.done != 1 {
			s.tb.Errorf("%s is done %d times", name, r.done)
		}
	})
	return r
}

// sendBytes sends n bytes, which the tag tells.
func (s *scene) sendBytes(name string, n int, tag int32, synchronous bool) *request {
	return s.send(name, pattern(n, int(tag)), int64(n), byteT, tag, synchronous)
}

// receive posts a receive of want at process 1.
func (s *scene) receive(name string, want []byte, tag int32) {
	s.say("rank 1 receives " + name)
	s.log.starting = name
	in := make([]byte, len(want))
	r := s.of[1].receive(tag, in)
	s.log.receives[r.ID] = name
	s.check = append(s.check, func() {
		if r.done != 1 || !bytes.Equal(in, want) {
			s.tb.Errorf("%s is done %d times, with wrong data?", name, r.done)
		}
	})
}

// receiveBytes receives what sendBytes sends.
func (s *scene) receiveBytes(name string, n int, tag int32) {
	s.receive(name, pattern(n, int(tag)), tag)
}

// cancel cancels a send.
func (s *scene) cancel(name string, r *request) {
	s.say("rank 0 cancels " + name)
	s.of[0].Machine.Cancel(&r.Transfer)
}

func (s *scene) say(what string) { fmt.Fprintf(s.log.text, "- %s\n", what) }

// end lets everything arrive, and looks at it.
func (s *scene) end() {
	s.say("all wait")
	s.settle()
	for _, check := range s.check {
		check()
	}
	s.idle()
}

// scenes are what happens between rank 0 and rank 1.
var scenes = []struct {
	name string
	play func(s *scene)
}{
	{"a short message whose receive is posted", func(s *scene) {
		s.receiveBytes("r", 100, 1)
		s.sendBytes("s", 100, 1, false)
		s.settle()
	}},
	{"a short synchronous message, unexpected", func(s *scene) {
		s.sendBytes("s", 100, 1, true)
		s.settle()
		s.receiveBytes("r", 100, 1)
		s.settle()
	}},
	{"a long message whose receive is posted", func(s *scene) {
		s.receiveBytes("r", 5000, 1)
		s.sendBytes("s", 5000, 1, false)
		s.settle()
	}},
	{"a long message, unexpected", func(s *scene) {
		s.sendBytes("s", 5000, 1, false)
		s.settle()
		s.receiveBytes("r", 5000, 1)
		s.settle()
	}},
	{"a message of many sections", func(s *scene) {
		s.receiveBytes("r", 200_000, 1)
		s.sendBytes("s", 200_000, 1, false)
		s.settle()
	}},
	{"a long message with gaps", func(s *scene) {
		rows, err := datatype.Vector(10, 100, 200, byteT)
		must(s.tb, err)
		rows.Commit()
		data := pattern(2000, 1)
		var want []byte
		for at := 0; at < len(data); at += 200 {
			want = append(want, data[at:at+100]...)
		}
		s.receive("r", want, 1)
		s.send("s", data, 1, rows, 1, false)
		s.settle()
	}},
	{"two long messages take turns", func(s *scene) {
		for _, name := range []string{"r1", "r2"} {
			s.receiveBytes(name, 5000, int32(name[1]))
		}
		for _, name := range []string{"s1", "s2"} {
			s.sendBytes(name, 5000, int32(name[1]), false)
		}
		s.settle()
	}},
	{"a message is cancelled before it is received", func(s *scene) {
		id := s.sendBytes("s", 5000, 1, false)
		s.settle()
		s.cancel("s", id)
		s.settle()
	}},
	{"a message is cancelled too late", func(s *scene) {
		id := s.sendBytes("s", 100, 1, true)
		s.settle()
		s.receiveBytes("r", 100, 1)
		s.cancel("s", id)
		s.settle()
	}},
}

func TestTracesOfMessages(t *testing.T) {
	for name, c := range map[string]conditions{
		"machine":         {reads: true},
		"machine-no-read": {},
		"clients":         {elsewhere: true},
		"bare":            {elsewhere: true, bare: true},
		"vendor":          {elsewhere: true, bare: true, offers: true},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, one := range scenes {
				fmt.Fprintf(&text, "# %s\n", one.name)
				s := newScene(t, c, &text)
				one.play(s)
				s.end()
			}
			got := folded(text.String())
			file := filepath.Join("testdata", "messages", name+".txt")
			if *rewrite {
				must(t, os.MkdirAll(filepath.Dir(file), 0o755))
				must(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != got {
				t.Errorf("%s is not what leaves now (%v); go test -run Traces -rewrite writes it anew:\n%s", file, err,
					got)
			}
		})
	}
}
