package fortran

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Every object that was compiled with MPI's Fortran names the common block of MPI_STATUS_IGNORE, a status of 8
// INTEGERs.
const (
	statusBlock = "mpi_abi_status_ignore"
	statusSize  = 8
)

// Integers is the number of bytes of an INTEGER for which objects and archives were compiled, 0 if none of them names
// MPI. No program can have both.
func Integers(files []string) (int, error) {
	found, by := 0, ""
	for _, file := range files {
		n := integersOf(file)
		if n != 0 && found != 0 && n != found {
			return 0, fmt.Errorf("%s was compiled for INTEGERs of %d bytes, %s for those of %d: a program has one of both",
				by, found, file, n)
		}
		if n != 0 {
			found, by = n, file
		}
	}
	return found, nil
}

// integersOf looks into one file. What cannot be read is left to the linker.
func integersOf(file string) int {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	if !strings.HasSuffix(file, ".a") {
		return integersIn(f)
	}
	n := 0
	members(f, func(member io.ReaderAt) bool {
		n = integersIn(member)
		return n == 0
	})
	return n
}

func integersIn(object io.ReaderAt) int {
	f, err := elf.NewFile(object)
	if err != nil {
		return 0
	}
	symbols, err := f.Symbols()
	if err != nil {
		return 0
	}
	for _, s := range symbols {
		if strings.EqualFold(strings.TrimRight(s.Name, "_"), statusBlock) {
			return int(s.Size) / statusSize
		}
	}
	return 0
}

// members gives the members of an archive to see, until that returns false.
func members(archive *os.File, see func(io.ReaderAt) bool) {
	const magic, header = "!<arch>\n", 60
	buffer := make([]byte, header)
	if _, err := archive.ReadAt(buffer[:len(magic)], 0); err != nil || string(buffer[:len(magic)]) != magic {
		return
	}
	for at := int64(len(magic)); ; {
		if _, err := archive.ReadAt(buffer, at); err != nil {
			return // the end
		}
		length, err := strconv.ParseInt(strings.TrimSpace(string(buffer[48:58])), 10, 64)
		if err != nil || length < 0 {
			return
		}
		if !see(io.NewSectionReader(archive, at+header, length)) {
			return
		}
		at += header + length + length%2
	}
}
