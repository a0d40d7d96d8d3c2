package file

import (
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Representations that a program registers (MPI_Register_datarep; MPI 5.0, 14.5.3). What basic elements are like in a
// file is known to its functions alone. The library knows how many bytes each takes there, so that views and accesses
// are laid out like any others; data goes through a buffer, between which and memory the functions convert.

// Conversion converts count basic elements between memory, laid out by elements of t from user on, and file, where they
// follow each other: those from the given position in the type map on. It answers MPI_SUCCESS or an error code.
type Conversion func(user datatype.Pointer, t *datatype.Type, count int64, file []byte, position int64) int

// FileExtent answers how many bytes an element of a predefined type takes in the file, and MPI_SUCCESS or an error
// code.
type FileExtent func(t *datatype.Type) (bytes int64, code int)

// Representations are those that a program can name.
type Representations struct {
	mu         sync.Mutex
	registered map[string]Representation
}

// Register makes a representation of the functions of the program. Without read or write (MPI_CONVERSION_FN_NULL) the
// data is moved as it is in that direction. Errors: MPI_ERR_DUP_DATAREP, MPI_ERR_ARG.
func (r *Representations) Register(name string, read, write Conversion, extent FileExtent) error {
	switch {
	case name == "" || len(name) >= abi.MPI_MAX_DATAREP_STRING:
		return errorf(abi.MPI_ERR_ARG, "argument datarep has %d characters, must have 1 to %d", len(name),
			abi.MPI_MAX_DATAREP_STRING-1)
	case extent == nil:
		return errorf(abi.MPI_ERR_ARG, "argument dtype_file_extent_fn is no function")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(name) != nil {
		return errorf(abi.MPI_ERR_DUP_DATAREP, "there is a data representation %q already", name)
	}
	if r.registered == nil {
		r.registered = map[string]Representation{}
	}
	r.registered[name] = &registered{name: name, read: read, write: write, extent: extent}
	return nil
}

// Find returns the representation of a name. Errors: MPI_ERR_UNSUPPORTED_DATAREP.
func (r *Representations) Find(name string) (Representation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.find(name); found != nil {
		return found, nil
	}
	return nil, errorf(abi.MPI_ERR_UNSUPPORTED_DATAREP, "there is no data representation %q: there are native, internal "+
		"and external32, and what the program has registered", name)
}

// find is Find for who holds r.mu; nil: there is none.
func (r *Representations) find(name string) Representation {
	for _, known := range []Representation{Native, Internal, External32} {
		if known.Name() == name {
			return known
		}
	}
	return r.registered[name]
}

// registered is a Representation of the program.
type registered struct {
	name        string
	read, write Conversion
	extent      FileExtent
	basics      sync.Map // of what stands for a predefined type: *basic by its handle
}

// basic is a predefined type in the file.
type basic struct {
	t    *datatype.Type
	same bool // it takes as many bytes as in memory
}

func (r *registered) Name() string { return r.name }

// Stream is ok if nothing is ever converted: then the file is a native one.
func (r *registered) Stream() (datatype.Rep, bool) {
	return datatype.Native, r.read == nil && r.write == nil
}

func (r *registered) Layout(t *datatype.Type) (*datatype.Type, error) {
	if _, never := r.Stream(); never {
		return t, nil
	}
	layout, _, err := r.lay(t)
	return layout, err
}

// lay is t in the file, and whether all basic elements take as many bytes there as in memory.
func (r *registered) lay(t *datatype.Type) (layout *datatype.Type, same bool, err error) {
	same = true
	layout, err = t.Substitute(func(named *datatype.Type) (*datatype.Type, error) {
		if pair(named) {
			return nil, nil
		}
		b, err := r.basic(named)
		if err != nil {
			return nil, err
		}
		same = same && b.same
		return b.t, nil
	})
	return layout, same, err
}

// basic asks for the extent of a predefined type, once.
func (r *registered) basic(named *datatype.Type) (*basic, error) {
	if b, ok := r.basics.Load(named.Handle()); ok {
		return b.(*basic), nil
	}
	n, code := r.extent(named)
	if code != abi.MPI_SUCCESS {
		return nil, errorf(abi.MPI_ERR_CONVERSION, "dtype_file_extent_fn of the data representation %q answered error %d "+
			"for %s", r.name, code, named.Name())
	}
	if n < 0 {
		return nil, errorf(abi.MPI_ERR_CONVERSION, "dtype_file_extent_fn of the data representation %q says that %s has "+
			"%d bytes in a file", r.name, named.Name(), n)
	}
	b, _ := r.basics.LoadOrStore(named.Handle(), &basic{datatype.Opaque(n), n == named.Size()})
	return b.(*basic), nil
}

func (r *registered) Extent(t *datatype.Type) (int64, error) {
	layout, _, err := r.lay(t)
	if err != nil {
		return 0, err
	}
	return layout.Extent(), nil
}

func (r *registered) Native(t *datatype.Type, bytes int64) (int64, error) {
	layout, err := r.Layout(t)
	if err != nil || layout == t {
		return bytes, err
	}
	n, _ := layout.WholeElements(bytes, datatype.Native)
	return elements(t, n)
}

func (r *registered) Encode(p []byte, b coll.Buf) error { return r.convert("write", r.write, b, p) }
func (r *registered) Decode(b coll.Buf, p []byte) error { return r.convert("read", r.read, b, p) }

// Bounds of a call of a conversion function: bytes in the file, and elements, whose number may be an int there.
const (
	convertBytes    = 1 << 20
	convertElements = 1 << 20
)

// convert calls the program's function for the elements that are whole in p, some at a time.
func (r *registered) convert(direction string, f Conversion, b coll.Buf, p []byte) error {
	layout, same, err := r.lay(b.Type)
	if _, never := r.Stream(); never {
		layout, same, err = b.Type, true, nil
	}
	if err != nil {
		return err
	}
	n, rest := layout.WholeElements(int64(len(p)), datatype.Native)
	if p = p[:int64(len(p))-rest]; f == nil {
		return r.plain(direction, same, b, p)
	}
	for done, from := int64(0), int64(0); done < n; {
		next, _ := layout.WholeElements(from+convertBytes, datatype.Native)
		next = max(min(next, n, done+convertElements), done+1)
		to, _ := layout.FirstBytes(next)
		if code := f(b.Base, b.Type, next-done, p[from:to:to], done); code != abi.MPI_SUCCESS {
			return errorf(abi.MPI_ERR_CONVERSION, "%s_conversion_fn of the data representation %q answered error %d",
				direction, r.name, code)
		}
		done, from = next, to
	}
	return nil
}

// plain moves data that no function converts.
func (r *registered) plain(direction string, same bool, b coll.Buf, p []byte) error {
	switch {
	case !same:
		return errorf(abi.MPI_ERR_CONVERSION, "the data representation %q has no %s_conversion_fn, and its elements have "+
			"other sizes than those of memory", r.name, direction)
	case direction == "write":
		return coll.Pack(p, b, datatype.Native)
	}
	return coll.Unpack(b, p, datatype.Native)
}
