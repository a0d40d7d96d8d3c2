package address

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"sync"
)

// Machine tells this machine from all others, whatever their addresses: from a number that the system draws when it
// boots, which containers share as they share the cores. 0: the system does not say.
var Machine = sync.OnceValue(func() uint64 {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	digest := sha256.Sum256(append([]byte("libimpi machine "), boot...))
	return binary.BigEndian.Uint64(digest[:])
})
