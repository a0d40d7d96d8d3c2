package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
)

// do carries out an access of bytes.
func do(f *file.File, a file.Access, p []byte) (int64, error) {
	a.Buf = coll.Bytes(p)
	op, err := f.Prepare(a)
	if err != nil {
		return 0, err
	}
	return op.Run()
}

// Members with descriptors of their own write between each other's bytes, by windows that they read and write again.
func TestMembersWriteBetweenEachOthersBytes(t *testing.T) {
	const members, block, blocks = 4, 5, 400
	for _, collective := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "data")
		err := filetest.New([]int{0, 0, 1, 1}).Run(func(m file.Members) error {
			f, err := file.Open(m, New(), "nfs:"+name, readWrite, file.Hints{})
			if err != nil {
				return err
			}
			tile, err := datatype.Subarray([]int64{members * block}, []int64{block}, []int64{int64(m.Rank() * block)},
				abi.MPI_ORDER_C, datatype.Named(abi.MPI_BYTE))
			if err != nil {
				return err
			}
			if err := f.SetView(7, datatype.Named(abi.MPI_BYTE), tile, file.Native, nil); err != nil {
				return err
			}
			p := bytes.Repeat([]byte{byte(1 + m.Rank())}, block*20)
			for i := int64(0); i < blocks; i += 20 {
				if n, err := do(f, file.Access{Write: true, Collective: collective, Offset: i * block}, p); n != int64(len(p)) {
					return fmt.Errorf("wrote %d bytes: %w", n, err)
				}
			}
			return f.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(name)
		if len(got) != 7+members*block*blocks {
			t.Fatalf("%d bytes", len(got))
		}
		for i, b := range got[7:] {
			if int(b) != 1+i/block%members {
				t.Fatalf("collective %v: byte %d is %d", collective, i, b)
			}
		}
	}
}

// A pipe gives each member its part, in the order of ranks.
func TestMembersReadAPipeInOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip("no FIFOs here: ", err)
	}
	want := make([]byte, 30000)
	rand.New(rand.NewSource(1)).Read(want)
	// The end that stays open for both lets any of the members open the pipe at any time.
	both, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		_, err := both.Write(want)
		written <- err
	}()
	got := make([]byte, len(want))
	err = filetest.New([]int{0, 0, 1}).Run(func(m file.Members) error {
		f, err := file.Open(m, New(), name, abi.MPI_MODE_RDONLY|abi.MPI_MODE_SEQUENTIAL, file.Hints{})
		if err != nil {
			return err
		}
		for i := range 5 {
			part := got[(3*i+m.Rank())*2000:][:2000]
			if n, err := do(f, file.Access{Where: file.Ordered, Collective: true}, part); n != 2000 || err != nil {
				return fmt.Errorf("read %d bytes: %w", n, err)
			}
		}
		return f.Close()
	})
	if err := errors.Join(err, <-written, both.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the members have read something else, or in another order")
	}
}

func TestMembersWriteAPipeInOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip("no FIFOs here: ", err)
	}
	read := make(chan []byte)
	go func() {
		r, err := os.Open(name)
		if err != nil {
			t.Error(err)
		}
		p, _ := io.ReadAll(r)
		read <- p
	}()
	err := filetest.New([]int{0, 0, 0}).Run(func(m file.Members) error {
		f, err := file.Open(m, New(), name, abi.MPI_MODE_WRONLY|abi.MPI_MODE_SEQUENTIAL, file.Hints{})
		if err != nil {
			return err
		}
		for range 5 {
			p := bytes.Repeat([]byte{byte('a' + m.Rank())}, 3)
			if n, err := do(f, file.Access{Write: true, Where: file.Ordered, Collective: true}, p); n != 3 || err != nil {
				return fmt.Errorf("wrote %d bytes: %w", n, err)
			}
		}
		return f.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-read; !bytes.Equal(got, bytes.Repeat([]byte("aaabbbccc"), 5)) {
		t.Errorf("the pipe gave %q", got)
	}
}
