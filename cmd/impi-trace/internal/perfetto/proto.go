package perfetto

import (
	"encoding/binary"
	"strings"
)

// message is a message of protobuf in the making (protobuf.dev/programming-guides/encoding).
type message []byte

func (m *message) number(field int, v uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3)
	*m = binary.AppendUvarint(*m, v)
}

func (m *message) fixed(field int, v uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|1)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

func (m *message) text(field int, s string) {
	s = strings.ToValidUTF8(s, "?")
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(s)))
	*m = append(*m, s...)
}

func (m *message) inner(field int, b message) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

// Fields, by message, of perfetto/protos/perfetto/trace.
const (
	tracePacket = 1 // Trace

	packetTimestamp = 8 // TracePacket
	packetSequence  = 10
	packetEvent     = 11
	packetInterned  = 12
	packetFlags     = 13
	packetDefaults  = 59
	packetTrack     = 60

	defaultsEvent = 11 // TracePacketDefaults

	trackUUID     = 1 // TrackDescriptor
	trackName     = 2
	trackParent   = 5
	trackOrdering = 11
	trackRank     = 12

	internedCategories = 1 // InternedData
	internedNames      = 2
	internedArguments  = 3
	internedStrings    = 29

	eventCategory  = 3 // TrackEvent
	eventArgument  = 4
	eventType      = 9
	eventName      = 10
	eventTrack     = 11
	eventNameText  = 23
	eventFlow      = 47
	eventFlowsEnd  = 48
	argumentName   = 1 // DebugAnnotation
	argumentNumber = 4
	argumentText   = 17

	begin, end      = 1, 2 // TrackEvent.Type
	cleared, needed = 1, 2 // flags: the sequence begins; what was said before counts
	explicit        = 3    // ChildTracksOrdering
)
