package analysis

import "github.com/libimpi/libimpi/cmd/impi-trace/internal/job"

// Message is a send and the receive that got it.
type Message struct {
	From, To      int32 // ranks
	Send, Receive int32 // indexes of their Sends and Receives
}

// channel is what orders messages: those of one channel are received in the order in which they were sent (MPI 5.0,
// 3.5), since a receive tells the source and the tag that came.
type channel struct {
	source, comm, tag int32
	partitioned       bool
}

// match pairs the halves of all messages: in each channel the first send with the first receive, and so on. Where the
// oldest calls of a side were not kept, it pairs from the end; where that is lost, too, it does not pair.
func match(j *job.Job) (messages []Message, unsent, unread int) {
	sent := byReceiver(j)
	found := make([][]Message, len(j.Ranks))
	lonely := make([]int, len(j.Ranks))
	each(len(j.Ranks), func(to int) { found[to], lonely[to] = matchRank(j, int32(to), sent[to]) })
	total, sends := 0, 0
	for to := range found {
		total += len(found[to])
		unsent += lonely[to]
		sends += len(j.Ranks[to].Sends)
	}
	messages = make([]Message, 0, total)
	for to := range found {
		messages = append(messages, found[to]...)
	}
	return messages, unsent, sends - total
}

// half names a send: its rank, and its index there.
type half struct{ rank, index int32 }

// byReceiver sorts all sends by who receives them. Those of one sender keep their order.
func byReceiver(j *job.Job) [][]half {
	sent := make([][]half, len(j.Ranks))
	count := make([]int, len(j.Ranks))
	for from := range j.Ranks {
		for i := range j.Ranks[from].Sends {
			if to := j.Ranks[from].Sends[i].Peer; to >= 0 && int(to) < len(count) {
				count[to]++
			}
		}
	}
	for to, n := range count {
		sent[to] = make([]half, 0, n)
	}
	for from := range j.Ranks {
		for i := range j.Ranks[from].Sends {
			if to := j.Ranks[from].Sends[i].Peer; to >= 0 && int(to) < len(count) {
				sent[to] = append(sent[to], half{int32(from), int32(i)})
			}
		}
	}
	return sent
}

// matchRank pairs the receives of one rank with what was sent to it.
func matchRank(j *job.Job, to int32, sent []half) (messages []Message, lonely int) {
	receives := j.Ranks[to].Receives
	partner := make([]int32, len(receives)) // index of sent, -1: none
	for i := range partner {
		partner[i] = -1
	}
	pair(j, to, sent, partner, false)
	pair(j, to, sent, partner, true)
	for i, at := range partner {
		if at < 0 {
			lonely++
			continue
		}
		messages = append(messages, Message{sent[at].rank, to, sent[at].index, int32(i)})
	}
	return messages, lonely
}

// pair pairs the channels whose beginning is known, or backward those of which only the end is.
func pair(j *job.Job, to int32, sent []half, partner []int32, backward bool) {
	here := func(source int32) bool {
		from, at := &j.Ranks[source], &j.Ranks[to]
		if !backward {
			return !from.HeadLost && !at.HeadLost
		}
		return (from.HeadLost || at.HeadLost) && !from.TailLost && !at.TailLost
	}
	// Waiting sends of each channel, as a list: first[c] -> next -> next.
	var queues queues
	next := make([]int32, len(sent))
	for k := range sent {
		i := k
		if backward {
			i = len(sent) - 1 - k
		}
		if here(sent[i].rank) {
			s := &j.Ranks[sent[i].rank].Sends[sent[i].index]
			queues.add(channel{sent[i].rank, s.Comm, s.Tag, s.Way == job.Partitioned}, int32(i), next)
		}
	}
	receives := j.Ranks[to].Receives
	for k := range receives {
		i := k
		if backward {
			i = len(receives) - 1 - k
		}
		h := &receives[i]
		if h.Peer >= 0 && int(h.Peer) < len(j.Ranks) && here(h.Peer) {
			partner[i] = queues.take(channel{h.Peer, h.Comm, h.Tag, h.Way == job.Partitioned}, next)
		}
	}
}

// queues are the sends that wait in each channel.
type queues struct {
	index       map[channel]int32
	first, last []int32
	recent      channel // programs send much in the same channel
	at          int32
}

func (q *queues) find(c channel, make_ bool) int32 {
	if q.index == nil {
		q.index = map[channel]int32{}
	} else if len(q.first) > 0 && c == q.recent {
		return q.at
	}
	at, ok := q.index[c]
	if !ok {
		if !make_ {
			return -1
		}
		at = int32(len(q.first))
		q.index[c] = at
		q.first, q.last = append(q.first, -1), append(q.last, -1)
	}
	q.recent, q.at = c, at
	return at
}

func (q *queues) add(c channel, i int32, next []int32) {
	at := q.find(c, true)
	next[i] = -1
	if q.first[at] < 0 {
		q.first[at] = i
	} else {
		next[q.last[at]] = i
	}
	q.last[at] = i
}

func (q *queues) take(c channel, next []int32) int32 {
	at := q.find(c, false)
	if at < 0 || q.first[at] < 0 {
		return -1
	}
	i := q.first[at]
	q.first[at] = next[i]
	return i
}
