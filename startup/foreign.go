package startup

import (
	"fmt"
	"strconv"
)

// Env looks a variable up: os.LookupEnv, or a test's own.
type Env func(name string) (value string, ok bool)

// ForeignError: another launcher has started this process together with others, and nothing in the environment leads to
// it. Going on alone would make each of them rank 0 of 1. Those that can be joined are the business of package manager,
// which is asked when Attach has answered this.
type ForeignError struct {
	Launcher string
	Var      string // the variable that gave it away
	Value    string
	Size     int // 0: not known, but more than one
}

func (e *ForeignError) Error() string {
	n := "N"
	if e.Size > 0 {
		n = strconv.Itoa(e.Size)
	}
	instead := ""
	if e.Launcher == slurm {
		instead = "`srun --mpi=pmi2`, or with "
	}
	return fmt.Sprintf("this process was started by %s (%s=%s) without a way to join the others: every process would be "+
		"rank 0 of 1. Start the program with %slibimpi's own launcher, `impirun -n %s PROGRAM` (also installed as mpirun "+
		"and mpiexec), or set %s=ok if each process is to run alone", e.Launcher, e.Var, e.Value, instead, n, EnvSingleton)
}

const slurm = "Slurm's srun"

// The variables that launchers set, the most telling first. size is compared with 1; rank must be there too if
// it is named.
var launchers = []struct{ name, size, rank string }{
	{"impirun, but its connection did not get here (a wrapper may have closed it)", EnvSize, EnvRank},
	{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", ""},
	{"Flux", "FLUX_JOB_SIZE", ""},
	{slurm, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
	{"a PMI launcher (mpiexec of MPICH or Intel MPI)", "PMI_SIZE", "PMI_RANK"},
	{"a PMI launcher (mpiexec of MPICH or Intel MPI)", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
}

// ForeignRank returns the rank that another launcher has given to this process, if it says that.
func ForeignRank(env Env) (rank string, told bool) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "FLUX_TASK_RANK"} {
		if rank, told = env(name); told {
			return rank, true
		}
	}
	return "", false
}

// foreign returns which foreign launcher has started this process together with others, nil if none has.
func foreign(env Env) *ForeignError {
	alone := false // a launcher says that there is one process
	for _, l := range launchers {
		if _, ok := env(l.rank); l.rank != "" && !ok {
			continue
		}
		v, ok := env(l.size)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(v)
		if err == nil && n > 1 {
			return &ForeignError{Launcher: l.name, Var: l.size, Value: v, Size: n}
		}
		alone = alone || err == nil && n == 1
	}
	if alone {
		return nil
	}
	if e := slurmTask(env); e != nil {
		return e
	}
	// PMIx does not tell the size: rank 0 of a job of one looks like rank 0 of many.
	if v, ok := env("PMIX_RANK"); ok {
		return &ForeignError{Launcher: "a PMIx launcher", Var: "PMIX_RANK", Value: v}
	}
	return nil
}

// slurmTask looks at SLURM_NTASKS, which srun sets, and sbatch too: a batch script is not one of several tasks,
// though it has SLURM_PROCID=0. It has SLURM_JOB_ID, and no SLURM_STEP_NUM_TASKS.
func slurmTask(env Env) *ForeignError {
	if _, inJob := env("SLURM_JOB_ID"); inJob {
		return nil
	}
	_, task := env("SLURM_PROCID")
	v, _ := env("SLURM_NTASKS")
	if n, err := strconv.Atoi(v); task && err == nil && n > 1 {
		return &ForeignError{Launcher: slurm, Var: "SLURM_NTASKS", Value: v, Size: n}
	}
	return nil
}
