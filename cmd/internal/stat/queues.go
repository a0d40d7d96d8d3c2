package stat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/libimpi/report"
)

// queues says, for ranks that have any, which messages nobody has received, what else is under way beside what their
// threads wait for, and which windows and files are open for access. Ranks with the same are one entry.
func (j *job) queues() (texts []string) {
	at := map[string]int{}
	var who [][]int
	for _, r := range j.ranks {
		if r.Process == nil {
			continue
		}
		text := r.queues()
		if text == "" {
			continue
		}
		k, ok := at[text]
		if !ok {
			k = len(texts)
			at[text] = k
			texts, who = append(texts, text), append(who, nil)
		}
		who[k] = append(who[k], r.Rank)
	}
	for k := range texts {
		texts[k] = "queues of " + j.names(who[k]) + ": " + texts[k]
	}
	return append(texts, j.open()...)
}

// open says which ranks may go on without others, and why.
func (j *job) open() (texts []string) {
	who := map[string][]int{}
	var order []string
	for _, r := range j.ranks {
		if r.Process == nil || r.Process.Open == "" {
			continue
		}
		text := clean(r.Process.Open)
		if who[text] == nil {
			order = append(order, text)
		}
		who[text] = append(who[text], r.Rank)
	}
	for _, text := range order {
		texts = append(texts, j.names(who[text])+" may go on without other ranks: "+text)
	}
	return texts
}

// letter is what tells messages of one rank apart.
type letter struct {
	sends     bool
	comm      uint64
	peer, tag int
}

func letterOf(m *report.Message) letter { return letter{sends(m), m.Comm, m.Peer, m.Tag} }

func (r *Rank) queues() string {
	p := r.Process
	var list []string
	// What threads wait for stands in their lines.
	waits := map[letter]int{}
	for i := range p.Threads {
		for k := range p.Threads[i].Waits {
			waits[letterOf(&p.Threads[i].Waits[k])]++
		}
	}
	messages := func(of []report.Message, count int, what string, own func(m *report.Message) bool) {
		var words []string
		n := max(0, count-len(of))
		for i := range of {
			m := &of[i]
			if m.Routine != "" || m.Internal || !own(m) {
				continue
			}
			if n++; len(words) < mostWords {
				words = append(words, r.letter(m))
			}
		}
		if n == 0 {
			return
		}
		if n > len(words) {
			words = append(words, fmt.Sprintf("%d more", n-len(words)))
		}
		list = append(list, fmt.Sprintf("%s: %s", what, strings.Join(words, ", ")))
	}
	other := func(m *report.Message) bool {
		waits[letterOf(m)]--
		return waits[letterOf(m)] < 0
	}
	arrived := slices.Clone(p.Unexpected)
	for i := range arrived {
		arrived[i].Kind = "recv" // they say how they were sent
	}
	messages(arrived, p.UnexpectedCount, "not received", func(*report.Message) bool { return true })
	messages(p.Receives, p.ReceiveCount, "other receives", other)
	messages(p.Sends, p.SendCount, "other sends", other)
	for i := range p.Windows[:min(len(p.Windows), mostWords)] {
		w := &p.Windows[i]
		name := "a window"
		if w.Name != "" {
			name = "window " + clean(w.Name)
		}
		list = append(list, name+" "+clean(w.Epoch))
	}
	for i := range p.Files[:min(len(p.Files), mostWords)] {
		list = append(list, fmt.Sprintf("file %s: accesses under way: %d", clean(p.Files[i].Name), p.Files[i].Pending))
	}
	return strings.Join(list, "; ")
}

// letter is a message of a queue: "from rank 3 tag 8 on MPI_COMM_WORLD (8 bytes)".
func (r *Rank) letter(m *report.Message) string {
	a := act{}
	r.message(&a, "", *m, r.commOf(m.Comm))
	return fmt.Sprintf("%s%s (%d bytes)", a.what(), onOf(r.commOf(m.Comm)), m.Bytes)
}
