// Package trace records what the clients and hosts of a small job say to each other and to the server, byte for
// byte, and tells it in words.
//
// A trace is a text file. Its streams, one for each direction of each connection, are in a fixed order, and each has
// one unit a line in hexadecimal: a command with its payload, a packet with its data, or what travels bare. What
// differs from run to run is replaced when it is recorded (normal.go).
//
//	# comment
//	client 0 to server
//	415554480000000400000002
package trace

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// Stream is one direction of a connection.
type Stream struct {
	Name  string // "client 0 to server", "server to client 0", "host 1 to host 0"
	Units [][]byte
}

// Trace is a whole job.
type Trace struct {
	Comment string
	Streams []Stream
}

// lineMax is the longest line that is read, in bytes.
const lineMax = 16 << 20

// Read reads a trace.
func Read(r io.Reader) (*Trace, error) {
	t := new(Trace)
	s := bufio.NewScanner(r)
	s.Buffer(nil, lineMax)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			t.Comment += strings.TrimSpace(line[1:]) + "\n"
		case strings.Contains(line, " to "):
			t.Streams = append(t.Streams, Stream{Name: line})
		case len(t.Streams) == 0:
			return nil, fmt.Errorf("line %d: bytes of no stream", n)
		default:
			unit, err := hex.DecodeString(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			last := &t.Streams[len(t.Streams)-1]
			last.Units = append(last.Units, unit)
		}
	}
	return t, s.Err()
}

// Bytes is the trace as a file.
func (t *Trace) Bytes() []byte {
	var b bytes.Buffer
	for line := range strings.Lines(t.Comment) {
		fmt.Fprintf(&b, "# %s", line)
	}
	for _, s := range t.Streams {
		fmt.Fprintf(&b, "%s\n", s.Name)
		for _, u := range s.Units {
			fmt.Fprintf(&b, "%x\n", u)
		}
	}
	return b.Bytes()
}

// Print tells a trace in words, a line a unit.
func (t *Trace) Print(w io.Writer) {
	for _, s := range t.Streams {
		fmt.Fprintf(w, "%s\n", s.Name)
		for i, u := range s.Units {
			fmt.Fprintf(w, "  %s\n", s.text(i, u))
		}
	}
}

// text is unit i of a stream in words.
func (s Stream) text(i int, u []byte) string {
	from, to, _ := strings.Cut(s.Name, " to ")
	switch {
	case strings.HasPrefix(from, "host"):
		return packetText(u)
	case from == "server" && i == 0:
		if a, ok := wire.ParseServerAuth(u); ok {
			return a.Text()
		}
	case to == "server" && i == 1:
		if key, ok := wire.ParseAuthKey(u); ok && len(u) == wire.AuthKeySize {
			return fmt.Sprintf("key %d", key)
		}
	}
	if c, ok := wire.ParseCmd(u); ok && int(c.Len) == len(u)-wire.CmdSize {
		return c.Text(u[wire.CmdSize:], from == "server")
	}
	return fmt.Sprintf("%d bytes that are no command: %x", len(u), u)
}

// shown is how many bytes of user data are printed.
const shown = 16

func packetText(u []byte) string {
	if len(u) < wire.PacketSize {
		if host, ok := wire.Handshake(u); ok && len(u) == wire.HandshakeSize {
			return fmt.Sprintf("host %d", host)
		}
		return fmt.Sprintf("%d bytes that are no packet: %x", len(u), u)
	}
	text := wire.Packet(u).Text()
	data := u[wire.PacketSize:]
	switch {
	case len(data) > shown:
		text += fmt.Sprintf(": %x...", data[:shown])
	case len(data) > 0:
		text += fmt.Sprintf(": %x", data)
	}
	return text
}

// Differ returns where two traces differ first, "" if nowhere.
func Differ(got, want *Trace) string {
	for i, g := range got.Streams {
		if i >= len(want.Streams) || want.Streams[i].Name != g.Name {
			return fmt.Sprintf("there is a stream %q that should not be there", g.Name)
		}
		w := want.Streams[i]
		for k, u := range g.Units {
			if k >= len(w.Units) {
				return fmt.Sprintf("%s, unit %d should not be there: %s", g.Name, k+1, g.text(k, u))
			}
			if !bytes.Equal(u, w.Units[k]) {
				return fmt.Sprintf("%s, unit %d\nis      %s\nmust be %s\n%x\n%x",
					g.Name, k+1, g.text(k, u), w.text(k, w.Units[k]), u, w.Units[k])
			}
		}
		if len(w.Units) > len(g.Units) {
			return fmt.Sprintf("%s ends before unit %d: %s", g.Name, len(g.Units)+1, w.text(len(g.Units), w.Units[len(g.Units)]))
		}
	}
	if len(want.Streams) > len(got.Streams) {
		return fmt.Sprintf("stream %q is missing", want.Streams[len(got.Streams)].Name)
	}
	return ""
}
