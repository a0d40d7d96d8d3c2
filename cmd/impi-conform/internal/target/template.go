package target

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Template is how an implementation is started, with place holders.
type Template struct {
	Server string `json:"server,omitempty"` // "": it has no server
	Client string `json:"client,omitempty"`
}

// Templates are those that are known by name. LAM/MPI passes on only the variables that -x names, and arguments of the
// program only behind --.
var Templates = map[string]Template{
	"libimpi": {"impirun -server {clients}", "impirun -client {rank} {server} -n {n} {prog}"},
	"lam":     {"impirun -server {clients}", "mpirun -client {rank} {server} -np {n} -x IMPI_AUTH_KEY {player} -- {args}"},
}

// FindTemplate returns the template of a name, or of a text, the command of a client.
func FindTemplate(nameOrText string) (Template, error) {
	if t, ok := Templates[nameOrText]; ok {
		return t, nil
	}
	if !strings.Contains(nameOrText, "{") {
		return Template{}, fmt.Errorf("%q is no template: there are libimpi and lam, or a command with {rank}, {server}, "+
			"{n} and {prog}", nameOrText)
	}
	return Template{Client: nameOrText}, nil
}

// remembered is the file of the user's template.
func remembered() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "impi-conform", "template.json"), err
}

// Remember keeps a template in the user's configuration folder.
func Remember(t Template) error {
	path, err := remembered()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// Recall returns the template that was remembered, libimpi's if none was.
func Recall() (Template, error) {
	path, err := remembered()
	if err != nil {
		return Templates["libimpi"], nil // there is no such folder
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return Templates["libimpi"], nil
	}
	var t Template
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
