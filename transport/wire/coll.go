package wire

import (
	"fmt"
	"slices"
)

// Label says what a COLL message carries (2.3.5). The server does not look further than the label.
type Label int32

const (
	NoLabel        Label = 0 // never sent
	CVersion       Label = 0x1000
	CNHosts        Label = 0x1100
	CNProcs        Label = 0x1200
	CDataLen       Label = 0x1300
	CTagUB         Label = 0x1400
	CCollXSize     Label = 0x1500
	CCollMaxLinear Label = 0x1600
	HIPv6          Label = 0x2000
	HPort          Label = 0x2100
	HNProcs        Label = 0x2200
	HAckMark       Label = 0x2300
	HHiWater       Label = 0x2400
	PIPv6          Label = 0x3000
	PPID           Label = 0x3100
)

// NLabels is how many labels every client of IMPI 0.0 contributes.
const NLabels = 14

// Labels are the mandatory labels in ascending order, which is the order in which they must be submitted.
var Labels = [NLabels]Label{CVersion, CNHosts, CNProcs, CDataLen, CTagUB, CCollXSize, CCollMaxLinear,
	HIPv6, HPort, HNProcs, HAckMark, HHiWater, PIPv6, PPID}

// Index is l's place in Labels, -1 if it is not there.
func (l Label) Index() int {
	return slices.Index(Labels[:], l)
}

// Per says how many elements a client contributes to a label.
type Per uint8

const (
	PerList   Per = iota // as many as it likes: C_VERSION
	PerClient            // one
	PerHost              // one for each of its hosts
	PerProc              // one for each of its processes
)

// Shape is how many elements of how many bytes one client contributes to l. It returns false if l is not
// mandatory; what such a label carries is not known here.
func (l Label) Shape() (per Per, size int, ok bool) {
	switch l {
	case CVersion:
		return PerList, VersionSize, true
	case CNHosts, CNProcs, CDataLen, CTagUB, CCollXSize, CCollMaxLinear:
		return PerClient, 4, true
	case HIPv6:
		return PerHost, 16, true
	case HPort, HNProcs, HAckMark, HHiWater:
		return PerHost, 4, true
	case PIPv6:
		return PerProc, 16, true
	case PPID:
		return PerProc, 8, true
	}
	return 0, 0, false
}

var labelNames = [NLabels]string{"C_VERSION", "C_NHOSTS", "C_NPROCS", "C_DATALEN", "C_TAGUB", "C_COLL_XSIZE",
	"C_COLL_MAXLINEAR", "H_IPV6", "H_PORT", "H_NPROCS", "H_ACKMARK", "H_HIWATER", "P_IPV6", "P_PID"}

func (l Label) String() string {
	if i := l.Index(); i >= 0 {
		return labelNames[i]
	}
	return fmt.Sprintf("label %#x", uint32(l))
}

// AppendColl adds the head of a COLL command whose n bytes of data the caller appends next.
func AppendColl(b []byte, l Label, n int) []byte {
	return be.AppendUint32(Cmd{CmdColl, int32(CollSize + n)}.Append(b), uint32(l))
}

// ParseColl splits the payload of a client's COLL. It returns false if it has no room for a label.
func ParseColl(b []byte) (l Label, data []byte, ok bool) {
	if len(b) < CollSize {
		return 0, nil, false
	}
	return Label(be.Uint32(b)), b[CollSize:], true
}

// AppendChdr adds the head of a broadcast whose n bytes of data, the contributions of the clients in mask
// in ascending rank, the caller appends next.
func AppendChdr(b []byte, l Label, mask uint32, n int) []byte {
	b = Cmd{CmdColl, int32(ChdrSize + n)}.Append(b)
	return be.AppendUint32(be.AppendUint32(b, uint32(l)), mask)
}

// ParseChdr splits the payload of a server's COLL. It returns false if it has no room for its head.
func ParseChdr(b []byte) (l Label, mask uint32, data []byte, ok bool) {
	if len(b) < ChdrSize {
		return 0, 0, nil, false
	}
	return Label(be.Uint32(b)), be.Uint32(b[4:]), b[ChdrSize:], true
}

// Version is one version of IMPI that a client speaks.
type Version struct{ Major, Minor uint32 }

// Less orders versions.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Append adds v as C_VERSION carries it, in VersionSize bytes.
func (v Version) Append(b []byte) []byte {
	return be.AppendUint32(be.AppendUint32(b, v.Major), v.Minor)
}

// ParseVersion reads the first VersionSize bytes of b. It returns false if b is shorter.
func ParseVersion(b []byte) (v Version, ok bool) {
	if len(b) < VersionSize {
		return v, false
	}
	return Version{be.Uint32(b), be.Uint32(b[4:])}, true
}

// Limits of what C_TAGUB may say (MPI requires the lower one).
const (
	MinTagUB int32 = 32767
	MaxTagUB int32 = 2147483647
)

// What this implementation contributes unless told otherwise.
const (
	DefaultDataLen uint32 = 65536 // bytes
	DefaultTagUB   int32  = MaxTagUB
	DefaultAckMark uint32 = 10 // packets
	DefaultHiWater uint32 = 20 // packets
	Unset          int32  = -1 // C_COLL_XSIZE, C_COLL_MAXLINEAR: the default, by the only name all peers know
)
