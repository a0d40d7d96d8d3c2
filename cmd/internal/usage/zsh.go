package usage

import (
	"fmt"
	"strings"
)

// zshScript walks over the words up to the cursor as the command does; zsh splits them as the shell will.
const zshScript = `#compdef COMMANDS
# Completion of NAME in zsh; made of the same table as its --help.
local -a options
options=(
OPTIONS)
local option word i=2 left=0 value=
answer() {
    case $1 in
ANSWERS        *) _message value ;;
    esac
}
count() {
    case $1 in
COUNTS        *) REPLY=0 ;;
    esac
}
while (( i < CURRENT )); do
    word=$words[i]
    (( i++ ))
    if [[ $word == -?* && $word != -- ]]; then
        option=${${word#-}#-}
        count "${option%%=*}"
        left=$REPLY
        [[ $option == *=* ]] && (( left > 0 )) && (( left-- ))
        option=${option%%=*}
        while (( left > 0 && i < CURRENT )); do
            [[ $option == (PAIRS) && $words[i] == *=* ]] && left=1
            (( i++, left-- ))
        done
OPERAND
    fi
done
if (( left > 0 )); then
    answer $option
elif [[ $words[CURRENT] == -*=* ]]; then
    option=${${words[CURRENT]#-}#-}
    compset -P '*='
    answer "${option%%=*}"
elif [[ $words[CURRENT] == -* ]]; then
    DOUBLE_describe -o option options
else
    WORDS
fi
`

// zshProgram finds the end of a program's arguments. Before it, the program's own completion takes over.
const zshProgram = `    else
        local at=${words[(ib:i:):]}
        [[ $word == -- ]] || (( i-- ))
        if (( at >= CURRENT )); then
            words=("${(@)words[i,-1]}")
            (( CURRENT -= i - 1 ))
            _normal
            return
        fi
        (( i = at + 1 ))`

// Zsh is the completion of the command in zsh.
func (c *Command) Zsh() string {
	operand, other, double := "", "_message 'no more words'", ""
	switch c.Words {
	case Programs:
		operand, other = zshProgram, "words=(\"${(@)words[CURRENT,-1]}\"); CURRENT=1; _normal"
	case Settings:
		other = "compadd -- ${(f)\"$($words[1] --names 2>/dev/null)\"}"
	case Files:
		other = "_files"
	}
	if c.Dashes == Either {
		double = "[[ $words[CURRENT] == --* ]] && options=(-${^options})\n    "
	}
	return strings.NewReplacer("COMMANDS", strings.Join(c.names(), " "), "NAME", c.Name, "OPTIONS", c.described(),
		"ANSWERS", c.cases(zshAnswer), "COUNTS", c.cases(count("REPLY=%d")), "PAIRS", c.pairs(), "OPERAND", operand,
		"DOUBLE", double, "WORDS", other).Replace(zshScript)
}

// described are the options with what they do.
func (c *Command) described() string {
	var b strings.Builder
	for i := range c.Options {
		o := &c.Options[i]
		if o.Help == "" {
			continue
		}
		for _, name := range c.shown(o) {
			if o.Joined {
				name += "="
			}
			fmt.Fprintf(&b, "    %s\n", quote(strings.ReplaceAll(name, ":", `\:`)+":"+o.Help))
		}
	}
	return b.String()
}

func zshAnswer(o *Option) string {
	switch o.kind() {
	case words:
		var list []string
		for _, choice := range o.Choices {
			list = append(list, quote(choice))
		}
		return "compadd -- " + strings.Join(list, " ")
	case file:
		return "_files"
	case directory:
		return "_files -/"
	case command:
		return "_command_names"
	case variable:
		return "_parameters -g '*export*'"
	}
	return ""
}
