package libimpi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Golden traces of the protocol between engines: testdata/messages has, for each scene, which packets leave, in their
// order. go test -run Traces -rewrite writes them anew; a change there is one of the protocol.

// tracer notes packets that leave.
type tracer struct {
	text     *strings.Builder
	sends    map[uint64]string // names of rank 0's requests, by their ids
	receives map[uint64]string // of rank 1's
	starting string            // the request whose id is not known yet
}

// note writes a packet that a transport has taken.
func (tr *tracer) note(h *transport.Header, left int) {
	fmt.Fprintf(tr.text, "  %d > %d  %s", h.Src, h.Dst, kindNames[h.Kind])
	switch h.Kind {
	case transport.Data, transport.DataSync:
		fmt.Fprintf(tr.text, ", %d of %d bytes, tag %d", left, h.MsgLen, h.Tag)
	case transport.SyncAck:
		if h.Tag != 0 {
			tr.text.WriteString(", shared")
		}
	case transport.Taken:
		fmt.Fprintf(tr.text, ", all but %d sections", h.Tag)
	case transport.Given:
		fmt.Fprintf(tr.text, ", %d bytes", h.MsgLen)
	}
	if h.Addr != 0 {
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

// tracedTransport notes what the engine hands to a transport.
type tracedTransport struct {
	transport.Transport
	*tracer
}

func (x tracedTransport) Send(h *transport.Header, payload []byte) bool {
	ok := x.Transport.Send(h, payload)
	if ok {
		x.note(h, h.Len)
	}
	return ok
}

func (x tracedTransport) SendFrom(h *transport.Header, p transport.Packer) bool {
	ok := x.Transport.SendFrom(h, p)
	if ok {
		x.note(h, h.Len)
	}
	return ok
}

// tracedStreamer notes continuations that leave without a copy.
type tracedStreamer struct {
	transport.Streamer
	*tracer
}

func (x tracedStreamer) SendLong(h *transport.Header, payload []byte) (int, bool) {
	n, ok := x.Streamer.SendLong(h, payload)
	if ok {
		x.note(h, h.Len)
	}
	return n, ok
}

// scene is a job of two engines that the test steps.
type scene struct {
	t   *testing.T
	es  []*Engine
	log *tracer
	ids []func() // wait for a request, and look at what it has received
}

func newScene(t *testing.T, o options, text *strings.Builder) *scene {
	es := makeWorld(t, o)
	s := &scene{t: t, es: es, log: &tracer{text: text, sends: map[uint64]string{},
		receives: map[uint64]string{}}}
	stopped := time.Now()
	for _, e := range es {
		e.now = func() time.Time { return stopped } // nobody starves
		for i := range e.peers {
			p := &e.peers[i]
			if p.tr != nil {
				p.tr = tracedTransport{p.tr, s.log}
			}
			if p.stream != nil {
				p.stream = tracedStreamer{p.stream, s.log}
			}
		}
	}
	return s
}

// send starts a send of rank 0 to rank 1, and its request is called name.
func (s *scene) send(name string, data []byte, count int64, typ *datatype.Type, tag int32, mode SendMode) *uint64 {
	s.say("rank 0 sends " + name)
	s.log.starting = name
	id := s.es[0].World().Isend(at(data), count, typ, 1, tag, mode)
	s.log.sends[id] = name
	s.ids = append(s.ids, func() { finishAll(s.t, s.es, s.es[0], &id) })
	return &id
}

// sendBytes sends n bytes, which the tag tells.
func (s *scene) sendBytes(name string, n int, tag int32, mode SendMode) *uint64 {
	return s.send(name, pattern(n, int(tag)), int64(n), byteT, tag, mode)
}

// receive posts a receive of want at rank 1.
func (s *scene) receive(name string, want []byte, tag int32) {
	s.say("rank 1 receives " + name)
	s.log.starting = name
	in := make([]byte, len(want))
	id := s.es[1].World().Irecv(at(in), int64(len(in)), byteT, 0, tag)
	s.log.receives[id] = name
	s.ids = append(s.ids, func() {
		if finishAll(s.t, s.es, s.es[1], &id); !bytes.Equal(in, want) {
			s.t.Errorf("%s got wrong data", name)
		}
	})
}

// receiveBytes receives what sendBytes sends.
func (s *scene) receiveBytes(name string, n int, tag int32) {
	s.receive(name, pattern(n, int(tag)), tag)
}

// cancel cancels a send.
func (s *scene) cancel(name string, id *uint64) {
	s.say("rank 0 cancels " + name)
	must(s.t, s.es[0].Cancel(*id))
}

func (s *scene) say(what string) { fmt.Fprintf(s.log.text, "- %s\n", what) }

// settle lets everything arrive.
func (s *scene) settle() { settle(s.es...) }

// end waits for all requests.
func (s *scene) end() {
	s.say("all wait")
	for _, wait := range s.ids {
		wait()
	}
	s.settle()
	for _, e := range s.es {
		idle(s.t, e, 0)
	}
	noFailure(s.t, s.es)
}

// scenes are what happens between rank 0 and rank 1.
var scenes = []struct {
	name string
	play func(s *scene)
}{
	{"a short message whose receive is posted", func(s *scene) {
		s.receiveBytes("r", 100, 1)
		s.sendBytes("s", 100, 1, Standard)
		s.settle()
	}},
	{"a short synchronous message, unexpected", func(s *scene) {
		s.sendBytes("s", 100, 1, Synchronous)
		s.settle()
		s.receiveBytes("r", 100, 1)
		s.settle()
	}},
	{"a long message whose receive is posted", func(s *scene) {
		s.receiveBytes("r", 5000, 1)
		s.sendBytes("s", 5000, 1, Standard)
		s.settle()
	}},
	{"a long message, unexpected", func(s *scene) {
		s.sendBytes("s", 5000, 1, Standard)
		s.settle()
		s.receiveBytes("r", 5000, 1)
		s.settle()
	}},
	{"a message of many sections", func(s *scene) {
		s.receiveBytes("r", 200_000, 1)
		s.sendBytes("s", 200_000, 1, Standard)
		s.settle()
	}},
	{"a long message with gaps", func(s *scene) {
		rows, err := datatype.Vector(10, 100, 200, byteT)
		must(s.t, err)
		rows.Commit()
		data := pattern(2000, 1)
		var want []byte
		for at := 0; at < len(data); at += 200 {
			want = append(want, data[at:at+100]...)
		}
		s.receive("r", want, 1)
		s.send("s", data, 1, rows, 1, Standard)
		s.settle()
	}},
	{"two long messages take turns", func(s *scene) {
		for _, name := range []string{"r1", "r2"} {
			s.receiveBytes(name, 5000, int32(name[1]))
		}
		for _, name := range []string{"s1", "s2"} {
			s.sendBytes(name, 5000, int32(name[1]), Standard)
		}
		s.settle()
	}},
	{"a message is cancelled before it is received", func(s *scene) {
		id := s.sendBytes("s", 5000, 1, Standard)
		s.settle()
		s.cancel("s", id)
		s.settle()
	}},
	{"a message is cancelled too late", func(s *scene) {
		id := s.sendBytes("s", 100, 1, Synchronous)
		s.settle()
		s.receiveBytes("r", 100, 1)
		s.cancel("s", id)
		s.settle()
	}},
}

func TestTracesOfMessages(t *testing.T) {
	for name, o := range map[string]options{
		"machine":         {clients: []int{2}, direct: true, fake: &fake.Options{Seed: 1, Quick: true}},
		"machine-no-read": {clients: []int{2}, fake: &fake.Options{Seed: 1, NoRead: true}},
		"clients":         {clients: []int{1, 1}, fake: &fake.Options{Seed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, c := range scenes {
				fmt.Fprintf(&text, "# %s\n", c.name)
				s := newScene(t, o, &text)
				c.play(s)
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
