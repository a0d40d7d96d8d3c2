package match

import "unsafe"

// Offsets in bytes, for debuggers: of a Space's first unexpected message, and of a Message's owner and the next one.
const (
	Arrived = unsafe.Offsetof(Space[byte, byte]{}.arrived)
	Of      = unsafe.Offsetof(Message[byte]{}.Of)
	Next    = unsafe.Offsetof(Message[byte]{}.nextAll)
)
