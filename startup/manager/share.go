package manager

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport/shm"
	"golang.org/x/sys/unix"
)

// The memory of a machine. The lowest of its ranks makes it; the others connect to an abstract Unix socket of a random
// name that is in that rank's card. Both ends prove that they know the cards, without saying what is in them, and that
// they are processes of one user:
//
//	comes for it  -> magic 8, rank 4, nonce 32
//	              <- nonce 32, proof 32
//	              -> proof 32
//	              <- a byte, and the descriptors that it tells of: handsMemory, and perhaps pipes to the machine's agent

const (
	shareMagic = "IMPIJOIN"
	nonceSize  = 32
	greetTime  = 10 * time.Second // for one who has connected to say who it is
	retryTime  = 10 * time.Millisecond
)

// shareTime is how long the members of a machine wait for each other once all have put their cards: what they still
// have to do is to get the cards of all. Tests have less.
var shareTime = func(size int) time.Duration { return time.Minute + time.Duration(size)*50*time.Millisecond }

// socketName is the address of that socket.
func socketName(random [16]byte) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "@libimpi-" + hex.EncodeToString(random[:])}
}

func listenNear(random [16]byte) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", socketName(random))
	if err != nil {
		return nil, fmt.Errorf("a Unix socket for the processes of this machine: %w", err)
	}
	return l, nil
}

// share returns the descriptor of the memory that the members of this machine share; -1: there are no others.
func (j *joining) share(ctx context.Context, near *net.UnixListener, members []int32) (fd int, err error) {
	if len(members) == 1 {
		return -1, nil
	}
	limit := shareTime(j.id.Size)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nothing within %v", limit))
	defer cancel()
	s := &sharing{joining: j, key: secret(j.cards, "memory")}
	if int(members[0]) == j.id.Rank {
		return s.handOut(ctx, near, members[1:])
	}
	near.Close()
	return s.fetch(ctx, int(members[0]))
}

// sharing is the sharing of a machine's memory.
type sharing struct {
	*joining
	key []byte
}

// proof is what one side can say who knows the cards and has heard both nonces.
func (s *sharing) proof(side string, hello []byte, nonce []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(digest(side, string(hello), string(nonce)))
	return h.Sum(nil)
}

// The sides of the proofs.
const (
	sideComes = "comes for memory"
	sideHands = "hands memory out"
)

const helloSize = len(shareMagic) + 4 + nonceSize

// handOut makes the memory, and gives it to all who are awaited.
func (s *sharing) handOut(ctx context.Context, near *net.UnixListener, awaited []int32) (int, error) {
	fd, err := shm.CreateUnder(os.Getppid(), 1+len(awaited))
	if err != nil {
		return -1, err
	}
	served := make(chan int32)
	over, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { s.accept(over, near, fd, served, &all) })
	missing := slices.Clone(awaited)
	for len(missing) > 0 && err == nil {
		select {
		case r := <-served:
			if i := slices.Index(missing, r); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
			}
		case <-ctx.Done():
			err = fmt.Errorf("%s for the memory of this machine: %w", notCome(missing), context.Cause(ctx))
		}
	}
	stop()
	near.Close()
	all.Wait()
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// notCome names ranks that have not come.
func notCome(ranks []int32) string {
	const most = 8
	var names []string
	for _, r := range ranks[:min(most, len(ranks))] {
		names = append(names, fmt.Sprint(r))
	}
	if len(ranks) > most {
		names = append(names, fmt.Sprintf("%d more", len(ranks)-most))
	}
	if len(names) == 1 {
		return "rank " + names[0] + " has not come"
	}
	last := len(names) - 1
	return "ranks " + strings.Join(names[:last], ", ") + " and " + names[last] + " have not come"
}

// accept serves whoever comes, until the socket is closed.
func (s *sharing) accept(ctx context.Context, near *net.UnixListener, fd int, served chan<- int32,
	all *sync.WaitGroup) {
	for {
		c, err := near.AcceptUnix()
		switch {
		case err == nil:
			all.Go(func() {
				defer c.Close()
				defer limited(ctx, c, greetTime)()
				if r, err := s.serve(c, fd); err == nil {
					select {
					case served <- r:
					case <-ctx.Done():
					}
				}
			})
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, perhaps
			pause(ctx, retryTime)
		}
	}
}

// limited ends what waits for a connection when ctx is done, or after d. The answer undoes the first of these. The
// deadline is set before: it must not put off the end of a ctx that is done already.
func limited(ctx context.Context, c net.Conn, d time.Duration) func() bool {
	c.SetDeadline(time.Now().Add(d))
	return context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// serve finds out who has come, and gives it the memory. Who fails is told nothing.
func (s *sharing) serve(c *net.UnixConn, fd int) (rank int32, err error) {
	if err := sameUser(c); err != nil {
		return -1, err
	}
	var hello [helloSize]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return -1, err
	}
	rank = int32(be.Uint32(hello[len(shareMagic):]))
	if string(hello[:len(shareMagic)]) != shareMagic || int(rank) <= s.id.Rank || int(rank) >= s.id.Size ||
		s.cards[rank].place != s.mine.place {
		return -1, errors.New("nobody who is expected")
	}
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	if _, err := c.Write(append(nonce, s.proof(sideHands, hello[:], nonce)...)); err != nil {
		return -1, err
	}
	var p [sha256.Size]byte
	if _, err := io.ReadFull(c, p[:]); err != nil {
		return -1, err
	}
	if !hmac.Equal(p[:], s.proof(sideComes, hello[:], nonce)) {
		return -1, errProof
	}
	what, fds := byte(handsMemory), []int{fd}
	for side, pipe := range s.hands[rank] {
		if _, has := s.hands[rank]; has && pipe >= 0 {
			what, fds = what|handsPipe<<side, append(fds, pipe)
		}
	}
	_, _, err = c.WriteMsgUnix([]byte{what}, unix.UnixRights(fds...), nil)
	return rank, err
}

// What is handed out, a bit each: the memory, and pipes to processes of lower and of higher ranks.
const (
	handsMemory = 1
	handsPipe   = 2
	handsAll    = handsMemory | handsPipe | handsPipe<<1
)

var (
	errProof = errors.New("it does not know the cards of this job")
	errGone  = errors.New("it has gone")
)

// sameUser returns an error if the other end of a Unix socket is another user's.
func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil &&
			int(cred.Uid) != os.Geteuid() {
			err = fmt.Errorf("it is a process of user %d", cred.Uid)
		}
	})
	return errors.Join(failed, err)
}

// fetch gets the memory from the rank that makes it.
func (s *sharing) fetch(ctx context.Context, from int) (fd int, err error) {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "unix", socketName(s.cards[from].unix).Name)
		if err == nil {
			fd, err = s.receive(ctx, c.(*net.UnixConn))
			c.Close()
		}
		switch {
		case err == nil:
			return fd, nil
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.Is(err, unix.EAGAIN): // too many wait there to be heard
			pause(ctx, retryTime)
			continue
		}
		return -1, fmt.Errorf("the memory of this machine, from rank %d: %w", from, told(err))
	}
}

// told is an error of the socket, for people.
func told(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, unix.ECONNREFUSED, unix.ECONNRESET, unix.EPIPE} {
		if errors.Is(err, end) {
			return errGone
		}
	}
	return err
}

// receive proves who we are, makes sure of the other end, and takes the descriptor.
func (s *sharing) receive(ctx context.Context, c *net.UnixConn) (fd int, err error) {
	defer limited(ctx, c, shareTime(s.id.Size))()
	if err := sameUser(c); err != nil {
		return -1, err
	}
	hello := be.AppendUint32([]byte(shareMagic), uint32(s.id.Rank))
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	hello = append(hello, nonce...)
	if _, err := c.Write(hello); err != nil {
		return -1, err
	}
	var answer [nonceSize + sha256.Size]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return -1, err
	}
	theirs := answer[:nonceSize]
	if !hmac.Equal(answer[nonceSize:], s.proof(sideHands, hello, theirs)) {
		return -1, errProof
	}
	if _, err := c.Write(s.proof(sideComes, hello, theirs)); err != nil {
		return -1, err
	}
	what, fds, err := takeDescriptors(c)
	if err != nil {
		return -1, err
	}
	memory, pipes := fds[0], fds[1:]
	for side := range s.pipes {
		if what&(handsPipe<<side) != 0 {
			s.pipes[side] = pipes[0]
			pipes = pipes[1:]
		}
	}
	return memory, nil
}

// takeDescriptors reads a byte, and the descriptors of which it tells.
func takeDescriptors(c *net.UnixConn) (what byte, fds []int, err error) {
	var b [1]byte
	room := make([]byte, unix.CmsgSpace(4*4))
	n, control, flags, _, err := c.ReadMsgUnix(b[:], room)
	if list, failed := unix.ParseSocketControlMessage(room[:control]); failed == nil {
		for i := range list {
			if some, failed := unix.ParseUnixRights(&list[i]); failed == nil {
				fds = append(fds, some...)
			}
		}
	}
	switch {
	case err != nil:
	case n == 0:
		err = io.EOF
	case b[0]&handsMemory != 0 && len(fds) == bits.OnesCount8(b[0]&handsAll) && flags&syscall.MSG_CTRUNC == 0:
		return b[0], fds, nil
	default:
		err = fmt.Errorf("%d descriptors came where %d should", len(fds), bits.OnesCount8(b[0]&handsAll|handsMemory))
	}
	for _, fd := range fds {
		unix.Close(fd)
	}
	return 0, nil, err
}
