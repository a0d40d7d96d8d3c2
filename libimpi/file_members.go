package libimpi

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file/members"
	"github.com/libimpi/libimpi/onesided"
)

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

// Isend implements members.Messages, as the following do.
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
	c.pointer = w
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
