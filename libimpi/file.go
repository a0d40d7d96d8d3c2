package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/members"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/onesided"
)

// Files (MPI 5.0, chapter 14) are package file's, and what their members share is package members'. Here stand what the
// engine does for them, and how one is opened.

// File is an open file.
type File struct {
	*file.Queued
	Bridge any // what the bridge keeps with it

	name    string // by which it was opened
	members *members.Members
	comm    *Comm // of the members
}

// OpenFile opens a file for the members of c, all of which call it. refused is what is wrong with the arguments of this
// one. All members get an error, or none; but if a member is lost some may have a file, which is revoked then.
func (c *Comm) OpenFile(fs file.FileSystem, name string, mode int, hints file.Hints, refused *Error) (*File, error) {
	if r, p := c.foreign(); p != nil {
		return nil, errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of %s belongs to IMPI client %d, which is not "+
			"libimpi: IMPI has no files between implementations", r, c.describe(), p.Client)
	}
	var wrong error
	if refused != nil {
		wrong = refused
	}
	m, err := c.files.Take(fileParent{c}, wrong)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, members: m, comm: m.Own().(*fileComm).Comm}
	f.comm.belongsTo("file " + name)
	engine, opened := newFileEngine(c.engine, f), false
	release := func() {
		if !opened {
			f.comm.resign()
		}
		m.Release()
	}
	f.Queued, err = file.OpenQueued(file.Process{Engine: engine, Checker: fileChecker{f.comm}, Pool: &c.engine.files,
		Release: release}, m, fs, name, mode, hints)
	if err != nil {
		return nil, err
	}
	opened = true
	return f, nil
}

// Refusal is what the members of a file tell each other of the wrong arguments of one of them; nil if there are none.
func Refusal(err *Error) error {
	if err == nil {
		return nil
	}
	return &file.Error{Class: err.Class, Text: err.Text}
}

// LeaveFiles gives up what files may find on a communicator that is freed, but for those that are open.
func (c *Comm) LeaveFiles() { c.files.Leave() }

// Revoke ends everything on the file that needs other members, now and from now on, at all members (MPIX_File_revoke).
// Revoked, Failed: what is known of its members.
func (f *File) Revoke()        { f.comm.Revoke() }
func (f *File) Revoked() bool  { return f.comm.Revoked() }
func (f *File) Failed() *Group { return f.comm.Failed() }

// Broken reports whether members are lost, or the file is revoked: no collective call succeeds.
func (f *File) Broken() bool { return f.comm.losses.gone.Load() != nil }

// Group is the group of the members.
func (f *File) Group() *Group { return f.comm.Group() }

// First reports whether this process is the first member.
func (f *File) First() bool { return f.comm.rank == 0 }

// Pending reports whether the program has not completed a nonblocking access to the file.
func (f *File) Pending() bool {
	e := f.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.requests.slots {
		if r == nil || r.kind != compoundRequest || !r.state.active {
			continue
		}
		if of, ok := r.of.(*fileAccesses); ok && of.file == f {
			return true
		}
	}
	return false
}

// fileAccesses is the compound of the requests for accesses to a file.
type fileAccesses struct {
	nothing
	file       *File
	collective bool
}

// fileEngine is what accesses to a file that are under way need of the engine (file.Engine).
type fileEngine struct {
	*Engine
	alone, together fileAccesses // independent ones, and collective ones
}

func newFileEngine(e *Engine, f *File) *fileEngine {
	return &fileEngine{e, fileAccesses{file: f}, fileAccesses{file: f, collective: true}}
}

// Lock implements file.Engine, as the following do.
func (fe *fileEngine) Lock()   { fe.mu.Lock() }
func (fe *fileEngine) Unlock() { fe.mu.Unlock() }
func (fe *fileEngine) Ring()   { fe.ring() }

// WaitFor waits for a condition.
func (fe *fileEngine) WaitFor(cond func() bool) error {
	if !cond() {
		fe.waitFor(cond, anyPeer, cause{what: report.ForFile, file: fe.alone.file})
	}
	if !cond() {
		return fe.failure()
	}
	return nil
}

// NewRequest takes a request, which nobody polls for.
func (fe *fileEngine) NewRequest(collective bool) uint64 {
	r := fe.requests.get(nil)
	r.kind, r.state.active, r.of, r.env.peer = compoundRequest, true, &fe.alone, noPeer
	if collective {
		r.of = &fe.together
	}
	r.status = emptyStatus
	return r.id
}

// Complete ends a request.
func (fe *fileEngine) Complete(request uint64, bytes int64, err error) {
	r := fe.requests.find(request)
	r.status.Bytes = bytes
	if err != nil {
		failed := *AsError(err)
		failed.File = fe.alone.file
		r.status.Err = &failed
	}
	if r.state.done = true; r.state.detached {
		fe.discard(r)
	}
}

// fileChecker compares calls on a file (file.Checker).
type fileChecker struct{ *Comm }

// Compare compares a call. The class of errors is MPI_ERR_NOT_SAME.
func (c fileChecker) Compare(file string, call coll.Call) error {
	err := c.SameCall(file, call)
	if e := AsError(err); e != nil && e.Class == abi.MPI_ERR_OTHER {
		return errorf(abi.MPI_ERR_NOT_SAME, "%s", e.Text)
	}
	return err
}

// What the members of a file have in common (package members) needs two communicators: the one of MPI_File_open, and a
// duplicate of it, with a board, that only the file has.

// fileParent is the communicator of MPI_File_open (members.Comm).
type fileParent struct{ *Comm }

// Duplicate makes a communicator with a board.
func (c fileParent) Duplicate() (members.Own, error) {
	own, err := c.Dup()
	if err != nil {
		return nil, err
	}
	own.ofFile = true
	if own.MayHaveBoard() {
		board, err := own.OpenBoard(true)
		if err != nil {
			own.Discard()
			return nil, err
		}
		if board != nil {
			own.UseBoard(NewBoardCounters(board), nil)
		}
	}
	return &fileComm{Comm: own}, nil
}

// fileComm is the communicator of the members of a file (members.Own).
type fileComm struct {
	*Comm
	pointer *Window
	mapped  onesided.Mapped
}

// Leave implements members.Losses, as the following do.
func (c *fileComm) Leave() error {
	if !c.tolerant() {
		return nil
	}
	_, err := c.Agree(0)
	return err
}

// Loss is why the members can do nothing together any more.
func (c *fileComm) Loss() error {
	if gone := c.losses.gone.Load(); gone != nil {
		return gone
	}
	return nil
}

// Revocation is Loss if they are revoked.
func (c *fileComm) Revocation() error {
	if gone := c.losses.gone.Load(); gone != nil && gone.Class == abi.MPIX_ERR_REVOKED {
		return gone
	}
	return nil
}

// AllWell implements members.Collectives.
func (c *fileComm) AllWell(err error) (bool, error) { return onesided.AllWell(&c.ops, err) }

// Machine implements members.Machines, as the following do.
func (c *fileComm) Machine() int64 { return int64(c.MachineColor()) }
func (c *fileComm) Sharers() []int { return c.together() }

// Map maps memory.
func (c *fileComm) Map(bytes, align int) (_ []byte, err error) {
	c.mapped, err = c.sharers().Map(bytes, align, false)
	return c.mapped.Bytes, err
}

// Unmap gives it back.
func (c *fileComm) Unmap() {
	c.mapped.Forget(c.engine.home.Memory)
	c.mapped = onesided.Mapped{}
}

// Isend implements file.Messages, as the following do.
func (c *fileComm) Isend(b []byte, to, tag int) (coll.Req, error) {
	return coll.Req(c.isend(c.p2p, startOf(b), int64(len(b)), byteType, to, int32(tag), modeStandard)), nil
}

// Irecv starts to receive a message.
func (c *fileComm) Irecv(b []byte, from, tag int) (coll.Req, error) {
	return coll.Req(c.irecv(c.p2p, startOf(b), int64(len(b)), byteType, from, int32(tag))), nil
}

// Wait ends messages.
func (c *fileComm) Wait(reqs ...coll.Req) error { return c.ops.Wait(reqs...) }

// Window implements members.Own.
func (c *fileComm) Window(config onesided.Config) (members.Window, error) {
	w, err := c.NewWindow(config)
	if err != nil {
		return nil, err
	}
	c.pointer, w.internal = w, true
	return w.Window, nil
}

// Discard gives everything up.
func (c *fileComm) Discard() {
	if c.pointer != nil {
		c.pointer.forget()
	}
	if c.board.Is() {
		c.NoBoard()
	}
	c.Comm.Discard()
}
