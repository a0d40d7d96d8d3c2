package choose

import (
	"fmt"
	"strconv"
	"strings"
)

// Parameters say what messages and work cost on a machine: those of the LogGP model, and two of memory. The bounds of
// the tables follow from them (bounds.go). make tune measures them, and writes a file:
//
//	# a comment
//	latency 500
//	overhead 160
//	...
//
// A line has a name and a number above 0; each of the names stands there once. impirun reads the file and hands the
// parameters to all ranks, in one variable (Told), so that all choose alike.
type Parameters struct {
	Latency  float64 // L of a short message, ns
	Overhead float64 // o, on each side, of a short message, ns
	Gap      float64 // g between two short messages, ns
	Short    float64 // G of a message up to some KiB, ns a byte
	Long     float64 // G of a long one, ns a byte
	Combine  float64 // adding two vectors, ns a byte of one of them
	Copy     float64 // ns a byte
}

// BuiltIn are the parameters where none have been measured: a machine with more ranks than cores, as in bounds.go.
var BuiltIn = Parameters{Latency: 500, Overhead: 160, Gap: 360, Short: 0.1, Long: 0.1, Combine: 0.05, Copy: 0.05}

// parameterNames are the names in a file, in the order of the fields.
var parameterNames = [...]string{"latency", "overhead", "gap", "byte-short", "byte-long", "combine", "copy"}

func (p *Parameters) fields() [len(parameterNames)]*float64 {
	return [...]*float64{&p.Latency, &p.Overhead, &p.Gap, &p.Short, &p.Long, &p.Combine, &p.Copy}
}

// A parameter is a time of a nanosecond's billionth to one second, which keeps all that is computed from it finite.
const (
	leastParameter = 1e-9
	mostParameter  = 1e9
)

// ParseParameters reads the text of a file. An error names the line, as in "3: ...".
func ParseParameters(text string) (Parameters, error) {
	var p Parameters
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return BuiltIn, fmt.Errorf("%d: a line is a name and a number", number)
		}
		if err := p.set(words[0], words[1]); err != nil {
			return BuiltIn, fmt.Errorf("%d: %v", number, err)
		}
	}
	for i, f := range p.fields() {
		if *f == 0 {
			return BuiltIn, fmt.Errorf("%d: the file ends without %s", number, parameterNames[i])
		}
	}
	return p, nil
}

func (p *Parameters) set(name, value string) error {
	for i, f := range p.fields() {
		if parameterNames[i] != name {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || !(v >= leastParameter && v <= mostParameter):
			return fmt.Errorf("%s is %.40q, and not a number from %g to %g", name, value, leastParameter, mostParameter)
		case *f != 0:
			return fmt.Errorf("%s stands there twice", name)
		}
		*f = v
		return nil
	}
	return fmt.Errorf("%.40q is none of %s", name, strings.Join(parameterNames[:], ", "))
}

// String is for people, in one line.
func (p Parameters) String() string {
	var parts []string
	for i, f := range p.fields() {
		parts = append(parts, fmt.Sprintf("%s %.4g", parameterNames[i], *f))
	}
	return strings.Join(parts, ", ")
}

// Told is the value of the variable in which a launcher hands parameters to its ranks; from is the file that they come
// from.
func (p Parameters) Told(from string) string {
	var parts []string
	for i, f := range p.fields() {
		parts = append(parts, parameterNames[i]+" "+strconv.FormatFloat(*f, 'g', -1, 64))
	}
	return strings.Join(parts, ",") + toldFrom + from
}

const toldFrom = ",from "

// ReadTold is the inverse of Told. No value stands for the parameters that are built in.
func ReadTold(value string) (p Parameters, from string, err error) {
	if value == "" {
		return BuiltIn, "", nil
	}
	values, from, _ := strings.Cut(value, toldFrom)
	p, err = ParseParameters(strings.ReplaceAll(values, ",", "\n"))
	return p, from, err
}

// Tune makes the tables of all operations anew. All ranks of a job have to do it alike, and none while an operation is
// under way.
func Tune(p Parameters) {
	tuned = boundsOf(p)
	for _, o := range Operations {
		o.tune()
	}
}
