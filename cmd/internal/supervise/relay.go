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

// Relay carries the output of ranks to the launcher's own, a whole number of lines at a time, with a prefix
// before each. It exists only when prefixes are asked for: otherwise ranks write to the launcher's stdout
// and stderr themselves.
//
// A line longer than maxLine is cut; a last line without a newline gets one, after noNewline.

const (
	maxLine   = 1 << 20
	noNewline = " [no newline]"
)

// sink is one of the launcher's own outputs, shared by all ranks.
type sink struct {
	mu   sync.Mutex
	out  io.Writer
	lost error // why some output is lost; nil: none is
}

// write writes whole lines. It answers false if nobody reads them any more.
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

// stamp puts the prefix of one line, written now, at the end of b.
type stamp func(b []byte, now time.Time) []byte

// relay copies from to the sink until the end of from. When the sink is gone (a closed pipe), from is
// closed, so that the rank learns it as it would without a relay. Other errors, such as a full disk, do not end the
// rank: its output is lost, and the job's outcome says so.
func relay(from io.ReadCloser, to *sink, prefix stamp) {
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
			out = stampLines(out, in[:old+end], prefix)
			in = append(in[:0], in[old+end:]...)
		}
		if len(in) >= maxLine {
			out = append(append(prefix(out, time.Now()), in...), '\n')
			in = in[:0]
		}
		if err != nil && len(in) > 0 {
			out = append(append(append(prefix(out, time.Now()), in...), noNewline...), '\n')
		}
		if len(out) > 0 && !to.write(out) {
			return
		}
		if err != nil {
			return
		}
	}
}

// stampLines appends whole lines to out, each with its prefix.
func stampLines(out, lines []byte, prefix stamp) []byte {
	now := time.Now()
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		out = append(prefix(out, now), lines[:end]...)
		lines = lines[end:]
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
