package main

import "C"

import "github.com/libimpi/libimpi/libimpi"

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
