package libimpi

import (
	"math"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/tags"
)

// Partitioned communication (MPI 5.0, chapter 4). IMPI does not know it; this is our own protocol, in two contexts of
// the communicator that ordinary messages do not use.
//
//	Psend_init   sends an offer (its counts, and a tag for the answer) with the program's tag, in the context of offers
//	Precv_init   takes the oldest offer of that source and tag; answers with a number of messages and a range of tags
//	Start        of the receive posts a receive for each message, of the send posts nothing
//	Pready       sends each message whose partitions are all ready, in the context of data
//
// The data lies at the start of the receive's buffer, which may be larger, as that of any message does. Message j of
// m is the share [j/m, (j+1)/m) of the data, whole elements on either side, and has tag j of the range. If the data
// ends inside an element of the receiver's, or is too long, there is one message, so that its receive says so. Before
// the answer is there, partitions are only noted as ready. Tags in the context of data are given out by the process
// that receives.

// partitionedSpace is what a communicator has for partitioned communication, made by its first use.
type partitionedSpace struct {
	offers, data *context
	tags         tags.Space // in data, given out by this process
}

// partitioned returns the space. Engine lock held.
func (c *Comm) partitioned() *partitionedSpace {
	s := &c.parts
	if s.offers == nil {
		n := c.p2p.space.Sources()
		s.offers = newContext(c.p2p.cid|contexts.Partitioned, c, n)
		s.data = newContext(s.offers.cid+1, c, n)
		c.engine.openContext(s.offers)
		c.engine.openContext(s.data)
	}
	return s
}

// channel is one end of a partitioned communication, and the compound of its persistent request.
type channel struct {
	r       *Request // nil once the program has freed it
	comm    *Comm
	sending bool
	peer    int32 // rank in the communicator, or MPI_PROC_NULL
	tag     int32 // the program's
	base    datatype.Pointer
	typ     *datatype.Type
	parts   int32
	count   int64 // elements of a partition

	offer  [offerWords]int64  // elements, partitions, tag of the answer, bytes
	answer [answerWords]int64 // messages, first tag
	tuned  bool               // both are known
	shares int32              // messages of a cycle
	each   int64              // elements of a message on this side

	// The cycle under way.
	ready   []bool  // send: partitions
	unready int32   // send: how many are not
	missing []int32 // send: by message, its partitions that are not ready
	arrived []bool  // receive: messages
	left    int32   // messages that are not done

	lost *Error // the peer was, before offer and answer had come; nil: it was not
}

const (
	offerWords  = 4
	answerWords = 2
)

// The parts of a channel's messages that are not data.
const (
	partOffer  = -1
	partAnswer = -2
)

var offerType = datatype.Named(abi.MPI_INT64_T)

// PsendInit makes a persistent request that sends parts partitions of count elements each.
func (c *Comm) PsendInit(base datatype.Pointer, parts int32, count int64, t *datatype.Type,
	dest int, tag int32) uint64 {
	return c.newChannel(&channel{sending: true, peer: int32(dest), tag: tag, base: base, typ: t,
		parts: parts, count: count})
}

// PrecvInit makes a persistent request that receives parts partitions of count elements each. The sender's may be
// others, of as many elements in all or fewer. A partition that the data does not reach has arrived with the last
// that it does.
func (c *Comm) PrecvInit(base datatype.Pointer, parts int32, count int64, t *datatype.Type,
	source int, tag int32) uint64 {
	return c.newChannel(&channel{peer: int32(source), tag: tag, base: base, typ: t, parts: parts, count: count})
}

func (c *Comm) newChannel(ch *channel) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	ch.comm = c
	r := e.newCompound(c.p2p, ch)
	r.state.persistent, r.state.active = true, false
	e.shared.UnderWay--
	ch.r = r
	if ch.sending {
		ch.ready = make([]bool, ch.parts)
	}
	if ch.peer != abi.MPI_PROC_NULL {
		ch.open(e)
	}
	return r.id
}

// open sends the offer, or waits for one.
func (ch *channel) open(e *Engine) {
	s := ch.comm.partitioned()
	if !ch.sending {
		e.postRecv(ch.receive(e, s.offers, datatype.Pointer(&ch.offer), offerWords, offerType, ch.tag, partOffer))
		return
	}
	answerTag, ok := s.tags.Take(1)
	if !ok {
		ch.end(e, ch.noTags())
		return
	}
	ch.offer = [...]int64{ch.elements(), int64(ch.parts), int64(answerTag), ch.bytes(ch.elements())}
	e.postRecv(ch.receive(e, s.data, datatype.Pointer(&ch.answer), answerWords, offerType, answerTag, partAnswer))
	e.start(ch.send(e, s.offers, datatype.Pointer(&ch.offer), offerWords, offerType, ch.tag, partOffer))
}

func (ch *channel) send(e *Engine, ctx *context, base datatype.Pointer, count int64, t *datatype.Type,
	tag int32, part int) *Request {
	return e.newSend(ctx, base, count, t, ch.comm.group.World(int(ch.peer)), tag, modeStandard).join(ch, part)
}

func (ch *channel) receive(e *Engine, ctx *context, base datatype.Pointer, count int64, t *datatype.Type,
	tag int32, part int) *Request {
	return e.newRecv(ctx, base, count, t, int(ch.peer), tag).join(ch, part)
}

// partDone implements compound.
func (ch *channel) partDone(e *Engine, message *Request) {
	if err := message.failure(); err != nil && message.part < 0 && isLoss(err) {
		ch.end(e, err)
		return
	}
	switch message.part {
	case partOffer:
		if message.kind == recvRequest {
			ch.offered(e, message)
		}
	case partAnswer:
		if message.kind == recvRequest {
			ch.answered(e, message)
		}
	default:
		ch.dataDone(e, message)
	}
}

// end ends the channel before offer and answer have come: the peer is lost.
func (ch *channel) end(e *Engine, lost *Error) {
	ch.lost = lost
	if ch.r != nil && ch.r.state.active && !ch.r.state.done {
		ch.r.status.Err = lost
		e.complete(ch.r)
	}
}

// elements is how many the channel's buffer has, and bytes how long so many are in a message.
func (ch *channel) elements() int64 { return int64(ch.parts) * ch.count }

func (ch *channel) bytes(elements int64) int64 {
	return ch.typ.PackedSize(elements, ch.comm.parts.data.rep(ch.comm.group.World(int(ch.peer))))
}

// offered takes the sender's offer and answers it.
func (ch *channel) offered(e *Engine, message *Request) {
	s := ch.comm.partitioned()
	o := ch.offer
	if message.failure() != nil || message.status.Bytes != message.mem.size ||
		o[0] < 0 || o[1] < 0 || o[1] > math.MaxInt32 || o[2] < 0 || o[2] > math.MaxInt32 || o[3] < 0 {
		e.breach(message.env.peer, "offer of a partitioned send that makes no sense")
		return
	}
	elements, whole := ch.filled(o[3])
	if ch.shares = 1; whole {
		ch.shares = shares(o[0], elements, o[1], ch.partsOf(elements))
	} else {
		elements = ch.elements()
	}
	ch.each = elements / int64(ch.shares)
	first, ok := s.tags.Take(ch.shares)
	if !ok {
		ch.shares, ch.each = 1, elements
		if first, ok = s.tags.Take(1); !ok {
			ch.end(e, ch.noTags())
			return
		}
	}
	ch.answer = [...]int64{int64(ch.shares), int64(first)}
	ch.arrived = make([]bool, ch.shares)
	ch.tuned = true
	e.start(ch.send(e, s.data, datatype.Pointer(&ch.answer), answerWords, offerType, int32(o[2]), partAnswer))
	if ch.r == nil { // the program has freed it, and no message will come
		s.tags.GiveBack(first)
	} else if ch.r.state.active {
		ch.postAll(e)
	}
}

// filled is how many elements of the receive's buffer so many bytes are; whole says that they end with one, and fit.
func (ch *channel) filled(bytes int64) (elements int64, whole bool) {
	each := ch.bytes(1)
	if each == 0 {
		return 0, bytes == 0
	}
	return bytes / each, bytes%each == 0 && bytes/each <= ch.elements()
}

// partsOf is into how many of the receiver's partitions so many of its elements fall, if they end with one; else 1.
func (ch *channel) partsOf(elements int64) int64 {
	if elements == 0 || elements%ch.count != 0 {
		return 1
	}
	return elements / ch.count
}

// answered takes the receiver's answer, and sends what has become ready.
func (ch *channel) answered(e *Engine, message *Request) {
	n, first, elements := ch.answer[0], ch.answer[1], ch.offer[0]
	ch.comm.parts.tags.GiveBack(int32(ch.offer[2]))
	if message.failure() != nil || message.status.Bytes != message.mem.size ||
		n < 1 || n > max(elements, 1) || n > math.MaxInt32 || elements%n != 0 {
		e.breach(message.env.peer, "answer to a partitioned send that makes no sense")
		return
	}
	if first < 0 || first > math.MaxInt32-n {
		e.breach(message.env.peer, "tags of a partitioned send that do not exist")
		return
	}
	ch.shares, ch.each = int32(n), elements/n
	ch.missing = make([]int32, ch.shares)
	ch.tuned = true
	if ch.r != nil && ch.r.state.active {
		ch.begin(e)
	}
}

// shares is the number of messages for so many elements and partitions at the sender and at the receiver. Both
// numbers of elements are multiples of it, so that a message begins and ends with an element on either side. If
// it can be, there is a message for each of the sender's partitions; else so many that no partition of the
// receiver waits for partitions that it has nothing of.
func shares(sendElements, recvElements, sendParts, recvParts int64) int32 {
	if sendElements == 0 || recvElements == 0 {
		return 1
	}
	whole := gcd(sendElements, recvElements)
	n := gcd(sendParts, whole)
	if n != sendParts {
		more := gcd(recvParts, whole)
		if m := n / gcd(n, more) * more; m <= math.MaxInt32 {
			n = m
		}
	}
	return int32(n)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// overlap is the range of those of m equal shares of a whole that share i of n has something of: first to last.
func overlap(i, n, m int32) (first, last int32) {
	return int32(int64(i) * int64(m) / int64(n)), int32(((int64(i)+1)*int64(m) - 1) / int64(n))
}

// share is the memory of message j: its elements.
func (ch *channel) share(j int32) coll.Buf {
	return coll.Buf{Base: ch.base, Type: ch.typ}.Slice(int64(j)*ch.each, ch.each)
}

// start implements compound.
func (ch *channel) start(e *Engine) {
	ch.r.status = emptyStatus
	if ch.lost != nil {
		ch.end(e, ch.lost)
		return
	}
	if ch.sending {
		clear(ch.ready)
		ch.unready = ch.parts
		if ch.tuned {
			ch.begin(e)
		} else if ch.peer == abi.MPI_PROC_NULL && ch.parts == 0 {
			e.complete(ch.r)
		}
		return
	}
	if ch.peer == abi.MPI_PROC_NULL {
		ch.r.status = procNullStatus
		e.complete(ch.r)
		return
	}
	ch.r.status = Status{Source: ch.peer, Tag: ch.tag}
	if ch.tuned {
		ch.postAll(e)
	}
}

// postAll posts the receives of a cycle.
func (ch *channel) postAll(e *Engine) {
	clear(ch.arrived)
	ch.left = ch.shares + 1 // one for this function: the cycle does not end in the middle of it
	for j := range ch.shares {
		b := ch.share(j)
		e.postRecv(ch.receive(e, ch.comm.parts.data, b.Base, b.Count, b.Type, int32(ch.answer[1])+j, int(j)))
	}
	ch.less(e)
}

// begin begins a cycle of a send that knows its messages: partitions may be ready already.
func (ch *channel) begin(e *Engine) {
	ch.left = ch.shares
	for j := range ch.shares {
		first, last := overlap(j, ch.shares, ch.parts)
		if ch.missing[j] = last - first + 1; ch.parts == 0 {
			ch.sendShare(e, j)
		}
	}
	for p, ready := range ch.ready {
		if ready {
			ch.contribute(e, int32(p))
		}
	}
}

// contribute counts a ready partition in its messages, and sends those that are complete.
func (ch *channel) contribute(e *Engine, partition int32) {
	first, last := overlap(partition, ch.parts, ch.shares)
	for j := first; j <= last; j++ {
		if ch.missing[j]--; ch.missing[j] == 0 {
			ch.sendShare(e, j)
		}
	}
}

func (ch *channel) sendShare(e *Engine, j int32) {
	b := ch.share(j)
	e.start(ch.send(e, ch.comm.parts.data, b.Base, b.Count, b.Type, int32(ch.answer[1])+j, int(j)))
}

// dataDone notes that a message has been sent or received.
func (ch *channel) dataDone(e *Engine, message *Request) {
	if ch.r.status.Err == nil {
		ch.r.status.Err = message.failure()
	}
	if !ch.sending {
		ch.arrived[message.part] = true
		ch.r.status.Bytes += message.status.Bytes
		ch.r.status.External = message.status.External
		e.ring()
	}
	ch.less(e)
}

func (ch *channel) less(e *Engine) {
	if ch.left--; ch.left == 0 {
		e.complete(ch.r)
	}
}

// released implements compound. An offer or an answer that is still awaited is taken when it comes.
func (ch *channel) released() {
	ch.r = nil
	if ch.tuned && !ch.sending {
		ch.comm.parts.tags.GiveBack(int32(ch.answer[1]))
	}
}

// noTags is the error of a channel for which there is none of the communicator's tags left.
func (ch *channel) noTags() *Error {
	return ch.errorf(abi.MPI_ERR_OTHER, "so many partitioned requests are there that no tag is left for another")
}

// channelOf finds the partitioned request of an id.
func (e *Engine) channelOf(id uint64, sending bool) (*channel, *Error) {
	r := e.requests.find(id)
	if r != nil && !r.state.detached {
		if ch, ok := r.of.(*channel); ok && ch.sending == sending {
			return ch, nil
		}
	}
	kind := "send"
	if !sending {
		kind = "receive"
	}
	return nil, errorf(abi.MPI_ERR_REQUEST, "argument request (%#x) is not a partitioned %s", id, kind)
}

func (ch *channel) errorf(class int, format string, args ...any) *Error {
	err := errorf(class, format, args...)
	err.Comm = ch.comm
	return err
}

// Pready says that the partitions from low to high are ready to be sent.
func (e *Engine) Pready(id uint64, low, high int32) *Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.thread.Away()
	ch, err := e.activeSend(id)
	if err != nil {
		return err
	}
	for p := int64(low); p <= int64(high); p++ { // all or none
		if err := ch.mayBeReady(int32(p)); err != nil {
			return err
		}
	}
	for p := low; p <= high; p++ {
		if err := ch.isReady(e, p); err != nil {
			return err
		}
	}
	return nil
}

// PreadyList says that some partitions are ready to be sent.
func (e *Engine) PreadyList(id uint64, partitions []int32) *Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.thread.Away()
	ch, err := e.activeSend(id)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		if err := ch.mayBeReady(p); err != nil {
			return err
		}
	}
	for _, p := range partitions {
		if err := ch.isReady(e, p); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) activeSend(id uint64) (*channel, *Error) {
	ch, err := e.channelOf(id, true)
	if err == nil && !ch.r.state.active {
		return nil, ch.errorf(abi.MPI_ERR_REQUEST, "argument request is a partitioned send that has not been started")
	}
	return ch, err
}

// mayBeReady returns what is wrong with a partition that is said to be ready; nil if nothing is.
func (ch *channel) mayBeReady(p int32) *Error {
	if p < 0 || p >= ch.parts {
		return ch.badPartition(p)
	}
	if ch.ready[p] {
		return ch.errorf(abi.MPI_ERR_ARG, "argument partition is %d, which is ready already", p)
	}
	return nil
}

func (ch *channel) isReady(e *Engine, p int32) *Error {
	if err := ch.mayBeReady(p); err != nil { // it stands twice in a list
		return err
	}
	ch.ready[p] = true
	ch.unready--
	if ch.tuned {
		ch.contribute(e, p)
	} else if ch.peer == abi.MPI_PROC_NULL && ch.unready == 0 {
		e.complete(ch.r)
	}
	return nil
}

func (ch *channel) badPartition(p int32) *Error {
	return ch.errorf(abi.MPI_ERR_ARG, "argument partition is %d, and the request has %d partitions, from 0 on",
		p, ch.parts)
}

// Parrived reports whether a partition of a receive has arrived; all have if the request is not active.
func (e *Engine) Parrived(id uint64, partition int32) (bool, *Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ch, err := e.channelOf(id, false)
	if err != nil {
		return false, err
	}
	if partition < 0 || partition >= ch.parts {
		return false, ch.badPartition(partition)
	}
	if ch.has(partition) {
		return true, nil
	}
	e.look()
	return ch.has(partition), e.loss.failed.Load()
}

func (ch *channel) has(partition int32) bool {
	if !ch.r.state.active || ch.r.state.done {
		return true
	}
	if !ch.tuned {
		return false
	}
	if ch.each == 0 {
		return ch.arrived[0]
	}
	last := int64(ch.shares) - 1
	for j := min(int64(partition)*ch.count/ch.each, last); j <= min((int64(partition+1)*ch.count-1)/ch.each, last); j++ {
		if !ch.arrived[j] {
			return false
		}
	}
	return true
}
