package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Words by which impi-info starts itself to test something that takes two processes.
const (
	hiddenPrefix = "="
	ownerWord    = "=owner"  // has a secret, prints where it is and what, and waits for the end of its input
	readerWord   = "=reader" // PID ADDRESS: prints what is there
	answerWord   = "=answer" // the other side of a test of connections (check_network.go)
)

// hidden does what a process that impi-info starts has to do, and returns the exit code.
func hidden(word string, args []string) int {
	var err error
	switch {
	case word == ownerWord:
		err = owner()
	case word == readerWord && len(args) == 2:
		err = reader(args[0], args[1])
	case word == answerWord:
		err = answer(os.Stdin, os.Stdout, args)
	default:
		err = fmt.Errorf("unknown word %s (impi-info --help)", word)
	}
	if err != nil {
		complain(err)
		return codeFailed
	}
	return 0
}

const secretBytes = 16

// owner is as a rank is: where Yama restricts reading to ancestors, it lets the process that started it, and that
// one's descendants, read (transport/shm).
func owner() error {
	unix.Prctl(unix.PR_SET_PTRACER, uintptr(os.Getppid()), 0, 0, 0)
	secret := new([secretBytes]byte)
	rand.Read(secret[:])
	fmt.Printf("%p %x\n", secret, *secret)
	_, err := io.Copy(io.Discard, os.Stdin)
	secret[0]++ // it is in use until here
	return err
}

func reader(process, address string) error {
	pid, err := strconv.Atoi(process)
	if err != nil {
		return err
	}
	at, err := strconv.ParseUint(strings.TrimPrefix(address, "0x"), 16, 64)
	if err != nil {
		return err
	}
	var seen [secretBytes]byte
	local := []unix.Iovec{{Base: &seen[0]}}
	local[0].SetLen(len(seen))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(seen)}}, 0)
	if err != nil {
		return fmt.Errorf("process_vm_readv: %w", err)
	}
	fmt.Printf("%x\n", seen[:n])
	return nil
}

// otherProcesses tests whether a rank can read from another's memory, in two processes that have one parent.
func otherProcesses(system fs.FS) []finding {
	scope := line(system, "proc/sys/kernel/yama/ptrace_scope")
	list := []finding{reading(tryReading(), scope)}
	if line(system, "proc/self/cgroup") == "" && line(system, "proc/self/stat") == "" {
		list = append(list, finding{"/proc", failed, "is not mounted", "mount it: the launcher finds its program by it"})
	}
	return list
}

// reading returns what it means that a rank can or cannot read from another, given the scope of Yama.
func reading(err error, scope string) finding {
	const name = "process_vm_readv"
	said := "Yama is not there"
	if scope != "" {
		said = "ptrace_scope is " + scope
	}
	if err == nil {
		return ok(name, "a rank can read from another's memory; %s", said)
	}
	do := "let the container have it (docker --cap-add SYS_PTRACE, or a seccomp profile that allows process_vm_readv)"
	if scope == "2" || scope == "3" {
		do = "sysctl kernel.yama.ptrace_scope=1"
	}
	return finding{name, note, fmt.Sprintf("%v; %s", err, said), do + ". Without it, long messages go through shared " +
		"memory all the way, and other processes' windows are served by their owners"}
}

func tryReading() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	of := exec.Command(self, ownerWord)
	of.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	input, err := of.StdinPipe()
	if err != nil {
		return err
	}
	output, err := of.StdoutPipe()
	if err != nil {
		return err
	}
	if err := of.Start(); err != nil {
		return err
	}
	defer of.Wait()
	defer input.Close()
	said, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return err
	}
	address, secret, _ := strings.Cut(strings.TrimSpace(said), " ")
	var complaint bytes.Buffer
	by := exec.Command(self, readerWord, strconv.Itoa(of.Process.Pid), address)
	by.Stderr = &complaint
	seen, err := by.Output()
	if err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(strings.TrimSpace(complaint.String()), "impi-info: "))
	}
	if _, err := hex.DecodeString(secret); err != nil || strings.TrimSpace(string(seen)) != secret {
		return fmt.Errorf("reading the memory of process %d returned %.80q, not %.80q", of.Process.Pid, seen, secret)
	}
	return nil
}
