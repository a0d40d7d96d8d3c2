package wire

// HMachine is the label under which libimpi clients say on which machine each of their hosts is, in MachineSize bytes a
// host. Addresses do not tell, since a machine may have several. The library must know which processes share cores, and
// whether these are too few.
const HMachine Label = 0x4C490002

// MachineSize is the size of a Machine, in bytes.
const MachineSize = 12

// Machine is where a host is.
type Machine struct {
	ID     uint64 // the same for all hosts there, and for no others; 0: not known
	Others uint32 // processes that the host needs besides those of the program, at most one: an agent
	// Crowded says that the client's processes there outnumber the cores. Earlier versions take it for another process.
	Crowded bool
}

// crowded is the bit of Crowded; the one below it is Others.
const crowded = 1 << 1

// Append adds m as HMachine carries it.
func (m Machine) Append(b []byte) []byte {
	rest := min(m.Others, 1)
	if m.Crowded {
		rest |= crowded
	}
	return be.AppendUint32(be.AppendUint64(b, m.ID), rest)
}

// ParseMachine reads the first MachineSize bytes of b. It returns false if b is shorter.
func ParseMachine(b []byte) (m Machine, ok bool) {
	if len(b) < MachineSize {
		return m, false
	}
	rest := be.Uint32(b[8:])
	return Machine{be.Uint64(b), rest & 1, rest&crowded != 0}, true
}
