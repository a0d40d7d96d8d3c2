package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
)

// What the programs of the apps group read: a matrix and a text, the same each time.
const (
	matrixFile = "poisson.mtx" // 400 x 400 points
	textFile   = "text"
	textWords  = 8 << 20
)

// makeInputs makes the files in a new folder.
func makeInputs(folder, examples string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	if err := makeMatrix(folder, filepath.Join(examples, "genmatrix.c")); err != nil {
		return err
	}
	return makeText(filepath.Join(folder, textFile))
}

func makeMatrix(folder, source string) error {
	generator := filepath.Join(folder, "genmatrix")
	if err := compile("cc", generator, source); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, matrixFile))
	if err != nil {
		return err
	}
	cmd := exec.Command(generator, "poisson", "400", "400")
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	return errors.Join(cmd.Run(), f.Close())
}

// makeText writes words of which few are frequent and many are rare, as in a language.
func makeText(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2))
	frequency := rand.NewZipf(random, 1.1, 1, 100_000)
	for i := range textWords {
		w.WriteString(word(frequency.Uint64()))
		if i%12 == 11 {
			w.WriteByte('\n')
		} else {
			w.WriteByte(' ')
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// word is the nth word, of lower-case letters.
func word(n uint64) string {
	letters := []byte{}
	for n += 26; n > 0; n /= 26 {
		letters = append(letters, byte('a'+n%26))
	}
	return string(letters)
}
