package script

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// function is a builtin, or a method of a kind of object.
type function struct {
	// Signature is "name(a, b, c = 0, *rest)": the parameters, and what they are if they are left out. With **fields
	// call is a raw function.
	Signature string
	About     string // for the manual: what it does and returns, with units
	// call is a Go function. It has the *run if it wants it, then a method's receiver, then one value for each parameter
	// (a slice for *rest). The types say what a script may give.
	call any
}

// raw is a function that takes its arguments as they come, and checks them itself.
type raw func(r *run, receiver any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// parameter is one of a signature.
type parameter struct {
	name     string
	absent   starlark.Value // what it is when it is left out; nil: it cannot be
	variadic bool
}

// parsed is a function that is ready to be called.
type parsed struct {
	function
	name       string
	parameters []parameter
	takesRun   bool
	receives   bool
	types      []reflect.Type // of the parameters
}

var runType = reflect.TypeFor[*run]()

// parse reads a signature. A wrong one is a fault of this package, which its tests find.
func (f function) parse(method bool) *parsed {
	name, rest, _ := strings.Cut(f.Signature, "(")
	p := &parsed{function: f, name: name, receives: method}
	if _, ok := f.call.(raw); ok {
		return p
	}
	expr, err := dialect.ParseExpr(name, "lambda "+strings.TrimSuffix(rest, ")")+": None", 0)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", f.Signature, err))
	}
	for _, x := range expr.(*syntax.LambdaExpr).Params {
		switch x := x.(type) {
		case *syntax.Ident:
			p.parameters = append(p.parameters, parameter{name: x.Name})
		case *syntax.UnaryExpr:
			p.parameters = append(p.parameters, parameter{name: x.X.(*syntax.Ident).Name, variadic: true})
		case *syntax.BinaryExpr:
			v, err := starlark.EvalExprOptions(&dialect, new(starlark.Thread), x.Y, nil)
			if err != nil {
				panic(fmt.Sprintf("%s: %v", f.Signature, err))
			}
			v.Freeze()
			p.parameters = append(p.parameters, parameter{name: x.X.(*syntax.Ident).Name, absent: v})
		}
	}
	t := reflect.TypeOf(f.call)
	i := 0
	if p.takesRun = t.NumIn() > 0 && t.In(0) == runType; p.takesRun {
		i++
	}
	if method {
		i++
	}
	for ; i < t.NumIn(); i++ {
		p.types = append(p.types, t.In(i))
	}
	if len(p.types) != len(p.parameters) {
		panic(fmt.Sprintf("%s has %d parameters, its Go function %d", f.Signature, len(p.parameters), len(p.types)))
	}
	return p
}

// builtin is a function as a value, of a receiver if it is a method.
func (p *parsed) builtin(receiver any) *starlark.Builtin {
	return starlark.NewBuiltin(p.name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (result starlark.Value, err error) {
		r := thread.Local(local).(*run)
		defer func() {
			if x := recover(); x != nil {
				err = caught(x)
			}
		}()
		if f, ok := p.call.(raw); ok {
			return f(r, receiver, args, kwargs)
		}
		return p.invoke(r, receiver, args, kwargs)
	})
}

// caught makes a panic in a builtin an error: what a callback has said, a word of this package, a slip with an index,
// or the end of a case.
func caught(x any) error {
	switch x := x.(type) {
	case runtime.Error:
		return errors.New(x.Error())
	case error:
		return x
	case string: // a slip, too
		return errors.New(x)
	}
	return unwound{x}
}

// invoke converts the arguments, calls, and converts the results.
func (p *parsed) invoke(r *run, receiver any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	values, err := p.assign(args, kwargs)
	if err != nil {
		return nil, err
	}
	var in []reflect.Value
	if p.takesRun {
		in = append(in, reflect.ValueOf(r))
	}
	if p.receives {
		in = append(in, reflect.ValueOf(receiver))
	}
	for i, v := range values {
		g, err := r.toGo(v, p.types[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.parameters[i].name, err)
		}
		in = append(in, g)
	}
	f := reflect.ValueOf(p.call)
	var out []reflect.Value
	if f.Type().IsVariadic() {
		out = f.CallSlice(in)
	} else {
		out = f.Call(in)
	}
	return r.results(out)
}

// assign gives each parameter its value.
func (p *parsed) assign(args starlark.Tuple, kwargs []starlark.Tuple) ([]starlark.Value, error) {
	values := make([]starlark.Value, len(p.parameters))
	for i, x := range p.parameters {
		if x.variadic {
			values[i] = args[min(i, len(args)):]
			args = args[:min(i, len(args))]
		} else if i < len(args) {
			values[i] = args[i]
		}
	}
	if len(args) > len(p.parameters) {
		return nil, fmt.Errorf("%d arguments, at most %d can be", len(args), len(p.parameters))
	}
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		i := 0
		for i < len(p.parameters) && (p.parameters[i].name != name || p.parameters[i].variadic) {
			i++
		}
		switch {
		case i == len(p.parameters):
			return nil, fmt.Errorf("there is no parameter %s: %s", name, p.Signature)
		case values[i] != nil:
			return nil, fmt.Errorf("%s is given twice", name)
		}
		values[i] = kv[1]
	}
	for i, x := range p.parameters {
		if values[i] == nil {
			values[i] = x.absent
		}
		if values[i] == nil {
			return nil, fmt.Errorf("%s is missing: %s", x.name, p.Signature)
		}
	}
	return values, nil
}
