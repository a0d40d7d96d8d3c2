package supervise

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// A process is bound to CPUs before it runs: the thread that starts it takes their mask on, which the process inherits,
// and goes back to its own. Between fork and exec Go runs no code of ours.

// maxCPU is beyond the CPUs that can be named in a mask.
const maxCPU = len(unix.CPUSet{}) * 64

// CPUs are those that this process may use, in ascending order.
func CPUs() ([]int, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, fmt.Errorf("the CPUs that this process may use: %w", err)
	}
	var list []int
	for cpu := range maxCPU {
		if mask.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list, nil
}

// bound calls start on a thread that is bound to CPUs. The caller stands on a thread that no other goroutine uses.
func bound(cpus []int, start func() error) error {
	var own, mask unix.CPUSet
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	if len(cpus) == 0 {
		return start()
	}
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		list := strings.Trim(fmt.Sprint(cpus), "[]")
		return &StartError{CodeNotExecutable, fmt.Sprintf("a rank cannot be bound to CPUs %s: %v", list, err)}
	}
	defer unix.SchedSetaffinity(0, &own) // as it was: if it fails this thread stays where the rank is, which is no harm
	return start()
}
