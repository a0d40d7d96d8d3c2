package usage

import (
	"fmt"
	"strings"
)

// bashScript splits the line at blanks alone, for bash itself splits words at ":" and "=", too. answer fills COMPREPLY
// with what an option's value can be; count is how many values it takes.
const bashScript = `# Completion of NAME in bash; made of the same table as its --help.
FUNCTION() {
    local line=${COMP_LINE:0:COMP_POINT} word cur i left=0 option='' operand=''
    local -a words
    COMPREPLY=()
    reply() { mapfile -t COMPREPLY < <(compgen "$@" -- "$cur"); }
    names() { compopt -o filenames 2>/dev/null; reply "$@"; }
    answer() {
        case $1 in
ANSWERS        esac
    }
    count() {
        case $1 in
COUNTS        *) echo 0 ;;
        esac
    }
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local last=$((${#words[@]} - 1))
    cur=${words[last]}
    for ((i = 1; i < last; i++)); do
        word=${words[i]}
        if ((left > 0)); then
            left=$((left - 1))
            [[ $option == @(PAIRS) && $word == *=* ]] && left=0
        elif [[ -n $operand ]]; then
            [[ $word == : ]] && operand=
        elif [[ $word == -?* && $word != -- ]]; then
            option=${word#-} option=${option#-}
            left=$(count "${option%%=*}")
            [[ $option == *=* && $left -gt 0 ]] && left=$((left - 1))
            option=${option%%=*}
        else
            operand=OPERAND
        fi
    done
    if ((left > 0)); then
        answer "$option"
    elif [[ -n $operand ]]; then
        names -f
    elif [[ $cur == -*=* ]]; then
        option=${cur#-} option=${option#-} cur=${cur#*=}
        answer "${option%%=*}"
    elif [[ $cur == -* ]]; then
        OPTIONS
    else
        WORDS
    fi
    # To bash, what stands before the last colon is not part of the word.
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%:*}:"}")
    fi
}
complete REST-F FUNCTION COMMANDS
`

// Bash is the completion of the command in bash.
func (c *Command) Bash() string {
	operand, words, rest := "", ":", ""
	switch c.Words {
	case Programs:
		operand, words = "$word", "names -A command -A file"
	case Settings:
		words = `reply -W "$("${words[0]}" --names 2>/dev/null)"`
	case Files:
		rest = "-o default "
	}
	list := quote(strings.Join(c.advertised(), " "))
	options := "reply -W " + list
	if c.Dashes == Either {
		options = "if [[ $cur == --* ]]; then cur=${cur#-}; reply -P - -W " + list + "; else " + options + "; fi"
	}
	return strings.NewReplacer("NAME", c.Name, "FUNCTION", "_libimpi_"+strings.ReplaceAll(c.Name, "-", "_"),
		"ANSWERS", c.cases(bashAnswer), "COUNTS", c.cases(count("echo %d")), "PAIRS", c.pairs(), "OPERAND", operand,
		"OPTIONS", options, "WORDS", words, "REST", rest, "COMMANDS", strings.Join(c.names(), " ")).Replace(bashScript)
}

func bashAnswer(o *Option) string {
	switch o.kind() {
	case words:
		return "reply -W " + quote(strings.Join(o.Choices, " "))
	case file:
		return "names -f"
	case directory:
		return "names -d"
	case command:
		return "names -A command"
	case variable:
		return "reply -A export"
	}
	return ""
}

// names are all names of the command.
func (c *Command) names() []string { return append([]string{c.Name}, c.Also...) }

// advertised are the names of options that the help shows, with their dashes. One whose value is in the same word ends
// in "=".
func (c *Command) advertised() []string {
	var list []string
	for i := range c.Options {
		o := &c.Options[i]
		if o.Help == "" {
			continue
		}
		for _, name := range c.shown(o) {
			if o.Joined {
				name += "="
			}
			list = append(list, name)
		}
	}
	return list
}

// cases are the branches of a shell's case over the options for which row writes something.
func (c *Command) cases(row func(o *Option) string) string {
	var b strings.Builder
	for i := range c.Options {
		if text := row(&c.Options[i]); text != "" {
			fmt.Fprintf(&b, "        %s) %s ;;\n", pattern(c.Options[i].Names), text)
		}
	}
	return b.String()
}

// count writes the number of values that follow an option.
func count(format string) func(o *Option) string {
	return func(o *Option) string {
		if len(o.Values) == 0 || o.Joined || o.Optional {
			return ""
		}
		return fmt.Sprintf(format, len(o.Values))
	}
}

// pairs is a pattern of the options whose two values may be one.
func (c *Command) pairs() string {
	var names []string
	for _, o := range c.Options {
		if o.Pair {
			names = append(names, o.Names...)
		}
	}
	if names == nil {
		return "''" // no option has an empty name
	}
	return pattern(names)
}

// pattern is one that matches the names and nothing else.
func pattern(names []string) string { return strings.ReplaceAll(strings.Join(names, "|"), "?", `\?`) }

// kind is what an option's value is, as far as a shell can complete it.
type kind int

const (
	anything kind = iota
	words
	file
	directory
	command
	variable
)

func (o *Option) kind() kind {
	switch {
	case len(o.Choices) > 0:
		return words
	case len(o.Values) == 0:
		return anything
	}
	name := strings.TrimRight(strings.FieldsFunc(o.Values[0]+" ", func(r rune) bool { return r < 'A' || r > 'Z' })[0], "S")
	return map[string]kind{"FILE": file, "DIR": directory, "COMMAND": command, "COMPILER": command,
		"NAME": variable}[name]
}

// quote makes one word of a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
