package script

import (
	"errors"
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Error is what is wrong with a script, and where. Lines and columns count from 1.
type Error struct {
	File         string
	Line, Column int
	Text         string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text) }

// at is an error at a position.
func at(p syntax.Position, text string) *Error {
	return &Error{p.Filename(), int(p.Line), int(p.Col), text}
}

// fault gives an error of the interpreter its position.
func fault(name string, err error) *Error {
	var known *Error
	var parse syntax.Error
	var names resolve.ErrorList
	var eval *starlark.EvalError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &parse):
		return at(parse.Pos, parse.Msg)
	case errors.As(err, &names):
		return at(names[0].Pos, names[0].Msg)
	case errors.As(err, &eval):
		return raised(name, eval)
	}
	return &Error{name, 1, 1, err.Error()}
}

// raised is an error at run time: it stands in the innermost function of a script, and names who called that.
func raised(name string, err *starlark.EvalError) *Error {
	var e *Error
	var in string
	for i := range err.CallStack {
		f := err.CallStack.At(i)
		switch {
		case !f.Pos.IsValid() || f.Pos.Filename() == "<builtin>":
			if e == nil {
				in = f.Name + ": "
			}
		case e == nil:
			e = at(f.Pos, err.Msg)
			if len(err.Msg) < len(in) || err.Msg[:len(in)] != in {
				e.Text = in + err.Msg
			}
		default:
			e.Text += fmt.Sprintf(", called at %s:%d:%d", f.Pos.Filename(), f.Pos.Line, f.Pos.Col)
		}
	}
	if e == nil {
		return &Error{name, 1, 1, err.Msg}
	}
	return e
}

// unwound is a panic of Fatalf on its way through the interpreter.
type unwound struct{ value any }

func (unwound) Error() string { return "the case has ended" }
