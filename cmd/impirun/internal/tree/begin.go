package tree

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
)

// Begin greets the process that has started us, and reads what to do. The conversation goes on by descriptors of its
// own: standard input and output stay free for other purposes.
func Begin() (*Frames, *StartFrame, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	up := &Frames{in: os.NewFile(uintptr(in), "launcher"), out: os.NewFile(uintptr(fd), "launcher")}
	if err := up.Send(Frame{Hello: &helloFrame{nodeVersion}}); err != nil {
		return nil, nil, err
	}
	m, err := up.Receive()
	if err != nil {
		return nil, nil, fmt.Errorf("%s is for impirun's own use: %w", shells.NodeWord, err)
	}
	if s := m.Start; s == nil || s.Plan == nil || s.Shell == nil || !wellFormed(s.Members, s.Size) {
		return nil, nil, fmt.Errorf("the launcher is of another release")
	}
	up.machine = m.Start.Members[0].Number
	return up, m.Start, nil
}

// wellFormed reports whether a list of machines is one, of a job of so many ranks.
func wellFormed(list []Member, size int) bool {
	for i, m := range list {
		if m.Number < 0 || i > 0 && m.Number <= list[i-1].Number || !rightRanks(m.Ranks, size) {
			return false
		}
	}
	return len(list) > 0
}

// rightRanks reports whether a machine has ranks, in ascending order.
func rightRanks(ranks []int, size int) bool {
	for i, r := range ranks {
		if r < 0 || r >= size || i > 0 && r <= ranks[i-1] {
			return false
		}
	}
	return len(ranks) > 0
}
