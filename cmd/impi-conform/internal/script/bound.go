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

// What a script may use at most. The interpreter counts steps; every betweenLooks of them the memory of the tester is
// looked at. So that no operation makes too much at once, those from which more comes than goes in are held to maxBytes
// and maxMany before they begin.
const (
	maxText       = 256 << 10 // bytes of a file
	maxCases      = 2000      // of a file
	maxLoadSteps  = 1_000_000 // of the interpreter, for the top level of a file
	maxLoad       = 10 * time.Second
	maxSteps      = 3_000_000 // for a case
	maxBytes      = 16 << 20  // of a value that is made at once
	maxMany       = 1_000_000 // elements of a range, repetitions
	maxBits       = 4096      // of a product of ints
	maxDigits     = 1000      // of a text that is made an int
	maxHeap       = 512 << 20 // bytes by which the memory of the tester grows
	betweenLooks  = 50        // steps
	maxStarts     = 100       // programs that a case starts
	maxProcs      = 64        // of a host, or of a client under test
	afterDeadline = time.Second
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
	limit := heap() + maxHeap
	r.thread.SetMaxExecutionSteps(betweenLooks)
	r.thread.OnMaxSteps = func(t *starlark.Thread) {
		switch {
		case t.Steps >= steps:
			t.Cancel(fmt.Sprintf("more than %d steps", steps))
		case above(limit):
			t.Cancel("it takes too much memory")
		default:
			t.SetMaxExecutionSteps(t.Steps + betweenLooks)
		}
	}
	r.thread.SetLocal(local, r)
	return r.thread
}

// heap is the memory that objects of this process take, in bytes, whether they are needed or not.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// above reports whether those that are needed take more than that.
func above(limit uint64) bool {
	if heap() <= limit {
		return false
	}
	runtime.GC()
	return heap() > limit
}

// bound rewrites a file: x + y, x * y, x % y, and x.extend, x.join, x.replace and x.format become calls of guarded
// builtins, whose names no script can write.
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
		if e.Op == syntax.PLUS || e.Op == syntax.STAR || e.Op == syntax.PERCENT {
			return call(e.Op.String(), e.OpPos, e.X, e.Y)
		}
	case *syntax.DotExpr:
		switch e.Name.Name {
		case "extend", "join", "replace", "format":
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

// assignment bounds x += y, x *= y and x %= y. The first changes a list in place; the others are x = x * y, x = x % y.
// x is evaluated twice, and may therefore have no call.
func assignment(s *syntax.AssignStmt) {
	ops := map[syntax.Token]syntax.Token{syntax.PLUS_EQ: syntax.PLUS, syntax.STAR_EQ: syntax.STAR,
		syntax.PERCENT_EQ: syntax.PERCENT}
	op, ok := ops[s.Op]
	if !ok {
		return
	}
	simple := true
	syntax.Walk(s.LHS, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.CallExpr); ok {
			simple = false
		}
		return true
	})
	switch {
	case !simple:
		s.RHS = call("=", s.OpPos)
	case op == syntax.PLUS:
		s.RHS = call("+=", s.OpPos, s.LHS, s.RHS)
	default:
		s.Op = syntax.EQ
		s.RHS = &syntax.BinaryExpr{X: s.LHS, OpPos: s.OpPos, Op: op, Y: s.RHS}
	}
}

// builtin is a builtin without a signature.
func builtin(name string, f func(thread *starlark.Thread, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error)) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(thread, args, kwargs)
	})
}

// universal is a builtin of the language.
func universal(name string, thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

// refused is a builtin that says why it is none.
func refused(name, why string) *starlark.Builtin {
	return builtin(name, func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, errors.New(why)
	})
}

// guarded are the builtins that hold operations to the bounds.
func guarded() starlark.StringDict {
	dict := starlark.StringDict{
		"*": builtin("*", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := repeated(a[0], a[1]); err != nil {
				return nil, err
			}
			return starlark.Binary(syntax.STAR, a[0], a[1])
		}),
		"%": builtin("%", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := weigh(a); err != nil {
				return nil, err
			}
			return starlark.Binary(syntax.PERCENT, a[0], a[1])
		}),
		".": builtin(".", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return grower(a[0], string(a[1].(starlark.String)))
		}),
		"range": builtin("range", func(t *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			v, err := universal("range", t, a, kw)
			if err == nil && starlark.Len(v) > maxMany {
				return nil, fmt.Errorf("a range of more than %d elements", maxMany)
			}
			return v, err
		}),
		"+": builtin("+", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := added(a[0], a[1]); err != nil {
				return nil, err
			}
			return starlark.Binary(syntax.PLUS, a[0], a[1])
		}),
		"+=": builtin("+=", func(_ *starlark.Thread, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return a[1], added(a[0], a[1])
		}),
		"int": builtin("int", func(t *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if len(a) > 0 && starlark.Len(a[0]) > maxDigits {
				return nil, fmt.Errorf("an int of more than %d digits", maxDigits)
			}
			return universal("int", t, a, kw)
		}),
		"=": refused("=", "a call on the left of +=, *= or %="),
	}
	for _, name := range []string{"str", "repr", "print"} {
		dict[name] = builtin(name, func(t *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if err := weigh(a); err != nil {
				return nil, err
			}
			return universal(name, t, a, kw)
		})
	}
	for _, name := range []string{"getattr", "hash"} {
		dict[name] = refused(name, "is not in this language")
	}
	return dict
}

// room is how many bytes or elements a value has, and may have at most.
func room(v starlark.Value) (n, most int) {
	switch v := v.(type) {
	case starlark.String:
		return len(v), maxBytes
	case starlark.Bytes:
		return len(v), maxBytes
	case *starlark.List, starlark.Tuple:
		return starlark.Len(v), maxMany
	}
	return 0, maxBytes
}

// added is an error if a sum would be too large.
func added(x, y starlark.Value) error {
	n, most := room(x)
	if m, _ := room(y); n+m > most {
		return fmt.Errorf("%d and %d bytes or elements; at most %d can be", n, m, most)
	}
	return nil
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
	length, most := room(x)
	if k, ok := n.Int64(); length > 0 && n.Sign() > 0 && (!ok || k > int64(most/length)) {
		return fmt.Errorf("%s times %d bytes or elements; at most %d can be", n, length, most)
	}
	return nil
}

// grower is x.extend, x.join, x.replace or x.format.
func grower(x starlark.Value, name string) (starlark.Value, error) {
	of, ok := x.(starlark.HasAttrs)
	if !ok {
		return nil, fmt.Errorf("%s has no .%s", x.Type(), name)
	}
	v, err := of.Attr(name)
	if v == nil && err == nil {
		err = fmt.Errorf("%s has no .%s", x.Type(), name)
	}
	switch x := x.(type) {
	case starlark.String:
		return textMethod(x, name, v), err
	case *starlark.List:
		return builtin(name, func(t *starlark.Thread, a starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if len(a) == 1 && x.Len()+max(starlark.Len(a[0]), 0) > maxMany {
				return nil, fmt.Errorf("a list of more than %d elements", maxMany)
			}
			return v.(*starlark.Builtin).CallInternal(t, a, kw)
		}), err
	}
	return v, err
}

// textMethod is x.join, x.replace or x.format of a text.
func textMethod(text starlark.String, name string, v starlark.Value) starlark.Value {
	return builtin(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		all := append(starlark.Tuple{text}, args...)
		for _, kv := range kwargs {
			all = append(all, kv[1])
		}
		times := 1
		switch name {
		case "replace": // as often as it has bytes
			times = len(text) + 1
		case "join":
			if len(args) == 1 {
				times = max(starlark.Len(args[0]), 1)
				all = starlark.Tuple{text}
				if err := weigh(args); err != nil {
					return nil, err
				}
			}
		}
		if err := weighTimes(all, times); err != nil {
			return nil, err
		}
		return v.(*starlark.Builtin).CallInternal(t, args, kwargs)
	})
}

// weigh is an error if values have too long a text.
func weigh(values starlark.Tuple) error { return weighTimes(values, 1) }

// weighTimes is weigh of their text so many times.
func weighTimes(values starlark.Tuple, times int) error {
	const deepest = 100
	left := maxBytes / times
	for _, v := range values {
		if !light(v, &left, deepest) {
			return fmt.Errorf("a text of more than %d bytes, or of lists more than %d deep", maxBytes, deepest)
		}
	}
	return nil
}

// light takes what a value's text has off left, and reports whether something remains. A value counts 16 bytes beside
// its text, as it takes time to look at.
func light(v starlark.Value, left *int, depth int) bool {
	*left -= 16
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
