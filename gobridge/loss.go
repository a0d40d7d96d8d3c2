package main

// #include "executor/fast.h"
import "C"

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/startup"
)

// Losses of processes: what the launcher is told when one ends the job, what C must no longer do on communicators when
// the job survives it, and what a program does about it (User-Level Failure Mitigation, mpix.h).

// lostPeer is why the process has lost a peer; nil: it has lost none.
func (p *process) lostPeer() error {
	if p != nil && p.engine != nil {
		if err := p.engine.LostPeer(); err != nil {
			return err
		}
	} else if p != nil && p.gone != nil {
		return p.gone
	}
	return nil
}

// sayLoss lets noteLoss speak once.
var sayLoss sync.Once

// noteLoss tells the launcher that the process has lost a peer, if it has, before the program hears of it: whatever the
// program does then, be it MPI_Abort or exit with a code of its own, is a consequence, and not the job's cause.
func noteLoss() {
	p := started()
	err := p.lostPeer()
	if err == nil || p.link == nil {
		return
	}
	link := p.link
	sayLoss.Do(func() { link.Abort(startup.Abort{Code: 1, Text: err.Error(), Answer: true, Client: p.lostClient()}) })
}

// lostClient is another client that the process has lost; nil: none. So is p if the process has not joined.
func (p *process) lostClient() *int32 {
	switch {
	case p == nil:
	case p.engine != nil:
		return p.engine.LostClient()
	case p.gone != nil && p.gone.Client >= 0:
		return &p.gone.Client
	}
	return nil
}

// retreat makes C leave to Go what needs members of a communicator that has lost some, and all of one that is revoked.
// Engine lock held.
func retreat(c *libimpi.Comm) {
	b, ok := c.Bridge.(*communicator)
	if !ok { // the program does not have it yet: openFast comes later
		return
	}
	b.showLocal()
	if f := b.fast(); f != nil {
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&f.board)), nil)
	}
	if _, revoked := c.Losses(); revoked {
		b.shut()
	}
}

//export impi_Comm_revoke
func impi_Comm_revoke(comm uintptr) int32 {
	k := commQuery("MPIX_Comm_revoke", comm)
	if k.err != nil {
		return k.fail()
	}
	k.c.Revoke()
	return 0
}

//export impi_Comm_is_revoked
func impi_Comm_is_revoked(comm, flag uintptr) int32 {
	k := commQuery("MPIX_Comm_is_revoked", comm)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	putFlag(flag, k.c.Revoked())
	return 0
}

// membersOf stores a group of members of a communicator.
func membersOf(fn string, comm, failedgrp uintptr, members func(*libimpi.Comm) *libimpi.Group) int32 {
	k := commQuery(fn, comm)
	k.result(failedgrp, "failedgrp")
	if k.err != nil {
		return k.fail()
	}
	return k.answer(saveGroup(members(k.c.Comm), k.c.session), failedgrp)
}

//export impi_Comm_get_failed
func impi_Comm_get_failed(comm, failedgrp uintptr) int32 {
	return membersOf("MPIX_Comm_get_failed", comm, failedgrp, (*libimpi.Comm).Failed)
}

//export impi_Comm_failure_get_acked
func impi_Comm_failure_get_acked(comm, failedgrp uintptr) int32 {
	return membersOf("MPIX_Comm_failure_get_acked", comm, failedgrp, (*libimpi.Comm).Acknowledged)
}

//export impi_Comm_failure_ack
func impi_Comm_failure_ack(comm uintptr) int32 {
	k := commQuery("MPIX_Comm_failure_ack", comm)
	if k.err != nil {
		return k.fail()
	}
	k.c.AckFailed(math.MaxInt)
	return 0
}

//export impi_Comm_ack_failed
func impi_Comm_ack_failed(comm uintptr, num_to_ack int32, num_acked uintptr) int32 {
	k := commQuery("MPIX_Comm_ack_failed", comm)
	if num_to_ack < 0 {
		k.set(abi.MPI_ERR_ARG, "argument num_to_ack is negative: %d", num_to_ack)
	}
	k.result(num_acked, "num_acked")
	if k.err != nil {
		return k.fail()
	}
	put(num_acked, int32(k.c.AckFailed(int(num_to_ack))))
	return 0
}

//export impi_Comm_agree
func impi_Comm_agree(comm, flag uintptr) int32 {
	k := commQuery("MPIX_Comm_agree", comm)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	all, err := k.c.Agree(*ref[int32](flag))
	if err == nil || libimpi.AsError(err).Class == abi.MPIX_ERR_PROC_FAILED {
		put(flag, all)
	}
	return k.done(err)
}

//export impi_Comm_iagree
func impi_Comm_iagree(comm, flag, request uintptr) int32 {
	k := commQuery("MPIX_Comm_iagree", comm)
	k.result(flag, "flag")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	k.give(request, k.c.Iagree(*ref[int32](flag), func(all int32) { put(flag, all) }))
	return 0
}

//export impi_Comm_shrink
func impi_Comm_shrink(comm, newcomm uintptr) int32 {
	k := commQuery("MPIX_Comm_shrink", comm)
	k.result(newcomm, "newcomm")
	if k.err != nil {
		return k.fail()
	}
	c, err := k.c.Shrink()
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

// impi_Comm_ishrink stores the handle at once, as MPI_Comm_idup does. Until the request is done it stands for a
// communicator of all members, to which the program may give a name and an error handler, as there.
//
//export impi_Comm_ishrink
func impi_Comm_ishrink(comm, newcomm, request uintptr) int32 {
	k := commQuery("MPIX_Comm_ishrink", comm)
	k.result(newcomm, "newcomm")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	b := k.unfinished(k.c.Unopened())
	put(newcomm, b.handle)
	k.give(request, k.c.Ishrink(b.become))
	return 0
}

// become makes an unfinished communicator that of the engine; nil: nobody is left to talk to.
func (c *communicator) become(made *libimpi.Comm) {
	if made == nil {
		comms.Drop(c.handle)
		return
	}
	made.Name, made.Bridge = c.Comm.Name, c
	c.Comm = made
	c.join(c.session)
	c.openFast()
	c.pending.Store(false)
}

// What a program does about losses of members of a window or a file (mpix.h).

// lossy is a window or a file, which may lose members.
type lossy interface {
	Revoke()
	Revoked() bool
	Failed() *libimpi.Group
}

// lossy is that of a call, and the session that it belongs to.
func (k *check) lossy() (lossy, *session) {
	if k.w != nil {
		return k.w, k.w.session
	}
	return k.f, k.f.session
}

// revoke ends everything on it.
func (k *check) revoke() int32 {
	if k.err != nil {
		return k.fail()
	}
	of, _ := k.lossy()
	of.Revoke()
	return 0
}

// isRevoked stores whether it is revoked.
func (k *check) isRevoked(flag uintptr) int32 {
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	of, _ := k.lossy()
	putFlag(flag, of.Revoked())
	return 0
}

// getFailed stores the group of its members that are lost.
func (k *check) getFailed(failedgrp uintptr) int32 {
	if k.result(failedgrp, "failedgrp"); k.err != nil {
		return k.fail()
	}
	of, s := k.lossy()
	return k.answer(saveGroup(of.Failed(), s), failedgrp)
}

//export impi_Win_revoke
func impi_Win_revoke(win uintptr) int32 {
	k := winQuery("MPIX_Win_revoke", win)
	return k.revoke()
}

//export impi_Win_is_revoked
func impi_Win_is_revoked(win, flag uintptr) int32 {
	k := winQuery("MPIX_Win_is_revoked", win)
	return k.isRevoked(flag)
}

//export impi_Win_get_failed
func impi_Win_get_failed(win, failedgrp uintptr) int32 {
	k := winQuery("MPIX_Win_get_failed", win)
	return k.getFailed(failedgrp)
}

//export impi_File_revoke
func impi_File_revoke(fh uintptr) int32 {
	k := fileQuery("MPIX_File_revoke", fh)
	return k.revoke()
}

//export impi_File_is_revoked
func impi_File_is_revoked(fh, flag uintptr) int32 {
	k := fileQuery("MPIX_File_is_revoked", fh)
	return k.isRevoked(flag)
}

//export impi_File_get_failed
func impi_File_get_failed(fh, failedgrp uintptr) int32 {
	k := fileQuery("MPIX_File_get_failed", fh)
	return k.getFailed(failedgrp)
}
