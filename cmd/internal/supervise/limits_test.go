package supervise

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// system makes a tree of the kernel's files.
func system(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTheControlGroupsAboveLimitProcessesToo(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  []int64
	}{
		"version 2": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/pids.max": "max\n",
			"sys/fs/cgroup/a/b/pids.current": "4\n", "sys/fs/cgroup/a/pids.max": "20\n",
			"sys/fs/cgroup/a/pids.current": "7\n"}, []int64{13}},
		"a container's own root": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/pids.max": "9\n",
			"sys/fs/cgroup/pids.current": "9\n"}, []int64{0}},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:pids:/x\n",
			"sys/fs/cgroup/pids/x/pids.max": "3\n", "sys/fs/cgroup/pids/x/pids.current": "1\n"}, []int64{2}},
		"none": {map[string]string{"proc/self/cgroup": "0::/../..\n"}, nil},
	} {
		var got []int64
		for _, r := range rooms(system(t, tt.files), 0) {
			if !strings.Contains(r.Limit, "pids.max, which is ") {
				t.Errorf("%s: %q", name, r.Limit)
			}
			got = append(got, r.Left)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestThreadsOfAUserAreCounted(t *testing.T) {
	root := system(t, map[string]string{
		"proc/1/status": "Name:\tinit\nUid:\t0\t0\t0\t0\nThreads:\t5\n",
		"proc/7/status": "Name:\ta Uid: 3\nUid:\t1000\t0\t0\t0\nThreads:\t3\n",
		"proc/8/status": "Uid:\t1000\t1000\t1000\t1000\nThreads:\t4\n",
		"proc/9/status": "junk\n",
	})
	if n := tasksOf(root, 1000); n != 7 {
		t.Errorf("%d threads", n)
	}
}
