package checks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Leak is something that a process has left behind at the end, so many times.
type Leak struct {
	One     string  `json:"one"`              // "communicator"
	Made    string  `json:"made,omitempty"`   // "MPI_Comm_dup at solver.c:118"
	Fate    string  `json:"fate"`             // "never freed"
	Message Message `json:"message,omitzero"` // a message, which its sender can say more of
	Count   int     `json:"count"`
}

// Message says which messages are meant, to their sender. Ranks are those of MPI_COMM_WORLD.
type Message struct {
	From, To int
	Comm     uint64 // as package report names it
	Tag      int
}

// mostLeaks bounds how many kinds of leaks a process tells of.
const mostLeaks = 256

// Gather adds up what is alike, and leaves out what is too much.
func Gather(leaks []Leak) (all []Leak) {
	at := map[Leak]int{}
	for _, l := range leaks {
		key := l
		key.Count = 0
		if i, known := at[key]; known {
			all[i].Count += l.Count
		} else if len(all) < mostLeaks {
			at[key] = len(all)
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b Leak) int {
		return cmp.Or(cmp.Compare(a.Fate, b.Fate), cmp.Compare(a.One, b.One), cmp.Compare(a.Made, b.Made))
	})
	return all
}

// Encode is what another process reads with Fold; empty: nothing is left.
func Encode(leaks []Leak) []byte {
	if len(leaks) == 0 {
		return nil
	}
	text, _ := json.Marshal(leaks) // strings and numbers always can be
	return text
}

// Question asks for the messages of which ranks tell; empty: there are none.
func Question(told [][]byte) []byte {
	var ask []Message
	for _, text := range told {
		for _, l := range decode(text) {
			if l.Message != (Message{}) && len(ask) < mostLeaks {
				ask = append(ask, l.Message)
			}
		}
	}
	if ask == nil {
		return nil
	}
	text, _ := json.Marshal(ask)
	return text
}

// said is a part of an answer.
type said struct {
	Message Message
	Made    string
}

// Answer is what a rank knows of messages that it has sent.
func Answer(question []byte, rank int, made func(Message) string) []byte {
	var ask []Message
	if len(question) == 0 || json.Unmarshal(question, &ask) != nil {
		return nil
	}
	var answer []said
	for _, m := range ask {
		if text := made(m); m.From == rank && text != "" {
			answer = append(answer, said{m, text})
		}
	}
	text, _ := json.Marshal(answer)
	return text
}

func decode(text []byte) (leaks []Leak) {
	if len(text) > 0 && json.Unmarshal(text, &leaks) != nil {
		return nil
	}
	return leaks
}

// Fold makes lines of what all ranks tell, by their ranks, and of their answers. The same leak of many ranks is one
// line. What is none of Encode's is left out.
func Fold(told, answers [][]byte) (lines []string) {
	senders := map[Message]string{}
	for _, text := range answers {
		var all []said
		if len(text) > 0 && json.Unmarshal(text, &all) == nil {
			for _, s := range all {
				senders[s.Message] = s.Made
			}
		}
	}
	type ranks struct {
		of          []int
		least, most int
	}
	by := map[Leak]*ranks{}
	var order []Leak
	for rank, text := range told {
		for _, l := range decode(text) {
			n := l.Count
			l = Leak{One: plain(l.One), Made: plain(cmp.Or(l.Made, senders[l.Message])), Fate: plain(l.Fate)}
			r := by[l]
			if r == nil {
				r = &ranks{least: n}
				by[l] = r
				order = append(order, l)
			}
			r.of = append(r.of, rank)
			r.least, r.most = min(r.least, n), max(r.most, n)
		}
	}
	for _, l := range order {
		r := by[l]
		lines = append(lines, fmt.Sprintf("%s: %s", inWords(r.of), l.inWords(r.least, r.most, len(r.of) > 1)))
	}
	return lines
}

// plain leaves out of a text of another process what is none.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// inWords is the leak, with how many there are at each rank.
func (l *Leak) inWords(least, most int, several bool) string {
	number := fmt.Sprint(most)
	if least < most {
		number = fmt.Sprintf("%d to %d", least, most)
	}
	what, rest, _ := strings.Cut(l.One, " of ")
	if most > 1 {
		what = plural(what)
	}
	if rest != "" {
		what += " of " + rest
	}
	if several {
		what += " each"
	}
	if l.Made != "" {
		return fmt.Sprintf("%s %s, from %s: %s", number, what, l.Made, l.Fate)
	}
	return fmt.Sprintf("%s %s: %s", number, what, l.Fate)
}

func plural(one string) string {
	if strings.HasSuffix(one, "y") {
		return one[:len(one)-1] + "ies"
	}
	return one + "s"
}

// inWords is a list of ranks, in order: "rank 3", "ranks 0-2,5".
func inWords(ranks []int) string {
	var runs []string
	for i := 0; i < len(ranks); {
		end := i
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		if end == i {
			runs = append(runs, fmt.Sprint(ranks[i]))
		} else {
			runs = append(runs, fmt.Sprintf("%d-%d", ranks[i], ranks[end]))
		}
		i = end + 1
	}
	if len(ranks) == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ",")
}
