package supervise

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestTheKernelListsTheChildrenThatAreFoundAmongAllProcesses(t *testing.T) {
	lives, ended := exec.Command("cat"), exec.Command("true")
	open, err := lives.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer lives.Wait()
	defer open.Close()
	said, err := ended.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{lives, ended} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	defer ended.Wait()
	io.Copy(io.Discard, said) // it ends
	want := []int{lives.Process.Pid}
	got := children()
	if i := slices.Index(got, ended.Process.Pid); i >= 0 { // it has closed its output, and is no zombie yet
		got = slices.Delete(got, i, i+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("children %v, want %v", got, want)
	}
	listed, ok := listedChildren()
	if !ok {
		t.Skip("the kernel lists no children (CONFIG_PROC_CHILDREN)")
	}
	var found []int
	for _, pid := range namesOf("/proc") {
		if st, ok := readStat(pid); ok && st.parent == os.Getpid() {
			found = append(found, pid)
		}
	}
	slices.Sort(listed)
	slices.Sort(found)
	if !slices.Equal(listed, found) {
		t.Errorf("the kernel lists %v, and %v are children", listed, found)
	}
}
