package job

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// Streams returns where the output of ranks goes, of the job that was spawned as number job, or of the one that was
// started (0). ranks are their numbers, nil if these count from 0. It is nil if ranks write to our own standard
// output and error themselves.
func Streams(plan *options.Plan, ranks []int, job int) func(rank int, name string) supervise.Stream {
	o := &plan.Output
	if *o == (options.Output{}) {
		return nil
	}
	return func(rank int, name string) supervise.Stream {
		f := &options.Fields{Rank: layout.RankIn(ranks, rank), Host: hosts.Hostname(), Job: job}
		s := supervise.Stream{Stamp: stamp(plan, f, name), Merged: o.Merge && name == "stderr"}
		pattern := o.Out
		if name == "stderr" {
			pattern = o.Err
		}
		switch {
		case o.Dir != "":
			s.File = filepath.Join(o.Dir, fmt.Sprint(1+job), fmt.Sprint("rank.", f.Rank), name)
			s.Copied = !o.DirOnly
		case pattern != "":
			s.File = f.Fill(pattern)
		}
		return s
	}
}

// stamp is the form of the lines of a stream; nil: they stay as they are.
func stamp(plan *options.Plan, f *options.Fields, name string) supervise.Stamp {
	tag := ""
	switch {
	case plan.JSON:
		return inJSON(f, name)
	case plan.Pattern != "":
		tag = f.Fill(plan.Pattern)
	case plan.Tag == options.TagRank:
		tag = fmt.Sprintf("[%s%d] ", jobPrefix(f.Job), f.Rank)
	case plan.Tag == options.TagStream:
		tag = fmt.Sprintf("[%d,%s%d]<%s>:", plan.Rank, jobPrefix(f.Job), f.Rank, name)
	case !plan.Timestamp:
		return nil
	}
	return supervise.Prefixed(func(b []byte, now time.Time) []byte {
		if plan.Timestamp {
			b = append(now.AppendFormat(b, time.StampMicro), ' ')
		}
		return append(b, tag...)
	})
}

// line is a line of output for programs. What is no text is given as bytes.
type line struct {
	Time   time.Time `json:"time"`
	Job    int       `json:"job"`
	Rank   int       `json:"rank"`
	Host   string    `json:"host"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
	Bytes  []byte    `json:"bytes,omitempty"` // base64, instead of text
	Open   bool      `json:"open,omitempty"`  // no newline follows
}

func inJSON(f *options.Fields, name string) supervise.Stamp {
	return func(b []byte, now time.Time, text []byte, end supervise.LineEnd) []byte {
		l := line{Time: now, Job: f.Job, Rank: f.Rank, Host: f.Host, Stream: name, Open: end != supervise.LineWhole}
		if utf8.Valid(text) {
			l.Text = string(text)
		} else {
			l.Bytes = text
		}
		object, err := json.Marshal(&l)
		if err != nil { // it has strings and numbers only
			panic(err)
		}
		return append(append(b, object...), '\n')
	}
}

// jobPrefix stands before such a rank in prefixes of output.
func jobPrefix(number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("s%d:", number)
}
