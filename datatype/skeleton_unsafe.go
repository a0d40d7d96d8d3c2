// Package datatype describes and moves data laid out by MPI datatypes (MPI 5.0, chapter 5).
package datatype

import "unsafe"

type Rep uint8

const (
	Native Rep = iota
	External32
)

type Error struct {
	Class int    // MPI error class, a constant of package abi
	Arg   string // the argument of the constructor, as MPI names it
	Value int64
	Msg   string
}

func (e *Error) Error() string { return e.Msg }

type Type struct{ _ [64]byte }

var LBMarker, UBMarker *Type

func Named(handle int) *Type { panic("skeleton") }

func Contiguous(count int64, old *Type) (*Type, error)                       { panic("skeleton") }
func Vector(count, blocklength, stride int64, old *Type) (*Type, error)      { panic("skeleton") }
func Hvector(count, blocklength, stride int64, old *Type) (*Type, error)     { panic("skeleton") }
func Indexed(blocklengths, displacements []int64, old *Type) (*Type, error)  { panic("skeleton") }
func Hindexed(blocklengths, displacements []int64, old *Type) (*Type, error) { panic("skeleton") }
func IndexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	panic("skeleton")
}
func HindexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	panic("skeleton")
}
func Struct(blocklengths, displacements []int64, types []*Type) (*Type, error) { panic("skeleton") }
func Subarray(sizes, subsizes, starts []int64, order int, old *Type) (*Type, error) {
	panic("skeleton")
}
func Darray(size, rank int, gsizes []int64, distribs, dargs, psizes []int, order int, old *Type) (*Type, error) {
	panic("skeleton")
}
func Resized(old *Type, lb, extent int64) (*Type, error) { panic("skeleton") }
func Dup(old *Type) *Type                                { panic("skeleton") }

// AsLarge marks a type just made as the result of an MPI_..._c constructor (large counts in Contents).
func (t *Type) AsLarge() *Type { panic("skeleton") }

func (t *Type) Handle() int       { panic("skeleton") }
func (t *Type) Name() string      { panic("skeleton") }
func (t *Type) Commit()           { panic("skeleton") }
func (t *Type) Committed() bool   { panic("skeleton") }
func (t *Type) Size() int64       { panic("skeleton") }
func (t *Type) Extent() int64     { panic("skeleton") }
func (t *Type) LB() int64         { panic("skeleton") }
func (t *Type) UB() int64         { panic("skeleton") }
func (t *Type) TrueLB() int64     { panic("skeleton") }
func (t *Type) TrueUB() int64     { panic("skeleton") }
func (t *Type) TrueExtent() int64 { panic("skeleton") }
func (t *Type) Uniform() *Type    { panic("skeleton") }

func (t *Type) PackedSize(count int64, rep Rep) int64    { panic("skeleton") }
func (t *Type) Count(bytes int64, rep Rep) int64         { panic("skeleton") }
func (t *Type) Elements(bytes int64, rep Rep) int64      { panic("skeleton") }
func (t *Type) Signature() (hash uint64, elements int64) { panic("skeleton") }

// Contents is what MPI_Type_get_contents(_c) answers.
type Contents struct {
	Combiner    int
	Large       bool
	Integers    []int64
	Addresses   []int64
	LargeCounts []int64
	Types       []*Type
}

func (t *Type) Contents() Contents { panic("skeleton") }

func (t *Type) Span(base unsafe.Pointer, count int64) (p unsafe.Pointer, n int64, ok bool) {
	panic("skeleton")
}

type Cursor struct{ _ [128]byte }

func (c *Cursor) Init(base unsafe.Pointer, count int64, t *Type, rep Rep) { panic("skeleton") }
func (c *Cursor) Pack(dst []byte) int                                     { panic("skeleton") }
func (c *Cursor) Unpack(src []byte) int                                   { panic("skeleton") }
func (c *Cursor) SeekTo(pos int64)                                        { panic("skeleton") }
func (c *Cursor) Pos() int64                                              { panic("skeleton") }
func (c *Cursor) Len() int64                                              { panic("skeleton") }

// Err is MPI_ERR_CONVERSION's error once a value had no external32 form, else nil.
func (c *Cursor) Err() error { panic("skeleton") }

func Copy(dst unsafe.Pointer, dcount int64, dt *Type, src unsafe.Pointer, scount int64, st *Type) (bytes int64, truncated bool) {
	panic("skeleton")
}

// MatchSize is MPI_Type_match_size, ValueIndex MPI_Type_get_value_index; nil: there is none.
func MatchSize(typeclass int, size int64) *Type { panic("skeleton") }
func ValueIndex(value, index *Type) *Type       { panic("skeleton") }
func F90Real(p, r int) (*Type, error)           { panic("skeleton") }
func F90Complex(p, r int) (*Type, error)        { panic("skeleton") }
func F90Integer(r int) (*Type, error)           { panic("skeleton") }
