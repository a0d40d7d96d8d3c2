package hosts

import (
	"os"
	"sync"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/topology/hardware"
)

// Hardware returns what this machine is made of, and the CPUs of it that this process may use: those that a batch
// system, a container or taskset has left it. Ranks get no others.
var Hardware = sync.OnceValues(func() (hardware.Machine, hardware.Set) {
	mask := hardware.Set{}
	cpus, err := supervise.CPUs()
	if err != nil {
		return nil, mask
	}
	for _, cpu := range cpus {
		mask[cpu] = true
	}
	return hardware.Read(os.DirFS(SystemFiles)), mask
})

// SystemFiles is where Linux describes a machine.
const SystemFiles = "/sys/devices/system"
