package file

import (
	"fmt"
	"hash/fnv"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Verification of calls on files (IMPI_CHECK). Their error class is MPI_ERR_NOT_SAME.

// Verifies reports whether calls on the file are compared.
func (f *Queued) Verifies() bool { return f.checker.Verifies() }

// Agree compares a call on the file with those of the other members, when its turn has come.
func (f *Queued) Agree(name string, values []coll.Value) error {
	if !f.Verifies() {
		return nil
	}
	return f.queue.inTurn(func() error { return f.compare(name, values) })
}

func (f *Queued) compare(name string, values []coll.Value) error {
	return f.checker.Compare(f.String(), coll.Call{Routine: coll.Function(name), Values: values})
}

// compared is what carries out a nonblocking access, once all members have found that they call the same.
func (f *Queued) compared(name string, a Access, run func() (int64, error)) func() (int64, error) {
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

// compareViews notes whether all members have the same view, without which the shared pointer is of no use (MPI 5.0,
// 14.4.4). Views are compared by a hash of what they contain; types that are made in different ways may be the same.
func (f *Queued) compareViews() error {
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
	all := make([]int64, f.m.Size())
	if err := f.queue.inTurn(func() error { return f.m.Allgather([]int64{int64(h.Sum64())}, all) }); err != nil {
		return err
	}
	differ := false
	for _, other := range all {
		differ = differ || other != all[0]
	}
	f.differ.Store(differ)
	return nil
}

// ViewsDiffer reports whether the members were found to have different views, where calls are verified.
func (f *Queued) ViewsDiffer() bool { return f.differ.Load() }
