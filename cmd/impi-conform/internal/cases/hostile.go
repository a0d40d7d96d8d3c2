package cases

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// hostile: packets that no host may send (notes E.3, T10). The client, which waits for a message, must end with an
// error: soon, without a crash, without memory by our numbers. It is rank 0 with host 0; we are ranks 1 and 2, on
// hosts 1 and 2.
func hostile() (list []conform.Case) {
	add := func(name, rule, about string, steps []string, break_ func(t t, j *peer.Job)) {
		list = append(list, conform.Case{Name: "hostile/" + name, Rule: rule, About: about, Needs: conform.Client,
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
	packet := func(name, rule, about string, change func(j *peer.Job, p *codec.Packet)) {
		add(name, rule, about, nil, func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 100)
			change(j, &p)
			j.LinkOf(1, 0).Bytes(p.Bytes())
		})
	}
	packet("type-8", "3.5", "pk_type 8", func(_ *peer.Job, p *codec.Packet) { p.Type = 8 })
	packet("type-huge", "3.5", "pk_type 2^32-1", func(_ *peer.Job, p *codec.Packet) { p.Type = 1<<32 - 1 })
	packet("len-above-msglen", "3.5", "pk_len above pk_msglen", func(_ *peer.Job, p *codec.Packet) { p.MsgLen = 99 })
	packet("len-huge", "3.5", "pk_len 2^32-1", func(_ *peer.Job, p *codec.Packet) { p.Len, p.MsgLen = 1<<32-1, 1<<32-1 })
	packet("src-unknown", "3.2", "a sender that does not exist", func(_ *peer.Job, p *codec.Packet) { p.Src.PID++ })
	packet("src-host-id", "3.2", "a sender whose host id differs in one bit", func(_ *peer.Job, p *codec.Packet) {
		p.Src.HostID[0] ^= 1
	})
	packet("src-elsewhere", "3.2", "a sender that is on another host", func(j *peer.Job, p *codec.Packet) {
		p.Src = j.Procs[2].ID
	})
	packet("src-itself", "3.2", "a sender that is the client's own process", func(j *peer.Job, p *codec.Packet) {
		p.Src = j.Procs[0].ID
	})
	packet("dest-unknown", "3.2", "a destination that does not exist", func(_ *peer.Job, p *codec.Packet) { p.Dst.PID++ })
	packet("dest-elsewhere", "3.2", "a destination that is not on the client's host", func(j *peer.Job, p *codec.Packet) {
		p.Dst = j.Procs[2].ID
	})
	packet("continuation-unknown", "3.7.2", "the continuation of a message that is not under way",
		func(_ *peer.Job, p *codec.Packet) { p.MsgLen, p.DrqID = 1000, 12345 })
	packet("syncack-unknown", "3.7.3", "a SYNCACK for a message that was never sent", func(_ *peer.Job, p *codec.Packet) {
		*p = codec.Packet{Header: codec.Header{Type: wire.PkSyncAck, Src: p.Src, Dst: p.Dst, SrqID: 77}}
	})
	packet("cancelyes-unasked", "3.7.4", "a CANCELYES that nobody has asked for", func(_ *peer.Job, p *codec.Packet) {
		*p = codec.Packet{Header: codec.Header{Type: wire.PkCancelYes, Src: p.Src, Dst: p.Dst, SrqID: 77}}
	})
	packet("protoack-too-many", "3.6", "a PROTOACK for packets that were not sent", func(_ *peer.Job, p *codec.Packet) {
		*p = codec.Packet{Header: codec.Header{Type: wire.PkProtoAck, Src: p.Src, Dst: p.Dst}}
	})
	add("datalen-exceeded", "3.9", "pk_len above what the client itself allows", nil, func(t t, j *peer.Job) {
		n := int(j.Own) + 1
		p := j.Data(1, 0, 7, n)
		p.Type, p.Len, p.Data = wire.PkData, uint32(n), peer.Pattern(7, n)
		j.LinkOf(1, 0).Bytes(p.Bytes())
	})
	add("continuation-overrun", "3.7.2", "more continuations than the message has bytes", []string{"irecv 1 7 1500"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 1500)
			j.Send(p)
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			j.Continue(p, ack.DrqID, make([]byte, 1000), 1000)
		})
	add("continuation-after-end", "3.7.2", "a continuation of a message that is complete", []string{"recv 1 7 1500"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 1500)
			j.Send(p)
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			j.Continue(p, ack.DrqID, peer.Pattern(7, 1500)[1000:], 1000)
			j.Continue(p, ack.DrqID, make([]byte, 1), 1000)
		})
	add("continuation-others", "3.7.2", "a continuation of another process's message", []string{"irecv 1 7 1500"},
		func(t t, j *peer.Job) {
			j.Send(j.Data(1, 0, 7, 1500))
			ack := j.TakeType(wire.PkSyncAck, 0, 1)
			p := j.Data(2, 0, 7, 1500)
			j.Continue(p, ack.DrqID, make([]byte, 500), 1000)
		})
	add("syncack-twice", "3.7.3", "two SYNCACKs for one message", []string{"isend 1 7 1500"}, func(t t, j *peer.Job) {
		p := j.TakeType(wire.PkDataSync, 0, 1)
		j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 1)
		j.Control(wire.PkSyncAck, 1, 0, p.SrqID, 1)
	})
	add("msglen-huge", "3.5", "a message of 2^64-1 bytes is announced, and the connection ends", []string{"recv 1 7 100"},
		func(t t, j *peer.Job) {
			p := j.Data(1, 0, 7, 5000)
			p.MsgLen = 1<<64 - 1
			j.LinkOf(1, 0).Bytes(p.Bytes())
			j.LinkOf(1, 0).Cut()
		})
	add("flood", "3.6", "10^5 packets regardless of the window, and then the end", nil, func(t t, j *peer.Job) {
		b := j.Data(1, 0, 7, 0).Bytes()
		var many []byte
		for range 1000 {
			many = append(many, b...)
		}
		for range 100 {
			if j.LinkOf(1, 0).Bytes(many) != nil {
				break // it has hung up on us
			}
		}
		j.LinkOf(1, 0).Cut()
	})
	add("flood-data", "3.6, erratum D-78",
		"messages that nobody waits for, without end and regardless of the window: refused before they are 500 MB", nil,
		func(t t, j *peer.Job) {
			b := j.Data(2, 0, 7, 1000).Bytes()
			var many []byte
			for range 1000 {
				many = append(many, b...)
			}
			for range 500 {
				if j.LinkOf(2, 0).Bytes(many) != nil {
					return
				}
			}
			t.Errorf("the client takes everything")
			j.LinkOf(2, 0).Cut()
		})
	add("flood-cancel", "3.7.4", "10^5 CANCELs whose answers we never acknowledge, and then the end", nil,
		func(t t, j *peer.Job) {
			b := codec.Packet{Header: codec.Header{Type: wire.PkCancel, Src: j.Procs[1].ID, Dst: j.Procs[0].ID,
				SrqID: 9}}.Bytes()
			var many []byte
			for range 1000 {
				many = append(many, b...)
			}
			for range 100 {
				if j.LinkOf(1, 0).Bytes(many) != nil {
					break
				}
			}
			j.LinkOf(1, 0).Cut()
		})
	add("data-after-fini", "3.8", "a message after FINI, and the end", nil, func(t t, j *peer.Job) {
		b := codec.Packet{Header: codec.Header{Type: wire.PkFini}}.Bytes()
		j.LinkOf(1, 0).Bytes(append(b, j.Data(1, 0, 7, 0).Bytes()...))
		j.LinkOf(1, 0).Cut()
	})
	for _, n := range []int{1, 4, 64, 127, 128, 129, 227} {
		add(fmt.Sprintf("cut-%d", n), "3.5", fmt.Sprintf("the connection ends %d bytes into a packet of 228", n), nil,
			func(t t, j *peer.Job) {
				j.LinkOf(1, 0).Bytes(j.Data(1, 0, 7, 100).Bytes()[:n])
				j.LinkOf(1, 0).Cut()
			})
	}
	return list
}
