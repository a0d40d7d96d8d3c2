package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"reflect"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// Field is a part of a command or packet.
type Field struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"` // in bytes, from the start of the command or packet
	Length int    `json:"length"` // in bytes; more than len(Raw) if only the first were kept
	Raw    Hex    `json:"raw"`
	Value  string `json:"value"` // in words
}

// packetNames are the names of table 3.1 for the parts of Header, in its order.
var packetNames = [...]string{"pk_type", "pk_len", "pk_src.hostid", "pk_src.pid", "pk_dest.hostid", "pk_dest.pid",
	"pk_srqid", "pk_drqid", "pk_msglen", "pk_lsrank", "pk_tag", "pk_cid", "pk_seqnum", "pk_count", "pk_dtype",
	"pk_reserved"}

// parts are the elements of a struct in the order in which they travel, structs within it taken apart.
func parts(v reflect.Value) (list []any) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Struct {
			list = append(list, parts(f)...)
		} else {
			list = append(list, f.Interface())
		}
	}
	return list
}

// Fields are the fields of a header.
func (h Header) Fields() []Field {
	c := cutter{b: Packet{Header: h}.Bytes()}
	for i, part := range parts(reflect.ValueOf(h)) {
		value := fmt.Sprint(part)
		switch v := part.(type) {
		case uint32:
			if i == 0 {
				value = TypeName(v)
			}
		case [16]byte:
			value = netip.AddrFrom16(v).Unmap().String()
		}
		c.field(packetNames[i], binary.Size(part), value)
	}
	return c.fields
}

// Differ returns the fields of want that are something else in got.
func Differ(got, want Header) (list []Field) {
	is := got.Fields()
	for i, f := range want.Fields() {
		if !bytes.Equal(is[i].Raw, f.Raw) {
			list = append(list, f)
		}
	}
	return list
}

// cutter takes fields off the front of b, as far as there are bytes.
type cutter struct {
	b      []byte
	at     int
	fields []Field
}

func (c *cutter) left() []byte { return c.b[min(c.at, len(c.b)):] }

func (c *cutter) field(name string, n int, value string) {
	if len(c.left()) < n {
		return
	}
	c.fields = append(c.fields, Field{name, c.at, n, c.left()[:n:n], value})
	c.at += n
}

// word is the next number of 4 bytes; 0 if there are fewer, of which field makes no field.
func (c *cutter) word() uint32 {
	if len(c.left()) < 4 {
		return 0
	}
	return GetU32(c.left())
}

// rest is what is left of total bytes, of which the first were kept.
func (c *cutter) rest(name string, total int, value string) {
	if n := total - c.at; n > 0 && len(c.left()) > 0 {
		c.fields = append(c.fields, Field{name, c.at, n, c.left(), value})
	}
}

// Fields takes a unit apart.
func (u Unit) Fields() []Field {
	c := &cutter{b: u.Bytes}
	switch u.Kind {
	case Packets:
		if h, ok := u.Header(); ok {
			c.fields, c.at = h.Fields(), HeaderSize
		}
	case FromServer, ToServer:
		c.field("command", 4, wire.Command(c.word()).String())
		c.field("length", 4, fmt.Sprint(int32(c.word())))
		c.payload(wire.Command(wordAt(u.Bytes, 0)), u)
	case Key:
		if len(u.Bytes) >= 8 {
			c.field("key", 8, fmt.Sprint(GetU64(u.Bytes)))
		}
	case Choice:
		c.field("method", 4, methodName(int32(c.word())))
		c.field("length", 4, fmt.Sprint(int32(c.word())))
	case HostRank:
		c.field("host", 4, fmt.Sprint(int32(c.word())))
	}
	c.rest("data", u.Total, "")
	return c.fields
}

func wordAt(b []byte, at int) uint32 {
	if len(b) < at+4 {
		return 0
	}
	return GetU32(b[at:])
}

// payload takes apart what follows the header of a command.
func (c *cutter) payload(cmd wire.Command, u Unit) {
	switch cmd {
	case wire.CmdAuth:
		for len(c.left()) >= 4 {
			c.field("mask", 4, methods(c.word()))
		}
	case wire.CmdImpi:
		name := map[bool]string{true: "size", false: "rank"}[u.Kind == FromServer]
		c.field(name, 4, fmt.Sprint(int32(c.word())))
	case wire.CmdColl:
		l := wire.Label(c.word())
		c.field("label", 4, l.String())
		if u.Kind == FromServer {
			c.field("mask", 4, clients(c.word()))
		}
		c.rest("data", u.Total, labelText(l, c.left(), u.Total-c.at))
		c.at = len(c.b)
	}
}

// labelText is what a label carries in words; b are the first of n bytes.
func labelText(l wire.Label, b []byte, n int) string {
	if len(b) == n {
		return l.Text(b)
	}
	if _, size, ok := l.Shape(); ok {
		return l.Text(b[:len(b)/size*size]) + " ..."
	}
	return ""
}

func methodName(m int32) string {
	switch m {
	case wire.AuthNone:
		return "IMPI_AUTH_NONE"
	case wire.AuthKey:
		return "IMPI_AUTH_KEY"
	}
	return fmt.Sprintf("method %d", m)
}

// methods names the bits of a mask of authentication methods.
func methods(mask uint32) string {
	var names []string
	for ; mask != 0; mask &= mask - 1 {
		names = append(names, methodName(int32(bits.TrailingZeros32(mask))))
	}
	return strings.Join(names, ", ")
}

// clients names the bits of a mask of clients.
func clients(mask uint32) string {
	var names []string
	for ; mask != 0; mask &= mask - 1 {
		names = append(names, fmt.Sprint(bits.TrailingZeros32(mask)))
	}
	return "clients " + strings.Join(names, " ")
}
