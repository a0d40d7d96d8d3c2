package fake_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
	"github.com/libimpi/libimpi/transport/fake"
)

func TestTheFakeConforms(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"one machine":    {Machines: []int{3}},
		"three machines": {Machines: []int{1, 1, 1}, Room: 3},
		"two machines":   {Machines: []int{1, 2}, Late: 20},
		"plain":          {Machines: []int{2, 1}, Late: 5, Plain: true},
	} {
		seeds := uint64(3)
		if testing.Short() {
			seeds = 1
		}
		for seed := range seeds {
			o.Seed = seed
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World { return world(t, o, rx) })
			})
		}
	}
}

func world(t *testing.T, o fake.Options, rx []*conformance.Receiver) *conformance.World {
	o.Combine = add
	w := fake.New(o)
	c := &conformance.World{Victim: 2, Kill: func() { w.Kill(2) }, Traitor: 2, Treason: map[string]func(){},
		Collective: len(o.Machines) == conformance.Processes && !o.Plain}
	for r := range rx {
		links, err := w.Open(r)(context.Background(), rx[r], nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Transports = append(c.Transports, &both{links, w.Home(r).World})
	}
	good := transport.Header{Kind: transport.Data, Src: 2, Dst: 0, Len: 4, MsgLen: 4}
	for name, spoil := range map[string]func(h *transport.Header){
		"another source":             func(h *transport.Header) { h.Src = 1 },
		"another destination":        func(h *transport.Header) { h.Dst = 1 },
		"a source that is not there": func(h *transport.Header) { h.Src = -1 },
		"more than the message":      func(h *transport.Header) { h.MsgLen = 3 },
		"a length that lies":         func(h *transport.Header) { h.Len, h.MsgLen = 5, 5 },
		"flow control":               func(h *transport.Header) { h.Kind = transport.ProtoAck },
		"an end":                     func(h *transport.Header) { h.Kind = transport.Fini },
		"no kind":                    func(h *transport.Header) { h.Kind = transport.Given + 1 },
	} {
		c.Treason[name] = func() {
			bad := good
			spoil(&bad)
			w.Forge(2, 0, bad, []byte("evil"))
		}
	}
	return c
}

// add adds numbers of 32 bits.
func add(_ *transport.Operation, in, inout []byte) {
	order := binary.NativeEndian
	for i := 0; i < len(in); i += 4 {
		order.PutUint32(inout[i:], order.Uint32(inout[i:])+order.Uint32(in[i:]))
	}
}

// both is the two transports of a process as one.
type both struct {
	transport.Links
	world []int32
}

func (b *both) to(dst int32) transport.Transport {
	if slices.Contains(b.world, dst) {
		return b.Local
	}
	return b.Network
}

func (b *both) Limits() transport.Limits { return b.Local.Limits() }

func (b *both) Send(h *transport.Header, payload []byte) bool { return b.to(h.Dst).Send(h, payload) }

func (b *both) SendFrom(h *transport.Header, p transport.Packer) bool {
	return b.to(h.Dst).SendFrom(h, p)
}

func (b *both) Poll() bool {
	did := b.Local.Poll()
	return b.Network != nil && b.Network.Poll() || did
}

// Lines and Begin are transport.Collective, where there is nothing but Network.
func (b *both) Lines() int { return b.Network.(transport.Collective).Lines() }

func (b *both) Begin(line int, o *transport.Operation) {
	b.Network.(transport.Collective).Begin(line, o)
}

// Stream and what follows are transport.Streamer where there is one.
func (b *both) Stream(dst int32) int {
	if s, ok := b.to(dst).(transport.Streamer); ok {
		return s.Stream(dst)
	}
	return 0
}

func (b *both) SendLong(h *transport.Header, payload []byte) (int, bool) {
	if s, ok := b.to(h.Dst).(transport.Streamer); ok {
		return s.SendLong(h, payload)
	}
	return h.Len, b.Send(h, payload)
}

func (b *both) SendRest(dst int32, payload []byte) int {
	return b.to(dst).(transport.Streamer).SendRest(dst, payload)
}
