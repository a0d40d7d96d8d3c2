package script

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"

	"go.starlark.net/starlark"
)

// size is a number of bytes that a script may ask for, elements one of ints or pairs: a negative one is none.
type (
	size     int
	elements int
)

var (
	valueType    = reflect.TypeFor[starlark.Value]()
	callableType = reflect.TypeFor[starlark.Callable]()
	bytesType    = reflect.TypeFor[[]byte]()
	idType       = reflect.TypeFor[[16]byte]()
	errorType    = reflect.TypeFor[error]()
)

// toGo converts an argument.
func (r *run) toGo(v starlark.Value, t reflect.Type) (reflect.Value, error) {
	switch {
	case t == valueType:
		return reflect.ValueOf(&v).Elem(), nil
	case t == callableType:
		return callable(v)
	case t == bytesType:
		return bytesOf(v)
	case t == idType:
		b, ok := v.(starlark.Bytes)
		if !ok || len(b) != 16 {
			return reflect.Value{}, fmt.Errorf("got %s, want 16 bytes", kindOf(v))
		}
		return reflect.ValueOf([16]byte([]byte(b))), nil
	}
	if o, ok := v.(*object); ok && reflect.TypeOf(o.value).AssignableTo(t) {
		return reflect.ValueOf(o.value), nil
	}
	if p, ok := v.(*packet); ok {
		if g, ok := p.as(t); ok {
			return g, nil
		}
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return number(v, t)
	case reflect.Bool:
		if b, ok := v.(starlark.Bool); ok {
			return reflect.ValueOf(bool(b)), nil
		}
	case reflect.String:
		if s, ok := v.(starlark.String); ok {
			return reflect.ValueOf(string(s)), nil
		}
	case reflect.Slice:
		return r.slice(v, t)
	case reflect.Pointer:
		return r.pointer(v, t)
	case reflect.Func:
		if f, ok := v.(starlark.Callable); ok {
			return r.callback(f, t), nil
		}
		if v == starlark.None {
			return reflect.Zero(t), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("got %s, want %s", kindOf(v), typeName(t))
}

func callable(v starlark.Value) (reflect.Value, error) {
	f, ok := v.(starlark.Callable)
	if !ok && v != starlark.None {
		return reflect.Value{}, fmt.Errorf("got %s, want function", kindOf(v))
	}
	return reflect.ValueOf(&f).Elem(), nil
}

// bytesOf is the bytes of a value; None is none, which is not the same as no bytes.
func bytesOf(v starlark.Value) (reflect.Value, error) {
	switch v := v.(type) {
	case starlark.Bytes:
		return reflect.ValueOf([]byte(v)), nil
	case starlark.NoneType:
		return reflect.Zero(bytesType), nil
	}
	return reflect.Value{}, fmt.Errorf("got %s, want bytes", kindOf(v))
}

// number converts an int that fits.
func number(v starlark.Value, t reflect.Type) (reflect.Value, error) {
	i, ok := v.(starlark.Int)
	if !ok {
		return reflect.Value{}, fmt.Errorf("got %s, want int", kindOf(v))
	}
	g := reflect.New(t).Elem()
	fits := false
	if g.CanInt() {
		var n int64
		if n, fits = i.Int64(); fits {
			fits = !g.OverflowInt(n)
			g.SetInt(n)
		}
	} else {
		var n uint64
		if n, fits = i.Uint64(); fits {
			fits = !g.OverflowUint(n)
			g.SetUint(n)
		}
	}
	switch n := g.Interface().(type) {
	case int:
		fits = fits && n == int(int32(n))
	case size:
		if !fits || n < 0 || n > maxBytes {
			return g, fmt.Errorf("%s bytes; it must be 0 to %d", i, maxBytes)
		}
	case elements:
		if !fits || n < -maxMany || n > maxMany {
			return g, fmt.Errorf("%s elements; it must be at most %d", i, maxMany)
		}
	}
	if !fits {
		return g, fmt.Errorf("%s does not fit into %s", i, typeName(t))
	}
	return g, nil
}

// slice converts a list, tuple or range.
func (r *run) slice(v starlark.Value, t reflect.Type) (reflect.Value, error) {
	if v == starlark.None {
		return reflect.Zero(t), nil
	}
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return reflect.Value{}, fmt.Errorf("got %s, want %s", kindOf(v), typeName(t))
	}
	list := reflect.Zero(t)
	it := seq.Iterate()
	defer it.Done()
	for x := starlark.Value(nil); it.Next(&x); {
		g, err := r.toGo(x, t.Elem())
		if err != nil {
			return list, fmt.Errorf("element %d: %w", list.Len(), err)
		}
		if list.Len() == maxMany {
			return list, fmt.Errorf("more than %d elements", maxMany)
		}
		list = reflect.Append(list, g)
	}
	return list, nil
}

// pointer converts what may be None.
func (r *run) pointer(v starlark.Value, t reflect.Type) (reflect.Value, error) {
	if v == starlark.None {
		return reflect.Zero(t), nil
	}
	if t.Elem().Kind() == reflect.Struct {
		return reflect.Value{}, fmt.Errorf("got %s, want %s", kindOf(v), typeName(t))
	}
	x, err := r.toGo(v, t.Elem())
	if err != nil {
		return x, err
	}
	p := reflect.New(t.Elem())
	p.Elem().Set(x)
	return p, nil
}

// callback makes a function of a script one of Go. Its errors unwind to the builtin that was given it.
func (r *run) callback(f starlark.Callable, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		args := make(starlark.Tuple, len(in))
		for i, x := range in {
			args[i] = r.fromGo(x)
		}
		v, err := starlark.Call(r.thread, f, args, nil)
		if err != nil {
			panic(err)
		}
		out := make([]reflect.Value, t.NumOut())
		values := starlark.Tuple{v}
		if t.NumOut() > 1 {
			values, _ = v.(starlark.Tuple)
		}
		if len(values) != len(out) {
			panic(fmt.Errorf("%s returned %s, must return a tuple of %d", f.Name(), kindOf(v), len(out)))
		}
		for i := range out {
			if out[i], err = r.toGo(values[i], t.Out(i)); err != nil {
				panic(fmt.Errorf("%s returned %w", f.Name(), err))
			}
		}
		return out
	})
}

// results are what a function returns: None, a value, or a tuple. An error ends the script.
func (r *run) results(out []reflect.Value) (starlark.Value, error) {
	if n := len(out); n > 0 && out[n-1].Type() == errorType {
		if err, _ := out[n-1].Interface().(error); err != nil {
			return nil, err
		}
		out = out[:n-1]
	}
	switch len(out) {
	case 0:
		return starlark.None, nil
	case 1:
		return r.fromGo(out[0]), nil
	}
	tuple := make(starlark.Tuple, len(out))
	for i, x := range out {
		tuple[i] = r.fromGo(x)
	}
	return tuple, nil
}

// fromGo converts a result.
func (r *run) fromGo(x reflect.Value) starlark.Value {
	switch v := x.Interface().(type) {
	case starlark.Value:
		return v
	case nil:
		return starlark.None
	case []byte:
		return starlark.Bytes(v) // nil, too: what may be None is a pointer
	case [16]byte:
		return starlark.Bytes(v[:])
	case peer.Packet:
		return &packet{Packet: v.Packet, came: &v}
	case codec.Packet:
		return &packet{Packet: v}
	}
	switch {
	case x.CanInt():
		return starlark.MakeInt64(x.Int())
	case x.CanUint():
		return starlark.MakeUint64(x.Uint())
	case x.Kind() == reflect.Bool:
		return starlark.Bool(x.Bool())
	case x.Kind() == reflect.String:
		return starlark.String(x.String())
	case x.Kind() == reflect.Slice:
		list := make([]starlark.Value, x.Len())
		for i := range list {
			list[i] = r.fromGo(x.Index(i))
		}
		return starlark.NewList(list)
	case x.Kind() == reflect.Pointer && x.IsNil():
		return starlark.None
	case x.Kind() == reflect.Pointer && kinds()[x.Type()] == nil:
		return r.fromGo(x.Elem())
	}
	return wrap(x.Interface())
}

// kindOf names the type of a script's value.
func kindOf(v starlark.Value) string { return v.Type() }

// typeName is what scripts call a type.
func typeName(t reflect.Type) string {
	if k := kinds()[t]; k != nil {
		return k.Name
	}
	switch t {
	case bytesType, idType:
		return "bytes"
	case reflect.TypeFor[size]():
		return "int (bytes)"
	case reflect.TypeFor[elements]():
		return "int (elements)"
	case valueType:
		return "anything"
	case reflect.TypeFor[peer.Packet](), reflect.TypeFor[codec.Packet](), reflect.TypeFor[*packet]():
		return "packet"
	}
	switch t.Kind() {
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Pointer:
		return typeName(t.Elem()) + " or None"
	case reflect.Func, reflect.Interface:
		return "function"
	}
	return t.Kind().String() // bool, string, int, int32, uint32 ...
}

var errTooLong = fmt.Errorf("more than %d bytes", maxBytes)

var errFrozen = errors.New("it is frozen: what the top level of a file has made cannot be changed in a case")
