package options

import (
	"fmt"
	"strings"
)

// Output is where what ranks write goes, and in which form.
type Output struct {
	Tag       Tag
	Pattern   string // stands before each line instead of Tag, when Fields are filled in; "" none
	Timestamp bool
	JSON      bool   // each line is an object
	Merge     bool   // stderr goes where stdout goes
	Out, Err  string // files instead of the launcher's own output: patterns; "" none
	Dir       string // a folder with a file for each stream of each rank, besides the launcher's own output; "" none
	DirOnly   bool   // and not besides
}

// Fields are what the patterns of an Output may hold.
type Fields struct {
	Rank int
	Host string
	Job  int // 0: the one that was started; N: the Nth that was spawned
}

// Fill fills fields in: %r the rank, %h the machine, %g the job, %% a percent sign.
func (f *Fields) Fill(pattern string) string {
	return strings.NewReplacer("%%", "%", "%r", fmt.Sprint(f.Rank), "%h", f.Host, "%g", fmt.Sprint(f.Job)).Replace(pattern)
}

// outputOptions are the rows of the table about output.
func outputOptions() []option {
	return []option{
		{names: []string{"l", "prepend-rank"}, help: "put [RANK] before every line of output; lines stay whole",
			apply: func(p *parser, v []string) error { p.plan.Tag = TagRank; return nil }},
		{names: []string{"tag-output"}, help: "put [CLIENT,RANK]<stream>: before every line",
			apply: func(p *parser, v []string) error { p.plan.Tag = TagStream; return nil }},
		{names: []string{"timestamp-output"}, help: "put the time before every line",
			apply: func(p *parser, v []string) error { p.plan.Timestamp = true; return nil }},
		{names: []string{"prepend-pattern"}, values: []string{"TEXT"},
			help: "put TEXT before every line; in it %r is the rank, %h the machine, %g the number of the job (0, or N " +
				"for the Nth spawned job)", apply: func(p *parser, v []string) error {
				p.plan.Pattern = v[0]
				return checkPattern(v[0])
			}},
		{names: []string{"outfile-pattern"}, values: []string{"FILE"},
			help: "write standard output to FILE, a pattern like that of -prepend-pattern, on the machine of the rank; " +
				"relative to where impirun was started", apply: func(p *parser, v []string) error {
				p.plan.Out = v[0]
				return checkPattern(v[0])
			}},
		{names: []string{"errfile-pattern"}, values: []string{"FILE"}, help: "the same for standard error",
			apply: func(p *parser, v []string) error { p.plan.Err = v[0]; return checkPattern(v[0]) }},
		{names: []string{"output-filename"}, values: []string{"DIR"},
			help: "also write all output to DIR/1/rank.N/stdout and stderr (DIR/2 for the first spawned job); " +
				"DIR:nocopy: only there", apply: func(p *parser, v []string) error { return applyDir(p, v[0]) }},
		{names: []string{"merge-stderr-to-stdout"}, help: "send the standard error of ranks to their standard output",
			apply: func(p *parser, v []string) error { p.plan.Merge = true; return nil }},
		{names: []string{"output"}, values: []string{"LIST"}, choices: []string{"tag", "rank", "timestamp", "merge", "json",
			"dir="}, help: "these options in one: tag, rank, timestamp, merge, dir=DIR; or json: an object for each " +
			"line, with rank, host, job, stream, time and text, and one for the error that ends the job",
			apply: func(p *parser, v []string) error { return applyOutput(p, v[0]) }},
	}
}

func applyDir(p *parser, word string) error {
	dir, how, said := strings.Cut(word, ":")
	if said && how != "nocopy" {
		return fmt.Errorf("%q is not nocopy", how)
	}
	if dir == "" {
		return fmt.Errorf("no folder")
	}
	p.plan.Dir, p.plan.DirOnly = dir, said
	return nil
}

func applyOutput(p *parser, words string) error {
	for _, word := range list(words) {
		dir, isDir := strings.CutPrefix(word, "dir=")
		switch {
		case isDir:
			if err := applyDir(p, dir); err != nil {
				return err
			}
		case word == "tag":
			p.plan.Tag = TagStream
		case word == "rank":
			p.plan.Tag = TagRank
		case word == "timestamp":
			p.plan.Timestamp = true
		case word == "merge":
			p.plan.Merge = true
		case word == "json":
			p.plan.JSON = true
		default:
			return fmt.Errorf("%q is none of tag, rank, timestamp, merge, json, dir=DIR", word)
		}
	}
	return nil
}

// checkPattern refuses what would be left as it is.
func checkPattern(pattern string) error {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		if i++; i == len(pattern) || !strings.ContainsRune("rhg%", rune(pattern[i])) {
			return fmt.Errorf("%q may hold %%r, %%h, %%g and %%%%, and no other %%", pattern)
		}
	}
	return nil
}

// settleOutput refuses contradictions about output.
func (p *parser) settleOutput() error {
	o := &p.plan.Output
	switch {
	case o.JSON && (o.Tag != TagNone || o.Pattern != "" || o.Timestamp):
		return fmt.Errorf("-output json says rank, stream and time of every line: no prefix goes with it")
	case o.Dir != "" && (o.Out != "" || o.Err != ""):
		return fmt.Errorf("-output-filename and -outfile-pattern or -errfile-pattern exclude each other")
	case o.Merge && o.Err != "":
		return fmt.Errorf("-merge-stderr-to-stdout and -errfile-pattern exclude each other")
	}
	return nil
}
