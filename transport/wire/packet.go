package wire

import (
	"errors"
	"math"

	"github.com/libimpi/libimpi/transport"
)

// PacketSize is the size of a packet's header in bytes. Payload follows data and datasync, pk_len bytes
// of it, and nothing else whatever its pk_len says.
const PacketSize = 128

// Offsets in the header (IMPI_Packet, 3.5), in bytes.
const (
	offType     = 0   // u32
	offLen      = 4   // u32
	offSrc      = 8   // 16 bytes, i64
	offDst      = 32  // 16 bytes, i64
	offSrqID    = 56  // u64
	offDrqID    = 64  // u64
	offMsgLen   = 72  // u64
	offLSRank   = 80  // i32
	offTag      = 84  // i32
	offCID      = 88  // u64
	offSeqNum   = 96  // u64
	offCount    = 104 // i64
	offDtype    = 112 // u64
	offReserved = 120 // u64

	procIDSize = 24
)

// Values of pk_type.
const (
	PkData      uint32 = 0
	PkDataSync  uint32 = 1
	PkProtoAck  uint32 = 2
	PkSyncAck   uint32 = 3
	PkCancel    uint32 = 4
	PkCancelYes uint32 = 5
	PkCancelNo  uint32 = 6
	PkFini      uint32 = 7
)

// Packet is the header of an IMPI packet, in place: a slice of at least PacketSize bytes of some buffer.
type Packet []byte

// The fields of a packet as they stand in it, in host byte order. Lengths are in bytes.

func (p Packet) Type() uint32     { return be.Uint32(p[offType:]) }
func (p Packet) Len() uint32      { return be.Uint32(p[offLen:]) }
func (p Packet) Src() ProcID      { return getProcID(p[offSrc:]) }
func (p Packet) Dst() ProcID      { return getProcID(p[offDst:]) }
func (p Packet) SrqID() uint64    { return be.Uint64(p[offSrqID:]) }
func (p Packet) DrqID() uint64    { return be.Uint64(p[offDrqID:]) }
func (p Packet) MsgLen() uint64   { return be.Uint64(p[offMsgLen:]) }
func (p Packet) LSRank() int32    { return int32(be.Uint32(p[offLSRank:])) }
func (p Packet) Tag() int32       { return int32(be.Uint32(p[offTag:])) }
func (p Packet) CID() uint64      { return be.Uint64(p[offCID:]) }
func (p Packet) SeqNum() uint64   { return be.Uint64(p[offSeqNum:]) }
func (p Packet) Count() int64     { return int64(be.Uint64(p[offCount:])) }
func (p Packet) Dtype() uint64    { return be.Uint64(p[offDtype:]) }
func (p Packet) Reserved() uint64 { return be.Uint64(p[offReserved:]) }

func (p Packet) SetType(v uint32)     { be.PutUint32(p[offType:], v) }
func (p Packet) SetLen(v uint32)      { be.PutUint32(p[offLen:], v) }
func (p Packet) SetSrc(v ProcID)      { putProcID(p[offSrc:], v) }
func (p Packet) SetDst(v ProcID)      { putProcID(p[offDst:], v) }
func (p Packet) SetSrqID(v uint64)    { be.PutUint64(p[offSrqID:], v) }
func (p Packet) SetDrqID(v uint64)    { be.PutUint64(p[offDrqID:], v) }
func (p Packet) SetMsgLen(v uint64)   { be.PutUint64(p[offMsgLen:], v) }
func (p Packet) SetLSRank(v int32)    { be.PutUint32(p[offLSRank:], uint32(v)) }
func (p Packet) SetTag(v int32)       { be.PutUint32(p[offTag:], uint32(v)) }
func (p Packet) SetCID(v uint64)      { be.PutUint64(p[offCID:], v) }
func (p Packet) setSeqNum(v uint64)   { be.PutUint64(p[offSeqNum:], v) }
func (p Packet) SetCount(v int64)     { be.PutUint64(p[offCount:], uint64(v)) }
func (p Packet) setDtype(v uint64)    { be.PutUint64(p[offDtype:], v) }
func (p Packet) SetReserved(v uint64) { be.PutUint64(p[offReserved:], v) }

// PayloadLen is how many bytes follow this header in the stream: pk_len for data and datasync, 0 for all
// other types. LAM sends pk_len 128 in packets that nothing follows.
func (p Packet) PayloadLen() uint32 {
	if p.Type() <= PkDataSync {
		return p.Len()
	}
	return 0
}

// Encode writes all PacketSize bytes of p from h, with src and dst the names of h.Src and h.Dst. A field
// that has no meaning in a packet of its kind is sent as 0. What a first packet says of its types stands in pk_dtype,
// which IMPI leaves to implementations that collaborate (IMPI 0.0, 3.5). It returns false, having written nothing, when
// h cannot travel: a kind that is not IMPI's, or more payload than pk_len can say.
func (p Packet) Encode(h *transport.Header, src, dst *ProcID) bool {
	if h.Kind > transport.Fini || h.Len < 0 || uint64(h.Len) > math.MaxUint32 {
		return false
	}
	p = p[:PacketSize]
	clear(p)
	p.SetType(uint32(h.Kind))
	if h.Kind == transport.Fini {
		return true
	}
	copy(p[offSrc:], src.HostID[:])
	be.PutUint64(p[offSrc+16:], uint64(src.PID))
	copy(p[offDst:], dst.HostID[:])
	be.PutUint64(p[offDst+16:], uint64(dst.PID))
	switch h.Kind {
	case transport.Data, transport.DataSync:
		p.SetLen(uint32(h.Len))
		p.SetMsgLen(h.MsgLen)
		p.SetSrqID(h.SrqID)
		p.SetLSRank(h.LSRank)
		p.SetTag(h.Tag)
		p.SetCID(h.CID)
		p.setSeqNum(h.Seq)
		p.SetCount(h.Count)
		p.setDtype(h.Dtype)
		if continues(h) {
			p.SetDrqID(h.DrqID)
		} else if h.DrqID&transport.SaysTypes != 0 {
			p.setDtype(h.DrqID)
		}
	case transport.SyncAck:
		p.SetSrqID(h.SrqID)
		p.SetDrqID(h.DrqID)
	case transport.Cancel, transport.CancelYes, transport.CancelNo:
		p.SetSrqID(h.SrqID)
	}
	return true
}

// Errors of Decode: the stream that carried the packet cannot be followed any further.
var (
	ErrShort   = errors.New("impi packet: header cut short")
	ErrType    = errors.New("impi packet: unknown pk_type")
	ErrLength  = errors.New("impi packet: pk_len exceeds pk_msglen")
	ErrTooLong = errors.New("impi packet: pk_len exceeds what this machine can address")
)

// Decode reads p into h, all fields but Src and Dst, which the caller finds by p.Src() and p.Dst(), and those of
// quality of service, which are their sender's. A field that has no meaning in a packet of its kind is not looked at
// and comes out as 0: others leave junk there. The caller still has to compare Len with the largest packet that was
// agreed on.
func (p Packet) Decode(h *transport.Header) error {
	if len(p) < PacketSize {
		return ErrShort
	}
	t := p.Type()
	if t > PkFini {
		return ErrType
	}
	*h = transport.Header{Kind: transport.Kind(t), Src: h.Src, Dst: h.Dst}
	switch t {
	case PkData, PkDataSync:
		n := p.Len()
		if uint64(n) > p.MsgLen() {
			return ErrLength
		}
		if uint64(n) > math.MaxInt {
			return ErrTooLong
		}
		h.Len = int(n)
		h.MsgLen = p.MsgLen()
		h.SrqID = p.SrqID()
		h.LSRank = p.LSRank()
		h.Tag = p.Tag()
		h.CID = p.CID()
		if continues(h) {
			h.DrqID = p.DrqID()
		} else if said := p.Dtype(); said&transport.SaysTypes != 0 {
			h.DrqID = said
		}
	case PkSyncAck:
		h.SrqID = p.SrqID()
		h.DrqID = p.DrqID()
	case PkCancel, PkCancelYes, PkCancelNo:
		h.SrqID = p.SrqID()
	}
	return nil
}

// continues reports whether h is a continuation of a long message, the only data that quotes a receiver's id.
func continues(h *transport.Header) bool {
	return h.Kind == transport.Data && uint64(h.Len) < h.MsgLen
}

func getProcID(b []byte) (id ProcID) {
	copy(id.HostID[:], b[:16])
	id.PID = int64(be.Uint64(b[16:procIDSize]))
	return id
}

func putProcID(b []byte, id ProcID) {
	copy(b[:16], id.HostID[:])
	be.PutUint64(b[16:procIDSize], uint64(id.PID))
}
