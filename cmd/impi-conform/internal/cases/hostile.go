package cases

import (
	"bytes"
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// hostileCases are packets that no host may send (notes E.3, T10). The client, which waits for a message, must end with
// an error: soon, without a crash, and without taking memory because of a number of ours. It is rank 0 with host 0; we
// are ranks 1 and 2, on hosts 1 and 2.
type hostileCases []conform.Case

func hostile() []conform.Case {
	var h hostileCases
	h.fields()
	h.answers()
	h.endings()
	return h
}

// add adds a case in which the client takes some steps, and then we break the rules.
func (h *hostileCases) add(name, rule, about string, steps []string, break_ func(t t, j *peer.Job)) {
	*h = append(*h, conform.Case{Name: "hostile/" + name, Rule: rule, About: about, Needs: conform.Client,
		Run: func(t t) {
			s := setup{Others: [][]int{{1, 1}}, DataLen: 1000, Manual: true}
			j := peer.Start(t, s, append(append([]string{"say there"}, steps...), "recv 1 99 0")...)
			j.Line(0, "there")
			for _, l := range j.Links() {
				l.Ignore()
			}
			break_(t, j)
			j.ExitBadly()
			neverFini(t, j)
		}})
}

// packet adds a case of one packet, which would be good if it were not changed.
func (h *hostileCases) packet(name, rule, about string, change func(j *peer.Job, p *codec.Packet)) {
	h.add(name, rule, about, nil, func(t t, j *peer.Job) {
		p := j.Data(1, 0, 7, 100)
		change(j, &p)
		j.LinkOf(1, 0).Bytes(p.Bytes())
	})
}

// fields are packets of which one field is wrong.
func (h *hostileCases) fields() {
	h.packet("type-8", "3.5", "pk_type 8", func(_ *peer.Job, p *codec.Packet) { p.Type = 8 })
	h.packet("type-huge", "3.5", "pk_type 2^32-1", func(_ *peer.Job, p *codec.Packet) { p.Type = 1<<32 - 1 })
	h.packet("len-above-msglen", "3.5", "pk_len above pk_msglen", func(_ *peer.Job, p *codec.Packet) { p.MsgLen = 99 })
	h.packet("len-huge", "3.5", "pk_len 2^32-1", func(_ *peer.Job, p *codec.Packet) { p.Len, p.MsgLen = 1<<32-1, 1<<32-1 })
	h.packet("src-unknown", "3.2", "a sender that does not exist", func(_ *peer.Job, p *codec.Packet) { p.Src.PID++ })
	h.packet("src-host-id", "3.2", "a sender whose host id differs in one bit", func(_ *peer.Job, p *codec.Packet) {
		p.Src.HostID[0] ^= 1
	})
	h.packet("src-elsewhere", "3.2", "a sender that is on another host", func(j *peer.Job, p *codec.Packet) {
		p.Src = j.Procs[2].ID
	})
	h.packet("src-itself", "3.2", "a sender that is the client's own process", func(j *peer.Job, p *codec.Packet) {
		p.Src = j.Procs[0].ID
	})
	h.packet("dest-unknown", "3.2", "a destination that does not exist", func(_ *peer.Job, p *codec.Packet) {
		p.Dst.PID++
	})
	h.packet("dest-elsewhere", "3.2", "a destination that is not on the client's host",
		func(j *peer.Job, p *codec.Packet) {
			p.Dst = j.Procs[2].ID
		})
	h.packet("continuation-unknown", "3.7.2", "the continuation of a message that is not under way",
		func(_ *peer.Job, p *codec.Packet) { p.MsgLen, p.DrqID = 1000, 12345 })
	h.packet("syncack-unknown", "3.7.3", "a SYNCACK for a message that was never sent",
		func(_ *peer.Job, p *codec.Packet) {
			*p = codec.Packet{Header: codec.Header{Type: wire.PkSyncAck, Src: p.Src, Dst: p.Dst, SrqID: 77}}
		})
	h.packet("cancelyes-unasked", "3.7.4", "a CANCELYES that nobody has asked for", func(_ *peer.Job, p *codec.Packet) {
		*p = codec.Packet{Header: codec.Header{Type: wire.PkCancelYes, Src: p.Src, Dst: p.Dst, SrqID: 77}}
	})
	h.packet("protoack-too-many", "3.6", "a PROTOACK for packets that were not sent", func(_ *peer.Job, p *codec.Packet) {
		*p = codec.Packet{Header: codec.Header{Type: wire.PkProtoAck, Src: p.Src, Dst: p.Dst}}
	})
	h.add("datalen-exceeded", "3.9", "pk_len above what the client itself allows", nil, func(t t, j *peer.Job) {
		n := int(j.Own) + 1
		p := j.Data(1, 0, 7, n)
		p.Type, p.Len, p.Data = wire.PkData, uint32(n), peer.Pattern(7, n)
		j.LinkOf(1, 0).Bytes(p.Bytes())
	})
}

// answers are continuations and acknowledgements that answer to nothing.
func (h *hostileCases) answers() {
	h.add("continuation-overrun", "3.7.2", "more continuations than the message has bytes", []string{"irecv 1 7 1500"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 1500)
			j.Send(p)
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			j.Continue(p, ack.DrqID, make([]byte, 1000), 1000)
		})
	h.add("continuation-after-end", "3.7.2", "a continuation of a message that is complete", []string{"recv 1 7 1500"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 1500)
			j.Send(p)
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			j.Continue(p, ack.DrqID, peer.Pattern(7, 1500)[1000:], 1000)
			j.Continue(p, ack.DrqID, make([]byte, 1), 1000)
		})
	h.add("continuation-others", "3.7.2", "a continuation of another process's message", []string{"irecv 1 7 1500"},
		func(t t, j *peer.Job) {
			j.Send(j.Data(1, 0, 7, 1500))
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			p := j.Data(2, 0, 7, 1500)
			j.Continue(p, ack.DrqID, make([]byte, 500), 1000)
		})
	h.add("syncack-twice", "3.7.3", "two SYNCACKs for one message", []string{"isend 1 7 1500"}, func(t t, j *peer.Job) {
		p := j.TakeType(wire.PkDataSync, 0, 1)
		j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 1)
		j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 1)
	})
}

// endings are floods, and connections that end where they must not.
func (h *hostileCases) endings() {
	h.add("msglen-huge", "3.5", "a message of 2^64-1 bytes is announced, and the connection ends",
		[]string{"recv 1 7 100"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 5000)
			p.MsgLen = 1<<64 - 1
			j.LinkOf(1, 0).Bytes(p.Bytes())
			j.LinkOf(1, 0).Cut()
		})
	h.add("flood", "3.6", "10^5 packets regardless of the window, and then the end", nil, func(t t, j *peer.Job) {
		flood(j.LinkOf(1, 0), j.Data(1, 0, 7, 0), 100)
		j.LinkOf(1, 0).Cut()
	})
	h.add("flood-data", "3.6, erratum D-78",
		"messages that nobody waits for, without end and regardless of the window: refused before they are 500 MB", nil,
		func(t t, j *peer.Job) {
			if flood(j.LinkOf(2, 0), j.Data(2, 0, 7, 1000), 500) {
				t.Errorf("the client takes everything")
				j.LinkOf(2, 0).Cut()
			}
		})
	h.add("flood-cancel", "3.7.4", "10^5 CANCELs whose answers we never acknowledge, and then the end", nil,
		func(t t, j *peer.Job) {
			flood(j.LinkOf(1, 0), codec.Packet{Header: codec.Header{
				Type: wire.PkCancel, Src: j.Procs[1].ID, Dst: j.Procs[0].ID, SrqID: 9}}, 100)
			j.LinkOf(1, 0).Cut()
		})
	h.add("data-after-fini", "3.8", "a message after FINI, and the end", nil, func(t t, j *peer.Job) {
		b := codec.Packet{Header: codec.Header{Type: wire.PkFini}}.Bytes()
		j.LinkOf(1, 0).Bytes(append(b, j.Data(1, 0, 7, 0).Bytes()...))
		j.LinkOf(1, 0).Cut()
	})
	for _, n := range []int{1, 4, 64, 127, 128, 129, 227} {
		h.add(fmt.Sprintf("cut-%d", n), "3.5", fmt.Sprintf("the connection ends %d bytes into a packet of 228", n), nil,
			func(t t, j *peer.Job) {
				j.LinkOf(1, 0).Bytes(j.Data(1, 0, 7, 100).Bytes()[:n])
				j.LinkOf(1, 0).Cut()
			})
	}
}

// flood sends a packet so many thousand times, and reports whether the client has taken all of them: it may hang up.
func flood(l *peer.Link, p codec.Packet, thousands int) bool {
	many := bytes.Repeat(p.Bytes(), 1000)
	for range thousands {
		if l.Bytes(many) != nil {
			return false
		}
	}
	return true
}
