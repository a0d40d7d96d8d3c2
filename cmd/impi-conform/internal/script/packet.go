package script

import (
	"fmt"
	"reflect"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"

	"go.starlark.net/starlark"
)

// packet is a packet, ours or one that has come.
type packet struct {
	codec.Packet
	came   *peer.Packet // nil: it is ours
	frozen bool
}

// field is a part of a packet.
type field struct {
	name, about string
	in          func(p *codec.Packet) any // points to it
}

// id is the name of a process, without its parts.
type id struct{ p *codec.ID }

var fields = []field{
	{"type", "pk_type: DATA ... FINI", func(p *codec.Packet) any { return &p.Type }},
	{"len", "pk_len: bytes of user data that follow", func(p *codec.Packet) any { return &p.Len }},
	{"src", "pk_src: the name of the sending process, 24 bytes: host id and pid",
		func(p *codec.Packet) any { return id{&p.Src} }},
	{"dest", "pk_dest: the name of the receiving process, 24 bytes", func(p *codec.Packet) any { return id{&p.Dst} }},
	{"srqid", "pk_srqid: the sender's number of the message", func(p *codec.Packet) any { return &p.SrqID }},
	{"drqid", "pk_drqid: the receiver's", func(p *codec.Packet) any { return &p.DrqID }},
	{"msglen", "pk_msglen: bytes of user data of the whole message", func(p *codec.Packet) any { return &p.MsgLen }},
	{"lsrank", "pk_lsrank: the sender's rank in the communicator", func(p *codec.Packet) any { return &p.LSRank }},
	{"tag", "pk_tag", func(p *codec.Packet) any { return &p.Tag }},
	{"cid", "pk_cid: context id", func(p *codec.Packet) any { return &p.CID }},
	{"seqnum", "pk_seqnum (quality of service)", func(p *codec.Packet) any { return &p.SeqNum }},
	{"count", "pk_count (quality of service)", func(p *codec.Packet) any { return &p.Count }},
	{"dtype", "pk_dtype (quality of service)", func(p *codec.Packet) any { return &p.Dtype }},
	{"reserved", "pk_reserved", func(p *codec.Packet) any { return &p.Reserved }},
	{"data", "the user data, bytes. `len` says what it says, whatever their length",
		func(p *codec.Packet) any { return &p.Data }},
}

func fieldOf(name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// set changes a field.
func (f *field) set(p *codec.Packet, v starlark.Value) error {
	switch to := f.in(p).(type) {
	case id:
		b, ok := v.(starlark.Bytes)
		if !ok || len(b) != 24 {
			return fmt.Errorf("%s: got %s, want 24 bytes", f.name, kindOf(v))
		}
		copy(to.p.HostID[:], b)
		to.p.PID = int64(codec.GetU64([]byte(b[16:])))
	default:
		x, err := new(run).toGo(v, reflect.TypeOf(to).Elem())
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		reflect.ValueOf(to).Elem().Set(x)
	}
	return nil
}

// changed is a packet of which some fields are something else.
func changed(p codec.Packet, kwargs []starlark.Tuple) (codec.Packet, error) {
	for _, kv := range kwargs {
		f := fieldOf(string(kv[0].(starlark.String)))
		if f == nil {
			return p, fmt.Errorf("a packet has no field %s", kv[0].(starlark.String))
		}
		if err := f.set(&p, kv[1]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// nameOf is the name of a process as bytes.
func nameOf(p codec.ID) []byte { return append(p.HostID[:], codec.U64(uint64(p.PID))...) }

// pointer is where its fields are.
func (p *packet) pointer() *codec.Packet { return &p.Packet }

func (p *packet) Type() string          { return "packet" }
func (p *packet) Freeze()               { p.frozen = true }
func (p *packet) Truth() starlark.Bool  { return true }
func (p *packet) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: packet") }

func (p *packet) String() string {
	if p.came != nil {
		return p.came.String()
	}
	return p.Header.String()
}

// Attr is p.name.
func (p *packet) Attr(name string) (starlark.Value, error) {
	if f := fieldOf(name); f != nil {
		switch x := f.in(&p.Packet).(type) {
		case id:
			return starlark.Bytes(nameOf(*x.p)), nil
		case *[]byte:
			return starlark.Bytes(*x), nil
		default:
			return new(run).fromGo(reflect.ValueOf(x).Elem()), nil
		}
	}
	if m := kinds()[reflect.TypeFor[*packet]()].methods[name]; m != nil {
		return m.builtin(p), nil
	}
	return nil, nil
}

// AttrNames are for messages about a name that there is not.
func (p *packet) AttrNames() []string {
	names := []string{"bytes", "but"}
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// SetField is p.name = v.
func (p *packet) SetField(name string, v starlark.Value) error {
	f := fieldOf(name)
	switch {
	case f == nil:
		return starlark.NoSuchAttrError("a packet has no field " + name)
	case p.came != nil:
		return fmt.Errorf("%s of a packet that has come cannot be changed; p.but(%s = ...) is another packet", name, name)
	case p.frozen:
		return errFrozen
	}
	return f.set(&p.Packet, v)
}

// as is a packet as a type of Go.
func (p *packet) as(t reflect.Type) (reflect.Value, bool) {
	switch t {
	case reflect.TypeFor[codec.Packet]():
		return reflect.ValueOf(p.Packet), true
	case reflect.TypeFor[*packet]():
		return reflect.ValueOf(p), true
	}
	return reflect.Value{}, false
}

func packetKind() *kind {
	k := &kind{Name: "packet", About: "A packet (3.5), with the fields of table 3.1 without pk_. Those of a packet " +
		"that the script makes can be changed: `p.tag = 5`.", of: reflect.TypeFor[*packet]()}
	for _, f := range fields {
		k.Attributes = append(k.Attributes, attribute{Name: f.name, About: f.about})
	}
	k.Methods = []function{
		{"bytes()", "the packet as it travels: 128 bytes of header, and its data",
			func(p *packet) []byte { return p.Bytes() }},
		{"but(**fields)",
			"another packet, of which these fields are something else: `p.but(type = DATASYNC, srqid = 5)`",
			raw(func(_ *run, p any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				if len(args) > 0 {
					return nil, fmt.Errorf("fields are given by name: but(tag = 5)")
				}
				c, err := changed(p.(*packet).Packet, kwargs)
				return &packet{Packet: c}, err
			})},
	}
	return k
}

func packetFunctions() []function {
	return []function{
		{"packet(**fields)", "a packet of ours; fields that are left out are 0: `packet(type = FINI)`",
			raw(func(_ *run, _ any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				if len(args) > 0 {
					return nil, fmt.Errorf("fields are given by name: packet(type = FINI)")
				}
				c, err := changed(codec.Packet{}, kwargs)
				return &packet{Packet: c}, err
			})},
		{"process_name(host_id, pid)", "the name of a process (3.2): `src` and `dest` of packets",
			func(hostID [16]byte, pid int64) []byte {
				return nameOf(codec.ID{HostID: hostID, PID: pid})
			}},
		{"type_name(type)", "the name of a pk_type", codec.TypeName},
	}
}
