package file

import (
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Where says by which pointer an access finds its place.
type Where int

const (
	Explicit   Where = iota // an offset of the call
	Individual              // the pointer of this member
	Shared                  // the pointer of all members: of this call alone
	Ordered                 // the pointer of all members: in the order of ranks, collectively
)

// Access is a call of data access (MPI 5.0, 14.4).
type Access struct {
	Write      bool
	Collective bool // an Ordered one always is
	Where      Where
	Offset     int64 // Explicit: in etypes, from the beginning of the view
	Buf        coll.Buf
	// Refused is what is wrong with the arguments of the call. A collective access then moves nothing, at any member,
	// and each of them gets an error.
	Refused error
}

// Op is an access that knows its place in the file.
type Op struct {
	f          *File
	v          *View
	write      bool
	collective bool
	atomic     bool
	pos, n     int64 // the bytes of the view's stream that it is about
	whole      int64 // n, before a read was cut by the end of the file
	buf        coll.Buf
	mem        memory // buf, or what it is in the file
	refused    error
}

// ops are accesses that have ended: one that is carried out at once allocates nothing.
var ops = sync.Pool{New: func() any { return new(Op) }}

// Do carries an access out. It returns what Run does.
func (f *File) Do(a *Access) (bytes int64, err error) {
	op := ops.Get().(*Op)
	if err = f.prepare(op, a); err == nil {
		bytes, err = op.Run()
	}
	op.f, op.v, op.buf, op.mem.buf, op.mem.run = nil, nil, coll.Buf{}, coll.Buf{}, nil
	ops.Put(op)
	return bytes, err
}

// Prepare checks an access and gives it its place: pointers move. It waits for nobody, unless it is Ordered. Errors of
// a collective access that others take part in are answered by Run, at all members.
func (f *File) Prepare(a Access) (*Op, error) {
	op := new(Op)
	if err := f.prepare(op, &a); err != nil {
		return nil, err
	}
	return op, nil
}

func (f *File) prepare(op *Op, a *Access) error {
	f.mu.Lock()
	op.f, op.v, op.write, op.collective, op.atomic = f, f.view, a.Write, a.Collective || a.Where == Ordered, f.Atomic()
	op.pos, op.n, op.whole, op.buf, op.refused = 0, 0, 0, a.Buf, a.Refused
	if op.refused == nil {
		op.refused = op.check(a)
	}
	etypes := op.n / op.v.unit
	if op.refused != nil {
		etypes = 0
	}
	offset := a.Offset
	if a.Where == Individual {
		offset = f.position
		f.position += etypes
	}
	f.mu.Unlock()
	var err error
	switch a.Where {
	case Shared:
		if op.refused == nil {
			offset, err = f.m.FetchAdd(etypes)
		}
	case Ordered:
		offset, err = f.turn(etypes)
	}
	if err != nil {
		return err
	}
	if op.refused == nil {
		op.pos, op.refused = op.v.position(offset)
	}
	if size := op.v.layout.Size(); op.refused == nil && op.v.single && op.pos+op.n > size {
		op.refused = errorf(abi.MPI_ERR_ARG, "%d bytes from byte %d of the view on are beyond its only filetype, of %d "+
			"bytes: the next would begin before its end", op.n, op.pos, size)
	}
	if op.refused != nil && !op.collective {
		return op.refused
	}
	return nil
}

// check returns what is wrong with an access, and finds out how many bytes of the stream it is about.
func (op *Op) check(a *Access) error {
	f := op.f
	switch {
	case a.Write:
		if err := f.mayWrite(); err != nil {
			return err
		}
	case f.mode&abi.MPI_MODE_WRONLY != 0:
		return errorf(abi.MPI_ERR_ACCESS, "%s is open with MPI_MODE_WRONLY", f.name)
	}
	if a.Where == Explicit || a.Where == Individual {
		if err := f.anywhere(); err != nil {
			return err
		}
	}
	if op.v.stream {
		op.n = a.Buf.Type.PackedSize(a.Buf.Count, op.v.rep)
	} else {
		t, err := op.v.Rep.Layout(a.Buf.Type)
		if err != nil {
			return err
		}
		op.n = t.Size() * a.Buf.Count
	}
	if op.n%op.v.unit != 0 {
		return errorf(abi.MPI_ERR_ARG, "the data has %d bytes in the file, which is no multiple of the %d bytes of an etype",
			op.n, op.v.unit)
	}
	if a.Write && op.n > 0 && op.v.layout.Size() == 0 {
		return errorf(abi.MPI_ERR_ARG, "the view has no data, and %d bytes shall be written", op.n)
	}
	if op.v.layout.Size() == 0 {
		op.n = 0
	}
	op.whole = op.n
	return nil
}

// turn is the place of an ordered access of so many etypes: behind those of lower ranks.
func (f *File) turn(etypes int64) (int64, error) {
	size := f.m.Size()
	all := make([]int64, size)
	if err := f.m.Allgather([]int64{etypes}, all); err != nil {
		return 0, err
	}
	var before, total int64
	for r, n := range all {
		if r < f.m.Rank() {
			before += n
		}
		total += n
	}
	base := []int64{0}
	var err error
	if f.m.Rank() == 0 {
		base[0], err = f.m.FetchAdd(total)
	}
	if failed := f.m.Allgather(base, all); failed != nil {
		return 0, failed
	}
	return all[0] + before, err
}

// Run moves the data. It returns how many bytes have been moved, counted as they are in memory. Errors of a collective
// access are known to all members.
func (op *Op) Run() (bytes int64, err error) {
	if op.refused != nil {
		return op.together()
	}
	if !op.v.stream {
		return op.staged()
	}
	op.mem.init(op.buf, op.v.rep)
	return op.finish(op.moved())
}

// moved moves the data, and returns how many bytes of the file that were.
func (op *Op) moved() (int64, error) {
	if op.collective {
		return op.together()
	}
	return op.alone()
}

// staged moves the data by way of a buffer that has what stands in the file.
func (op *Op) staged() (int64, error) {
	p := make([]byte, op.n)
	if op.write {
		if op.refused = op.v.Rep.Encode(p, op.buf); op.refused != nil && !op.collective {
			return 0, op.refused
		}
	}
	op.mem.init(coll.Bytes(p), datatype.Native)
	n, err := op.moved()
	if err == nil && !op.write {
		err = op.v.Rep.Decode(op.buf, p[:n])
	}
	return op.finish(n, err)
}

// finish returns how many bytes of memory have been moved, and the first error.
func (op *Op) finish(n int64, err error) (int64, error) {
	if err == nil {
		err = converted(op.mem.err())
	}
	bytes, failed := op.native(n)
	return bytes, first(err, failed)
}

// native is how many bytes of memory so many bytes of the file are.
func (op *Op) native(n int64) (int64, error) {
	switch n {
	case 0: // of a view without data that is all
		return 0, nil
	case op.whole:
		return op.buf.Count * op.buf.Type.Size(), nil
	}
	return op.v.Rep.Native(op.buf.Type, n)
}

// SeekTo moves the individual pointer.
func (f *File) SeekTo(offset int64, whence int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.target(offset, whence, func() (int64, error) { return f.position, nil })
	if err == nil {
		f.position = at
	}
	return err
}

// Position is the individual pointer, in etypes.
func (f *File) Position() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.position, f.anywhere()
}

// SeekShared moves the shared pointer; collective.
func (f *File) SeekShared(offset int64, whence int) error {
	if err := f.same("offset", offset); err != nil {
		return err
	}
	if err := f.same("whence", int64(whence)); err != nil {
		return err
	}
	var err error
	if f.m.Rank() == 0 { // what the others have written before is in the file
		var at int64
		f.mu.Lock()
		at, err = f.target(offset, whence, func() (int64, error) { return f.m.FetchAdd(0) })
		f.mu.Unlock()
		if err == nil {
			err = f.m.Store(at)
		}
	}
	return f.agree(err)
}

// PositionShared is the shared pointer, in etypes.
func (f *File) PositionShared() (int64, error) {
	if err := f.anywhere(); err != nil {
		return 0, err
	}
	return f.m.FetchAdd(0)
}

// target is where a seek goes. f.mu is held.
func (f *File) target(offset int64, whence int, current func() (int64, error)) (at int64, err error) {
	if err := f.anywhere(); err != nil {
		return 0, err
	}
	switch whence {
	case abi.MPI_SEEK_SET:
	case abi.MPI_SEEK_CUR:
		at, err = current()
	case abi.MPI_SEEK_END:
		at, err = f.ending()
	default:
		err = errorf(abi.MPI_ERR_ARG, "argument whence is %d; it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence)
	}
	if err != nil {
		return 0, err
	}
	if at+offset < 0 {
		return 0, errorf(abi.MPI_ERR_ARG, "argument offset is %d, which leads to etype %d, before the beginning", offset,
			at+offset)
	}
	return at + offset, nil
}

// ending is the first etype of the view behind the end of the file. f.mu is held.
func (f *File) ending() (int64, error) {
	size, err := f.storage.Size()
	if err != nil {
		return 0, err
	}
	v := f.view
	if v.cursor.Len() == 0 || size <= v.at(0) {
		return 0, nil
	}
	return (v.until(0, size) + v.unit - 1) / v.unit, nil
}

// ByteOffset is where an etype of the view begins in the file, in bytes.
func (f *File) ByteOffset(offset int64) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pos, err := f.view.position(offset)
	if err != nil {
		return 0, err
	}
	if f.view.cursor.Len() == 0 {
		return f.view.Disp, nil
	}
	return f.view.at(pos), nil
}
