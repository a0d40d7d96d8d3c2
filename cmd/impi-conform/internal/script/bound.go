package script

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// What a script may use at most. The interpreter counts steps; every so many of them the memory of the tester is looked
// at. A single operation at most doubles what there is, except those that bound and guarded treat: they are held to
// maxBytes and maxMany before they begin.
const (
	maxText       = 128 << 10 // bytes of a file
	maxCases      = 2000      // of a file
	maxLoadSteps  = 1_000_000 // of the interpreter, for the top level of a file
	maxSteps      = 3_000_000 // for a case
	maxBytes      = 16 << 20  // of a value that is made at once
	maxMany       = 1_000_000 // elements of a range, repetitions
	maxBits       = 4096      // of an int
	maxHeap       = 2 << 30   // bytes of memory of the tester
	betweenLooks  = 200       // steps
	afterDeadline = 2 * time.Second
)

// local is the name under which a thread knows its run.
const local = "run"

// start makes the thread of a run.
func (r *run) start(name string, steps uint64) *starlark.Thread {
	r.thread = &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, text string) {
		if r.t != nil {
			r.t.Output(text + "\n")
		}
	}}
	r.thread.SetMaxExecutionSteps(betweenLooks)
	r.thread.OnMaxSteps = func(t *starlark.Thread) {
		switch {
		case t.Steps >= steps:
			t.Cancel(fmt.Sprintf("more than %d steps", steps))
		case heap() > maxHeap:
			t.Cancel("it takes too much memory")
		default:
			t.SetMaxExecutionSteps(t.Steps + betweenLooks)
		}
	}
	r.thread.SetLocal(local, r)
	return r.thread
}

// heap is the memory that objects of this process take, in bytes.
func heap() uint64 {
	look := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	if look() > maxHeap {
		runtime.GC() // what nobody needs does not count
	}
	return look()
}

// bound rewrites a file: x * y, x % y, and x.join, x.replace and x.format become calls of guarded builtins, whose names
// no script can write.
func bound(tree *syntax.File) { rewrite(reflect.ValueOf(tree).Elem()) }

// rewrite goes through a part of a tree.
func rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		rewrite(v.Elem())
		if e, ok := v.Interface().(syntax.Expr); ok && v.CanSet() {
			if better := guard(e); better != nil {
				v.Set(reflect.ValueOf(better))
			}
		}
	case reflect.Pointer:
		if s, ok := v.Interface().(*syntax.AssignStmt); ok {
			assignment(s)
		}
		if !v.IsNil() {
			rewrite(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Options" {
				rewrite(v.Field(i))
			}
		}
	}
}

// guard is what stands for an expression instead, nil if it stays.
func guard(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		if e.Op == syntax.STAR || e.Op == syntax.PERCENT {
			return call(e.Op.String(), e.OpPos, e.X, e.Y)
		}
	case *syntax.DotExpr:
		switch e.Name.Name {
		case "join", "replace", "format":
			name := &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: strconv.Quote(e.Name.Name),
				Value: e.Name.Name}
			return call(".", e.Dot, e.X, name)
		}
	}
	return nil
}

func call(name string, at syntax.Position, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}

// assignment makes x *= y and x %= y x = x * y and x = x % y, where x is a name.
func assignment(s *syntax.AssignStmt) {
	ops := map[syntax.Token]syntax.Token{syntax.STAR_EQ: syntax.STAR, syntax.PERCENT_EQ: syntax.PERCENT}
	op, ok := ops[s.Op]
	if !ok {
		return
	}
	if x, ok := s.LHS.(*syntax.Ident); ok {
		s.Op = syntax.EQ
		s.RHS = &syntax.BinaryExpr{X: &syntax.Ident{NamePos: x.NamePos, Name: x.Name}, OpPos: s.OpPos, Op: op, Y: s.RHS}
		return
	}
	s.RHS = call("only names", s.OpPos)
}

// guarded are the builtins that hold operations to the bounds.
func guarded() starlark.StringDict {
	dict := starlark.StringDict{}
	add := func(name string, f func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) {
		dict[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(thread, args, kwargs)
		})
	}
	add("*", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if err := repeated(a[0], a[1]); err != nil {
			return nil, err
		}
		return starlark.Binary(syntax.STAR, a[0], a[1])
	})
	add("%", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if err := weigh(a); err != nil {
			return nil, err
		}
		return starlark.Binary(syntax.PERCENT, a[0], a[1])
	})
	add(".", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return method(a[0], string(a[1].(starlark.String)))
	})
	add("only names", func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, errors.New("*= and %= are for names only")
	})
	add("range", func(thread *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		v, err := starlark.Universe["range"].(*starlark.Builtin).CallInternal(thread, a, kw)
		if err == nil && starlark.Len(v) > maxMany {
			return nil, fmt.Errorf("range of more than %d elements", maxMany)
		}
		return v, err
	})
	for _, name := range []string{"str", "repr", "print"} {
		add(name, func(thread *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if err := weigh(a); err != nil {
				return nil, err
			}
			return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, a, kw)
		})
	}
	for _, name := range []string{"getattr", "hash"} {
		add(name, func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			return nil, errors.New("is not in this language")
		})
	}
	return dict
}

// repeated is an error if a product would be too large.
func repeated(x, y starlark.Value) error {
	n, ok := y.(starlark.Int)
	if !ok {
		x, y = y, x
		n, ok = y.(starlark.Int)
	}
	if !ok {
		return nil
	}
	if i, ok := x.(starlark.Int); ok {
		if i.BigInt().BitLen()+n.BigInt().BitLen() > maxBits {
			return fmt.Errorf("an int has at most %d bits", maxBits)
		}
		return nil
	}
	length := starlark.Len(x)
	if s, ok := x.(starlark.Bytes); ok {
		length = len(s)
	}
	most := int64(maxBytes)
	switch x.(type) {
	case *starlark.List, starlark.Tuple:
		most = maxMany
	}
	if k, ok := n.Int64(); length > 0 && (!ok || k > most/int64(length)) && n.Sign() > 0 {
		return fmt.Errorf("%s times %d bytes or elements; at most %d can be", n, length, most)
	}
	return nil
}

// method is x.name of what may be a string.
func method(x starlark.Value, name string) (starlark.Value, error) {
	of, ok := x.(starlark.HasAttrs)
	if !ok {
		return nil, fmt.Errorf("%s has no .%s", x.Type(), name)
	}
	v, err := of.Attr(name)
	if v == nil && err == nil {
		err = fmt.Errorf("%s has no .%s", x.Type(), name)
	}
	s, isString := x.(starlark.String)
	if err != nil || !isString {
		return v, err
	}
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		all := starlark.Tuple{s}
		for _, kv := range kwargs {
			all = append(all, kv[1])
		}
		times := 1
		if name != "format" {
			times = len(s) + 1
		}
		if name == "join" && len(args) == 1 {
			times = max(starlark.Len(args[0]), 1)
			if err := weigh(starlark.Tuple{args[0]}); err != nil {
				return nil, err
			}
			args = append(starlark.Tuple(nil), args...)
			if len(s) > maxBytes/times {
				return nil, fmt.Errorf("a text of more than %d bytes", maxBytes)
			}
		} else if err := weighTimes(append(all, args...), times); err != nil {
			return nil, err
		}
		return v.(*starlark.Builtin).CallInternal(thread, args, kwargs)
	}), nil
}

// weigh is an error if values have too long a text.
func weigh(values starlark.Tuple) error { return weighTimes(values, 1) }

// weighTimes is weigh of so many times their text.
func weighTimes(values starlark.Tuple, times int) error {
	left := maxBytes / times
	for _, v := range values {
		if !light(v, &left, 100) {
			return fmt.Errorf("a text of more than %d bytes, or of values within each other more than 100 deep", maxBytes)
		}
	}
	return nil
}

// light takes what a value's text has at least off left, and reports whether something remains.
func light(v starlark.Value, left *int, depth int) bool {
	*left--
	switch v := v.(type) {
	case starlark.String:
		*left -= len(v)
	case starlark.Bytes:
		*left -= len(v)
	case *starlark.Dict:
		for _, kv := range v.Items() {
			if *left < 0 || depth == 0 || !light(kv, left, depth-1) {
				return false
			}
		}
	case starlark.Iterable:
		it := v.Iterate()
		defer it.Done()
		for x := starlark.Value(nil); it.Next(&x); {
			if *left < 0 || depth == 0 || !light(x, left, depth-1) {
				return false
			}
		}
	}
	return *left >= 0
}
