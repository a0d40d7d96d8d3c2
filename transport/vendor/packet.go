package vendor

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/transport"
)

// A packet begins with a header of 64 bytes, in little-endian order. The payload follows, unless flagLong or flagOffer
// is set.
//
//	at  bytes
//	 0  1  kind, transport.Kind; ProtoAck: nothing below means anything but flags, slots and
//	      the acknowledgement
//	 1  1  flags
//	 2  1  slot of an offer, else zero
//	 3  1  zero
//	 4  4  acknowledgement: how many packets of the receiver's this process has delivered, modulo 2^32
//	 8  4  LSRank
//	12  4  Tag
//	16  8  CID
//	24  8  MsgLen
//	32  8  SrqID
//	40  8  DrqID
//	48  8  Len; of an offer: its bytes
//	56  8  slots, a bit each, which changes when this process has fetched what the receiver offers there
const headerLen = 64

const (
	flagLong  = 1 << iota // the payload is a message of its own, with the tag tagLong
	flagHold              // the sender wants no more messages that it has not asked for
	flagOffer             // the first bytes of the message are one of their own, with the tag tagOffer + slot
)

// packet is one as bytes.
type packet []byte

var le = binary.LittleEndian

func (p packet) put(h *transport.Header, flags uint8, acked uint32) {
	p[0], p[1], p[2], p[3] = uint8(h.Kind), flags, 0, 0
	le.PutUint32(p[4:], acked)
	le.PutUint32(p[8:], uint32(h.LSRank))
	le.PutUint32(p[12:], uint32(h.Tag))
	le.PutUint64(p[16:], h.CID)
	le.PutUint64(p[24:], h.MsgLen)
	le.PutUint64(p[32:], h.SrqID)
	le.PutUint64(p[40:], h.DrqID)
	le.PutUint64(p[48:], uint64(h.Len))
	le.PutUint64(p[56:], 0)
}

// offer makes a packet that has been put one with an offer.
func (p packet) offer(o transport.Offer) {
	p[1], p[2] = flagOffer, uint8(o.Slot())
	le.PutUint64(p[48:], uint64(o.Bytes()))
}

// acknowledge writes what a packet says of those in the other direction.
func (p packet) acknowledge(flags uint8, acked uint32, fetched uint64) {
	p[1] = flags
	le.PutUint32(p[4:], acked)
	le.PutUint64(p[56:], fetched)
}

func (p packet) kind() transport.Kind { return transport.Kind(p[0]) }
func (p packet) flags() uint8         { return p[1] }
func (p packet) acked() uint32        { return le.Uint32(p[4:]) }
func (p packet) fetched() uint64      { return le.Uint64(p[56:]) }

// get reads the header of a packet into h, but for Src and Dst, and checks what can be checked of it alone.
func (p packet) get(h *transport.Header) error {
	if len(p) < headerLen {
		return fmt.Errorf("a packet of %d bytes", len(p))
	}
	h.Kind = p.kind()
	h.LSRank, h.Tag = int32(le.Uint32(p[8:])), int32(le.Uint32(p[12:]))
	h.CID, h.MsgLen = le.Uint64(p[16:]), le.Uint64(p[24:])
	h.SrqID, h.DrqID = le.Uint64(p[32:]), le.Uint64(p[40:])
	n, flags := le.Uint64(p[48:]), p.flags()
	if flags&flagOffer != 0 {
		h.Addr = uint64(transport.NewOffer(int(p[2]), int64(n)))
		return p.checkOffer(h, n)
	}
	long := flags&flagLong != 0
	switch {
	case p[2] != 0 || p[3] != 0 || flags&^(flagLong|flagHold) != 0:
		return fmt.Errorf("flags %#x", le.Uint32(p)>>8)
	case long && (h.Kind != transport.Data || n == 0 || n > maxStream || n >= h.MsgLen || len(p) != headerLen),
		!long && n != uint64(len(p)-headerLen):
		return fmt.Errorf("%d bytes of payload in a packet of %d", n, len(p))
	}
	h.Len = int(n)
	switch h.Kind {
	case transport.Data, transport.DataSync:
		if n > h.MsgLen {
			return fmt.Errorf("%d bytes of a message of %d", n, h.MsgLen)
		}
	case transport.SyncAck, transport.Cancel, transport.CancelYes, transport.CancelNo:
	case transport.ProtoAck:
		if n > 0 {
			return fmt.Errorf("an acknowledgement with %d bytes", n)
		}
	default:
		return fmt.Errorf("kind %d", h.Kind)
	}
	return nil
}

// checkOffer checks a packet that offers n bytes.
func (p packet) checkOffer(h *transport.Header, n uint64) error {
	if p.flags()&^flagHold != flagOffer || p[3] != 0 || p[2] >= slots || h.Kind != transport.DataSync || n == 0 ||
		n > maxOffer || n > h.MsgLen || len(p) != headerLen {
		return fmt.Errorf("an offer of %d bytes of a message of %d, flags %#x, in a packet of %d", n, h.MsgLen,
			le.Uint32(p)>>8, len(p))
	}
	return nil
}
