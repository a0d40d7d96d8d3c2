package file

import (
	"hash/fnv"
	"io"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// File is an open file (MPI 5.0, 14.2) at one of its members.
type File struct {
	m       Members
	system  FileSystem
	storage Storage
	name    string
	mode    int
	hints   Hints

	mu       sync.Mutex // guards view and position: several threads may use the file
	view     *View
	position int64 // the individual pointer, in etypes

	atomic  atomic.Bool
	spread  int64        // the least of all members' views (View.spread)
	unread  bool         // some member cannot read the file: nothing can be written around
	stream  bool         // bytes have no offsets
	busy    atomic.Int64 // independent writes under way
	peers   peers        // what is known of the other members' views
	buffers exchange     // memory for collective access
}

// modes are the access modes of which a file has exactly one.
const modes = abi.MPI_MODE_RDONLY | abi.MPI_MODE_WRONLY | abi.MPI_MODE_RDWR

// allModes are all bits that an access mode may have.
const allModes = modes | abi.MPI_MODE_CREATE | abi.MPI_MODE_EXCL | abi.MPI_MODE_DELETE_ON_CLOSE |
	abi.MPI_MODE_UNIQUE_OPEN | abi.MPI_MODE_SEQUENTIAL | abi.MPI_MODE_APPEND

// checkMode returns what is wrong with an access mode.
func checkMode(mode int) error {
	one := mode & modes
	switch {
	case mode&^allModes != 0:
		return errorf(abi.MPI_ERR_AMODE, "argument amode is %#x, of which %#x is no mode", mode, mode&^allModes)
	case one == 0:
		return errorf(abi.MPI_ERR_AMODE, "argument amode (%#x) has none of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "+
			"MPI_MODE_RDWR", mode)
	case one&(one-1) != 0:
		return errorf(abi.MPI_ERR_AMODE, "argument amode (%#x) has more than one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "+
			"MPI_MODE_RDWR", mode)
	case one == abi.MPI_MODE_RDONLY && mode&(abi.MPI_MODE_CREATE|abi.MPI_MODE_EXCL) != 0:
		return errorf(abi.MPI_ERR_AMODE, "argument amode (%#x) has MPI_MODE_RDONLY beside MPI_MODE_CREATE or MPI_MODE_EXCL",
			mode)
	case one == abi.MPI_MODE_RDWR && mode&abi.MPI_MODE_SEQUENTIAL != 0:
		return errorf(abi.MPI_ERR_AMODE, "argument amode (%#x) has MPI_MODE_RDWR beside MPI_MODE_SEQUENTIAL", mode)
	}
	return nil
}

// permissions are those of a new file, before the process's umask.
const permissions = 0o666

// Open opens a file; all members call it. Either all of them get a file, or all an error.
func Open(m Members, system FileSystem, name string, mode int, hints Hints) (*File, error) {
	f := &File{m: m, system: system, name: name, mode: mode}
	err := f.introduce(hints)
	if err == nil {
		err = f.open()
	}
	if err == nil {
		err = f.begin()
	}
	if err != nil {
		if f.storage != nil {
			f.storage.Close()
		}
		return nil, err
	}
	return f, nil
}

// introduce compares the arguments of all members. The first one's hints hold.
func (f *File) introduce(hints Hints) error {
	err := checkMode(f.mode)
	own := append([]int64{class(err), int64(f.mode)}, hints.numbered()...)
	each := len(own)
	all := make([]int64, each*f.m.Size())
	if err := f.m.Allgather(own, all); err != nil {
		return err
	}
	if err := f.outcome(err, all, each); err != nil {
		return err
	}
	for r := range f.m.Size() {
		if mode := all[each*r+1]; mode != all[1] {
			return errorf(abi.MPI_ERR_NOT_SAME, "argument amode is %#x at rank %d, and %#x at rank 0", mode, r, all[1])
		}
	}
	f.hints.fromNumbers(all[2:each])
	return nil
}

// open opens the file: the first member first, which may create it, and then the others, who must see the same one.
func (f *File) open() (err error) {
	if f.m.Rank() == 0 {
		f.storage, err = f.system.Open(f.name, f.mode, permissions)
	}
	if f.m.Size() == 1 {
		f.limit(f.limits())
		return err
	}
	if err := f.agree(err); err != nil {
		return err
	}
	if f.m.Rank() != 0 {
		f.storage, err = f.system.Open(f.name, f.mode&modes, permissions)
	}
	return f.recognize(err)
}

// What a file cannot do, as members say it.
const (
	cannotRead = 1 << iota
	cannotSeek
)

// limits is what this member's file cannot do.
func (f *File) limits() (cannot int64) {
	if l, ok := f.storage.(Limits); ok {
		if !l.Readable() {
			cannot |= cannotRead
		}
		if !l.Seekable() {
			cannot |= cannotSeek
		}
	}
	return cannot
}

func (f *File) limit(cannot int64) {
	f.unread = f.unread || cannot&cannotRead != 0
	f.stream = f.stream || cannot&cannotSeek != 0
}

// attempts are how often members compare what they see of the file, which somebody else may be changing.
const attempts = 5

// recognize finds out whether all members have opened the same file: on several machines a name may mean several. err
// is what has kept this member from opening it.
func (f *File) recognize(err error) error {
	const each = 4 // class of error, number of the file, time of its last change, what it cannot do
	all := make([]int64, each*f.m.Size())
	for attempt := 1; ; attempt++ {
		var id [2]int64
		if err == nil {
			id, err = f.storage.Identity()
		}
		if err := f.m.Allgather([]int64{class(err), id[0], id[1], f.limits()}, all); err != nil {
			return err
		}
		if err := f.outcome(err, all, each); err != nil {
			return err
		}
		differs, changed := -1, false
		for r := range f.m.Size() {
			if all[each*r+1] != all[1] {
				differs = r
			}
			changed = changed || all[each*r+2] != all[2]
			f.limit(all[each*r+3])
		}
		switch {
		case differs >= 0:
			return errorf(abi.MPI_ERR_NOT_SAME, "rank %d does not see the same file %s as rank 0: the members need a file "+
				"system that they share", differs, f.name)
		case !changed || attempt == attempts:
			return nil
		}
	}
}

// begin brings an open file into its first state.
func (f *File) begin() error {
	byteType := datatype.Named(abi.MPI_BYTE)
	view, err := newView(0, byteType, byteType, Native, f.mode&abi.MPI_MODE_RDONLY == 0)
	if err != nil {
		return err
	}
	f.view, f.spread = view, view.spread
	if f.mode&abi.MPI_MODE_APPEND == 0 {
		return nil
	}
	size, err := f.storage.Size()
	if err := f.agree(err); err != nil {
		return err
	}
	f.position = size
	return f.storeShared(size)
}

// Close closes the file; all members call it, when nothing is under way. The file is closed whatever is answered. No
// member that is not lost needs another one any more then.
func (f *File) Close() error {
	err := f.close()
	return first(err, f.m.Leave())
}

func (f *File) close() error {
	err := f.storage.Close()
	f.storage = nil
	if f.mode&abi.MPI_MODE_DELETE_ON_CLOSE == 0 {
		return f.agree(err)
	}
	if err := f.agree(err); err != nil {
		return err
	}
	if f.m.Rank() == 0 {
		err = f.system.Remove(f.name)
	}
	return f.agree(err)
}

// Name is the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Mode is the access mode (MPI_File_get_amode).
func (f *File) Mode() int { return f.mode }

// agree returns an error at all members if one of them has one: its own to those who have one, to the others the first.
func (f *File) agree(own error) error {
	if f.m.Size() == 1 {
		return own
	}
	all := make([]int64, f.m.Size())
	if err := f.m.Allgather([]int64{class(own)}, all); err != nil {
		return err
	}
	return f.outcome(own, all, 1)
}

// outcome is what agree answers, once all members' classes are known: each stands first among so many numbers.
func (f *File) outcome(own error, all []int64, each int) error {
	failed := -1
	for r := f.m.Size() - 1; r >= 0; r-- {
		if all[each*r] != abi.MPI_SUCCESS {
			failed = r
		}
	}
	if failed < 0 {
		return nil
	}
	text := ""
	if own != nil {
		text = own.Error()
	}
	texts, err := f.m.Gather([]byte(text))
	if own != nil || err != nil {
		return first(own, err)
	}
	return errorf(int(all[each*failed]), "rank %d: %s", failed, texts[failed])
}

// first is the first of two errors.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// same reports whether all members call with the same value.
func (f *File) same(what string, v int64) error {
	if f.m.Size() == 1 {
		return nil
	}
	all := make([]int64, f.m.Size())
	if err := f.m.Allgather([]int64{v}, all); err != nil {
		return err
	}
	for r, other := range all {
		if other != all[0] {
			return errorf(abi.MPI_ERR_NOT_SAME, "argument %s is %d at rank %d, and %d at rank 0", what, other, r, all[0])
		}
	}
	return nil
}

// mayWrite returns what is wrong with changing the file.
func (f *File) mayWrite() error {
	if f.mode&abi.MPI_MODE_RDONLY != 0 {
		return errorf(abi.MPI_ERR_READ_ONLY, "%s is open with MPI_MODE_RDONLY", f.name)
	}
	return nil
}

// anywhere returns what is wrong with a call that needs a file without MPI_MODE_SEQUENTIAL.
func (f *File) anywhere() error {
	if f.mode&abi.MPI_MODE_SEQUENTIAL != 0 {
		return errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "%s is open with MPI_MODE_SEQUENTIAL", f.name)
	}
	return nil
}

// resize is what SetSize and Preallocate have in common: members agree on a size, and the first of them does it.
func (f *File) resize(size int64, change func(int64) error) error {
	err := first(f.mayWrite(), f.anywhere())
	if err == nil && size < 0 {
		err = errorf(abi.MPI_ERR_ARG, "argument size is negative: %d", size)
	}
	if err := f.agree(err); err != nil {
		return err
	}
	if err := f.same("size", size); err != nil {
		return err
	}
	if f.m.Rank() == 0 {
		err = change(size)
	}
	return f.agree(err)
}

// SetSize makes the file so many bytes long; collective.
func (f *File) SetSize(size int64) error { return f.resize(size, f.storage.Truncate) }

// Preallocate sees to it that so many bytes have room; collective.
func (f *File) Preallocate(size int64) error { return f.resize(size, f.storage.Allocate) }

// Size is the size of the file in bytes.
func (f *File) Size() (int64, error) { return f.storage.Size() }

// Sync writes to the device what members have written; collective.
func (f *File) Sync() error {
	return f.agree(f.storage.Sync())
}

// SetAtomic reports whether accesses that conflict shall happen one after the other (MPI 5.0, 14.6.1); collective.
func (f *File) SetAtomic(on bool) error {
	flag := int64(0)
	if on {
		flag = 1
	}
	if err := f.same("flag", flag); err != nil {
		return err
	}
	var err error
	if on {
		var unlock func()
		if unlock, err = f.storage.Lock(0, 1, f.mode&abi.MPI_MODE_WRONLY == 0); err == nil {
			unlock()
		}
	}
	if err := f.agree(err); err != nil {
		return err
	}
	f.atomic.Store(on)
	return nil
}

// Atomic tells what SetAtomic has said.
func (f *File) Atomic() bool { return f.atomic.Load() }

// SetView changes what this member sees of the file; collective. All pointers go back to the beginning. refused is what
// the caller has found wrong with the arguments.
func (f *File) SetView(disp int64, etype, filetype *datatype.Type, rep Representation, refused error) error {
	var view *View
	if refused == nil {
		disp, refused = f.displacement(disp)
	}
	if refused == nil {
		view, refused = newView(disp, etype, filetype, rep, f.mode&abi.MPI_MODE_RDONLY == 0)
	}
	const each = 4 // class of error, bytes of an etype, how far runs are apart, a hash of the representation's name
	own := []int64{class(refused), 0, farthest, 0}
	if view != nil {
		h := fnv.New64()
		io.WriteString(h, rep.Name())
		own[1], own[2], own[3] = view.unit, view.spread, int64(h.Sum64())
	}
	all := make([]int64, each*f.m.Size())
	if err := f.m.Allgather(own, all); err != nil {
		return err
	}
	if err := f.outcome(refused, all, each); err != nil {
		return err
	}
	spread := int64(farthest)
	for r := range f.m.Size() {
		if all[each*r+3] != all[3] {
			return errorf(abi.MPI_ERR_NOT_SAME, "argument datarep is not the same at ranks 0 and %d", r)
		}
		if all[each*r+1] != all[1] {
			return errorf(abi.MPI_ERR_NOT_SAME, "argument etype has %d bytes at rank %d, and %d at rank 0", all[each*r+1], r,
				all[1])
		}
		spread = min(spread, all[each*r+2])
	}
	if err := f.storeShared(0); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view, f.position, f.spread, f.peers = view, 0, spread, peers{}
	return nil
}

// displacement is where a view begins. In a sequential file it may be where the shared pointer is.
func (f *File) displacement(disp int64) (int64, error) {
	sequential := f.mode&abi.MPI_MODE_SEQUENTIAL != 0
	switch {
	case disp == abi.MPI_DISPLACEMENT_CURRENT && sequential:
		at, err := f.m.FetchAdd(0)
		if err != nil {
			return 0, err
		}
		return f.view.at(at * f.view.unit), nil
	case disp == abi.MPI_DISPLACEMENT_CURRENT:
		return 0, errorf(abi.MPI_ERR_ARG, "argument disp is MPI_DISPLACEMENT_CURRENT, and %s is not open with "+
			"MPI_MODE_SEQUENTIAL", f.name)
	case sequential:
		return 0, errorf(abi.MPI_ERR_ARG, "argument disp is %d, and %s is open with MPI_MODE_SEQUENTIAL: it must be "+
			"MPI_DISPLACEMENT_CURRENT", disp, f.name)
	}
	return disp, nil
}

// View is what SetView has set.
func (f *File) View() View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *f.view
}

// storeShared sets the shared pointer; collective.
func (f *File) storeShared(v int64) error {
	if err := f.m.Barrier(); err != nil { // nobody moves it any more
		return err
	}
	if f.m.Rank() == 0 {
		if err := f.m.Store(v); err != nil {
			return err
		}
	}
	return f.m.Barrier()
}
