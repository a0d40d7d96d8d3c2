package file

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// View is what of a file a member sees (MPI 5.0, 14.3): from byte Disp on, the data of Filetype, tile after tile. Its
// stream is the bytes that are visible, in order, as they stand in the file.
type View struct {
	Disp            int64
	Etype, Filetype *datatype.Type
	Rep             Representation

	unit   int64          // bytes of an etype in the file
	layout *datatype.Type // the filetype in the file
	rep    datatype.Rep   // how a cursor converts between memory and the file, if it can
	stream bool           // it can
	whole  bool           // the stream has no holes: the filetype is a run, as long as its extent
	first  int64          // then: where it begins in the file
	single bool           // it has one tile only: the next would begin before its end, which HDF5 relies on
	spread int64          // from one run to the next, in bytes of the file, on average; farthest if there are no holes
	cursor datatype.Cursor
}

// farthest is beyond all places in a file that are looked at: sums and products of two stay in 64 bits.
const farthest = 1 << 61

// newView checks a view. writable says that the file may be written.
func newView(disp int64, etype, filetype *datatype.Type, rep Representation, writable bool) (*View, error) {
	v := &View{Disp: disp, Etype: etype, Filetype: filetype, Rep: rep}
	v.rep, v.stream = rep.Stream()
	if disp < 0 || disp >= farthest {
		return nil, errorf(abi.MPI_ERR_ARG, "argument disp is %d", disp)
	}
	basic, err := rep.Layout(etype)
	if err != nil {
		return nil, err
	}
	if v.layout, err = rep.Layout(filetype); err != nil {
		return nil, err
	}
	if v.unit = basic.Size(); v.unit == 0 {
		return nil, errorf(abi.MPI_ERR_ARG, "argument etype has no data")
	}
	if monotone, _ := basic.FileOrder(); !monotone {
		return nil, errorf(abi.MPI_ERR_ARG, "the displacements of argument etype decrease, or are negative")
	}
	size, extent := v.layout.Size(), v.layout.Extent()
	if size%v.unit != 0 {
		return nil, errorf(abi.MPI_ERR_ARG, "argument filetype has %d bytes, which is no multiple of the %d bytes of etype",
			size, v.unit)
	}
	if size > 0 && v.layout.TrueLB() < 0 {
		return nil, errorf(abi.MPI_ERR_ARG, "argument filetype has data at byte %d, before its origin", v.layout.TrueLB())
	}
	monotone, disjoint := v.layout.FileOrder()
	if end := v.layout.TrueUB(); extent < end && (!monotone || writable && !disjoint) {
		v.single = true
		if v.layout, err = datatype.Resized(v.layout, 0, end); err != nil {
			return nil, err
		}
		extent = end
		monotone, disjoint = v.layout.FileOrder()
	}
	if !monotone {
		return nil, errorf(abi.MPI_ERR_ARG, "the displacements of argument filetype decrease")
	}
	if writable && !disjoint {
		return nil, errorf(abi.MPI_ERR_ARG, "argument filetype has data that overlaps, within it or in the next, %d bytes "+
			"further, and the file is open for writing", extent)
	}
	if size > 0 {
		v.cursor.Init(nil, v.layout.Endless(datatype.Native), v.layout, datatype.Native)
		v.whole, v.first = v.cursor.Extent(0, 2*size) == 2*size, disp+v.cursor.Place(0)
	}
	if v.spread = farthest; size > 0 && !v.whole {
		v.spread = max(extent/max(size/v.run(), 1), 1)
	}
	return v, nil
}

// at is the byte of the file where byte pos of the stream is.
func (v *View) at(pos int64) int64 {
	if v.whole {
		return v.first + pos
	}
	return v.Disp + v.cursor.Place(pos)
}

// end is behind the byte before byte pos of the stream.
func (v *View) end(pos int64) int64 { return v.at(pos-1) + 1 }

// span is how many bytes of the file lie from byte pos of the stream to the last of n.
func (v *View) span(pos, n int64) int64 {
	if v.whole {
		return n
	}
	return v.cursor.Extent(pos, n)
}

// until is how many bytes of the stream, from byte pos on, lie before byte end of the file.
func (v *View) until(pos, end int64) int64 { return v.cursor.Within(pos, end-v.at(pos)) }

// run is the mean length of the runs of the stream.
func (v *View) run() int64 {
	if v.whole {
		return farthest
	}
	return v.cursor.Run()
}

// laid is a cursor at byte pos of the stream, over window, which holds the file from byte lo on.
func (v *View) laid(window []byte, lo, pos int64) datatype.Cursor {
	c := v.cursor
	c.Lay(window, lo-v.Disp)
	c.SeekTo(pos)
	return c
}

// over moves n bytes, from byte pos of the stream on, between such a window and mem, which goes on where it is.
func (v *View) over(window []byte, lo, pos, n int64, mem *datatype.Cursor, write bool) {
	c := v.laid(window, lo, pos)
	if write {
		datatype.Move(&c, mem, n)
	} else {
		datatype.Move(mem, &c, n)
	}
}

// position is where etype offset begins in the stream.
func (v *View) position(offset int64) (int64, error) {
	if offset < 0 {
		return 0, errorf(abi.MPI_ERR_ARG, "argument offset is negative: %d", offset)
	}
	if offset > farthest/v.unit || v.cursor.Len() > 0 && offset*v.unit > v.cursor.Len()-v.layout.Size() {
		return 0, errorf(abi.MPI_ERR_ARG, "argument offset is %d etypes of %d bytes, beyond what a file can have", offset,
			v.unit)
	}
	return offset * v.unit, nil
}
