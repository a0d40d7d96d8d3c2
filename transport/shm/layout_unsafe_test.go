package shm

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/transport/futex"
)

var rewrite = flag.Bool("rewrite", false, "write z_layout.h anew")

// place is a field of the Go types, what layout.go says of it, and the C type and field.
type place struct {
	got, want uintptr
	typ       string // C: struct impi_shm_<typ>
	field     string // "" for the size of the whole
}

func places() []place {
	var (
		h  header
		c  control
		p  position
		r  record
		g  growingRecord
		f  fullRecord
		pr private
		o  outbound
		in inbound
		pe peer
		bs boardSlot
		bm boardMember
		b  board
	)
	return []place{
		{unsafe.Offsetof(h.magic), 0, "header", "magic"},
		{unsafe.Offsetof(h.version), 8, "header", "version"},
		{unsafe.Offsetof(h.localSize), 12, "header", "local_size"},
		{unsafe.Offsetof(h.bytes), 16, "header", "bytes"},
		{unsafe.Offsetof(h.ringBytes), 24, "header", "ring_bytes"},
		{unsafe.Offsetof(h.creator), 28, "header", "creator"},
		{unsafe.Offsetof(h.cores), 32, "header", "cores"},
		{unsafe.Offsetof(h.looked), 40, "header", "looked"},
		{unsafe.Offsetof(h.deaths), 48, "header", "deaths"},
		{unsafe.Offsetof(h.apart), 52, "header", "apart"},
		{unsafe.Offsetof(h.given), 56, "header", "given"},
		{unsafe.Offsetof(c.bell), 0, "control", "bell"},
		{unsafe.Offsetof(c.sleepers), 4, "control", "sleepers"},
		{unsafe.Offsetof(c.state), 64, "control", "state"},
		{unsafe.Offsetof(c.pid), 68, "control", "pid"},
		{unsafe.Offsetof(c.probeAddr), 72, "control", "probe_addr"},
		{unsafe.Offsetof(c.probeValue), 80, "control", "probe_value"},
		{unsafe.Offsetof(c.attention), 88, "control", "attention"},
		{unsafe.Offsetof(c.node), 92, "control", "node"},
		{unsafe.Offsetof(c.self), 96, "control", "self"},
		{controlHead, 128, "control", "inbound"},
		{unsafe.Sizeof(c), controlHead, "control", ""},
		{unsafe.Offsetof(p.read), 0, "position", "read"},
		{unsafe.Offsetof(p.hold), 8, "position", "hold"},
		{unsafe.Offsetof(p.claims), 16, "position", "claims"},
		{unsafe.Sizeof(p), lineBytes, "position", ""},
		{unsafe.Offsetof(r.state), 0, "record", "state"},
		{unsafe.Offsetof(r.tag), 4, "record", "tag"},
		{unsafe.Offsetof(r.cid), 8, "record", "cid"},
		{unsafe.Offsetof(r.lsrank), 16, "record", "lsrank"},
		{unsafe.Offsetof(r.srqid), 20, "record", "srqid"},
		{unsafe.Offsetof(r.body), 24, "record", "body"},
		{unsafe.Sizeof(r), lineBytes, "record", ""},
		{unsafe.Offsetof(g.filled), 24, "growing", "filled"},
		{unsafe.Sizeof(g), lineBytes, "growing", ""},
		{unsafe.Offsetof(f.kind), 20, "full", "kind"},
		{unsafe.Offsetof(f.msgLen), 24, "full", "msg_len"},
		{unsafe.Offsetof(f.srqID), 32, "full", "srq_id"},
		{unsafe.Offsetof(f.drqID), 40, "full", "drq_id"},
		{unsafe.Offsetof(f.addr), 48, "full", "addr"},
		{unsafe.Sizeof(f), lineBytes, "full", ""},
		{unsafe.Offsetof(pr.lock), 0, "private", "lock"},
		{unsafe.Offsetof(pr.segment), 64, "private", "segment"},
		{unsafe.Offsetof(pr.localSize), 72, "private", "local_size"},
		{unsafe.Offsetof(pr.localRank), 76, "private", "local_rank"},
		{unsafe.Offsetof(pr.ringBytes), 80, "private", "ring_bytes"},
		{unsafe.Offsetof(pr.fence), 88, "private", "fence"},
		{unsafe.Offsetof(pr.probe), 96, "private", "probe"},
		{unsafe.Sizeof(pr), privateHead, "private", ""},
		{unsafe.Sizeof(pe), privatePeer, "peer", ""},
		{unsafe.Offsetof(o.tail), 0, "outbound", "tail"},
		{unsafe.Offsetof(o.limit), 8, "outbound", "limit"},
		{unsafe.Offsetof(o.ring), 16, "outbound", "ring"},
		{unsafe.Offsetof(o.pos), 24, "outbound", "pos"},
		{unsafe.Offsetof(o.ctl), 32, "outbound", "ctl"},
		{unsafe.Sizeof(o), lineBytes, "outbound", ""},
		{unsafe.Offsetof(in.read), 0, "inbound", "read"},
		{unsafe.Offsetof(in.told), 8, "inbound", "told"},
		{unsafe.Offsetof(in.ring), 16, "inbound", "ring"},
		{unsafe.Offsetof(in.pos), 24, "inbound", "pos"},
		{unsafe.Offsetof(in.ctl), 32, "inbound", "ctl"},
		{unsafe.Offsetof(in.size), 40, "inbound", "ring_bytes"},
		{unsafe.Offsetof(in.max), 44, "inbound", "max_payload"},
		{unsafe.Sizeof(in), lineBytes, "inbound", ""},
		{unsafe.Offsetof(pe.in), 64, "peer", "in"},
		{unsafe.Sizeof(pe), privatePeer, "peer", ""},
		{unsafe.Offsetof(bs.word), 0, "board_slot", "word"},
		{unsafe.Offsetof(bs.payload), 8, "board_slot", "payload"},
		{unsafe.Sizeof(bs), boardSlotBytes, "board_slot", ""},
		{unsafe.Offsetof(bm.done), 0, "board_member", "done"},
		{unsafe.Offsetof(bm.slots), 64, "board_member", "slots"},
		{unsafe.Sizeof(bm), boardMemberSize, "board_member", ""},
		{boardWideSize, boardWideSize, "board_wide", ""}, // Go has no types for these
		{unsafe.Offsetof(b.present), 0, "board", "present"},
		{unsafe.Offsetof(b.pieces), 8, "board", "pieces"},
		{unsafe.Offsetof(b.lanes), 16, "board", "lanes"},
		{unsafe.Sizeof(b), lineBytes, "board", ""},
	}
}

func (p place) String() string { return p.typ + "." + p.field }

// TestTypesLieWhereTheLayoutSays compares the Go types with the offsets documented in layout.go.
func TestTypesLieWhereTheLayoutSays(t *testing.T) {
	for _, x := range places() {
		if x.got != x.want {
			t.Errorf("%v: %d, documented as %d", x, x.got, x.want)
		}
	}
}

const cTypes = `
struct impi_shm_header {
	uint64_t magic;
	uint32_t version, local_size;
	uint64_t bytes;
	uint32_t ring_bytes, creator, cores, pad0;
	uint64_t looked;
	uint32_t deaths, apart;
	uint64_t given;
};

struct impi_shm_control {
	uint32_t bell, sleepers, pad0[14];
	uint32_t state, pid;
	uint64_t probe_addr, probe_value;
	uint32_t attention, node;
	uint64_t self;
	uint32_t pad1[6];
	uint64_t inbound[];
};

struct impi_shm_position {
	uint64_t read;
	uint32_t hold, pad0;
	uint64_t claims[6];
};

struct impi_shm_record {
	uint32_t state;
	int32_t tag;
	uint64_t cid;
	int32_t lsrank;
	uint32_t srqid;
	unsigned char body[IMPI_SHM_INLINE_BYTES];
};

struct impi_shm_growing {
	uint32_t state;
	int32_t tag;
	uint64_t cid;
	int32_t lsrank;
	uint32_t srqid, filled, pad[9];
};

struct impi_shm_full {
	uint32_t state;
	int32_t tag;
	uint64_t cid;
	int32_t lsrank;
	uint32_t kind;
	uint64_t msg_len, srq_id, drq_id, addr, pad;
};

struct impi_shm_outbound {
	uint64_t tail, limit;
	unsigned char *ring;
	struct impi_shm_position *pos;
	struct impi_shm_control *ctl;
	uint64_t pad[3];
};

struct impi_shm_inbound {
	uint64_t read, told;
	unsigned char *ring;
	struct impi_shm_position *pos;
	struct impi_shm_control *ctl;
	uint32_t ring_bytes, max_payload;
	uint64_t pad[2];
};

struct impi_shm_peer {
	struct impi_shm_outbound out;
	struct impi_shm_inbound in;
};

struct impi_shm_private {
	uint32_t lock, pad0[15];
	unsigned char *segment;
	uint32_t local_size, local_rank, ring_bytes, pad1, fence, pad2;
	uint64_t probe, pad3[3];
	struct impi_shm_peer peers[];
};

struct impi_shm_board_slot {
	uint64_t word;
	unsigned char payload[IMPI_SHM_BOARD_PAYLOAD];
};

struct impi_shm_board_member {
	uint64_t done, pad[7];
	struct impi_shm_board_slot slots[IMPI_SHM_BOARD_SLOTS];
	uint64_t pad2[8];
};

struct impi_shm_board_wide {
	uint64_t word, pad[7];
	unsigned char payload[IMPI_SHM_BOARD_WIDE_PAYLOAD];
};

struct impi_shm_board {
	uint32_t present, pad, pieces, pad2;
	uint64_t lanes, pad3[5];
	struct impi_shm_board_member members[];
};

`

// cHeader is z_layout.h: the constants and types above, and an assertion for each place.
func cHeader() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "/* Generated by layout_unsafe_test.go (go test -run TestTheCHeader -rewrite). DO NOT EDIT.\n",
		"   What the bytes mean is said in layout.go. For 64-bit machines. */\n",
		"#ifndef IMPI_SHM_LAYOUT_H\n#define IMPI_SHM_LAYOUT_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n")
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"MAGIC", magic}, {"VERSION", version}, {"MAX_LOCAL", MaxLocal}, {"LINE_BYTES", lineBytes},
		{"INLINE_BYTES", inlineBytes}, {"FORM_SHORT", formShort}, {"FORM_FULL", formFull},
		{"FORM_SKIP", formSkip}, {"FORM_GROWING", formGrowing}, {"FORM_MASK", formMask}, {"LENGTH_SHIFT", lengthShift},
		{"STATE_ABSENT", stateAbsent}, {"STATE_ATTACHED", stateAttached}, {"STATE_DETACHED", stateDetached},
		{"STATE_DEAD", stateDead},
		{"SLEEPERS_NO_BARRIER", sleepersNoBarrier},
		{"BOARD_MEMBERS", BoardMembers}, {"BOARD_SLOTS", boardSlots}, {"BOARD_PAYLOAD", boardPayload},
		{"BOARD_WORD_SHIFT", boardWordShift},
		{"BOARD_WIDE_SLOTS", boardWideSlots}, {"BOARD_WIDE_PAYLOAD", boardWidePayload}, {"BOARD_LONGEST", boardLongest},
		{"BOARD_WIDE_SHIFT", boardWideShift},
		{"LOCK_FREE", futex.Free}, {"LOCK_HELD", futex.Held}, {"LOCK_SLEEP", futex.Sleep},
	} {
		fmt.Fprintf(&b, "#define IMPI_SHM_%s UINT64_C(%#x)\n", c.name, c.value)
	}
	b.WriteString(cTypes)
	for _, p := range places() {
		if p.field == "" {
			fmt.Fprintf(&b, "_Static_assert(sizeof(struct impi_shm_%s) == %d, \"layout\");\n", p.typ, p.want)
		} else {
			fmt.Fprintf(&b, "_Static_assert(offsetof(struct impi_shm_%s, %s) == %d, \"layout\");\n", p.typ, p.field, p.want)
		}
	}
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

func TestTheCHeaderIsTheLayout(t *testing.T) {
	const name = "z_layout.h"
	if *rewrite {
		if err := os.WriteFile(name, cHeader(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, cHeader()) {
		t.Fatalf("%s is not what this package has: run go test with -rewrite (%v)", name, err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the assertions in the header are not checked here")
	}
	out := filepath.Join(t.TempDir(), "o")
	if msg, err := exec.Command(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-x", "c", "-c", "-o", out,
		name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
}

// words is a ring as 32-bit words, for tests that damage it.
func words(s *Segment, src, dst int) []uint32 {
	_, p := s.ringAt(src, dst)
	return unsafe.Slice((*uint32)(p), s.ringBytes/4)
}

func uintptrOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// wordsFrom is the ring to a transport's only guest as 32-bit words.
func wordsFrom(t *Transport) []uint32 {
	g := t.seg.guests[0]
	return unsafe.Slice((*uint32)(g.memory.ring(g.end)), t.seg.ringBytes/4)
}

func TestThePairLiesAsTheLayoutSays(t *testing.T) {
	var h pairHead
	for name, x := range map[string][2]uintptr{
		"magic":     {unsafe.Offsetof(h.header.magic), 0},
		"version":   {unsafe.Offsetof(h.header.version), 8},
		"ring":      {unsafe.Offsetof(h.header.ringBytes), 12},
		"bytes":     {unsafe.Offsetof(h.header.bytes), 16},
		"ends":      {unsafe.Offsetof(h.ends), pairEnds},
		"an end":    {unsafe.Sizeof(h.ends[0]), lineBytes},
		"positions": {unsafe.Offsetof(h.positions), pairPositions},
		"all":       {unsafe.Sizeof(h), pairPositions + 2*lineBytes},
		"a ring":    {uintptr(ringOfPair(1)), 4096 + 256<<10},
	} {
		if x[0] != x[1] {
			t.Errorf("%s: %d, documented as %d", name, x[0], x[1])
		}
	}
	if pairEnds != 64 || pairPositions != 192 || pairBytes != ringOfPair(2) {
		t.Error("layout.go says otherwise")
	}
}
