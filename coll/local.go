package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/datatype"
)

// AtOnce takes the local steps of an algorithm when they are named. It is for embedding in a Comm.
type AtOnce struct{}

// Copy implements Local.
func (AtOnce) Copy(dst, src Buf) error { return Copy(dst, src) }

// Combine implements Local.
func (AtOnce) Combine(op Op, in, inout Buf) error { return buffer.Combine(op, in, inout) }

// Pack implements Local.
func (AtOnce) Pack(dst []byte, src Buf, rep datatype.Rep) error { return Pack(dst, src, rep) }

// Unpack implements Local.
func (AtOnce) Unpack(dst Buf, src []byte, rep datatype.Rep) error { return Unpack(dst, src, rep) }

// Then implements Local.
func (AtOnce) Then(f func() error) error { return f() }

// Scratch implements Local.
func (AtOnce) Scratch() *Scratch { return NewScratch() }
