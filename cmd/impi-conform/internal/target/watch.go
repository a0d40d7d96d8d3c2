package target

import "bytes"

// Watcher is told what a process writes and how it ends.
type Watcher struct {
	// Line is called for every line of stdout or stderr, with its first bytes and its length without the line feed.
	Line func(stream, line string, length int)
	// Ended is called last, with the exit code.
	Ended func(code int)
}

// maxLine is how many bytes of a line a watcher sees.
const maxLine = 1024

// Watch tells w what the process has written so far, and from now on what it writes.
func (p *Process) Watch(w Watcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = &watch{to: w}
	p.watch.write(false, p.stdout.Bytes())
	p.watch.write(true, p.stderr.Bytes())
	if p.over {
		p.watch.end(p.code)
	}
}

// finished tells the watcher of the end.
func (p *Process) finished() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.watch.end(p.code)
}

// watch cuts what a process writes into lines.
type watch struct {
	to   Watcher
	part [2]struct { // of a line of stdout, of stderr
		first  []byte
		length int
	}
}

var streams = [2]string{"stdout", "stderr"}

func index(stderr bool) int {
	if stderr {
		return 1
	}
	return 0
}

func (w *watch) write(stderr bool, b []byte) {
	if w == nil {
		return
	}
	p := &w.part[index(stderr)]
	for len(b) > 0 {
		piece, rest, whole := bytes.Cut(b, []byte{'\n'})
		p.first = append(p.first, piece[:min(len(piece), maxLine-len(p.first))]...)
		p.length += len(piece)
		b = rest
		if whole {
			w.flush(index(stderr))
		}
	}
}

func (w *watch) flush(stream int) {
	p := &w.part[stream]
	w.to.Line(streams[stream], string(p.first), p.length)
	p.first, p.length = p.first[:0], 0
}

func (w *watch) end(code int) {
	if w == nil {
		return
	}
	for i := range w.part {
		if w.part[i].length > 0 {
			w.flush(i)
		}
	}
	w.to.Ended(code)
}
