package vendor

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// For which machines a file is, by the beginning of its ELF header.

const (
	elfMagic = "\x7fELF"
	elfHead  = 20
	self     = "/proc/self/exe"
)

// elfKind is a word size, in bits, and a number for the processor and its byte order.
type elfKind struct {
	bits    int
	machine uint16
	order   byte
}

// kindOf reads a file's; false: it is no ELF file, or cannot be read.
func kindOf(file string) (k elfKind, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return k, false
	}
	defer f.Close()
	var b [elfHead]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || string(b[:len(elfMagic)]) != elfMagic || b[4] < 1 || b[4] > 2 {
		return k, false
	}
	k = elfKind{bits: 32 * int(b[4]), machine: binary.LittleEndian.Uint16(b[18:]), order: b[5]}
	if k.order == 2 {
		k.machine = binary.BigEndian.Uint16(b[18:])
	}
	return k, true
}

// ofAnotherKind returns an error if a file is for programs of another word size or processor than that of program.
func ofAnotherKind(file, program string) error {
	theirs, is := kindOf(file)
	ours, known := kindOf(program)
	switch {
	case !is || !known || theirs == ours:
		return nil
	case theirs.bits != ours.bits:
		return fmt.Errorf("it is for programs of %d bits, and this one has %d: give the path of the library for %[2]d bits",
			theirs.bits, ours.bits)
	}
	return fmt.Errorf("it is for another processor (machine %d in its ELF header, and %d in that of this program)",
		theirs.machine, ours.machine)
}
