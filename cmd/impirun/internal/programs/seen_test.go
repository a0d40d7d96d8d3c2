package programs

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

const mapWord = "--map-a-file"

// TestMain is also a process of a job that maps the file which it is told, and ends with its standard input.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == mapWord {
		f, err := os.Open(os.Args[2])
		if err != nil {
			panic(err)
		}
		if _, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE); err != nil {
			panic(err)
		}
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestALibraryOfAnotherMPIThatAProcessOfTheJobMapsIsSeen(t *testing.T) {
	folder := t.TempDir()
	library := filepath.Join(folder, "libmpi.so.40.1")
	cc := exec.Command("cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library)
	cc.Stdin = strings.NewReader("int PMPI_Init(void) { return 0; }")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v %s", err, out)
	}
	os.Symlink("libmpi.so.40.1", filepath.Join(folder, "libmpi.so.40"))
	watch := Watch([]supervise.Process{{Path: "/bin/sh", Env: []string{"LD_LIBRARY_PATH=" + folder}}})
	if watch == nil {
		t.Fatal("there is nothing to look for")
	}
	child := exec.Command(os.Args[0], mapWord, filepath.Join(folder, "libmpi.so.40"))
	stay, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	<-watch.done
	seen := watch.End()
	stay.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if seen == nil || seen.pid != child.Process.Pid || seen.library != library {
		t.Errorf("%+v; want %d and %s", seen, child.Process.Pid, library)
	}
}

func TestOurOwnLibrariesAndThoseOfOthersProcessesAreNotSeen(t *testing.T) {
	l := &Lookout{ours: map[string]bool{}}
	if l.look() {
		t.Errorf("%+v", l.seen)
	}
	var none *Lookout
	if none.End() != nil {
		t.Error("nobody has looked")
	}
}
