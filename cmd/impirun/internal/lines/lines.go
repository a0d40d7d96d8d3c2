// Package lines reads the files that users write for impirun, of machines, clients and info keys, line by line.
package lines

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// Each calls do for each line of a file of the user's, from line 1 on, until that returns an error. Errors
// of the file name it.
func Each(file string, do func(number int, line string) error) error {
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
