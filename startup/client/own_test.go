package client

import (
	"bytes"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// said is what a client says after the fake's authentication.
func said() wire.Own {
	own := wire.Mine()
	own.Mesh, own.Nonce = wire.MeshOpen, [32]byte{1}
	return own
}

func TestAServerNeedNotRelayWhatGoesBeyondIMPI(t *testing.T) {
	c := oneProc()
	own := said()
	c.Own = &own
	for _, before := range []wire.Label{0, wire.COwn} {
		f := &fake{before: map[wire.Label][]byte{}, replace: map[wire.Label][]byte{}, mask: map[wire.Label]uint32{}}
		if before == 0 { // our own value alone, as from a server whose other client does not know the label
			f.replace[wire.COwn], f.mask[wire.COwn] = own.Append(nil), 1
		}
		job, err := f.run(t, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if job.Hosts[1].Native == (before == 0) {
			t.Errorf("host 1: native %v", job.Hosts[1].Native)
		}
	}
}

func TestAnotherMeaningOfOurLabelIsNoneOfOurBusiness(t *testing.T) {
	own := said()
	good := own.Append(nil)
	for _, tt := range []struct {
		mask uint32
		data []byte
	}{
		{3, good},
		{1, append(good[:wire.OwnSize:wire.OwnSize], 0)},
		{3, append(bytes.Clone(good), good[:wire.OwnSize-1]...)},
		{4, good},
		{2, good},
		{1, nil},
		{0, nil},
		{1, wire.Own{Stream: 1}.Append(nil)},
		{3, make([]byte, 1<<16)},
	} {
		c := oneProc()
		c.Own = &own
		f := &fake{replace: map[wire.Label][]byte{wire.COwn: tt.data}, mask: map[wire.Label]uint32{wire.COwn: tt.mask}}
		job, err := f.run(t, c, Options{})
		if err != nil {
			t.Errorf("mask %#x, %d bytes: %v", tt.mask, len(tt.data), err)
			continue
		}
		for i, h := range job.Hosts {
			if h.SameImpl || h.Native || h.Outbound || h.Sealed || h.Stream != 0 || h.Key != nil {
				t.Errorf("mask %#x, %d bytes: host %d is %+v", tt.mask, len(tt.data), i, h)
			}
		}
	}
}

// Where the hosts are, as clients of this library say; nothing of it holds if anything is not as they would say it.
func TestHostsSayOnWhichMachineTheyAre(t *testing.T) {
	own := said()
	mine, theirs := wire.Machine{ID: 7, Crowded: true}, wire.Machine{ID: 1 << 63, Others: 1}
	both := theirs.Append(mine.Append(nil))
	owns := own.Append(own.Append(nil))
	for _, tt := range []struct {
		owns, mask uint32
		data       []byte
		want       bool
	}{
		{3, 3, both, true},
		{3, 1, mine.Append(nil), false}, // another set than that of those of this library
		{3, 3, both[:len(both)-1], false},
		{3, 3, append(bytes.Clone(both), 0), false},
		{3, 3, mine.Append(theirs.Append(nil)), false}, // not what we have said
		{3, 3, nil, false},
		{3, 0, nil, false},
		{3, 7, both, false},
		{3, 2, theirs.Append(nil), false},
		{0, 3, both, false}, // nobody is of this library
	} {
		c := oneProc()
		c.Own, c.Hosts[0].Machine = &own, mine
		f := &fake{mask: map[wire.Label]uint32{wire.COwn: tt.owns, wire.HMachine: tt.mask},
			replace: map[wire.Label][]byte{wire.COwn: owns[:wire.OwnSize*int(tt.owns+1)/2], wire.HMachine: tt.data}}
		job, err := f.run(t, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := [2]wire.Machine{}
		if tt.want {
			want = [2]wire.Machine{mine, theirs}
		}
		for i, h := range job.Hosts {
			if got := (wire.Machine{ID: h.Machine, Others: h.Others, Crowded: h.Crowded}); got != want[i] {
				t.Errorf("mask %#x, % x: host %d is on %+v", tt.mask, tt.data, i, got)
			}
		}
	}
}

func TestAServerThatSwallowsOurLabelIsNotWaitedFor(t *testing.T) {
	c := oneProc()
	own := said()
	c.Own = &own
	job, err := (&fake{swallow: true}).run(t, c, Options{})
	if err != nil || job.Hosts[1].Native {
		t.Errorf("%+v, %v", job, err)
	}
}

// say is a server by which these clients say these things.
func say(mask uint32, list ...wire.Own) *fake {
	var b []byte
	for _, o := range list {
		b = o.Append(b)
	}
	return &fake{mask: map[wire.Label]uint32{wire.COwn: mask}, replace: map[wire.Label][]byte{wire.COwn: b}}
}

func TestAllClientsGoOnWithoutRanksOrNone(t *testing.T) {
	survives, ends := said(), said()
	survives.Flags |= wire.FlagSurvives
	for _, tt := range []struct {
		f    *fake
		own  wire.Own
		want string // "": all is well
	}{
		{say(3, survives, survives), survives, ""},
		{say(1, survives), survives, ""}, // another implementation does not say
		{say(3, survives, ends), survives, "client 0 goes on without ranks that are lost (-with-ft), and client 1 does not"},
		{say(3, ends, survives), ends, "client 1 goes on without ranks that are lost (-with-ft), and client 0 does not"},
	} {
		c := oneProc()
		c.Own = &tt.own
		if _, err := tt.f.run(t, c, Options{}); tt.want == "" && err != nil ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

func TestAClientThatCannotBeReachedNeedsOthersThatAgree(t *testing.T) {
	out, in := said(), said()
	out.Flags |= wire.FlagOutbound
	for _, tt := range []struct {
		f         *fake
		own       wire.Own
		low, high bool // outbound
		want      string
	}{
		{f: say(3, out, in), own: out, low: true},
		{f: say(3, in, out), own: in, high: true}, // it would connect anyway
		{f: say(3, out, out), own: out, want: "can both only connect"},
		{f: say(1, out), own: out, want: "give client 0 the higher rank"},
		{f: &fake{swallow: true}, own: out, want: "give client 0 the higher rank"},
		{f: &fake{swallow: true}, own: in},
	} {
		c := oneProc()
		c.Own = &tt.own
		j, err := tt.f.run(t, c, Options{})
		switch {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		case err != nil || j.Hosts[0].Outbound != tt.low || j.Hosts[1].Outbound != tt.high:
			t.Errorf("%+v, %v", j, err)
		}
	}
}
