package spawn

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/lines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/startup"
)

// What the info keys of MPI_Comm_spawn say (MPI 5.0, 11.8.4), and those that people know from Open MPI and MPICH.
// A key that is not known is ignored, as the standard wants it.

// order is one command of a request to spawn, understood.
type order struct {
	program options.Program // Argv and Dir included; N is the number asked for
	path    string          // the file to run
	front   string          // needs.front
	accept  counts
	plain   bool   // the program does not use MPI (ompi_non_mpi)
	fault   string // why no process of it can be started here; "" if one can

	hosts     []string // where to run, as -host says it; none: on the machine of the process that asks
	hostFiles []string
	perHost   int
	inTurn    bool // machines take processes in turn

	bindTo string // to which CPUs, as -bind-to says it; "": as the launcher's ranks
}

// readOrders understands a request of a process that runs like program like. base is the environment to start from.
func readOrders(r *startup.Spawn, like *options.Program, base []string) ([]order, error) {
	var list []order
	for i := range r.Commands {
		c := &r.Commands[i]
		o := order{program: *like, accept: exactly(int(c.Procs))}
		o.program.Argv = append([]string{c.Program}, c.Args...)
		o.program.N, o.program.Errhandler, o.program.Search = int(c.Procs), r.Errhandler, ""
		o.program.Set = slices.Clone(like.Set)
		if err := o.read(c.Info, true); err != nil {
			return nil, startup.Refuse(startup.ErrInfo, "%s: %v", c.Program, err)
		}
		if i > 0 && o.bindTo != list[0].bindTo {
			return nil, startup.Refuse(startup.ErrInfo, "info key bind_to: the commands of a job have one value, and here "+
				"are %q and %q", list[0].bindTo, o.bindTo)
		}
		list = append(list, o)
	}
	return list, nil
}

// policyOf returns how the processes of a job are bound that is spawned by ranks with this policy.
func policyOf(list []order, place placement.Policy) (placement.Policy, error) {
	if list[0].bindTo == "" {
		return place, nil
	}
	err := options.Bind(&place, list[0].bindTo)
	return place, err
}

// find looks for the program on this machine, and for what it needs to get to libimpi (options.ABIs has the choices).
func (o *order) find(base []string, abi string) {
	if o.fault != "" {
		return
	}
	var err error
	o.path, err = programs.Find(&o.program, base)
	if err == nil && !o.plain {
		o.front, err = programs.Front(&o.program, o.path, abi, base, 2) // it is to join the job that spawns it
	}
	if err != nil {
		o.fault = err.Error()
	}
}

// read takes keys and values. file says whether they may name a file with further ones.
func (o *order) read(info [][2]string, file bool) error {
	for _, pair := range info {
		key, value := strings.TrimSpace(pair[0]), pair[1]
		if err := o.take(key, value, file); err != nil {
			return fmt.Errorf("info key %s: %w", key, err)
		}
	}
	return nil
}

func (o *order) take(key, value string, file bool) (err error) {
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	switch key {
	case "host", "hosts", "add_host":
		for h := range strings.SplitSeq(value, ",") {
			if _, _, err := hosts.Parse([]string{strings.TrimSpace(h)}); err != nil {
				return err
			}
			o.hosts = append(o.hosts, strings.TrimSpace(h))
		}
	case "hostfile", "machinefile", "add_hostfile":
		o.hostFiles = append(o.hostFiles, value)
	case "wdir", "wd", "ompi_wdir":
		o.program.Dir = value
	case "path", "ompi_path":
		o.program.Search = value
	case "soft":
		o.accept, err = parseSoft(value, o.program.N)
	case "arch":
		if !slices.Contains(archNames[runtime.GOARCH], strings.ToLower(strings.TrimSpace(value))) {
			o.fault = fmt.Sprintf("program %s is wanted on architecture %s, and this machine is %s", o.program.Argv[0], value,
				archNames[runtime.GOARCH][0])
		}
	case "mpi_initial_errhandler":
		if o.program.Errhandler = value; !slices.Contains(startup.Errhandlers, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(startup.Errhandlers, ", "))
		}
	case "mpi_memory_alloc_kinds":
		o.program.MemoryKinds = value
	case "map_by", "mapby", "map_bynode":
		if n, ok := strings.CutPrefix(strings.ToLower(value), "ppr:"); ok {
			n, _, _ = strings.Cut(n, ":")
			o.perHost, err = positive(n)
		}
		o.inTurn = strings.ToLower(value) == "node" || key == "map_bynode" && truth(value)
	case "bind_to", "bindto":
		o.bindTo = value
		return options.Bind(&placement.Policy{}, value)
	case "npernode", "ppn", "ppr", "perhost", "ompi_npernode":
		n, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(value), "ppr:"), ":")
		o.perHost, err = positive(n)
	case "pernode":
		if truth(value) {
			o.perHost = 1
		}
	case "env":
		for line := range strings.Lines(value) {
			line = strings.TrimRight(line, "\r\n")
			if name, _, ok := strings.Cut(line, "="); ok && name != "" && !strings.ContainsRune(line, 0) {
				o.program.Set = append(o.program.Set, line)
			} else if line != "" {
				return fmt.Errorf("%q is not NAME=VALUE", line)
			}
		}
	case "ompi_non_mpi", "non_mpi":
		o.plain = truth(value)
	case "file":
		if file {
			return o.readFile(value)
		}
	}
	return err
}

// archNames are the names of architectures, by that which the Go compiler uses; the first is that of uname -m.
var archNames = map[string][]string{
	"amd64":   {"x86_64", "amd64", "x64"},
	"arm64":   {"aarch64", "arm64"},
	"s390x":   {"s390x"},
	"ppc64le": {"ppc64le"},
	"riscv64": {"riscv64"},
}

func positive(word string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(word))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number of processes", word)
	}
	return n, nil
}

// truth reads a boolean as Open MPI does: what is not false is true.
func truth(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "no", "f", "n":
		return false
	}
	return true
}

// readFile reads further keys, one "key = value" a line; # begins a comment line.
func (o *order) readFile(name string) error {
	return lines.Each(name, func(number int, text string) error {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			return nil
		}
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("%s, line %d: %q is not key = value", name, number, text)
		}
		if err := o.read([][2]string{{strings.TrimSpace(key), strings.TrimSpace(value)}}, false); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, number, err)
		}
		return nil
	})
}

// choose says, by process, in the order of the commands, which rank each gets that has not failed; -1: none. It returns
// false if too few are left of a command.
func choose(list []order, failed []string) (numbers []int, size int, ok bool) {
	numbers = make([]int, len(failed))
	i := 0
	for k := range list {
		o := &list[k]
		alive := 0
		for _, f := range failed[i : i+o.program.N] {
			if f == "" {
				alive++
			}
		}
		take := o.accept.best(alive)
		if take < 0 {
			return nil, 0, false
		}
		for range o.program.N {
			numbers[i] = -1
			if failed[i] == "" && take > 0 {
				numbers[i] = size
				take--
				size++
			}
			i++
		}
	}
	return numbers, size, true
}

// whyNot is the first failure, or what else keeps a job from being spawned.
func whyNot(failed []string) error {
	for _, f := range failed {
		if f != "" {
			return errors.New(f)
		}
	}
	return errors.New("no process is left of those that were asked for")
}
