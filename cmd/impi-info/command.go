package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/usage"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/mpit"
)

// Exit codes.
const (
	codeFailed = 1
	codeUsage  = 2
)

// wish is a command line, understood.
type wish struct {
	json, check, names, tools, help, version bool

	words []string // names of settings; hosts with check
}

// parse reads the words behind the command's name. The error is one line for the user.
func parse(args []string) (wish, error) {
	var w wish
	flags := map[string]*bool{"json": &w.json, "check": &w.check, "names": &w.names, "tools": &w.tools, "help": &w.help,
		"h": &w.help, "version": &w.version, "V": &w.version}
	for _, word := range args {
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		if name == word {
			w.words = append(w.words, word)
			continue
		}
		flag, known := flags[name]
		if !known {
			return w, fmt.Errorf("unknown option %s (impi-info --help lists them)", word)
		}
		*flag = true
	}
	return w, nil
}

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], hiddenPrefix) {
		os.Exit(hidden(os.Args[1], os.Args[2:]))
	}
	w, err := parse(os.Args[1:])
	if err != nil {
		complain(err)
		os.Exit(codeUsage)
	}
	prefix, err := install.Prefix()
	if err != nil {
		complain(err)
		os.Exit(codeFailed)
	}
	os.Exit(w.do(prefix))
}

func complain(err error) { fmt.Fprintln(os.Stderr, "impi-info:", err) }

// do returns the wish and the exit code.
func (w wish) do(prefix string) int {
	all := parameters(os.LookupEnv)
	switch {
	case w.help:
		fmt.Print(usage.Info.Help())
	case w.version:
		fmt.Printf("impi-info (%s)\n", version.Text())
	case w.tools:
		fmt.Print(mpit.List())
	case w.names:
		for _, p := range all {
			fmt.Println(p.Name)
		}
	case w.check:
		return report(check(prefix, w.words), w.json)
	case len(w.words) > 0:
		return some(os.Stdout, all, w.words, w.json)
	case w.json:
		document, err := everything(prefix, all)
		if err != nil {
			complain(err)
			return codeFailed
		}
		return print(os.Stdout, document)
	default:
		return overview(prefix, all)
	}
	return 0
}

// some prints the settings of some names.
func some(to io.Writer, all []parameter, names []string, asJSON bool) int {
	var chosen []parameter
	for _, name := range names {
		i := slices.IndexFunc(all, func(p parameter) bool { return p.Name == strings.ToUpper(name) })
		if i < 0 {
			complain(fmt.Errorf("%s is no setting (impi-info --names lists them)", name))
			return codeUsage
		}
		chosen = append(chosen, all[i])
	}
	if asJSON {
		return print(to, chosen)
	}
	for _, p := range chosen {
		fmt.Fprintf(to, "%s=%s\n  source: %s\n  default: %s\n  level: %s\n  %s\n", p.Name, p.Value, p.Source, p.Default,
			p.Level, p.Help)
	}
	return 0
}

// print writes JSON.
func print(to io.Writer, document any) int {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		complain(err)
		return codeFailed
	}
	return 0
}
