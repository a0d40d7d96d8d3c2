package onesided

import "github.com/libimpi/libimpi/datatype"

// Types in requests. A predefined one is named by its handle. A derived one is described to a target once, which keeps
// it in a slot that the origin chooses.

// typeTable are the derived types that a target has been told of, by the slot where it keeps them.
type typeTable struct {
	slots [typeSlots]*datatype.Type
	known map[*datatype.Type]uint16
	next  int
}

const (
	typeSlots = 64
	firstSlot = 1 << 15 // below are handles of predefined types
)

// describe puts a type into a request: the target gets its serialized form once.
func (t *typeTable) describe(of *datatype.Type, r *Request) error {
	if of.Handle() != 0 {
		r.Slot = uint16(of.Handle())
		return nil
	}
	if slot, ok := t.known[of]; ok {
		r.Slot = slot
		return nil
	}
	form, err := of.Append(nil)
	if err != nil {
		return err
	}
	if t.known == nil {
		t.known = make(map[*datatype.Type]uint16)
	}
	delete(t.known, t.slots[t.next])
	t.slots[t.next] = of
	r.Slot, r.Type = uint16(firstSlot+t.next), form
	t.known[of] = r.Slot
	t.next = (t.next + 1) % typeSlots
	return nil
}

// typeOf is the type of a request, which may bring it; nil if there is none.
func (o *origin) typeOf(r *Request) *datatype.Type {
	if r.Slot < firstSlot {
		return datatype.Named(int(r.Slot))
	}
	slot := int(r.Slot - firstSlot)
	if slot >= typeSlots {
		return nil
	}
	if len(r.Type) > 0 {
		t, err := datatype.Decode(r.Type)
		if err != nil {
			return nil
		}
		t.Commit()
		o.types[slot] = t
	}
	return o.types[slot]
}
