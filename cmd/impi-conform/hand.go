package main

import (
	"os"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/console"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

// byHand is an implementation that a person starts on other machines. f gets the commands that are in use, and one case
// runs at a time.
func byHand(f *flags, quit func()) (*target.Target, error) {
	place, err := target.ParsePlace(f.listen, f.ports)
	if err != nil {
		return nil, err
	}
	template, err := f.chosen()
	if err != nil {
		return nil, err
	}
	f.jobs, f.server = 1, template.Server
	if len(f.client) == 0 && template.Client != "" {
		f.client = commands{template.Client}
	}
	first := ""
	if len(f.client) > 0 {
		first = f.client[0]
	}
	person := console.New(os.Stdin, os.Stdout, quit)
	at, err := target.NewByHand(f.server, first, f.values, "./player", place, person.Ask)
	for i := 1; i < len(f.client) && err == nil; i++ {
		err = at.AddClient(f.client[i])
	}
	if err == nil && f.remember {
		err = target.Remember(target.Template{Server: f.server, Client: first})
	}
	return at, err
}

// chosen is the template that the options say: -server-cmd and -client-cmd, -template, or the one that is remembered.
func (f *flags) chosen() (target.Template, error) {
	if f.server != "" || len(f.client) > 0 {
		t := target.Template{Server: f.server}
		if len(f.client) > 0 {
			t.Client = f.client[0]
		}
		return t, nil
	}
	if f.template != "" {
		return target.FindTemplate(f.template)
	}
	return target.Recall()
}

// writePlayer writes the program that clients under test run, to be compiled on their machines.
func writePlayer(path string) int {
	if err := os.WriteFile(path, target.PlayerSource(), 0o644); err != nil {
		complain("-player: %v", err)
		return codeUsage
	}
	return 0
}
