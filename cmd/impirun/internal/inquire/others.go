package inquire

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/stat"
)

// Other clients of the job may have launchers of their own, which only the IMPI server connects with this one. Each
// asks the others for what their ranks do when it makes a report. The first client's alone looks for deadlocks. It asks
// whether the others' processes are at rest before it asks what they wait for, so that nobody asks ranks that compute.

// Others are the launchers of the other clients.
type Others interface {
	// Ask asks them, and returns what they have said within limit, by client. complete is false if it is not known that
	// all have.
	Ask(what []byte, limit time.Duration) (answers map[int][]byte, complete bool)
	// Answer makes source answer their questions.
	Answer(source func(what []byte) []byte)
}

// question is what a launcher asks, as JSON.
type question struct {
	Limit time.Duration `json:"l"`
	Rest  bool          `json:"r"` // it asks only whether the processes are at rest
}

// answer is what it hears.
type answer struct {
	Rest  bool
	Whole bool
	Ranks []stat.Rank
}

const (
	// farTime is what an answer may take on its way.
	farTime = time.Second
	// mostAnswer bounds an answer, in bytes (wire.ToldMax).
	mostAnswer = 8 << 20
	// mostSpawned is more than the jobs that a client's ranks spawn.
	mostSpawned = 1 << 20
)

// states asks the ranks of this launcher, and of all others.
func (q *Inquiry) states() (ranks []stat.Rank, whole bool) {
	if q.config.Others == nil {
		return q.config.States(answerTime)
	}
	var asked sync.WaitGroup
	var theirs map[int]answer
	complete := false
	asked.Go(func() { theirs, complete = q.ask(question{Limit: answerTime}) })
	ranks, whole = q.config.States(answerTime)
	asked.Wait()
	for client, a := range theirs {
		for _, r := range a.Ranks {
			if r.Job != 0 {
				r.Job += (client + 1) * mostSpawned
			}
			ranks = append(ranks, r)
		}
		complete = complete && a.Whole && len(a.Ranks) > 0
	}
	return ranks, whole && complete
}

// othersRest reports whether the processes of all other clients are at rest.
func (q *Inquiry) othersRest() bool {
	if q.config.Others == nil {
		return true
	}
	theirs, rest := q.ask(question{Rest: true})
	for _, a := range theirs {
		rest = rest && a.Rest
	}
	return rest
}

// ask asks all other launchers. An answer that makes no sense says nothing.
func (q *Inquiry) ask(what question) (answers map[int]answer, complete bool) {
	b, err := json.Marshal(what)
	if err != nil {
		return nil, false
	}
	texts, complete := q.config.Others.Ask(b, what.Limit+farTime)
	answers = map[int]answer{}
	for client, text := range texts {
		var a answer
		if json.Unmarshal(text, &a) != nil {
			complete = false
			continue
		}
		answers[client] = a
	}
	return answers, complete
}

// tell answers another launcher.
func (q *Inquiry) tell(text []byte) []byte {
	var what question
	if json.Unmarshal(text, &what) != nil {
		return nil
	}
	a := answer{Rest: q.atRest.Load()}
	if !what.Rest {
		a.Ranks, a.Whole = q.config.States(min(what.Limit, answerTime))
	}
	b, err := json.Marshal(a)
	if err == nil && len(b) <= mostAnswer {
		return b
	}
	for i := range a.Ranks {
		if r := &a.Ranks[i]; r.Process != nil {
			r.Process, r.State, r.Detail = nil, stat.Mute, "its report is too long"
		}
	}
	if b, err = json.Marshal(a); err != nil || len(b) > mostAnswer {
		return nil
	}
	return b
}
