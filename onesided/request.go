package onesided

import "encoding/binary"

// What a process asks of the engine of a target whose memory it cannot reach. A request is a message in a context of
// the window's communicator; the target takes those of one origin in their order. Long data does not travel in it, but
// as an ordinary message between the two layouts, under a tag that the origin gives out.
//
//	origin                             target
//	Put    data ----------------------> stored
//	PutLong, then a message ----------> received into its place
//	Get    ---------------------------> sent from its place, with the tag of the request
//	Accumulate, Swap data ------------> applied; if there is a tag, what was there is sent back
//	Flush  ---------------------------> answered by Flushed when all before it is done; so is Complete counted then
//	Lock   ---------------------------> answered by Granted when it is this origin's turn
//	Unlock, Post ---------------------> counted
//
// What the origin sends after a fence waits at a target that has not come as far (fence.go).

// Kind is what a request asks for.
type Kind uint8

const (
	AskPut Kind = iota + 1
	AskPutLong
	AskGet
	AskAccumulate
	AskSwap
	AskFlush
	TellFlushed // Op is an error class, 0 for none, and Data its text
	AskLock
	AskExclusive
	TellGranted // the same: nobody gets the lock
	TellUnlock
	TellPost // Disp: how often the sender has called MPI_Win_post for the receiver
	TellComplete
	kinds
)

// isAnswer reports whether a target sends it, and not an origin.
func (k Kind) isAnswer() bool { return k == TellFlushed || k == TellGranted }

// Request is one of them. Numbers come from another process: the target checks each before it uses it.
type Request struct {
	Kind            Kind
	Tell            bool   // a flush follows: there is nothing else under way
	Op              uint16 // handle of a predefined operation
	Tag             int32  // of the message that follows or answers; 0: there is none
	Disp, Count     int64  // where in the target's window, and how many elements of its type
	First, Elements int64  // of an accumulate: predefined elements of that, on from which
	Slot            uint16 // where the target keeps the type; of a predefined one its handle
	Fences          uint16 // how many fences of the window the origin has called, modulo 65536 (fence.go)
	Type            []byte // serialized, if the target does not have it; empty otherwise
	Data            []byte
}

const requestBytes = 48

// fails makes an answer say what has failed, if anything has.
func (r *Request) fails(err *Error) {
	if err != nil {
		r.Op, r.Data = uint16(err.Class), []byte(err.Text)
	}
}

// failure is what an answer says has failed; nil: nothing.
func (r *Request) failure() error {
	if r.Op == 0 {
		return nil
	}
	return errorf(int(r.Op), "%s", r.Data)
}

// MaxRequest bounds a request, in bytes: a piece of data and a description of a type.
const MaxRequest = 64 << 20

// Append appends the request as it is sent.
func (r *Request) Append(b []byte) []byte {
	le := binary.LittleEndian
	tell := byte(0)
	if r.Tell {
		tell = 1
	}
	b = append(b, byte(r.Kind), tell)
	b = le.AppendUint16(b, r.Op)
	b = le.AppendUint32(b, uint32(r.Tag))
	for _, n := range [...]int64{r.Disp, r.Count, r.First, r.Elements} {
		b = le.AppendUint64(b, uint64(n))
	}
	b = le.AppendUint16(b, r.Slot)
	b = le.AppendUint16(b, r.Fences)
	b = le.AppendUint32(b, uint32(len(r.Type)))
	b = append(b, r.Type...)
	return append(b, r.Data...)
}

// Parse reads what Append has written; Type and Data are parts of b. False: it is no request.
func Parse(b []byte) (r Request, ok bool) {
	if len(b) < requestBytes {
		return r, false
	}
	le := binary.LittleEndian
	r.Tell = b[1] != 0
	r.Kind, r.Op, r.Tag = Kind(b[0]), le.Uint16(b[2:]), int32(le.Uint32(b[4:]))
	for i, n := range [...]*int64{&r.Disp, &r.Count, &r.First, &r.Elements} {
		*n = int64(le.Uint64(b[8+8*i:]))
	}
	r.Slot, r.Fences = le.Uint16(b[40:]), le.Uint16(b[42:])
	n := uint64(le.Uint32(b[44:]))
	if n > uint64(len(b)-requestBytes) {
		return r, false
	}
	r.Type, r.Data = b[requestBytes:requestBytes+n], b[requestBytes+n:]
	return r, r.Kind > 0 && r.Kind < kinds && r.Tag >= 0 && r.Count >= 0 && r.First >= 0 && r.Elements >= 0
}
