//go:build !race

package futex

type shadow struct{}

func (*shadow) acquired() {}
func (*shadow) released() {}
