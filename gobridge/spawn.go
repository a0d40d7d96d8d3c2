package main

import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/ports"
	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// Processes that start others (MPI 5.0, 11.8). The root of MPI_Comm_spawn opens a port that nobody else knows, asks its
// launcher for a job whose rank 0 dials that port in MPI_Init (meetParent), and accepts.

// maxSpawned bounds the processes of one call, and the commands, before anything is read of them.
const maxSpawned = 1 << 16

//export impi_Comm_get_parent
func impi_Comm_get_parent(parent uintptr) int32 {
	k := check{fn: "MPI_Comm_get_parent"}
	if !k.notStarted() {
		k.result(parent, "parent")
	}
	if k.err != nil {
		return k.fail()
	}
	h := uintptr(abi.MPI_COMM_NULL)
	if p := started(); p.parent != 0 && comms.Find(p.parent) != nil { // it has not been disconnected or freed
		h = p.parent
	}
	put(parent, h)
	return 0
}

// meetParent connects the processes of a job that has been spawned with those that have called MPI_Comm_spawn, over
// MPI_COMM_WORLD. The caller holds starting.
func (p *process) meetParent(port string) error {
	k := check{fn: "MPI_Init", c: p.world.Load()}
	var line transport.Line
	var failed error
	if p.engine.World().Rank() == 0 {
		if line, failed = k.connect(port, p.connectTime); line != nil {
			defer line.Close()
		}
	}
	c, _, err := k.meet(line, 0, failed, p.connectTime, nil)
	if err != nil {
		return libimpi.Errorf(libimpi.AsError(err).Class, "cannot meet the parents: %v", err)
	}
	newHandle(c, defaultHandler(), nil, address(&p.parent))
	c.Rename("MPI_COMM_PARENT")
	return nil
}

// orphaned ends a process that cannot meet its parents in a job that is fault tolerant. Most often one of them is lost,
// which costs those that they were about to start, and nobody else.
func (p *process) orphaned(why error) {
	if !p.engine.Job().FaultTolerant {
		return
	}
	switch libimpi.AsError(why).Class {
	case abi.MPIX_ERR_PROC_FAILED, abi.MPI_ERR_PROC_ABORTED, abi.MPI_ERR_PORT:
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", whoAmI(), why)
	}
	unix.Exit(1)
}

//export impi_Comm_spawn
func impi_Comm_spawn(command, argv uintptr, maxprocs int32, info uintptr, root int32, comm, intercomm,
	array_of_errcodes uintptr) int32 {
	return spawn("MPI_Comm_spawn", root, comm, intercomm, array_of_errcodes, func(k *check) []startup.Command {
		return []startup.Command{k.command(command, argv, maxprocs, info, "command", "maxprocs")}
	})
}

//export impi_Comm_spawn_multiple
func impi_Comm_spawn_multiple(count int32, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info uintptr,
	root int32, comm, intercomm, array_of_errcodes uintptr) int32 {
	return spawn("MPI_Comm_spawn_multiple", root, comm, intercomm, array_of_errcodes, func(k *check) []startup.Command {
		return k.commands(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info)
	})
}

// commands reads the arrays of MPI_Comm_spawn_multiple.
func (k *check) commands(count int32, programs, argvs, maxprocs, infos uintptr) []startup.Command {
	if count < 1 || count > maxSpawned {
		k.set(abi.MPI_ERR_COUNT, "argument count is %d; 1 to %d commands can be started", count, maxSpawned)
		return nil
	}
	n := int(count)
	k.array(programs, n, "array_of_commands")
	k.array(maxprocs, n, "array_of_maxprocs")
	if k.array(infos, n, "array_of_info"); k.err != nil {
		return nil
	}
	list := make([]startup.Command, n)
	for i := range list {
		var argv uintptr
		if argvs != abi.MPI_ARGVS_NULL {
			argv = slice[uintptr](argvs, n)[i]
		}
		list[i] = k.command(slice[uintptr](programs, n)[i], argv, slice[int32](maxprocs, n)[i], slice[uintptr](infos, n)[i],
			fmt.Sprintf("array_of_commands[%d]", i), fmt.Sprintf("array_of_maxprocs[%d]", i))
	}
	return list
}

// command reads one command.
func (k *check) command(program, argv uintptr, maxprocs int32, info uintptr, arg, procsArg string) (c startup.Command) {
	if k.result(program, arg); k.err != nil {
		return c
	}
	c.Program, c.Procs = text(program, maxWord), maxprocs
	switch {
	case c.Program == "":
		k.set(abi.MPI_ERR_ARG, "argument %s is empty", arg)
	case maxprocs < 0 || maxprocs > maxSpawned:
		k.set(abi.MPI_ERR_ARG, "argument %s is %d; 0 to %d processes can be started", procsArg, maxprocs, maxSpawned)
	}
	if argv != abi.MPI_ARGV_NULL {
		c.Args = words(argv)
	}
	if with := k.info(info); with != nil {
		c.Info = with.list()
	}
	return c
}

// maxWord bounds a program's name and an argument, in bytes: the system takes none that is longer.
const maxWord = 128 << 10

// words reads a list of strings that ends with NULL.
func words(argv uintptr) (list []string) {
	const size = 8 // of a pointer
	for ; *ref[uintptr](argv) != 0; argv += size {
		list = append(list, text(*ref[uintptr](argv), maxWord))
	}
	return list
}

// list is all of an info.
func (i *info) list() (all [][2]string) {
	i.each(func(key, value string) { all = append(all, [2]string{key, value}) })
	return all
}

// spawn is what both calls have in common; read reads the arguments that count at the root alone.
func spawn(fn string, root int32, comm, intercomm, errcodes uintptr, read func(*check) []startup.Command) int32 {
	k := commQuery(fn, comm)
	k.intra()
	k.root(root)
	if k.result(intercomm, "intercomm"); !k.agreeRoot(root) {
		return k.fail()
	}
	var line transport.Line
	var codes []int32
	var failed error
	limit := started().connectTime
	if k.c.Rank() == int(root) {
		commands := read(&k)
		if k.err == nil {
			line, codes, failed = k.start(commands)
		} else {
			failed, k.err = k.err, nil
		}
		if line != nil {
			defer line.Close()
		} else if failed == nil {
			limit = nobodyComes
		}
	}
	c, codes, err := k.meet(line, int(root), failed, limit, codes)
	if errcodes != abi.MPI_ERRCODES_IGNORE {
		copy(slice[int32](errcodes, len(codes)), codes)
	}
	return k.made(c, err, intercomm)
}

// start asks the launcher for the processes, and waits for their rank 0. It returns an error code for each process.
// There is no line if the programs do not use MPI, as the info key ompi_non_mpi says.
func (k *check) start(commands []startup.Command) (transport.Line, []int32, error) {
	p := started()
	link, err := p.launcher()
	if err != nil {
		return nil, nil, libimpi.Errorf(abi.MPI_ERR_SPAWN, "%v", err)
	}
	handler, err := firstHandler(commands)
	if err != nil {
		return nil, nil, err
	}
	port, err := ports.Listen(p.meeting)
	if err != nil {
		return nil, nil, libimpi.Errorf(abi.MPI_ERR_SPAWN, "no port can be opened: %v", err)
	}
	defer port.Close()
	s, err, lost := aside(context.Background(), func(ctx context.Context) (startup.Spawned, error) {
		return link.Spawn(ctx, startup.Spawn{Commands: commands, Parent: port.Name(), Errhandler: handler})
	})
	switch {
	case lost != nil:
		return nil, nil, lost
	case errors.Is(err, startup.ErrInfo):
		return nil, nil, libimpi.Errorf(abi.MPI_ERR_INFO_VALUE, "%v", err)
	case err != nil:
		return nil, nil, libimpi.Errorf(abi.MPI_ERR_SPAWN, "%v", err)
	case s.Size == 0 && s.Text == "":
		return nil, s.Codes, nil
	case s.Size == 0:
		return nil, s.Codes, libimpi.Errorf(abi.MPI_ERR_SPAWN, "%s", s.Text)
	}
	line, err := acceptAt(port, p.connectTime)
	if err != nil {
		return nil, s.Codes, libimpi.Errorf(abi.MPI_ERR_SPAWN, "the new processes do not come: %v", err)
	}
	return line, s.Codes, nil
}

// firstHandler is the initial error handler that the info of the commands says, the first if several do.
func firstHandler(commands []startup.Command) (string, error) {
	for _, c := range commands {
		for _, i := range c.Info {
			if i[0] != "mpi_initial_errhandler" {
				continue
			}
			if !slices.Contains(startup.Errhandlers, i[1]) {
				return "", libimpi.Errorf(abi.MPI_ERR_INFO_VALUE, "the value of info key %s (%.100q) is none of %v", i[0], i[1],
					startup.Errhandlers)
			}
			return i[1], nil
		}
	}
	return "", nil
}

// launcher is the link to the process's launcher. A process that nobody has started as part of a job gets one when it
// first needs it.
func (p *process) launcher() (*startup.Link, error) {
	starting.Lock()
	defer starting.Unlock()
	if p.link != nil {
		return p.link, nil
	}
	if p.ended {
		return nil, errors.New("MPI has ended in this process")
	}
	ctx, cancel := p.connectTime.context()
	defer cancel()
	path, err := startup.LauncherNear(libraryFile())
	if err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(os.Environ(), func(word string) bool { // those that are spawned join no server
		return strings.HasPrefix(word, startup.EnvJoin+"=")
	})
	link, _, err := startup.Summon(ctx, path, env)
	if err != nil {
		return nil, err
	}
	p.link = link
	p.watchLauncher()
	return link, nil
}
