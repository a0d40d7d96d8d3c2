package wire

// HMachine is the label under which libimpi clients say on which machine each of their hosts is, in MachineSize bytes a
// host. Addresses do not tell, since a machine may have several. The library must know which processes share cores.
const HMachine Label = 0x4C490002

// MachineSize is the size of a Machine, in bytes.
const MachineSize = 12

// Machine is where a host is.
type Machine struct {
	ID     uint64 // the same for all hosts there, and for no others; 0: not known
	Others uint32 // processes that the host needs besides those of the program: an agent
}

// Append adds m as HMachine carries it.
func (m Machine) Append(b []byte) []byte { return be.AppendUint32(be.AppendUint64(b, m.ID), m.Others) }

// ParseMachine reads the first MachineSize bytes of b. It returns false if b is shorter.
func ParseMachine(b []byte) (m Machine, ok bool) {
	if len(b) < MachineSize {
		return m, false
	}
	return Machine{be.Uint64(b), be.Uint32(b[8:])}, true
}
