package startup

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

var be = binary.BigEndian

// Names of messages.
const (
	msgJoin      = "join"
	msgHello     = "hello"
	msgWelcome   = "welcome"
	msgRefuse    = "refuse"
	msgHost      = "host"
	msgJob       = "job"
	msgFinalized = "finalized"
	msgAck       = "ack"
	msgAbort     = "abort"
	msgSpawn     = "spawn"
	msgNames     = "names"
	msgAnswer    = "answer"
	msgTraffic   = "traffic"
	msgReport    = "report"
	msgLost      = "lost"
	msgSuspect   = "suspect"
)

// message is one message as it travels.
type message struct {
	Type string          `json:"type"`
	Body json.RawMessage `json:"body,omitempty"`
}

type welcomeBody struct {
	Version   int               `json:"version"`
	LocalRank int32             `json:"local_rank"`
	LocalSize int32             `json:"local_size"`
	JobID     string            `json:"job_id"`
	Settings  map[string]string `json:"settings,omitempty"`
	Shared    bool              `json:"shared,omitempty"` // a descriptor comes with it
	IMPI      bool              `json:"impi,omitempty"`
	Agent     bool              `json:"agent,omitempty"`
	Bind      netip.Addr        `json:"bind,omitzero"`
	Ports     [2]int            `json:"ports,omitzero"`
	Tables    []byte            `json:"tables,omitempty"`
	Parent    string            `json:"parent,omitempty"`
	Universe  int32             `json:"universe,omitempty"`
	FT        bool              `json:"ft,omitempty"`
}

type hostBody struct {
	Host
	HostID string `json:"host_id"` // 32 hexadecimal digits
}

type jobBody struct {
	Tables []byte  `json:"tables"`
	Agent  [2]bool `json:"agent,omitzero"` // descriptors of these two sockets come with it
	Local  []int32 `json:"local,omitempty"`
}

type refuseBody struct {
	Text string `json:"text"`
}

const (
	frameHead      = 4
	maxDescriptors = 2 // with one message
)

// port is one end of a link: whole messages over a stream. One goroutine may read, and any number write.
type port struct {
	conn  *net.UnixConn
	limit int   // of a message that comes in, in bytes
	takes bool  // descriptors may come with messages
	fds   []int // those that have come

	write sync.Mutex // held for one whole message
}

// send writes one message, with those of the descriptors that are not negative, and gives up at the deadline.
func (p *port) send(typ string, body any, deadline time.Time, descriptors ...int) error {
	var fds []int
	for _, fd := range descriptors {
		if fd >= 0 {
			fds = append(fds, fd)
		}
	}
	var raw json.RawMessage
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	text, err := json.Marshal(message{Type: typ, Body: raw})
	if err != nil {
		return err
	}
	frame := append(be.AppendUint32(nil, uint32(len(text))), text...)
	p.write.Lock()
	defer p.write.Unlock()
	p.conn.SetWriteDeadline(deadline)
	if len(fds) > 0 {
		// With the head alone, which is never split.
		if _, _, err := p.conn.WriteMsgUnix(frame[:frameHead], syscall.UnixRights(fds...), nil); err != nil {
			return fmt.Errorf("sending %s: %w", typ, err)
		}
		frame = frame[frameHead:]
	}
	if _, err := p.conn.Write(frame); err != nil {
		return fmt.Errorf("sending %s: %w", typ, err)
	}
	return nil
}

// receive reads one message, until the deadline if it is not zero. It returns io.EOF if the other side has closed the
// link between messages.
func (p *port) receive(deadline time.Time) (message, error) {
	p.conn.SetReadDeadline(deadline)
	return p.next()
}

// next is receive with the deadline that stands.
func (p *port) next() (message, error) {
	var m message
	var head [frameHead]byte
	if err := p.fill(head[:]); err != nil {
		return m, err
	}
	n := be.Uint32(head[:])
	if n < 2 || uint64(n) > uint64(p.limit) {
		return m, fmt.Errorf("a message of %d bytes, and they have 2 to %d", n, p.limit)
	}
	text := make([]byte, 0, min(n, 4096))
	for len(text) < int(n) { // memory grows with what arrives
		step := min(int(n)-len(text), max(4096, len(text)))
		text = append(text, make([]byte, step)...)
		if err := p.fill(text[len(text)-step:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return m, err
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("a message that cannot be read: %w", err)
	}
	return m, nil
}

// fill reads len(b) bytes, and keeps the descriptors that come with them.
func (p *port) fill(b []byte) error {
	var oob []byte
	if p.takes {
		oob = make([]byte, syscall.CmsgSpace(4*maxDescriptors))
	}
	for got := 0; got < len(b); {
		n, oobn, _, _, err := p.conn.ReadMsgUnix(b[got:], oob)
		if oobn > 0 {
			p.keep(oob[:oobn])
		}
		got += n
		if err == nil && n > 0 {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if got > 0 {
			return io.ErrUnexpectedEOF
		}
		return io.EOF
	}
	return nil
}

func (p *port) keep(oob []byte) {
	list, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for i := range list {
		if fds, err := syscall.ParseUnixRights(&list[i]); err == nil {
			p.fds = append(p.fds, fds...)
		}
	}
}

// descriptors hands out the n descriptors that have come.
func (p *port) descriptors(n int) ([]int, error) {
	fds := p.fds
	if len(fds) != n {
		p.dropDescriptors()
		return nil, fmt.Errorf("%d descriptors came where %d should", len(fds), n)
	}
	p.fds = nil
	return fds, nil
}

func (p *port) dropDescriptors() {
	for _, fd := range p.fds {
		syscall.Close(fd)
	}
	p.fds = nil
}

// decode reads the body of a message.
func decode[T any](m message) (body T, err error) {
	if len(m.Body) == 0 {
		return body, fmt.Errorf("%s says nothing", m.Type)
	}
	if err := json.Unmarshal(m.Body, &body); err != nil {
		return body, fmt.Errorf("%s cannot be read: %w", m.Type, err)
	}
	return body, nil
}

func (h hostBody) host() (Host, error) {
	id, err := hex.DecodeString(h.HostID)
	if err != nil || len(id) != 16 {
		return Host{}, fmt.Errorf("host id %.40q is not 32 hexadecimal digits", h.HostID)
	}
	if !h.Addr.IsValid() || h.Addr.Port() == 0 || h.Addr.Addr().IsUnspecified() {
		return Host{}, fmt.Errorf("nobody can connect to %v", h.Addr)
	}
	h.Host.HostID = [16]byte(id)
	return h.Host, nil
}

func newHostBody(h Host) hostBody { return hostBody{Host: h, HostID: hex.EncodeToString(h.HostID[:])} }

func newPort(conn net.Conn, limit int, takes bool) (*port, error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New("not a Unix socket")
	}
	return &port{conn: u, limit: limit, takes: takes}, nil
}
