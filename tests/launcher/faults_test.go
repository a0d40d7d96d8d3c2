package launcher

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Crashes: the signal stays what it is, the line of the program is named, and nothing of Go shows. Memory that is not
// there, met inside the library, is that of a call and an argument.

func TestABadBufferIsNamed(t *testing.T) {
	file := program(t, "fault")
	for do, said := range map[string]string{
		"send 1":      "MPI_Send met no usable memory at address 0x",
		"send-long 0": "MPI_Ssend met no usable memory at address 0x",
		"recv 1":      "MPI_Recv met no usable memory at address 0x",
		"recv-long 0": "MPI_Recv met no usable memory at address 0x",
		"reduce 1":    "MPI_Allreduce met no usable memory at address 0x",
		"counts 0":    "MPI_Gatherv met no usable memory at address 0x",
	} {
		argument := map[string]string{"reduce 1": "argument sendbuf is 0x", "counts 0": "argument recvcounts is 0x"}[do]
		if argument == "" {
			argument = "argument buf is 0x"
		}
		for _, how := range spread[:2] {
			t.Run(how+" "+do, func(t *testing.T) {
				r := run(t, words(how, file, do)...)
				for range 4 { // Go may be collecting garbage (docs/diagnosis.md), but not each time
					if _, untold, _ := strings.Cut(r.stderr, " was killed by signal 11"); strings.Count(untold, "\n") != 1 {
						break
					}
					r = run(t, words(how, file, do)...)
				}
				wanted := []string{said, argument}
				if strings.HasPrefix(do, "recv") && strings.Contains(how, "clients") &&
					strings.Contains(r.stderr, "the progress of messages") {
					// The watcher of sockets has met the memory, since no thread of the program was polling.
					wanted = []string{"the progress of messages met no usable memory at address 0x"}
				}
				for _, want := range append(wanted, "killed by signal 11",
					fmt.Sprintf("rank %s on", strings.Fields(do)[1])) {
					if !strings.Contains(r.stderr, want) {
						t.Errorf("%q is missing", want)
					}
				}
				lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
				above := messages(r.stderr)
				if !strings.HasPrefix(lines[0], "impirun: ") || len(lines) > 4 || above != 1 || r.code != 139 ||
					!strings.Contains(r.stderr, "    hint: ") {
					t.Errorf("code %d, stderr %q", r.code, r.stderr)
				}
				if wanted[0] == said && runtime.GOARCH == "amd64" && !strings.Contains(lines[0], "in main at fault.c:") {
					t.Errorf("the line of the call is missing: %q", r.stderr)
				}
			})
		}
	}
}

func TestAFaultOfTheProgramsOwnIsNamedAndNotOurs(t *testing.T) {
	file := program(t, "fault")
	for _, how := range spread {
		run(t, words(how, file, "outside 1")...).expect(t, 139, "killed by signal 11 (SIGSEGV, segmentation fault) in main "+
			"at fault.c:")
	}
	run(t, words("-n 2", file, "outside 1")...).expect(t, 139, "the last call of MPI was MPI_Barrier")
	run(t, words("-n 2", file, "divide 1")...).expect(t, 136, "killed by signal 8")
	run(t, words("-n 2", file, "divide 1")...).expect(t, 136, "the program sent the signal to itself")
	for _, do := range []string{"handler-before 0", "handler-after 0"} {
		r := run(t, words("-n 2", file, do)...)
		if r.code != 3 || !strings.HasPrefix(r.stderr, "the program's own\n") {
			t.Errorf("%s: code %d, stderr %q", do, r.code, r.stderr)
		}
	}
}

func TestASignalThatIsSentBeforeMPIBeginsEndsTheRankAsAnywhere(t *testing.T) {
	file := program(t, "fault")
	for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE} {
		early := []string{file, "early", fmt.Sprint(int(s))}
		if r := startProgram(t, nil, early[0], early[1:]...).wait(); r.code != 128+int(s) || r.stderr != "" {
			t.Errorf("alone: code %d, stderr %q", r.code, r.stderr)
		}
		killed := fmt.Sprintf("killed by signal %d (", int(s))
		for _, how := range [][]string{append(words("-n 2"), early...), words("-n 1", file, "joining 0 : -n 1 sleep 1000")} {
			j := start(t, how...)
			if slices.Contains(how, "joining") { // it waits in MPI_Init, or is about to
				j.stdout.await("\n", 1)
				var pid int
				fmt.Sscanf(j.stdout.String(), "ready %d", &pid)
				syscall.Kill(pid, s)
			}
			r := j.wait()
			r.expect(t, 128+int(s), killed)
			if strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("more than one line: %q", r.stderr)
			}
		}
	}
}

func TestASignalThatIsSentIntoTheLibraryEndsTheRankAsAnywhere(t *testing.T) {
	file := program(t, "fault")
	for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGQUIT} {
		for _, how := range spread[:2] {
			j := start(t, words(how, file, "signalled 1")...)
			j.stdout.await("\n", 1)
			var pid int
			fmt.Sscanf(j.stdout.String(), "ready %d", &pid)
			syscall.Kill(pid, s)
			j.wait().expect(t, 128+int(s), fmt.Sprintf("killed by signal %d (", int(s)))
		}
	}
}
