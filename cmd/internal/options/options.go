// Package options turns a command line of impirun into a Plan. It is a pure function: it reads no file, no
// environment and no clock, so that the whole union of the options people know from other launchers is
// tested with tables.
//
// Flow: words -> Parse: options of one program, the program and its arguments, ":" and again -> defaults and
// contradictions (settle) -> Plan. What an option is called, how many values it takes and what it does is
// said once, in the table of table.go; the help text is printed from the same table.
package options

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/startup/client"
)

// Mode is what the launcher is to be.
type Mode int

const (
	Run     Mode = iota // a job of one client, or of Clients clients on this machine
	Server              // impirun -server N (IMPI 0.0, 2.2)
	Client              // impirun -client RANK HOST:PORT (IMPI 0.0, 2.2)
	Names               // impirun -names: a server of names that jobs publish
	Help                // --help
	Version             // --version
)

func (m Mode) String() string {
	return [...]string{"run", "server", "client", "names", "help", "version"}[m]
}

// Plan is a command line, understood.
type Plan struct {
	Mode     Mode
	Explain  bool      // print what would be done, and exit
	Programs []Program // in rank order; empty for Server, Help and Version

	Clients int    // Run: how many clients to start on this machine; 0 is a job without a server
	Servers int    // Server: how many clients to wait for
	Port    int    // Server, or Client behind an agent: where to listen; 0 lets the system choose
	PortTo  int    // Client: the last of a range of ports to try
	Listen  string // Server: address to listen at, "" all
	Auth    string // Server: preferred authentication methods, "" the default order (IMPI 0.0, 2.3.3)
	Limits  Limits // Server; Client: Join, which is how long it waits for the server to answer
	AppFile string // Server: the file that says which clients to start

	Web        bool   // Server: show the job on a page
	WebAddress string // its address; "": a free port at the loopback address
	WebToken   string // the file of what browsers have to show; "": nothing

	Rank    int           // Client: this client's rank
	Address string        // Client: the server's HOST:PORT
	Values  client.Values // Client, and Run with Clients
	Via     client.Via    // the same

	Outbound bool   // Client: nobody can connect to it
	Through  bool   // Client: the program is another launcher, which starts the ranks
	Iface    string // where to listen on every machine: an interface's name, or a network; "": not said

	Hosts     []string // given by -host: NAME or NAME:SLOTS
	HostFiles []string
	PerHost   int      // ranks on each host, 0: not said
	Launcher  string   // how a command is started on another machine, one of Launchers; "": as the allocation has it
	Rsh       string   // the command for that; "": the launcher's own
	RshExtra  []string // words that follow it
	Branches  int      // how many machines one process starts; 0: the first launcher starts all
	Manager   string   // whose allocation is taken, one of Managers; "": that of the one that there is

	AllSlots  bool   // -n was not said: in an allocation that is all of its slots
	Site      string // filled in by the launcher: the allocation, in a few words; "": there is none
	Allocated []Host // filled in by the launcher: the machines of it that are taken

	Place placement.Policy // where ranks run: machines, and CPUs of them
	Show  Show             // what is said of that

	Universe   int    // MPI_UNIVERSE_SIZE; 0: as many as there are slots, if any are listed
	NameServer string // HOST:PORT of the server that keeps names for several jobs; "": one of this machine

	Debug   []Debug // ranks that tools start
	DebugIn string  // where tools run that people talk to, one of Terminals; "": InAuto

	Output
	Diagnosis
	Stdin     Stdin
	StdinRank int           // Stdin == StdinOne: the rank that gets it
	Timeout   time.Duration // 0: none
	Grace     time.Duration // from SIGTERM to SIGKILL
	Recovery  bool          // the job is fault tolerant: the others go on when a rank dies
	Verbose   bool
	Quiet     bool
	Exits     bool     // say at the end how each rank has ended
	Notes     []string // options that were accepted and have no effect, for -v

	ABI string // of the programs: one of ABIs

	Spawned    int    // filled in by the launcher: the number of a job that was spawned; 0: it was not
	Parameters string // Run without Clients: filled in by the launcher, for startup.EnvParameters
	StdinLater bool   // filled in by the launcher: standard input is a terminal of which it is in the background
}

// Host is a machine, and how many ranks it has room for.
type Host struct {
	Name  string
	Slots int
}

// Launchers are the ways to start a command on another machine.
var Launchers = []string{"ssh", "rsh", "fork", "slurm", "lsf", "sge"}

// Managers are those whose allocations are known; none and user are not to ask any.
var Managers = []string{"slurm", "pbs", "lsf", "sge", "user", "none"}

// defaultBranches is how many machines a process starts if nobody says it: ssh and its connection take 10 ms of a core
// and some MiB each.
const defaultBranches = 32

// Program is one block between colons.
type Program struct {
	N      int
	Number int // on the command line, from 0: MPI_APPNUM
	Argv   []string
	Dir    string // "" stays where the launcher is

	Search string // folders in which to look for the program before those of PATH, as PATH has them; "" none

	Env   EnvBase
	Names []string // Env == EnvListed: the variables to hand on
	Set   []string // NAME=value, later ones win

	MemoryKinds string // what -memory-alloc-kinds asks for
	Errhandler  string // one of startup.Errhandlers; "" is MPI's default
}

// EnvBase is what of the launcher's own environment a program starts from.
type EnvBase int

const (
	EnvAll EnvBase = iota
	EnvListed
	EnvNone
)

func (e EnvBase) String() string { return [...]string{"all", "listed", "none"}[e] }

// Tag is what stands before each line of output.
type Tag int

const (
	TagNone   Tag = iota // no relay at all: ranks write to the launcher's own stdout and stderr
	TagRank              // "[3] line"
	TagStream            // "[1,3]<stdout>:line"
)

func (t Tag) String() string { return [...]string{"none", "rank", "stream"}[t] }

// Stdin is who reads the launcher's standard input. The others read /dev/null.
type Stdin int

const (
	StdinOne Stdin = iota
	StdinAll
	StdinNone
)

func (s Stdin) String() string { return [...]string{"one", "all", "none"}[s] }

// ABIs are what programs were compiled for. ABIAuto, the default: as each is linked.
var ABIs = []string{ABIAuto, ABINative, ABIMPICH, ABIOpenMPI}

// The ABIs: that of MPI 5.0, and those of other libraries.
const (
	ABIAuto    = "auto"
	ABINative  = "native"
	ABIMPICH   = "mpich"
	ABIOpenMPI = "openmpi"
)

// A Plan.Universe without a bound, and one that has as many processes as there are slots, or else cores.
const (
	UniverseInfinite = -1
	UniverseSystem   = -2
)

// defaultGrace is how long a rank may take to end after SIGTERM.
const defaultGrace = 2 * time.Second

// defaultRsh starts commands on other machines: it asks for no password, as nobody may be there to give one.
const defaultRsh = "ssh -o BatchMode=yes"

// Size is the number of ranks of all programs together.
func (p *Plan) Size() int {
	n := 0
	for i := range p.Programs {
		n += p.Programs[i].N
	}
	return n
}

// Limits are how long a server lets each phase take. 0: the server's own choice.
type Limits struct {
	Join     time.Duration // from a connection's opening until it has said which client it is
	Gather   time.Duration // until all clients have joined
	Exchange time.Duration // from then until all have said what they have to say
	Run      time.Duration // from then until all have finished
	Start    time.Duration // until all other machines of a job answer; of a launcher, and not of a server
}

// parser is a Plan in the making. local holds the options of the block that is being read.
type parser struct {
	plan  Plan
	local block
	globE globalEnv

	trace   traceOptions
	summary string // "1", or a file; "": none
	seen    map[string]bool

	pe      int  // cores for each rank; 0: not said
	unbound bool // -bind-to none

	hostFile string // -default-hostfile
}

// block is what may be said once for each program.
type block struct {
	n    int
	ppn  int
	prog Program
}

// globalEnv is what -genv and its family say for all programs, wherever they stand.
type globalEnv struct {
	base  EnvBase
	given bool
	names []string
	set   []string
}

// Parse reads the words after the command's own name. getenv answers the few variables that stand for
// options (MPIEXEC_TIMEOUT). The error is one line for the user, without the command's name.
func Parse(args []string, getenv func(string) string) (*Plan, error) {
	p := &parser{seen: map[string]bool{}}
	p.plan.Grace, p.plan.ABI, p.plan.DeadlockAfter = defaultGrace, ABIAuto, defaultDeadlock
	if err := p.plan.Values.FromEnv(getenv); err != nil {
		return nil, err
	}
	p.plan.Branches = defaultBranches
	if err := p.launcherFromEnv(getenv); err != nil {
		return nil, err
	}
	if v := getenv("IMPI_VIA"); v != "" {
		if err := applyVia(p, []string{v}); err != nil {
			return nil, fmt.Errorf("IMPI_VIA: %v", err)
		}
	}
	if v := getenv("IMPI_NAMES"); v != "" {
		if err := applyNameServer(p, []string{v}); err != nil {
			return nil, fmt.Errorf("IMPI_NAMES=%s: %v", v, err)
		}
	}
	if v := getenv("MPIEXEC_UNIVERSE_SIZE"); v != "" {
		if err := applyUniverse(p, []string{v}); err != nil {
			return nil, fmt.Errorf("MPIEXEC_UNIVERSE_SIZE=%s: %v", v, err)
		}
	}
	if v := getenv("MPIEXEC_TIMEOUT"); v != "" {
		d, err := seconds(v)
		if err != nil {
			return nil, fmt.Errorf("MPIEXEC_TIMEOUT: %v", err)
		}
		p.plan.Timeout = d
	}
	rest := args
	for more := true; more; {
		var err error
		if rest, err = p.options(rest); err != nil {
			return nil, err
		}
		if rest, more, err = p.program(rest); err != nil {
			return nil, err
		}
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	p.settleLauncher(getenv)
	return &p.plan, nil
}

// launcherFromEnv reads what other launchers, and those who call them, say in variables.
func (p *parser) launcherFromEnv(getenv func(string) string) error {
	p.plan.Rsh = cmp.Or(getenv("IMPI_RSH"), getenv("HYDRA_LAUNCHER_EXEC"))
	p.plan.RshExtra = strings.Fields(cmp.Or(getenv("HYDRA_LAUNCH_EXTRA_ARGS"), getenv("HYDRA_LAUNCHER_EXTRA_ARGS")))
	if v := getenv("HYDRA_LAUNCHER"); v != "" {
		if err := applyLauncher(p, []string{v}); err != nil {
			return fmt.Errorf("HYDRA_LAUNCHER=%s: %v", v, err)
		}
	}
	return nil
}

// settleLauncher says which command starts others, as far as the command line and the variables have it. A command of
// the user's is called as ssh is, unless he says otherwise.
func (p *parser) settleLauncher(getenv func(string) string) {
	plan := &p.plan
	if plan.Mode == Server {
		plan.Rsh = cmp.Or(plan.Rsh, defaultRsh)
		return
	}
	if plan.Launcher == "" && plan.Rsh != "" {
		plan.Launcher = "ssh"
	}
	if len(plan.Programs) > 0 && plan.Clients == 0 && len(plan.Hosts)+len(plan.HostFiles) == 0 {
		if file := getenv("HYDRA_HOST_FILE"); file != "" {
			plan.HostFiles = []string{file}
			plan.Notes = append(plan.Notes, "the machines are those of HYDRA_HOST_FILE="+file)
		}
	}
	plan.AllSlots = len(plan.Programs) == 1 && !p.seen["n"]
}

// DefaultRsh is what a launcher calls if the user says no command; "" for fork.
func DefaultRsh(launcher string) string {
	switch launcher {
	case "rsh":
		return "rsh"
	case "fork":
		return ""
	case "slurm":
		return "srun"
	case "lsf":
		return "blaunch"
	case "sge":
		return "qrsh -inherit"
	}
	return defaultRsh
}

// options reads options up to the first word that is none, and returns what is left.
func (p *parser) options(args []string) ([]string, error) {
	for len(args) > 0 {
		word := args[0]
		if word == "--" {
			return args[1:], nil
		}
		if len(word) < 2 || word[0] != '-' {
			return args, nil
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
		o, ok := byName[name]
		if !ok {
			return nil, unknown(word, name)
		}
		args = args[1:]
		values, left, err := o.take(word, value, hasValue, args)
		if err != nil {
			return nil, err
		}
		args = left
		said := strings.Join(append([]string{dashed(word)}, values...), " ")
		if err := o.apply(p, values); err != nil {
			return nil, fmt.Errorf("%s: %v", said, err)
		}
		if o.idle {
			p.plan.Notes = append(p.plan.Notes, said+" has no effect")
		}
		p.seen[o.names[0]] = true
	}
	return args, nil
}

// dashed is an option as the user wrote it, without "=value".
func dashed(word string) string {
	name, _, _ := strings.Cut(word, "=")
	return name
}

// take finds the values of option o: after "=", or in the words that follow.
func (o *option) take(word, value string, hasValue bool, args []string) (values, left []string, err error) {
	want := len(o.values)
	if o.command {
		defer func() {
			if err == nil {
				var tool []string
				tool, left, err = commandIn(left)
				values = append(values, tool...)
			}
		}()
	}
	if o.optional && !hasValue {
		if len(args) > 0 && slices.Contains(o.endings, filepath.Ext(args[0])) {
			return args[:1], args[1:], nil
		}
		return nil, args, nil
	}
	if hasValue {
		if want == 0 {
			return nil, nil, fmt.Errorf("%s takes no value", dashed(word))
		}
		values = append(values, value)
	}
	for len(values) < want {
		// -genv NAME=value is as good as -genv NAME value.
		if o.pair && len(values) == 1 && strings.Contains(values[0], "=") {
			name, v, _ := strings.Cut(values[0], "=")
			return []string{name, v}, args, nil
		}
		if len(args) == 0 || args[0] == ":" {
			return nil, nil, fmt.Errorf("%s needs %s", dashed(word), strings.Join(o.values, " "))
		}
		values, args = append(values, args[0]), args[1:]
	}
	return values, args, nil
}

// program reads a program and its arguments up to ":" and ends the block.
func (p *parser) program(args []string) (left []string, more bool, err error) {
	end := len(args)
	for i, word := range args {
		if word == ":" && !p.plan.Through { // else it is for that launcher
			end, more = i, true
			break
		}
	}
	b := p.local
	p.local = block{}
	b.prog.Argv = args[:end:end]
	if more {
		left = args[end+1:]
		if end == 0 {
			return nil, false, fmt.Errorf("no program before ':'")
		}
	} else if end == 0 {
		if len(p.plan.Programs) > 0 {
			return nil, false, fmt.Errorf("no program after ':'")
		}
		return nil, false, nil // -server, --help, --version need none: settle decides
	}
	b.prog.N = 1
	if b.n > 0 {
		b.prog.N = b.n
	} else if b.ppn > 0 {
		b.prog.N = b.ppn
	}
	b.prog.Number = len(p.plan.Programs)
	p.plan.Programs = append(p.plan.Programs, b.prog)
	return left, more, nil
}

// settle applies what holds for all programs and refuses contradictions.
func (p *parser) settle() error {
	plan := &p.plan
	switch plan.Mode {
	case Help, Version:
		return nil
	}
	if p.hostFile != "" && len(plan.Hosts)+len(plan.HostFiles) == 0 {
		plan.HostFiles = []string{p.hostFile}
	}
	if p.seen["server"] {
		return p.settleServer()
	}
	if plan.Mode == Names {
		return p.settleNames()
	}
	if p.seen["names-port"] {
		return fmt.Errorf("-names-port goes with -names")
	}
	if len(plan.Programs) == 0 {
		return fmt.Errorf("no program given (impirun -n 4 ./program; impirun --help)")
	}
	if plan.Mode == Client && plan.Clients > 0 {
		return fmt.Errorf("-client joins one client to a server, -clients starts all of them here: give one of the two")
	}
	if plan.Outbound && !p.seen["client"] {
		return fmt.Errorf("-outbound goes with -client")
	}
	for _, only := range serverOnly {
		if p.seen[only] {
			return fmt.Errorf("-%s goes with -server only", only)
		}
	}
	switch l := plan.Limits; {
	case (l.Join != 0 || l.Gather != 0 || l.Exchange != 0 || l.Run != 0) && plan.Mode != Client:
		return fmt.Errorf("-deadline goes with -server or -client, but for -deadline start=SECONDS")
	case l.Gather != 0 || l.Exchange != 0 || l.Run != 0:
		return fmt.Errorf("-deadline of a -client: join or start, the server knows the others")
	}
	if err := errors.Join(p.settleThrough(), p.settleVia(), p.settlePlacement()); err != nil {
		return err
	}
	if err := p.settleOutput(); err != nil {
		return err
	}
	if err := p.settleDebug(); err != nil {
		return err
	}
	if plan.Clients > plan.Size() {
		return fmt.Errorf("-clients %d: more clients than the %d ranks", plan.Clients, plan.Size())
	}
	if err := p.settleValues(); err != nil {
		return err
	}
	if plan.Stdin == StdinOne && plan.StdinRank >= plan.Size() {
		return fmt.Errorf("--stdin %d: ranks are 0 to %d", plan.StdinRank, plan.Size()-1)
	}
	if err := p.settleRecording(); err != nil {
		return err
	}
	for i := range plan.Programs {
		g := &plan.Programs[i]
		if p.globE.given && g.Env == EnvAll {
			g.Env, g.Names = p.globE.base, append(p.globE.names[:len(p.globE.names):len(p.globE.names)], g.Names...)
		}
		g.Set = append(p.globE.set[:len(p.globE.set):len(p.globE.set)], g.Set...)
	}
	return nil
}

// withThrough are the options that go with -through, besides the values that clients agree on. Others are for the
// launcher.
var withThrough = []string{"client", "through", "via", "port", "v", "explain"}

// settleThrough refuses what another launcher does not hear of.
func (p *parser) settleThrough() error {
	if !p.plan.Through {
		return nil
	}
	if p.plan.Mode != Client {
		return fmt.Errorf("-through goes with -client")
	}
	for name := range p.seen {
		if !slices.Contains(withThrough, name) &&
			!slices.ContainsFunc(client.AllValues, func(v client.Value) bool { return v.Name == name }) {
			return fmt.Errorf("-%s has no meaning before -through: write it behind the launcher's name, in its words", name)
		}
	}
	return nil
}

// settleVia refuses what only makes sense for a client among others.
func (p *parser) settleVia() error {
	plan := &p.plan
	among := plan.Mode == Client || plan.Explain || plan.Clients > 0
	switch {
	case p.seen["via"] && !among:
		return fmt.Errorf("-via goes with -client or -clients: a job of one client has no connections to others")
	case plan.Via == client.ViaOne && among && !plan.Through:
		return fmt.Errorf("-via one goes with -through: of ranks that impirun starts, those of each machine have an agent " +
			"(-via agent)")
	case p.seen["port"] && plan.Clients > 0:
		return fmt.Errorf("-port goes with -server, with -client, or with machines: the clients of -clients are all here")
	case p.seen["port"] && plan.Mode == Client && plan.Via != client.ViaDirect && !plan.Through:
		plan.Via = client.ViaAgent
	}
	return nil
}

func (p *parser) settleNames() error {
	plan := &p.plan
	if len(plan.Programs) > 0 {
		return fmt.Errorf("-names runs no program, but %q was given", plan.Programs[0].Argv[0])
	}
	for _, never := range []string{"client", "clients", "n", "nameserver", "web", "web-token"} {
		if p.seen[never] {
			return fmt.Errorf("-names and -%s exclude each other", never)
		}
	}
	return p.settleListen("names")
}

// settleListen reads the address at which a server listens.
func (p *parser) settleListen(server string) error {
	plan := &p.plan
	if len(plan.Hosts) > 1 {
		return fmt.Errorf("-%s listens at one address, -host gives %d", server, len(plan.Hosts))
	}
	if len(plan.Hosts) == 1 {
		plan.Listen, _, _ = HostSlots(plan.Hosts[0])
		plan.Hosts = nil
	}
	return nil
}

func (p *parser) settleServer() error {
	plan := &p.plan
	if plan.PortTo > plan.Port {
		return fmt.Errorf("-server listens at one port, -port gives %d", plan.PortTo-plan.Port+1)
	}
	if plan.Limits.Start != 0 {
		return fmt.Errorf("-deadline start=%v: a server starts no machines", plan.Limits.Start.Seconds())
	}
	for _, clients := range []string{"via", "outbound"} {
		if p.seen[clients] {
			return fmt.Errorf("-%s is for clients, not for -server", clients)
		}
	}
	if len(plan.Programs) > 0 && plan.Web && plan.WebAddress == "" {
		return fmt.Errorf("-server runs no program, but %[1]q was given; the address of -web follows an equals sign: "+
			"-web=%[1]s", plan.Programs[0].Argv[0])
	}
	if len(plan.Programs) > 0 {
		return fmt.Errorf("-server runs no program, but %q was given; clients bring their own (impirun -client RANK "+
			"HOST:PORT -n N program)", plan.Programs[0].Argv[0])
	}
	for _, never := range []string{"client", "clients", "n", "debug", "xterm"} {
		if p.seen[never] {
			return fmt.Errorf("-server and -%s exclude each other", never)
		}
	}
	for i := range client.AllValues {
		if p.seen[client.AllValues[i].Name] {
			return fmt.Errorf("-%s is for clients, not for -server", client.AllValues[i].Name)
		}
	}
	if err := p.settleWeb(); err != nil {
		return err
	}
	return p.settleListen("server")
}
