package startup

import (
	"errors"
	"strings"
	"testing"
)

func TestProcessesOfForeignLaunchersStop(t *testing.T) {
	tests := []struct {
		env  string
		want string // in the error; "": alone
	}{
		{"", ""},
		{"PMI_RANK=0 PMI_SIZE=2", "mpiexec of MPICH"},
		{"PMI_RANK=0 PMI_SIZE=1", ""},
		{"PMI_SIZE=2", ""},
		{"MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4", "mpiexec of MPICH"},
		{"OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=0", "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4)"},
		{"OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", ""},
		{"PMIX_RANK=0", "PMIx"},
		{"PMIX_RANK=3 PMIX_NAMESPACE=x", "`impirun -n N PROGRAM`"},
		{"SLURM_PROCID=0 SLURM_NTASKS=4", "`impirun -n 4 PROGRAM`"},
		{"SLURM_PROCID=0 SLURM_NTASKS=1", ""},
		{"SLURM_NTASKS=4", ""},                               // salloc's shell
		{"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4", ""}, // a batch script
		{"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4", "`srun --mpi=pmi2`"},
		{"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1", ""},
		{"FLUX_JOB_SIZE=8 FLUX_TASK_RANK=1", "Flux"},
		{"FLUX_JOB_SIZE=1", ""},
		{"IMPI_RANK=1 IMPI_SIZE=2", "its connection did not get here"},
		{"IMPI_RANK=0 IMPI_SIZE=1", ""},
		{"PMI_RANK=0 PMI_SIZE=many", ""},
		{"PMI_RANK=0 PMI_SIZE=-3", ""},
	}
	for _, tt := range tests {
		vars := strings.Fields(tt.env)
		_, _, err := Attach(envOf(vars...))
		var foreign *ForeignError
		switch {
		case tt.want == "" && err != ErrSingleton:
			t.Errorf("%s: %v", tt.env, err)
		case tt.want != "" && (!errors.As(err, &foreign) || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(err.Error(), "IMPI_SINGLETON=ok")):
			t.Errorf("%s: %v", tt.env, err)
		}
		if _, _, err := Attach(envOf(append(vars, "IMPI_SINGLETON=ok")...)); err != ErrSingleton {
			t.Errorf("%s, alone by the user's will: %v", tt.env, err)
		}
		if _, _, err := Attach(envOf(append(vars, "IMPI_SINGLETON=no")...)); (err == ErrSingleton) != (tt.want == "") {
			t.Errorf("%s, IMPI_SINGLETON=no: %v", tt.env, err)
		}
	}
}
