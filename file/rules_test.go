package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
)

const readWrite = abi.MPI_MODE_CREATE | abi.MPI_MODE_RDWR

// opened runs f at p members that have opened a file.
func opened(t *testing.T, machines []int, d *filetest.Disk, f func(m file.Members, f *file.File) error) {
	t.Helper()
	err := filetest.New(machines).Run(func(m file.Members) error {
		opened, err := file.Open(m, d, name, readWrite, file.Hints{})
		if err != nil {
			return err
		}
		if err := f(m, opened); err != nil {
			return err
		}
		return opened.Close()
	})
	if err != nil {
		t.Error(err)
	}
}

func classOf(err error) int {
	var known *file.Error
	if errors.As(err, &known) {
		return known.Class
	}
	return -1
}

// access is an access of bytes.
func access(f *file.File, a file.Access, p []byte) (int64, error) {
	a.Buf = coll.Bytes(p)
	op, err := f.Prepare(a)
	if err != nil {
		return 0, err
	}
	return op.Run()
}

// every is a view of every p-th block of n bytes.
func every(f *file.File, m file.Members, n int64) error {
	block, err := datatype.Contiguous(n, byteType)
	if err != nil {
		return err
	}
	tile, err := datatype.Resized(block, 0, n*int64(m.Size()))
	if err != nil {
		return err
	}
	tile.Commit()
	return f.SetView(n*int64(m.Rank()), byteType, tile, file.Native, nil)
}

// A call of the file system that fails, whichever it is, is an error at all members of a collective access. Nobody
// hangs, and no lock is left.
func TestAFaultIsKnownToAll(t *testing.T) {
	for _, machines := range [][]int{{0, 0, 0}, {0, 0, 1}} {
		for _, write := range []bool{true, false} {
			for nth := int64(1); nth < 12; nth++ {
				d := filetest.NewDisk()
				var calls, armed, failed atomic.Int64
				d.Fault = func(_ bool, _ int64, n int) (int, error) {
					if armed.Load() != 0 && calls.Add(1) == nth {
						failed.Store(1)
						return n / 2, &file.Error{Class: abi.MPI_ERR_NO_SPACE, Text: "write data: no space"}
					}
					return n, nil
				}
				opened(t, machines, d, func(m file.Members, f *file.File) error {
					var h file.Hints
					h.Set("cb_buffer_size", "4096")
					if err := f.SetHints(h); err != nil {
						return err
					}
					if _, err := access(f, file.Access{Write: true, Offset: 1 << 16}, []byte{1}); err != nil {
						return err
					}
					if err := every(f, m, 8); err != nil {
						return err
					}
					armed.Store(1)
					_, err := access(f, file.Access{Write: write, Collective: true}, make([]byte, 16<<10))
					if failed.Load() == 0 {
						return err
					}
					if classOf(err) != abi.MPI_ERR_NO_SPACE || !strings.Contains(err.Error(), "no space") {
						return fmt.Errorf("call %d failed: %v", nth, err)
					}
					return nil
				})
				if n := d.Locked(name); n != 0 {
					t.Errorf("%d locks are left", n)
				}
			}
		}
	}
}

// What is wrong with the arguments of one member is an error of a collective call at all of them.
func TestARefusalIsKnownToAll(t *testing.T) {
	opened(t, []int{0, 0, 1}, filetest.NewDisk(), func(m file.Members, f *file.File) error {
		for _, where := range []file.Where{file.Explicit, file.Individual, file.Ordered} {
			a := file.Access{Write: true, Collective: true, Where: where}
			if m.Rank() == 1 {
				a.Refused = &file.Error{Class: abi.MPI_ERR_COUNT, Text: "count is negative"}
			}
			if _, err := access(f, a, []byte{1}); classOf(err) != abi.MPI_ERR_COUNT ||
				!strings.Contains(err.Error(), "count is negative") {
				return fmt.Errorf("%v", err)
			}
		}
		disp := int64(0)
		if m.Rank() == 2 {
			disp = -5
		}
		if err := f.SetView(disp, byteType, byteType, file.Native, nil); classOf(err) != abi.MPI_ERR_ARG {
			return fmt.Errorf("set_view: %v", err)
		}
		return nil
	})
}

// Members that write the same bytes beside a hole leave the hole as it is.
func TestOverlapsDoNotHideHoles(t *testing.T) {
	for _, machines := range [][]int{{0, 0}, {0, 1}} {
		d := filetest.NewDisk()
		opened(t, machines, d, func(m file.Members, f *file.File) error {
			if _, err := access(f, file.Access{Write: true, Collective: true}, bytes.Repeat([]byte{9}, 4096)); err != nil {
				return err
			}
			var h file.Hints
			h.Set("romio_cb_write", "enable")
			if err := f.SetHints(h); err != nil {
				return err
			}
			block, _ := datatype.Contiguous(4, byteType)
			tile, _ := datatype.Resized(block, 0, 8)
			tile.Commit()
			if err := f.SetView(0, byteType, tile, file.Native, nil); err != nil {
				return err
			}
			_, err := access(f, file.Access{Write: true, Collective: true}, bytes.Repeat([]byte{7}, 1024))
			return err
		})
		for i, b := range d.Bytes(name) {
			if want := byte(9 - i%8/4*0); i < 2048 && i%8 < 4 && b != 7 || (i >= 2048 || i%8 >= 4) && b != want {
				t.Fatalf("machines %v: byte %d is %d", machines, i, b)
			}
		}
	}
}

// A view that cannot be sent to other machines is one of each member for itself.
func TestAViewTooDeepToBeSent(t *testing.T) {
	d := filetest.NewDisk()
	opened(t, []int{0, 1}, d, func(m file.Members, f *file.File) error {
		deep, err := datatype.Contiguous(8, byteType)
		for err == nil && deep.Size() < 1<<10 { // 8 bytes of 24, again and again
			deep, err = datatype.Hindexed([]int64{1, 1}, []int64{0, deep.Extent() + 16}, deep)
		}
		for range 300 {
			if err == nil {
				deep, err = datatype.Struct([]int64{1}, []int64{0}, []*datatype.Type{deep})
			}
		}
		if err != nil {
			return err
		}
		if _, err := deep.Append(nil); err == nil {
			return errors.New("the type can be sent")
		}
		deep.Commit()
		if err := f.SetView(8*int64(m.Rank()), byteType, deep, file.Native, nil); err != nil {
			return err
		}
		_, err = access(f, file.Access{Write: true, Collective: true}, bytes.Repeat([]byte{byte(1 + m.Rank())}, 1024))
		return err
	})
	for i, b := range d.Bytes(name)[:512] {
		if want := [...]byte{1, 2, 0}[i/8%3]; b != want {
			t.Fatalf("byte %d is %d, want %d", i, b, want)
		}
	}
}

// Independent writes of members between each other's bytes lose nothing, whatever ways they take at the same time.
func TestIndependentWritesLoseNothing(t *testing.T) {
	for range 20 {
		writeBetween(t)
	}
}

func writeBetween(t *testing.T) {
	const blocks = 300
	d := filetest.NewDisk()
	d.Before = func(_ bool, off int64, _ int) { // some let others pass, and some do not
		for range off % 7 {
			runtime.Gosched()
		}
	}
	opened(t, []int{0, 0, 0, 0}, d, func(m file.Members, f *file.File) error {
		var h file.Hints
		h.Set("ind_wr_buffer_size", "64")
		if err := f.SetHints(h); err != nil {
			return err
		}
		if err := every(f, m, 3); err != nil {
			return err
		}
		p := bytes.Repeat([]byte{byte(1 + m.Rank())}, 6)
		for i := int64(0); i < blocks; { // each block once: one by itself, then two in a window
			n := min(1+(i/3+int64(m.Rank()))%2, blocks-i)
			if _, err := access(f, file.Access{Write: true, Offset: 3 * i}, p[:3*n]); err != nil {
				return err
			}
			i += n
		}
		return nil
	})
	if lost := d.Lost(); len(lost) > 0 {
		t.Error(lost[0])
	}
	for i, b := range d.Bytes(name)[:blocks*12] {
		if int(b) != 1+i/3%4 {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

func TestSharedAndOrderedAccessesTakeWhatComesNext(t *testing.T) {
	d := filetest.NewDisk()
	opened(t, []int{0, 0, 1}, d, func(m file.Members, f *file.File) error {
		for range 10 {
			if _, err := access(f, file.Access{Write: true, Where: file.Shared}, []byte{byte(10 + m.Rank())}); err != nil {
				return err
			}
		}
		if err := f.SeekShared(2, abi.MPI_SEEK_END); err != nil {
			return err
		}
		p := bytes.Repeat([]byte{byte(20 + m.Rank())}, 1+m.Rank())
		if _, err := access(f, file.Access{Write: true, Where: file.Ordered}, p); err != nil {
			return err
		}
		if at, err := f.PositionShared(); at != 38 || err != nil {
			return fmt.Errorf("the shared pointer is %d: %v", at, err)
		}
		return nil
	})
	b := d.Bytes(name)
	var count [3]int
	for _, v := range b[:30] {
		count[v-10]++
	}
	if count != [3]int{10, 10, 10} || !bytes.Equal(b[30:], []byte{0, 0, 20, 21, 21, 22, 22, 22}) {
		t.Errorf("%v", b)
	}
}

func TestWrongViewsModesAndOffsetsAreRefused(t *testing.T) {
	strided := func(lens, displs []int64) *datatype.Type {
		tt, err := datatype.Hindexed(lens, displs, byteType)
		if err != nil {
			t.Fatal(err)
		}
		tt.Commit()
		return tt
	}
	wide, _ := datatype.Contiguous(3, byteType)
	wide.Commit()
	opened(t, []int{0}, filetest.NewDisk(), func(m file.Members, f *file.File) error {
		for _, bad := range []struct {
			what            string
			etype, filetype *datatype.Type
		}{
			{"filetype is no multiple of etype", wide, strided([]int64{2, 2}, []int64{0, 8})},
			{"negative displacement", byteType, strided([]int64{2}, []int64{-2})},
			{"decreasing displacements", byteType, strided([]int64{2, 2}, []int64{8, 0})},
			{"overlap", byteType, strided([]int64{4, 4}, []int64{0, 2})},
			{"etype without data", strided(nil, nil), byteType},
		} {
			if err := f.SetView(0, bad.etype, bad.filetype, file.Native, nil); classOf(err) != abi.MPI_ERR_ARG {
				t.Errorf("%s: %v", bad.what, err)
			}
		}
		for _, extent := range []int64{3, 6} { // the next copy would begin in a hole, or on top of the last byte
			narrow, _ := datatype.Resized(strided([]int64{1, 2}, []int64{0, 5}), 0, extent)
			narrow.Commit()
			if err := f.SetView(0, byteType, narrow, file.Native, nil); err != nil {
				t.Errorf("a filetype that can stand once: %v", err)
			}
			if _, err := access(f, file.Access{Write: true}, []byte{1, 2, 3}); err != nil {
				t.Errorf("within it: %v", err)
			}
			if _, err := access(f, file.Access{Write: true}, []byte{1, 2, 3, 4}); classOf(err) != abi.MPI_ERR_ARG {
				t.Errorf("beyond it: %v", err)
			}
		}
		if err := f.SetView(0, wide, wide, file.Native, nil); err != nil {
			return err
		}
		for _, a := range []file.Access{{Offset: -1}, {Offset: 1 << 62}, {Write: true, Offset: 1 << 60}} {
			if _, err := access(f, a, []byte{1, 2, 3}); classOf(err) != abi.MPI_ERR_ARG {
				t.Errorf("offset %d: %v", a.Offset, err)
			}
		}
		if _, err := access(f, file.Access{}, []byte{1, 2}); classOf(err) != abi.MPI_ERR_ARG {
			t.Errorf("two thirds of an etype: %v", err)
		}
		if err := f.SeekTo(-1, abi.MPI_SEEK_CUR); classOf(err) != abi.MPI_ERR_ARG {
			t.Errorf("seek before the beginning: %v", err)
		}
		return f.SeekTo(0, abi.MPI_SEEK_END)
	})
	for mode, want := range map[int]int{
		0:                   abi.MPI_ERR_AMODE,
		abi.MPI_MODE_CREATE: abi.MPI_ERR_AMODE,
		readWrite | 1<<20:   abi.MPI_ERR_AMODE,
		abi.MPI_MODE_RDONLY | abi.MPI_MODE_CREATE:   abi.MPI_ERR_AMODE,
		abi.MPI_MODE_RDWR | abi.MPI_MODE_SEQUENTIAL: abi.MPI_ERR_AMODE,
		abi.MPI_MODE_RDONLY:                         abi.MPI_ERR_NO_SUCH_FILE,
	} {
		err := filetest.New([]int{0, 0}).Run(func(m file.Members) error {
			_, err := file.Open(m, filetest.NewDisk(), name, mode, file.Hints{})
			if classOf(err) != want {
				return fmt.Errorf("mode %#x: %v", mode, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What nobody can read is written run by run, between what is there.
func TestAFileThatCannotBeReadIsWritten(t *testing.T) {
	for _, collective := range []bool{false, true} {
		d := filetest.NewDisk()
		d.Unreadable = true
		opened(t, []int{0, 0, 1}, d, func(m file.Members, f *file.File) error {
			if err := every(f, m, 3); err != nil {
				return err
			}
			p := bytes.Repeat([]byte{byte(1 + m.Rank())}, 3*20)
			_, err := access(f, file.Access{Write: true, Collective: collective}, p)
			return err
		})
		for i, b := range d.Bytes(name) {
			if int(b) != 1+i/3%3 {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
	}
}
