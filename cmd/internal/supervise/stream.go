package supervise

import (
	"fmt"
	"os"
	"path/filepath"
)

// connect makes what a rank writes to as stdout and stderr, and starts the relays that this takes. What is closing is
// to be closed when the rank has been started.
func (j *Job) connect(set *Set, rank int, files *[3]uintptr) (closing []*os.File, err error) {
	if set.config.Streams == nil {
		return nil, nil
	}
	for i, name := range []string{"stdout", "stderr"} {
		s := set.config.Streams(rank, name)
		if s.Merged && i == 1 {
			files[2] = files[1]
			continue
		}
		w, err := j.writer(&s, j.outputs[i])
		if err != nil {
			return closing, err
		}
		if w != nil {
			files[1+i], closing = w.Fd(), append(closing, w)
		}
	}
	return closing, nil
}

// writer returns the end of a stream that the rank writes to; nil: the launcher's own.
func (j *Job) writer(s *Stream, own *sink) (*os.File, error) {
	to := []*sink{own}
	if s.File != "" {
		file, err := j.create(s.File)
		if err != nil || s.direct() {
			return file, err
		}
		opened := &sink{name: s.File, out: file}
		j.opened = append(j.opened, opened)
		if to = []*sink{opened}; s.Copied {
			to = append(to, own)
		}
		return j.relayFrom(s.Stamp, to, file)
	}
	if s.direct() {
		return nil, nil
	}
	return j.relayFrom(s.Stamp, to, nil)
}

// create opens a file for a stream. Several may have the same, so that each writes at its end; the first finds it
// empty.
func (j *Job) create(name string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !j.created[name] {
		flags |= os.O_TRUNC
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, fmt.Errorf("a file for output of ranks: %w", err)
		}
	}
	file, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return nil, fmt.Errorf("a file for output of ranks: %w", err)
	}
	if j.created == nil {
		j.created = map[string]bool{}
	}
	j.created[name] = true
	return file, nil
}

// relayFrom starts the relay of one stream of one rank and returns the end that the rank writes to. file is closed at
// the end of the relay.
func (j *Job) relayFrom(stamp Stamp, to []*sink, file *os.File) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		file.Close()
		return nil, err
	}
	if stamp == nil {
		stamp = asItIs
	}
	j.relays.Go(func() {
		defer file.Close() // of nil it is an error, and does nothing
		relay(r, to, stamp)
	})
	return w, nil
}

// lostOutput is the cause of a job that went well, except that output could not be written; nil if all was written. No
// relay runs any more.
func (j *Job) lostOutput() *Cause {
	for _, s := range append(j.outputs[:], j.opened...) {
		if s.lost != nil {
			return &Cause{Code: 1, Text: fmt.Sprintf("output of ranks is lost: %s: %v", s.name, s.lost)}
		}
	}
	return nil
}
