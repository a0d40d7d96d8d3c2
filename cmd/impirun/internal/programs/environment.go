package programs

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// Place says where a rank stands in its job.
type Place struct {
	Program              int // on the command line
	Rank, Size           int // in the part of the job that this launcher starts
	LocalRank, LocalSize int // in this client
	Verbose              bool
	Parameters           string
	Front                string // folders of libraries with other MPIs' ABIs, which the program needs; "": none
	Preload              string // what makes sure that these come first, if the program may change that; "": nothing
}

// EnvJob names the job in the environment of all that belongs to it.
const EnvJob = "IMPI_JOB"

// ours are variables that we set ourselves; what an outer launcher left there must not reach a rank.
var ours = []string{
	startup.EnvFD, startup.EnvDoor, startup.EnvRank, startup.EnvSize, startup.EnvLocalRank, startup.EnvLocalSize,
	startup.EnvAppNum,
	startup.EnvErrhandler, startup.EnvMemoryKinds, startup.EnvVerbose, startup.EnvParameters, EnvJob, envFronts,
	"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT",
}

// Environment returns what one rank gets: of the launcher's own what the program asks for, then what the options
// set, then who the rank is. Only IMPI_BOOT_FD, IMPI_APPNUM, IMPI_INITIAL_ERRHANDLER,
// IMPI_MEMORY_ALLOC_KINDS, IMPI_VERBOSE and IMPI_PARAMETERS mean something to the library; the rest is for scripts.
func Environment(base []string, g *options.Program, job string, p Place) []string {
	env := make([]string, 0, len(base)+len(g.Set)+len(ours))
	for _, setting := range base {
		name, _, _ := strings.Cut(setting, "=")
		wanted := g.Env == options.EnvAll || slices.Contains(g.Names, name)
		if wanted && !slices.Contains(ours, name) && !isSet(g.Set, name) {
			env = append(env, setting)
		}
	}
	for i, setting := range g.Set {
		name, _, _ := strings.Cut(setting, "=")
		if !isSet(g.Set[i+1:], name) {
			env = append(env, setting)
		}
	}
	number := func(name string, value int) { env = append(env, name+"="+strconv.Itoa(value)) }
	env = append(env, EnvJob+"="+job)
	env = append(env, startup.RankEnv(supervise.LinkFD, p.Rank, p.Size, p.LocalRank, p.LocalSize)...)
	number(startup.EnvAppNum, p.Program)
	if g.Errhandler != "" {
		env = append(env, startup.EnvErrhandler+"="+g.Errhandler)
	}
	if g.MemoryKinds != "" {
		env = append(env, startup.EnvMemoryKinds+"="+g.MemoryKinds)
	}
	if p.Verbose {
		number(startup.EnvVerbose, 1)
	}
	if p.Parameters != "" {
		env = append(env, startup.EnvParameters+"="+p.Parameters)
	}
	number("PMI_RANK", p.Rank)
	number("PMI_SIZE", p.Size)
	number("MPI_LOCALRANKID", p.LocalRank)
	number("MPI_LOCALNRANKS", p.LocalSize)
	if p.Front != "" {
		env = before(p.Front, env, "LD_LIBRARY_PATH")
		env = byDefault(env, envLibMPI4py, filepath.Join(filepath.SplitList(p.Front)[0], "libmpi.so"))
	}
	if p.Preload != "" {
		env = append(before(p.Preload, env, "LD_PRELOAD"), envFronts+"="+p.Front)
		env = before(asanAllows, env, "ASAN_OPTIONS")
	}
	return env
}

const (
	// envLibMPI4py is where mpi4py's wheel, which is linked with no MPI, looks first. Otherwise it would take a library
	// of another MPI that is installed beside it, by its path.
	envLibMPI4py = "MPI4PY_LIBMPI"
	// envFronts tells the library that is preloaded (abi/front/first.c) which folders are to come first.
	envFronts = "IMPI_FRONTS"
	// asanAllows lets programs with AddressSanitizer run, which want no library to be loaded before theirs.
	asanAllows = "verify_asan_link_order=0"
)

// byDefault sets a variable that is not set.
func byDefault(env []string, name, value string) []string {
	if isSet(env, name) {
		return env
	}
	return append(env, name+"="+value)
}

func isSet(settings []string, name string) bool {
	return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, name+"=") })
}
