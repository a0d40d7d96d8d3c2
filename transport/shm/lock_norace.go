//go:build !race

package shm

type lockShadow struct{}

func (*lockShadow) acquired() {}
func (*lockShadow) released() {}
