package wire

import (
	"math"
	"math/bits"

	"github.com/libimpi/libimpi/transport"
)

// The short header stands in place of a Packet on a connection between two hosts that have one process each, and whose
// clients have both set FlagShort (not in IMPI 0.0). The connection tells who sends to whom, and what no receiver is
// told (Seq, Count, Dtype) is left out. All numbers are big-endian, and nothing stands between them:
//
//	kind  u8   as in pk_type
//	has   u8   which of those below that may be missing are there: hasMsgLen to hasHold
//	len u32, tag i32, lsrank i32, cid u32    of Data and DataSync
//	cid's upper half u32                     if it is not 0: hasCID
//	msglen u64                               if it is not len: hasMsgLen
//	srqid u64, drqid u64                     if they are not 0: hasSrqID, hasDrqID
//
// A PROTOACK has two bytes, and the first packet of a short message mostly 18 instead of 128.

// ShortMax is the length of the longest short header, in bytes.
const ShortMax = shortLead + shortData + 4 + 3*8

const (
	shortLead = 2
	shortData = 16 // len, tag, lsrank, cid

	hasMsgLen byte = 1
	hasSrqID  byte = 2
	hasDrqID  byte = 4
	hasCID    byte = 8
	hasHold   byte = 16 // nothing more: the acknowledgement says AckHold
)

// mayHave is what a packet may have, by its kind.
var mayHave = [PkFini + 1]byte{
	PkData: hasMsgLen | hasSrqID | hasDrqID | hasCID, PkDataSync: hasMsgLen | hasSrqID | hasDrqID | hasCID,
	PkProtoAck: hasHold, PkSyncAck: hasSrqID | hasDrqID,
	PkCancel: hasSrqID, PkCancelYes: hasSrqID, PkCancelNo: hasSrqID,
}

// has is what the header of h has, and its receiver's id as it is sent: see Encode.
func has(h *transport.Header) (mask byte, drqID uint64) {
	drqID = h.DrqID
	if h.Kind <= transport.DataSync {
		if uint64(h.Len) != h.MsgLen {
			mask |= hasMsgLen
		}
		if h.CID > math.MaxUint32 {
			mask |= hasCID
		}
		if !continues(h) && drqID&transport.SaysTypes == 0 {
			drqID = 0
		}
	}
	if h.SrqID != 0 {
		mask |= hasSrqID
	}
	if drqID != 0 {
		mask |= hasDrqID
	}
	return mask & mayHave[h.Kind&7], drqID
}

// shortSize is the length of the header of a packet that has these fields.
func shortSize(kind uint32, mask byte) int {
	n := shortLead + 8*bits.OnesCount8(mask&(hasMsgLen|hasSrqID|hasDrqID))
	if kind > PkDataSync {
		return n
	}
	return n + shortData + 4*bits.OnesCount8(mask&hasCID)
}

// ShortSize is the length of the short header of h, in bytes: at most ShortMax.
func ShortSize(h *transport.Header) int {
	mask, _ := has(h)
	return shortSize(uint32(h.Kind), mask)
}

// PutShort writes the short header of h, ShortSize(h) bytes. hold is for a PROTOACK: it says AckHold. It returns false,
// having written nothing, when h cannot travel, as Encode does.
func PutShort(b []byte, h *transport.Header, hold bool) bool {
	if h.Kind > transport.Fini || h.Len < 0 || uint64(h.Len) > math.MaxUint32 {
		return false
	}
	mask, drqID := has(h)
	if hold && h.Kind == transport.ProtoAck {
		mask |= hasHold
	}
	b[0], b[1] = byte(h.Kind), mask
	b = b[shortLead:]
	if h.Kind <= transport.DataSync {
		be.PutUint32(b, uint32(h.Len))
		be.PutUint32(b[4:], uint32(h.Tag))
		be.PutUint32(b[8:], uint32(h.LSRank))
		be.PutUint32(b[12:], uint32(h.CID))
		b = b[shortData:]
	}
	if mask&hasCID != 0 {
		be.PutUint32(b, uint32(h.CID>>32))
		b = b[4:]
	}
	for i, v := range [...]uint64{h.MsgLen, h.SrqID, drqID} {
		if mask&(hasMsgLen<<i) != 0 {
			be.PutUint64(b, v)
			b = b[8:]
		}
	}
	return true
}

// ParseShort reads the short header at the beginning of b into h, but for Src and Dst, which stay. It returns the
// header's length, 0 if it is not all there, and whether a PROTOACK says AckHold. Its errors are those of Decode, and
// what the caller has to check is the same.
func ParseShort(b []byte, h *transport.Header) (n int, hold bool, err error) {
	if len(b) < shortLead {
		return 0, false, nil
	}
	kind, mask := uint32(b[0]), b[1]
	if kind > PkFini || mask&^mayHave[kind] != 0 {
		return 0, false, ErrType
	}
	if n = shortSize(kind, mask); len(b) < n {
		return 0, false, nil
	}
	*h = transport.Header{Kind: transport.Kind(kind), Src: h.Src, Dst: h.Dst}
	b = b[shortLead:n]
	if kind <= PkDataSync {
		h.Len, h.Tag = int(be.Uint32(b)), int32(be.Uint32(b[4:]))
		h.LSRank, h.CID = int32(be.Uint32(b[8:])), uint64(be.Uint32(b[12:]))
		h.MsgLen = uint64(h.Len)
		b = b[shortData:]
	}
	if mask&hasCID != 0 {
		h.CID |= uint64(be.Uint32(b)) << 32
		b = b[4:]
	}
	for i, v := range [...]*uint64{&h.MsgLen, &h.SrqID, &h.DrqID} {
		if mask&(hasMsgLen<<i) != 0 {
			*v = be.Uint64(b)
			b = b[8:]
		}
	}
	if kind <= PkDataSync {
		if uint64(h.Len) > h.MsgLen {
			return 0, false, ErrLength
		}
		if !continues(h) && h.DrqID&transport.SaysTypes == 0 {
			h.DrqID = 0
		}
	}
	return n, mask&hasHold != 0, nil
}
