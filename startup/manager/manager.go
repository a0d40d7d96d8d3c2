// Package manager is how a process finds its job if another process manager has started it: mpiexec of MPICH or Intel
// MPI, srun, Open MPI's mpirun, prterun.
//
// Such a manager tells each process who it is, and keeps words that processes leave for each other. With these the
// processes do themselves what our launcher does for its own: those of a machine come by their shared memory, all learn
// where all others listen, and each makes the job's tables (Join).
//
//	pmi (below)            PMI-1 and PMI-2, spoken over a descriptor or a port that the manager has left us
//	gobridge/pmix          PMIx, through its library
package manager

import (
	"context"
	"errors"
)

// Env looks a variable of the environment up: os.LookupEnv, or a test's own.
type Env = func(name string) (value string, ok bool)

// An Opener finds the manager of one kind that has started this process, as the environment says. It answers nil if
// there is none, and an error if there is one that cannot be used. It is called once.
type Opener func(env Env) (Manager, error)

// Identity is what a manager says of a process at once.
type Identity struct {
	Rank, Size int    // in MPI_COMM_WORLD
	Job        string // a name that no other job of the manager has
	AppNum     int32  // MPI_APPNUM; -1: not said
	Universe   int32  // MPI_UNIVERSE_SIZE; 0: not said
	MaxValue   int    // bytes of the longest value that Put takes
}

// A Manager serves one process. One goroutine at a time may call its methods, but for Abort and Close, which any may
// call at any time. Errors name the manager and what it has answered.
type Manager interface {
	// Name names it in messages: "PMI-1", "PMIx 4.2".
	Name() string
	Identity() Identity

	// Put leaves a value for all processes of the job, under a name that is ours alone: the rank of the process is added
	// to the key. Keys are words of up to 30 letters, digits and dashes; values have printing characters without blanks.
	Put(key, value string) error
	// Fence returns when all processes have called it; then what they have put before can be got.
	Fence(ctx context.Context) error
	// Get returns what the process of that rank has put.
	Get(ctx context.Context, rank int, key string) (string, error)

	// Watch calls gone, on a goroutine of its own, if the manager is lost before Finalize or Close, where that can be
	// noticed without asking. It is called once, after the last Get.
	Watch(gone func(error))
	// Abort ends the job. The manager may end this process before it returns.
	Abort(code int, text string) error
	// Finalize says that the process will end in order; it may wait for the others.
	Finalize(ctx context.Context) error
	// Close lets go of the connection. Without Finalize before it, the manager takes the process for dead.
	Close() error
}

// Alone is the manager of a process that nobody has started with others: what it puts it gets.
type Alone map[string]string

func (Alone) Name() string { return "no launcher" }

func (Alone) Identity() Identity {
	return Identity{Size: 1, Job: "alone", MaxValue: 1 << 10, AppNum: -1}
}

func (m Alone) Put(key, value string) error {
	m[key] = value
	return nil
}

func (Alone) Fence(context.Context) error { return nil }

func (m Alone) Get(_ context.Context, _ int, key string) (string, error) { return m[key], nil }

func (Alone) Watch(func(error)) {}

func (Alone) Abort(int, string) error { return errors.New("there is no launcher") }

func (Alone) Finalize(context.Context) error { return nil }

func (Alone) Close() error { return nil }
