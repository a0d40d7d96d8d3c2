package file_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/disk"
	"github.com/libimpi/libimpi/file/filetest"
)

// What an access of a few bytes costs besides the system call.
func BenchmarkShortAccess(b *testing.B) {
	path := b.TempDir() + "/data"
	err := filetest.New([]int{0}).Run(func(m file.Members) error {
		f, err := file.Open(m, disk.New(), path, readWrite|abi.MPI_MODE_DELETE_ON_CLOSE, file.Hints{})
		if err != nil {
			return err
		}
		buf := coll.Bytes(make([]byte, 8))
		for _, write := range []bool{true, false} {
			b.Run(map[bool]string{true: "write", false: "read"}[write], func(b *testing.B) {
				for range b.N {
					if _, err := f.Do(&file.Access{Write: write, Buf: buf}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		return f.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
}
