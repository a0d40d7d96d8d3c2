package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// eachLine calls do for each line of a file of the user's, from line 1 on, until it answers an error. Errors of the
// file name it.
func eachLine(file string, do func(number int, line string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s, number := bufio.NewScanner(f), 0
	for s.Scan() {
		number++
		if err := do(number, s.Text()); err != nil {
			return err
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s, line %d: it has more than %d bytes: is this the right file?", file, number+1,
			bufio.MaxScanTokenSize)
	}
	return s.Err()
}
