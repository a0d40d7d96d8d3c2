package table

import (
	"os"
	"path/filepath"
)

// Load reads the tables in dir and derives the engine's entries.
func Load(dir string) ([]Constant, []Function, []Call, error) {
	text := map[string]string{}
	for _, name := range []string{"constants.tsv", "extensions.tsv", "functions.tsv"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, nil, err
		}
		text[name] = string(b)
	}
	constants, err := ReadConstants(text["constants.tsv"], text["extensions.tsv"])
	if err != nil {
		return nil, nil, nil, err
	}
	functions, err := ReadFunctions(text["functions.tsv"], NewTypes(constants))
	if err != nil {
		return nil, nil, nil, err
	}
	calls, err := Calls(functions)
	return constants, functions, calls, err
}

// LoadExtensions reads the functions of mpix.h, which no standard has, and derives the engine's entries.
func LoadExtensions(dir string, constants []Constant) ([]Function, []Call, error) {
	text, err := os.ReadFile(filepath.Join(dir, "mpix.tsv"))
	if err != nil {
		return nil, nil, err
	}
	functions, err := ReadFunctions(string(text), NewTypes(constants))
	if err != nil {
		return nil, nil, err
	}
	calls, err := Calls(functions)
	return functions, calls, err
}
