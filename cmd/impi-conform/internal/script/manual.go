package script

import (
	"fmt"
	"reflect"
	"strings"
)

// Manual is the tables of all builtins, settings, objects and constants, in Markdown, for docs/conformance.md.
func Manual() string {
	var b strings.Builder
	b.WriteString("**Builtins**\n\n")
	calls(&b, functions(), false)
	b.WriteString("\n**Settings of job()**\n\n| setting | type | what |\n|---|---|---|\n")
	for _, s := range settings {
		row(&b, code(s.name), typeName(reflect.TypeOf(s.in(new(setup))).Elem()), s.about)
	}
	for _, k := range allKinds() {
		if len(k.Attributes)+len(k.Methods) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n**%s**: %s\n", k.Name, k.About)
		if len(k.Attributes) > 0 {
			b.WriteString("\n| attribute | type | what |\n|---|---|---|\n")
		}
		for _, a := range k.Attributes {
			row(&b, code(a.Name), a.typeName(), a.About)
		}
		if len(k.Methods) > 0 {
			b.WriteString("\n")
			calls(&b, k.Methods, true)
		}
	}
	b.WriteString("\n**Constants**\n\n| constants | what |\n|---|---|\n")
	for _, g := range constants() {
		var list []string
		for _, c := range g.constants {
			list = append(list, code(c.name))
		}
		row(&b, strings.Join(list, " "), g.about)
	}
	return b.String()
}

func code(s string) string { return "`" + s + "`" }

func row(b *strings.Builder, cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

// calls is a table of functions.
func calls(b *strings.Builder, list []function, methods bool) {
	b.WriteString("| call | arguments | returns | what |\n|---|---|---|---|\n")
	for _, f := range list {
		p := f.parse(methods)
		row(b, code(f.Signature), p.arguments(), p.returns(), f.About)
	}
}

// typeName is the type of an attribute.
func (a attribute) typeName() string {
	if a.get == nil { // a packet's
		f := fieldOf(a.Name)
		if t := reflect.TypeOf(f.in(new(packet).pointer())); t.Kind() == reflect.Pointer {
			return typeName(t.Elem())
		}
		return "bytes"
	}
	return typeName(reflect.TypeOf(a.get).Out(0))
}

// arguments says of which types they are: those of one type together.
func (p *parsed) arguments() string {
	var list []string
	for i, x := range p.parameters {
		t := p.types[i]
		name := code(x.name)
		if x.variadic {
			t, name = t.Elem(), name+" ..."
		}
		if i+1 < len(p.types) && p.types[i+1] == t {
			list = append(list, name+", ")
			continue
		}
		list = append(list, name+" "+typeName(t)+"; ")
	}
	return strings.TrimSuffix(strings.Join(list, ""), "; ")
}

// returns says what a call returns.
func (p *parsed) returns() string {
	if _, ok := p.call.(raw); ok {
		return map[string]string{"job": "settings", "packet": "packet", "but": "packet"}[p.name]
	}
	t := reflect.TypeOf(p.call)
	var list []string
	for i := range t.NumOut() {
		if t.Out(i) != errorType {
			list = append(list, typeName(t.Out(i)))
		}
	}
	return strings.Join(list, ", ")
}
