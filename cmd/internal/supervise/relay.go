package supervise

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// Relay carries the output of ranks to where it is to go (Stream), a whole number of lines at a time, each in the form
// that its stamp gives it. It exists only when something else is asked for than what is there without it: ranks that
// write to the launcher's stdout and stderr, or to a file, themselves.
//
// A line longer than maxLine is cut.

const (
	maxLine   = 1 << 20
	noNewline = " [no newline]"
)

// sink is one of the launcher's own outputs, shared by all ranks, or a file.
type sink struct {
	name string // for messages
	mu   sync.Mutex
	out  io.Writer
	lost error // why some output is lost; nil: none is
}

// write writes whole lines. It returns false if nobody reads them any more.
func (s *sink) write(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return false
	}
	if s.lost == nil {
		s.lost = err
	}
	return true
}

// LineEnd is how a line ends.
type LineEnd int

const (
	LineWhole LineEnd = iota // with a newline, which is not in the line
	LineCut                  // it goes on: it is too long to wait for its end
	LineOpen                 // without one, because the output ends there
)

// Stamp appends to b a line as it is to be shown, which was written now.
type Stamp func(b []byte, now time.Time, line []byte, end LineEnd) []byte

// Prefixed is the form of lines behind a prefix, which prefix appends. Each is a line of its own.
func Prefixed(prefix func(b []byte, now time.Time) []byte) Stamp {
	return func(b []byte, now time.Time, line []byte, end LineEnd) []byte {
		b = append(prefix(b, now), line...)
		if end == LineOpen {
			b = append(b, noNewline...)
		}
		return append(b, '\n')
	}
}

// asItIs leaves lines as they are.
func asItIs(b []byte, _ time.Time, line []byte, end LineEnd) []byte {
	if b = append(b, line...); end == LineWhole {
		b = append(b, '\n')
	}
	return b
}

// Stream says where one stream of a rank goes. The zero Stream is the launcher's own, which the rank inherits.
type Stream struct {
	Stamp  Stamp  // the form of its lines; nil: bytes as they are
	File   string // where it goes instead
	Copied bool   // it goes to the launcher's own as well as to the file
	Merged bool   // stderr: it goes where stdout goes
}

// direct reports whether the rank itself writes.
func (s *Stream) direct() bool { return s.Stamp == nil && !s.Copied }

// relay copies from to the sinks until the end of from. When a sink is gone (a closed pipe), from is
// closed, so that the rank learns it as it would without a relay. Other errors, such as a full disk, do not end the
// rank: its output is lost, and the job's outcome says so.
func relay(from io.ReadCloser, to []*sink, stamp Stamp) {
	defer from.Close()
	in := make([]byte, 0, 64<<10)
	var out []byte
	for {
		if len(in) == cap(in) {
			in = append(in, 0)[:len(in)]
		}
		old := len(in) // holds no newline
		n, err := from.Read(in[old:cap(in)])
		in, out = in[:old+n], out[:0]
		if end := bytes.LastIndexByte(in[old:], '\n') + 1; end > 0 {
			out = stampLines(out, in[:old+end], stamp)
			in = append(in[:0], in[old+end:]...)
		}
		if len(in) >= maxLine {
			out = stamp(out, time.Now(), in, LineCut)
			in = in[:0]
		}
		if err != nil && len(in) > 0 {
			out = stamp(out, time.Now(), in, LineOpen)
		}
		for _, s := range to {
			if len(out) > 0 && !s.write(out) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stampLines appends whole lines to out.
func stampLines(out, lines []byte, stamp Stamp) []byte {
	now := time.Now()
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		out = stamp(out, now, lines[:end], LineWhole)
		lines = lines[end+1:]
	}
	return out
}

// spread copies one input to all pipes, 64 KiB at a time, at the pace of the slowest reader. A rank that
// does not read any more is left out.
func spread(from io.Reader, to []*os.File) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for i, w := range to {
			if w == nil {
				continue
			}
			if _, werr := w.Write(buf[:n]); werr != nil && n > 0 {
				w.Close()
				to[i] = nil
			}
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	for _, w := range to {
		if w != nil {
			w.Close()
		}
	}
}
