package options

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
)

// option is one row of the table: its names (one dash or two), its values, what it does.
type option struct {
	names  []string
	values []string
	pair   bool // two values that may come as one NAME=value

	command  bool     // words of a command may follow, up to "--" (commandIn)
	optional bool     // the one value may be left out, and follows "=" in the same word
	endings  []string // of such a value that may be the next word
	idle     bool     // accepted without effect; -v says so
	apply    func(p *parser, v []string) error
	choices  []string // what the value can be, for the completion of shells
	help     string   // "" is accepted for the sake of other launchers' scripts, and not advertised
}

// maxRanks bounds a job to what can be told apart from a slip of the finger.
const maxRanks = 1 << 16

// maxClients is what one word of IMPI's client mask can name (IMPI 0.0, 2.3.5).
const maxClients = 32

var table = slices.Concat([]option{
	{names: []string{"n", "np", "c"}, values: []string{"N"}, help: "start N ranks of the program that follows " +
		"(default 1, or all slots of an allocation)",
		apply: func(p *parser, v []string) error { return number(&p.local.n, v[0], 1, maxRanks, "ranks") }},
	{names: []string{"ppn", "N", "npernode", "perhost"}, values: []string{"N"},
		help: "ranks on each host; the same as -n on one host",
		apply: func(p *parser, v []string) error {
			err := number(&p.local.ppn, v[0], 1, maxRanks, "ranks")
			p.plan.PerHost = p.local.ppn
			return err
		}},
	{names: []string{"host", "H", "hosts"}, values: []string{"LIST"},
		help: "machines to run on, NAME, NAME:SLOTS or ssh://USER@NAME:PORT, in rank order (default: the machines of " +
			"the allocation, or this one). With -server: the address to listen at", apply: applyHosts},
	{names: []string{"hostfile", "f", "machinefile"}, values: []string{"FILE"},
		help: "a file of machines, one a line: NAME, NAME:SLOTS or NAME slots=N, and addr=ADDRESS to say where its " +
			"ranks listen (HYDRA_HOST_FILE)",
		apply: func(p *parser, v []string) error { p.plan.HostFiles = append(p.plan.HostFiles, v[0]); return nil }},
	{names: []string{"rsh", "launcher-exec", "bootstrap-exec"}, values: []string{"COMMAND"},
		help: "the command that starts a command on another machine, as COMMAND NAME WORDS (default ssh; IMPI_RSH)",
		apply: func(p *parser, v []string) error {
			if p.plan.Rsh = v[0]; strings.TrimSpace(v[0]) == "" {
				return fmt.Errorf("a command is needed")
			}
			return nil
		}},
	{names: []string{"launcher", "bootstrap"}, values: []string{"HOW"}, choices: Launchers,
		help: "how impirun is started on other machines: ssh, rsh, slurm (srun), lsf (blaunch), sge (qrsh), or fork, " +
			"which starts all of them here (default: the allocation's, or ssh)", apply: applyLauncher},
	{names: []string{"rmk"}, values: []string{"MANAGER"}, choices: Managers,
		help: "the resource manager whose allocation is used: slurm, pbs, lsf, sge, or none (default: the one that is " +
			"found)",
		apply: func(p *parser, v []string) error {
			if p.plan.Manager = v[0]; !slices.Contains(Managers, v[0]) {
				return fmt.Errorf("the resource managers are %s", strings.Join(Managers, ", "))
			}
			return nil
		}},
	{names: []string{"branch-count"}, values: []string{"N"},
		help: fmt.Sprintf("how many machines one process starts; machines beyond that number are started by these "+
			"(default %d; 0: the first launcher starts all)", defaultBranches),
		apply: func(p *parser, v []string) error { return number(&p.plan.Branches, v[0], 0, maxRanks, "machines") }},
	{names: []string{"clients"}, values: []string{"K"},
		help: "start an IMPI server and K clients on this machine, and divide the ranks among them", apply: func(p *parser,
			v []string) error {
			return number(&p.plan.Clients, v[0], 1, maxClients, "clients")
		}},

	{names: []string{"server"}, values: []string{"N"},
		help: "be the IMPI server of N clients; prints one line ADDRESS:PORT",
		apply: func(p *parser, v []string) error {
			p.mode(Server)
			return number(&p.plan.Servers, v[0], 1, maxClients, "clients")
		}},
	{names: []string{"port", "port-range"}, values: []string{"PORT[-PORT]"},
		help: "ports to listen at: of the server with -server; with -client, and in a job of several machines, the " +
			"agent, or each rank with -via direct, takes the first free port of the range", apply: applyPort},
	{names: []string{"via"}, values: []string{"HOW"}, choices: []string{"direct", "agent", "one", "auto"},
		help: "with -client and -clients: which processes connect to other clients: direct, every rank; agent, one " +
			"process for all ranks; one, with -through, rank 0 for all ranks; auto (default), an agent if the round trip " +
			"to the server is 2 ms or more (IMPI_VIA)",
		apply: applyVia},
	{names: []string{"through"},
		help: "with -client: the rest of the command line is the command of another launcher, which starts the ranks, " +
			"as in -through srun -n 64 ./program (IMPI_JOIN)",
		apply: func(p *parser, v []string) error { p.plan.Through = true; return nil }},
	{names: []string{"outbound"},
		help: "with -client: this client, behind a firewall for example, cannot be reached; it connects to all " +
			"others, which must be libimpi or of lower rank",
		apply: func(p *parser, v []string) error { p.plan.Outbound = true; return nil }},
	{names: []string{"auth"}, values: []string{"LIST"},
		help: "with -server: preferred methods, as in 1,0 or 1-0 (0 none, 1 key, 30 secret, 31 TLS)", apply: func(p *parser,
			v []string) error {
			p.plan.Auth = v[0]
			return nil
		}},
	{names: []string{"client"}, values: []string{"RANK", "HOST:PORT"}, help: "be client RANK of the job at that server",
		apply: func(p *parser, v []string) error {
			p.mode(Client)
			p.plan.Address = v[1]
			if !strings.Contains(v[1], ":") {
				return fmt.Errorf("the server's address is HOST:PORT")
			}
			return number(&p.plan.Rank, v[0], 0, maxClients-1, "client ranks")
		}},

	{names: []string{"file"}, values: []string{"FILE"},
		help: "with -server: also start the clients, one for each line [MACHINE] [-client RANK $hostport] OPTIONS " +
			"PROGRAM",
		apply: func(p *parser, v []string) error { p.plan.AppFile = v[0]; return nil }},
	{names: []string{"deadline"}, values: []string{"PHASE=SECONDS"},
		choices: []string{"join=", "gather=", "exchange=", "run=", "start="},
		help: "end the job if a phase takes longer: start, until all machines have answered (default 60); with " +
			"-server (0: no limit): join, of one connection (30), gather, of all clients (1800), exchange (300), run " +
			"(0); with -client: join, until the server answers (30)", apply: applyDeadline},

	{names: []string{"usize"}, values: []string{"N"},
		help: "MPI_UNIVERSE_SIZE, how many processes are useful in all: a number, infinite (the attribute is not " +
			"set), or system (the cores of this machine); default: the slots of all listed machines, or infinite if " +
			"none are listed (MPIEXEC_UNIVERSE_SIZE)", apply: applyUniverse},
	{names: []string{"nameserver"}, values: []string{"HOST:PORT"},
		help: "the name server, an impirun -names, through which jobs share the names of MPI_Publish_name (default: " +
			"this user's server on this machine; IMPI_NAMES)", apply: applyNameServer},
	{names: []string{"names"}, help: "be a name server; prints one line ADDRESS:PORT. Without IMPI_AUTH_SECRET it " +
		"listens at this machine's loopback address, unless -host names another",
		apply: func(p *parser, _ []string) error { p.mode(Names); return nil }},
	{names: []string{"names-port"}, values: []string{"PORT"}, help: "with -names: the port to listen at",
		apply: func(p *parser, v []string) error { return number(&p.plan.Port, v[0], 0, 65535, "ports") }},

	{names: []string{"x"}, values: []string{"NAME[=VALUE]"}, help: "set an environment variable for this program",
		apply: func(p *parser, v []string) error {
			if strings.Contains(v[0], "=") {
				p.local.prog.Set = append(p.local.prog.Set, v[0])
			} else {
				p.local.prog.Names = append(p.local.prog.Names, v[0])
			}
			return variable(v[0])
		}},
	{names: []string{"env"}, values: []string{"NAME", "VALUE"}, pair: true, help: "the same",
		apply: func(p *parser, v []string) error {
			p.local.prog.Set = append(p.local.prog.Set, v[0]+"="+v[1])
			return variable(v[0])
		}},
	{names: []string{"genv"}, values: []string{"NAME", "VALUE"}, pair: true, help: "the same for all programs",
		apply: func(p *parser, v []string) error {
			p.globE.set = append(p.globE.set, v[0]+"="+v[1])
			return variable(v[0])
		}},
	{names: []string{"envlist"}, values: []string{"NAMES"},
		help: "pass only these variables (comma separated) to this program",
		apply: func(p *parser, v []string) error {
			p.local.prog.Env, p.local.prog.Names = EnvListed, append(p.local.prog.Names, list(v[0])...)
			return nil
		}},
	{names: []string{"genvlist"}, values: []string{"NAMES"}, help: "the same for all programs",
		apply: func(p *parser, v []string) error {
			p.globE.base, p.globE.given = EnvListed, true
			p.globE.names = append(p.globE.names, list(v[0])...)
			return nil
		}},
	{names: []string{"envnone"}, help: "pass no variables to this program; -genvnone: to no program",
		apply: func(p *parser, v []string) error { p.local.prog.Env = EnvNone; return nil }},
	{names: []string{"genvnone"},
		apply: func(p *parser, v []string) error { p.globE.base, p.globE.given = EnvNone, true; return nil }},
	{names: []string{"genvall", "envall"}, apply: func(*parser, []string) error { return nil }},
	{names: []string{"wdir", "wd"}, values: []string{"DIR"}, help: "working directory of this program",
		apply: func(p *parser, v []string) error { p.local.prog.Dir = v[0]; return nil }},
	{names: []string{"initial-errhandler"}, values: []string{"NAME"}, choices: startup.Errhandlers,
		help: "initial error handler of this program: mpi_errors_are_fatal (default), mpi_errors_abort, " +
			"mpi_errors_return",
		apply: func(p *parser, v []string) error {
			if p.local.prog.Errhandler = v[0]; !slices.Contains(startup.Errhandlers, v[0]) {
				return fmt.Errorf("the names are %s", strings.Join(startup.Errhandlers, ", "))
			}
			return nil
		}},
	{names: []string{"memory-alloc-kinds"}, values: []string{"LIST"},
		help:  "memory allocation kinds that this program requests, as in mpi:alloc_mem,system",
		apply: func(p *parser, v []string) error { p.local.prog.MemoryKinds = v[0]; return nil }},
	{names: []string{"abi"}, values: []string{"ABI"}, choices: ABIs,
		help: "the ABI that programs were compiled for: native (MPI 5.0), mpich (also Intel MPI and others), openmpi, " +
			"or auto (default), which examines each program",
		apply: func(p *parser, v []string) error {
			if p.plan.ABI = v[0]; !slices.Contains(ABIs, v[0]) {
				return fmt.Errorf("the names are %s", strings.Join(ABIs, ", "))
			}
			return nil
		}},

	{names: []string{"stdin", "s"}, values: []string{"WHO"}, choices: []string{"all", "none", "0"},
		help: "who reads standard input: a rank (default 0), all, none", apply: applyStdin},

	{names: []string{"timeout"}, values: []string{"SECONDS"},
		help: "end the job after this time with code 124 (also MPIEXEC_TIMEOUT)", apply: func(p *parser,
			v []string) (err error) {
			p.plan.Timeout, err = seconds(v[0])
			return err
		}},
	{names: []string{"kill-grace"}, values: []string{"SECONDS"},
		help: "time from SIGTERM to SIGKILL when a job is ended (default 2)",
		apply: func(p *parser, v []string) (err error) {
			p.plan.Grace, err = seconds(v[0])
			return err
		}},

	{names: []string{"explain"}, help: "print what would be started, and do not start it",
		apply: func(p *parser, v []string) error { p.plan.Explain = true; return nil }},
	{names: []string{"v", "verbose"}, help: "print more on stderr",
		apply: func(p *parser, v []string) error { p.plan.Verbose = true; return nil }},
	{names: []string{"q", "quiet"}, help: "print no summary line when a rank dies",
		apply: func(p *parser, v []string) error { p.plan.Quiet = true; return nil }},
	{names: []string{"print-all-exitcodes"}, help: "print at the end, on stderr, how each rank ended",
		apply: func(p *parser, v []string) error { p.plan.Exits = true; return nil }},
	{names: []string{"help", "h", "?"}, help: "this text",
		apply: func(p *parser, v []string) error { p.mode(Help); return nil }},
	{names: []string{"version", "V"}, help: "version",
		apply: func(p *parser, v []string) error { p.mode(Version); return nil }},

	noEffect(0, "oversubscribe", "allow-run-as-root", "nooversubscribe", "get-stack-traces",
		"report-state-on-timeout"),
	noEffect(1, "rankmap", "prefix"),
	noEffect(2, "mca", "gmca", "prtemca", "pmixmca"),
}, webOptions(), diagnosisOptions(), placementOptions(), debugOptions(), outputOptions(), failureOptions(),
	otherOptions(), valueOptions())

// byName finds an option by any of its names. Filled from the table once, at start.
var byName = func() map[string]*option {
	m := map[string]*option{}
	for i := range table {
		for _, name := range table[i].names {
			if m[name] != nil {
				panic("option " + name + " stands twice in the table")
			}
			m[name] = &table[i]
		}
	}
	return m
}()

// noEffect are options that ask for what we do anyway or that only tune other libraries.
func noEffect(values int, names ...string) option {
	return option{names: names, values: placeholders(values), idle: true,
		apply: func(*parser, []string) error { return nil }}
}

func placeholders(n int) []string { return []string{"VALUE", "VALUE"}[:n] }

// mode sets the mode unless a stronger one was asked for: --help wins over everything.
func (p *parser) mode(m Mode) {
	if p.plan.Mode != Help && (p.plan.Mode != Version || m == Help) {
		p.plan.Mode = m
	}
}

func applyHosts(p *parser, v []string) error {
	for _, h := range list(v[0]) {
		if _, _, err := HostSlots(h); err != nil {
			return err
		}
		p.plan.Hosts = append(p.plan.Hosts, h)
	}
	return nil
}

func applyLauncher(p *parser, v []string) error {
	switch p.plan.Launcher = v[0]; {
	case v[0] == "pbs" || v[0] == "pbsdsh":
		return fmt.Errorf("pbsdsh does not forward standard input, which impirun needs; ssh reaches the machines of " +
			"the job")
	case !slices.Contains(Launchers, v[0]):
		return fmt.Errorf("the launchers are %s", strings.Join(Launchers, ", "))
	}
	return nil
}

// HostSlots splits NAME:SLOTS, but not the colons of an IPv6 address, or of ssh://NAME:PORT. slots is 0 if they are not
// said.
func HostSlots(word string) (name string, slots int, err error) {
	name, n, ok := strings.Cut(word, ":")
	if !ok || strings.Contains(n, ":") || name == "ssh" && strings.HasPrefix(n, "//") {
		return word, 0, nil
	}
	if slots, err = strconv.Atoi(n); err != nil || slots < 1 || slots > maxRanks {
		return "", 0, fmt.Errorf("slots of host %s: %q is not a number from 1 to %d", name, n, maxRanks)
	}
	return name, slots, nil
}

// never is a limit that is none.
const never = time.Duration(math.MaxInt64)

func applyDeadline(p *parser, v []string) error {
	phase, word, _ := strings.Cut(v[0], "=")
	limits := &p.plan.Limits
	to := map[string]*time.Duration{"join": &limits.Join, "gather": &limits.Gather, "exchange": &limits.Exchange,
		"run": &limits.Run, "start": &limits.Start}[phase]
	if to == nil {
		return fmt.Errorf("the phases are join, gather, exchange, run and start")
	}
	d, err := seconds(word)
	if d == 0 {
		d = never
	}
	*to = d
	return err
}

func applyPort(p *parser, v []string) (err error) {
	p.plan.Port, p.plan.PortTo, err = client.ParsePorts(v[0])
	return err
}

func applyVia(p *parser, v []string) (err error) {
	p.plan.Via, err = client.ParseVia(v[0])
	return err
}

func applyUniverse(p *parser, v []string) error {
	switch strings.ToLower(v[0]) {
	case "infinite":
		p.plan.Universe = UniverseInfinite
		return nil
	case "system":
		p.plan.Universe = UniverseSystem
		return nil
	}
	return number(&p.plan.Universe, v[0], 1, math.MaxInt32, "processes")
}

func applyNameServer(p *parser, v []string) error {
	if host, port, err := net.SplitHostPort(v[0]); err != nil || host == "" || port == "" {
		return fmt.Errorf("a name server is HOST:PORT")
	}
	p.plan.NameServer = v[0]
	return nil
}

func applyStdin(p *parser, v []string) error {
	switch v[0] {
	case "all":
		p.plan.Stdin = StdinAll
	case "none":
		p.plan.Stdin = StdinNone
	default:
		p.plan.Stdin = StdinOne
		if number(&p.plan.StdinRank, v[0], 0, maxRanks-1, "ranks") != nil {
			return fmt.Errorf("%q is not a rank, \"all\" or \"none\"", v[0])
		}
	}
	return nil
}

// number reads a decimal between low and high.
func number(to *int, word string, low, high int, what string) error {
	n, err := strconv.Atoi(word)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a number of %s", word, what)
	case n < low && low == 1:
		return fmt.Errorf("there must be at least 1 of the %s", what)
	case n < low || n > high:
		return fmt.Errorf("%s are %d to %d", what, low, high)
	}
	*to = n
	return nil
}

// seconds reads a time: plain seconds (2, 0.5) or with a unit (500ms, 1m).
func seconds(word string) (time.Duration, error) {
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		if !(f >= 0 && f <= math.MaxInt32) {
			return 0, fmt.Errorf("%q is not a time in seconds", word)
		}
		return time.Duration(f * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time in seconds", word)
	}
	return d, nil
}

func variable(setting string) error {
	if name, _, _ := strings.Cut(setting, "="); name == "" {
		return fmt.Errorf("a variable has a name")
	}
	return nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
