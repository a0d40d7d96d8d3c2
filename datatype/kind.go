package datatype

// kind is the way a unit of memory becomes bytes of external32 and back.
type kind uint8

const (
	kindRaw   kind = iota // any bytes, unchanged; the only kind of the native form
	kindSwap2             // big-endian, 2 to 16 bytes
	kindSwap4
	kindSwap8
	kindSwap16
	kindLong  // 8 bytes, signed <-> 4
	kindULong // 8 bytes, unsigned <-> 4
	kindWchar // 4 bytes <-> 2, UTF-16 unit
	kindBool  // zero or not <-> 0 or 1
	kindX87   // 80-bit extended in 16 bytes <-> IEEE binary128
)

var kindSizes = [...]struct{ mem, packed int64 }{
	kindRaw: {1, 1}, kindSwap2: {2, 2}, kindSwap4: {4, 4}, kindSwap8: {8, 8}, kindSwap16: {16, 16},
	kindLong: {8, 4}, kindULong: {8, 4}, kindWchar: {4, 2}, kindBool: {1, 1}, kindX87: {16, 16},
}

func (k kind) mem() int64    { return kindSizes[k].mem }
func (k kind) packed() int64 { return kindSizes[k].packed }

// maxUnit is the size of the largest unit, in memory or packed.
const maxUnit = 16
