package options

import (
	"fmt"
	"strings"
)

// configNames are the options that name a file of programs, each with its options, one a line: those of MPICH and of
// Open MPI.
var configNames = []string{"configfile", "app"}

// WithFile returns the words of a command line with -configfile FILE replaced by what FILE says: its lines are the
// programs, and what is between ":" on a command line. A line is split into words as a shell does it, but nothing is
// filled in; # begins a comment. The options before it hold for the first program, or for all if they do so anywhere.
// read answers the text of a file.
func WithFile(args []string, read func(name string) ([]byte, error)) ([]string, error) {
	rest := args
	for len(rest) > 0 && rest[0] != "--" && len(rest[0]) > 1 && rest[0][0] == '-' {
		word := rest[0]
		name, value, hasValue := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
		o, known := byName[name]
		if !known {
			return args, nil // Parse says so
		}
		before := len(args) - len(rest)
		values, left, err := o.take(word, value, hasValue, rest[1:])
		if err != nil {
			return args, nil
		}
		if rest = left; o.names[0] != configNames[0] {
			continue
		}
		if len(rest) > 0 {
			return nil, fmt.Errorf("%s %s: the file says what to run, and %q is too much", dashed(word), values[0], rest[0])
		}
		text, err := read(values[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %v", dashed(word), err)
		}
		words, err := configured(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s %s, %v", dashed(word), values[0], err)
		}
		return append(args[:before:before], words...), nil
	}
	return args, nil
}

// configured are the words of a file.
func configured(text string) (words []string, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		more, err := split(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %v", number, err)
		}
		if len(words) > 0 && len(more) > 0 && words[len(words)-1] != ":" && more[0] != ":" {
			words = append(words, ":")
		}
		words = append(words, more...)
	}
	if len(words) > 0 && words[len(words)-1] == ":" {
		words = words[:len(words)-1] // a line may end with it
	}
	return words, nil
}

// split divides a line into words: blanks divide, quotes of both kinds and backslashes keep.
func split(line string) (words []string, err error) {
	var word strings.Builder
	inside, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line) && line[i+1] != '\n':
			i++
			inside = true
			word.WriteByte(line[i])
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == '#' && !inside:
			return words, nil
		case strings.IndexByte(" \t\r\n\\", c) >= 0:
			if inside {
				words, inside = append(words, word.String()), false
				word.Reset()
			}
		default:
			inside = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c has no end", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}
