package calling

import (
	"bytes"
	"os"
)

// goThread is the name of the library's own threads, as shim/load.c gives it to them.
const goThread = "libimpi(go)"

// Threads returns how many threads of the process are the program's, or of libraries that it uses. False: that cannot
// be found out.
func Threads() (n int, ok bool) {
	const tasks = "/proc/self/task"
	list, err := os.ReadDir(tasks)
	if err != nil || len(list) == 0 {
		return 0, false
	}
	for _, t := range list {
		name, err := os.ReadFile(tasks + "/" + t.Name() + "/comm")
		if err == nil && string(bytes.TrimSpace(name)) == goThread || os.IsNotExist(err) {
			continue // or it has ended
		}
		n++
	}
	return n, true
}
