package main

import (
	"errors"
	"fmt"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/links"
	"github.com/libimpi/libimpi/startup/manager/pmi"
	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// Clients whose ranks talk to each other by another MPI library (IMPI_LOCAL, gobridge/vendor). A rank of such a client
// shares memory with nobody. The library is started by whoever has started the ranks:
//
//	our launcher        -> Attach, the job's tables -> the library starts, by the PMI-1 that the launcher speaks
//	the library's own   -> the library starts, and is the manager of the job (startByVendor)

// startByVendor joins the processes that the library has found. none is why there is no launcher of ours.
func (p *process) startByVendor(none error) error {
	if err := p.launchVendor(); err != nil {
		return err
	}
	if foreign := (*startup.ForeignError)(nil); errors.As(none, &foreign) && p.vendor.Size() == 1 && !p.alone() {
		if foreign.Size > 1 {
			return p.vendor.Unlike(foreign.Launcher, foreign.Size)
		}
		return none
	}
	return p.startManaged(p.vendor.Manager())
}

func (p *process) launchVendor() error {
	defer pmi.KeepFromChildren(lookupEnv)
	return p.vendor.Start()
}

// alone reports whether the user wants each process to be alone.
func (p *process) alone() bool { return environment(startup.EnvSingleton) == "ok" }

// startVendor starts the library, unless it has told us of the job already, and finds out which process of the client
// is which of the library.
func (p *process) startVendor(job *transport.Job) (*links.Vendor, error) {
	size := 0
	for i := range job.Procs {
		if job.Procs[i].Client == job.Procs[job.Me].Client {
			size++
		}
	}
	if p.manager == nil {
		if err := p.launchVendor(); err != nil {
			return nil, err
		}
	}
	if p.vendor.Size() != size {
		return nil, p.vendor.Unlike("libimpi's launcher", size)
	}
	world, err := p.vendor.Gather(job.Me)
	if err != nil {
		return nil, err
	}
	for i, w := range world {
		if w < 0 || int(w) >= len(job.Procs) || job.Procs[w].Client != job.Procs[job.Me].Client {
			return nil, fmt.Errorf("rank %d of %s is rank %d of MPI_COMM_WORLD, which is not of this client", i,
				p.vendor.Name(), w)
		}
	}
	return &links.Vendor{MPI: p.vendor, World: world, Rank: p.vendor.Rank(), Name: p.vendor.Name()}, nil
}

// apart is a welcome of a process that shares no memory with others.
func apart(w startup.Welcome, me int32) startup.Welcome {
	if w.Shared >= 0 {
		unix.Close(w.Shared)
	}
	w.Shared, w.LocalRank, w.LocalSize, w.Local = -1, 0, 1, []int32{me}
	return w
}
