package script

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"go.starlark.net/starlark"
)

// kind is a type of objects that scripts have to do with.
type kind struct {
	Name       string
	About      string
	of         reflect.Type
	Attributes []attribute
	Methods    []function

	attributes map[string]attribute
	methods    map[string]*parsed
}

// attribute is something of an object that can be read.
type attribute struct {
	Name  string
	About string // with units
	get   any    // func(object) value
	set   any    // func(object, value); nil: it can only be read
}

var (
	tabled sync.Once
	table  map[reflect.Type]*kind
)

// kinds are all of them, by the Go type.
func kinds() map[reflect.Type]*kind {
	tabled.Do(func() {
		table = map[reflect.Type]*kind{}
		for _, k := range allKinds() {
			k.attributes, k.methods = map[string]attribute{}, map[string]*parsed{}
			for _, a := range k.Attributes {
				k.attributes[a.Name] = a
			}
			for _, m := range k.Methods {
				p := m.parse(true)
				k.methods[p.name] = p
			}
			table[k.of] = k
		}
	})
	return table
}

// allKinds are all kinds, in the order of the manual.
func allKinds() []*kind {
	return []*kind{jobKind(), settingsKind(), processKind(), hostKind(), packetKind(), commandKind(), linkKind(),
		connectionKind(), commKind(), messageKind(), serverKind(), memberKind()}
}

// object is a Go value of a kind.
type object struct {
	kind   *kind
	value  any
	frozen bool
}

// wrap makes an object of a value whose type is that of a kind.
func wrap(v any) starlark.Value {
	k := kinds()[reflect.TypeOf(v)]
	if k == nil {
		panic(fmt.Errorf("scripts know no %T", v))
	}
	return &object{kind: k, value: v}
}

func (o *object) Type() string          { return o.kind.Name }
func (o *object) Freeze()               { o.frozen = true }
func (o *object) Truth() starlark.Bool  { return true }
func (o *object) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", o.kind.Name) }

func (o *object) String() string {
	if s, ok := o.value.(fmt.Stringer); ok {
		return s.String()
	}
	return "<" + o.kind.Name + ">"
}

// Attr is o.name.
func (o *object) Attr(name string) (starlark.Value, error) {
	if a, ok := o.kind.attributes[name]; ok {
		var v starlark.Value
		err := attempt(func() {
			v = new(run).fromGo(reflect.ValueOf(a.get).Call([]reflect.Value{reflect.ValueOf(o.value)})[0])
		})
		return v, err
	}
	if m, ok := o.kind.methods[name]; ok {
		return m.builtin(o.value), nil
	}
	return nil, nil
}

// AttrNames are for messages about a name that there is not.
func (o *object) AttrNames() (names []string) {
	for name := range o.kind.attributes {
		names = append(names, name)
	}
	for name := range o.kind.methods {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// SetField is o.name = v.
func (o *object) SetField(name string, v starlark.Value) error {
	a, ok := o.kind.attributes[name]
	switch {
	case !ok:
		return starlark.NoSuchAttrError(fmt.Sprintf("%s has no attribute %s", o.kind.Name, name))
	case a.set == nil:
		return fmt.Errorf("%s of %s cannot be changed", name, o.kind.Name)
	case o.frozen:
		return errFrozen
	}
	f := reflect.ValueOf(a.set)
	x, err := new(run).toGo(v, f.Type().In(1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return attempt(func() { f.Call([]reflect.Value{reflect.ValueOf(o.value), x}) })
}
