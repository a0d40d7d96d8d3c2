package webguard

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// limited is a listener that has so many connections at a time. One more is closed at once: whoever holds connections
// without use loses them when their time is over, and the page is for few.
type limited struct {
	net.Listener
	places chan struct{} // holds a token for each connection
	log    *refusals

	mu   sync.Mutex // guards what follows
	shut func()     // ends all connections
}

func limit(l net.Listener, n int, log *refusals) *limited {
	return &limited{Listener: l, places: make(chan struct{}, n), log: log}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &place{Conn: c, of: l}, nil
		default:
			l.log.note("a connection from %s: there are %d", c.RemoteAddr(), cap(l.places))
			c.Close()
		}
	}
}

// place is a connection that counts.
type place struct {
	net.Conn
	of   *limited
	once sync.Once
}

func (p *place) Close() error {
	err := p.Conn.Close()
	p.once.Do(func() { <-p.of.places })
	return err
}

// closing says how connections are ended that others have not ended.
func (l *limited) closing(shut func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = shut
}

func (l *limited) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut != nil {
		l.shut()
	}
}

// wait returns when no stream is left, or ctx is done.
func (g *Guard) wait(ctx context.Context) {
	for range cap(g.streams) {
		select {
		case g.streams <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// Stream is an answer that goes on: events, as text/event-stream has them.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	guard   *Guard
	request *http.Request
}

// Stream begins a stream, which lasts until serve returns. If there are too many, it says so to the browser, which
// tries again later.
func (g *Guard) Stream(w http.ResponseWriter, r *http.Request, serve func(*Stream)) {
	select {
	case g.streams <- struct{}{}:
		defer func() { <-g.streams }()
	default:
		g.noteRequest(r, "too many streams")
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many look at this page", http.StatusServiceUnavailable)
		return
	}
	s := &Stream{w: w, control: http.NewResponseController(w), guard: g, request: r}
	w.Header().Set("Content-Type", "text/event-stream")
	if s.control.SetReadDeadline(time.Time{}) == nil && s.flush() == nil && r.Method != http.MethodHead {
		serve(s)
	}
}

// Ending returns a channel that is closed when the stream is to end: the command does.
func (s *Stream) Ending() <-chan struct{} { return s.guard.ending }

// Left returns a channel that is closed when the browser has gone.
func (s *Stream) Left() <-chan struct{} { return s.request.Context().Done() }

// batchTime is how long it may take to write an event: who reads slower is left.
const batchTime = 10 * time.Second

// Send sends an event, whose name may be "". data may have several lines. It blocks until the kernel has it, for
// batchTime at most.
func (s *Stream) Send(event string, data []byte) error {
	var b bytes.Buffer
	if event != "" {
		fmt.Fprintf(&b, "event: %s\n", event)
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	if err := s.control.SetWriteDeadline(time.Now().Add(batchTime)); err != nil {
		return err
	}
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *Stream) flush() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(batchTime)); err != nil {
		return err
	}
	return s.control.Flush()
}
