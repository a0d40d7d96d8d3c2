package shm

import (
	"testing"
	"unsafe"
)

// TestTypesLieWhereTheLayoutSays compares the Go types with the offsets documented in layout.go.
func TestTypesLieWhereTheLayoutSays(t *testing.T) {
	var (
		h  header
		c  control
		p  position
		r  record
		f  fullRecord
		pr private
		pe peer
	)
	for _, x := range []struct {
		name      string
		got, want uintptr
	}{
		{"header.magic", unsafe.Offsetof(h.magic), 0},
		{"header.version", unsafe.Offsetof(h.version), 8},
		{"header.localSize", unsafe.Offsetof(h.localSize), 12},
		{"header.bytes", unsafe.Offsetof(h.bytes), 16},
		{"header.ringBytes", unsafe.Offsetof(h.ringBytes), 24},
		{"header.creator", unsafe.Offsetof(h.creator), 28},
		{"control.bell", unsafe.Offsetof(c.bell), 0},
		{"control.sleepers", unsafe.Offsetof(c.sleepers), 4},
		{"control.state", unsafe.Offsetof(c.state), 64},
		{"control.pid", unsafe.Offsetof(c.pid), 68},
		{"control.probeAddr", unsafe.Offsetof(c.probeAddr), 72},
		{"control.probeValue", unsafe.Offsetof(c.probeValue), 80},
		{"control.inbound", unsafe.Offsetof(c.inbound), 128},
		{"control", unsafe.Sizeof(c), controlBytes},
		{"position.read", unsafe.Offsetof(p.read), 0},
		{"position", unsafe.Sizeof(p), LineBytes},
		{"record.state", unsafe.Offsetof(r.state), 0},
		{"record.tag", unsafe.Offsetof(r.tag), 4},
		{"record.cid", unsafe.Offsetof(r.cid), 8},
		{"record.lsrank", unsafe.Offsetof(r.lsrank), 16},
		{"record.srqid", unsafe.Offsetof(r.srqid), 20},
		{"record.body", unsafe.Offsetof(r.body), 24},
		{"record", unsafe.Sizeof(r), LineBytes},
		{"full.kind", unsafe.Offsetof(f.kind), 20},
		{"full.msgLen", unsafe.Offsetof(f.msgLen), 24},
		{"full.srqID", unsafe.Offsetof(f.srqID), 32},
		{"full.drqID", unsafe.Offsetof(f.drqID), 40},
		{"full.addr", unsafe.Offsetof(f.addr), 48},
		{"full", unsafe.Sizeof(f), LineBytes},
		{"private.lock", unsafe.Offsetof(pr.lock), 0},
		{"private.segment", unsafe.Offsetof(pr.segment), 64},
		{"private.localSize", unsafe.Offsetof(pr.localSize), 72},
		{"private.localRank", unsafe.Offsetof(pr.localRank), 76},
		{"private.ringBytes", unsafe.Offsetof(pr.ringBytes), 80},
		{"private.maxPayload", unsafe.Offsetof(pr.maxPayload), 84},
		{"private.fence", unsafe.Offsetof(pr.fence), 88},
		{"private.probe", unsafe.Offsetof(pr.probe), 96},
		{"private", unsafe.Sizeof(pr), privateHead},
		{"peer.out.tail", unsafe.Offsetof(pe.out.tail), 0},
		{"peer.out.limit", unsafe.Offsetof(pe.out.limit), 8},
		{"peer.out.ring", unsafe.Offsetof(pe.out.ring), 16},
		{"peer.out.pos", unsafe.Offsetof(pe.out.pos), 24},
		{"peer.out.ctl", unsafe.Offsetof(pe.out.ctl), 32},
		{"peer.in", unsafe.Offsetof(pe.in), 64},
		{"peer.in.told", unsafe.Offsetof(pe.in.told), 8},
		{"peer.in.ring", unsafe.Offsetof(pe.in.ring), 16},
		{"peer.in.pos", unsafe.Offsetof(pe.in.pos), 24},
		{"peer.in.ctl", unsafe.Offsetof(pe.in.ctl), 32},
		{"peer", unsafe.Sizeof(pe), privatePeer},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, documented as %d", x.name, x.got, x.want)
		}
	}
}

// words is a ring as 32-bit words, for tests that damage it.
func words(s *Segment, src, dst int) []uint32 {
	_, p := s.ringAt(src, dst)
	return unsafe.Slice((*uint32)(p), s.ringBytes/4)
}
