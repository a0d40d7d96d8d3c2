package libimpi

import (
	"fmt"
	"hash/fnv"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
)

// Verification of calls on files (IMPI_CHECK; verify.go). Their error class is MPI_ERR_NOT_SAME.

// Verifies reports whether calls on the file are compared.
func (f *File) Verifies() bool { return f.members.comm.Verifies() }

// Agree compares a call on the file with those of the other members, when its turn has come.
func (f *File) Agree(name string, values []coll.Value) error {
	if !f.Verifies() {
		return nil
	}
	return f.inTurn(func() error { return f.compare(name, values) })
}

func (f *File) compare(name string, values []coll.Value) error {
	err := f.members.comm.Agree(f.String(), coll.Call{Routine: coll.Function(name), Values: values})
	if e := AsError(err); e != nil && e.Class == abi.MPI_ERR_OTHER {
		return errorf(abi.MPI_ERR_NOT_SAME, "%s", e.Text)
	}
	return err
}

// compared is what carries out a nonblocking access, once all members have found that they call the same.
func (f *File) compared(name string, a file.Access, run func() (int64, error)) func() (int64, error) {
	if !a.Collective || !f.Verifies() {
		return run
	}
	return func() (int64, error) {
		if err := f.compare(name, nil); err != nil {
			return 0, err
		}
		return run()
	}
}

// Pending reports whether the program has not completed a nonblocking access to the file.
func (f *File) Pending() bool {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.requests.slots {
		if r == nil || r.kind != compoundRequest || !r.state.active {
			continue
		}
		if t, ok := r.of.(*fileTask); ok && t.file == f {
			return true
		}
	}
	return false
}

// compareViews notes whether all members have the same view, without which the shared pointer is of no use (MPI 5.0,
// 14.4.4). The views differ if what is told of them does; types that are made in different ways may still be the same.
func (f *File) compareViews() error {
	if !f.Verifies() {
		return nil
	}
	v := f.View()
	h := fnv.New64a()
	fmt.Fprint(h, v.Disp, v.Rep.Name())
	for _, t := range [...]*datatype.Type{v.Etype, v.Filetype} {
		hash, n := t.Signature()
		fmt.Fprint(h, " ", hash, n, t.LB(), t.Extent(), t.TrueLB(), t.TrueUB())
	}
	all := make([]int64, f.members.Size())
	if err := f.inTurn(func() error { return f.members.Allgather([]int64{int64(h.Sum64())}, all) }); err != nil {
		return err
	}
	apart := false
	for _, other := range all {
		apart = apart || other != all[0]
	}
	f.apart.Store(apart)
	return nil
}

// Apart reports whether the members were found to have different views, where calls are verified.
func (f *File) Apart() bool { return f.apart.Load() }
