package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/allocation"
	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestAnAllocationBecomesThePlansMachines(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(own, ".")
	slurm := map[string]string{"SLURM_JOB_ID": "7", "SLURM_NODELIST": "n[1-2]," + short + ".site",
		"SLURM_TASKS_PER_NODE": "2(x2),4"}
	for _, tt := range []struct {
		env        map[string]string
		line, want string
	}{
		{nil, "a.out", "1 ranks:"},
		{nil, "-host n1:2,n2 -n 3 a.out", "3 ranks: n1:2 n2:1"},
		{slurm, "a.out", "8 ranks: n1:2 n2:2 here:4"},
		{slurm, "-n 3 a.out", "3 ranks: n1:2 n2:1"},
		{slurm, "-ppn 1 a.out", "3 ranks: n1:1 n2:1 here:1"},
		{slurm, "-host n2,localhost a.out", "6 ranks: n2:2 here:4"},
		{slurm, "-host n2:1,n1 a.out", "3 ranks: n2:1 n1:2"},
		{slurm, "-host n2,n2,n1 a.out", "4 ranks: n2:2 n1:2"},
		{slurm, "a.out : -n 2 b.out", "3 ranks: n1:2 n2:1"},
		{slurm, "-host n9 a.out", "machine n9 is not in the allocation of Slurm job 7 (SLURM_NODELIST), which has n1, n2"},
		{slurm, "-rmk none a.out", "1 ranks:"},
		{slurm, "-rmk lsf a.out", "-rmk lsf: this process belongs to no job of it"},
		{slurm, "-clients 1 a.out", "1 ranks:"},
		{map[string]string{"SLURM_JOB_ID": "7", "SLURM_NODELIST": "n["}, "a.out",
			"the allocation of Slurm: SLURM_NODELIST, column 3: expected a number, and found the end (-rmk none"},
		{map[string]string{"PBS_JOBID": "7", "PBS_NODEFILE": "/no"}, "a.out", "the allocation of PBS: file does not exist"},
	} {
		get := func(name string) string { return tt.env[name] }
		plan, err := options.Parse(strings.Fields(tt.line), get)
		if err != nil {
			t.Fatal(err)
		}
		var list []Machine
		noFile := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
		err = Settle(plan, allocation.Environment{Get: get, File: noFile})
		if err == nil {
			list, err = Of(plan)
		}
		got := fmt.Sprintf("%d ranks:", plan.Size())
		for _, m := range list {
			if m.Local {
				m.Name = "here"
			}
			got += fmt.Sprintf(" %s:%d", m.Name, len(m.Ranks))
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestTheLauncherIsThatOfTheManagerIfItsCommandIsThere(t *testing.T) {
	there := func(string) (string, error) { return "/bin/x", nil }
	gone := func(string) (string, error) { return "", errors.New("not there") }
	for m, want := range map[allocation.Manager]string{allocation.Slurm: "slurm", allocation.LSF: "lsf",
		allocation.GridEngine: "sge", allocation.PBS: "ssh"} {
		if got := launcherOf(m, there); got != want {
			t.Errorf("%s: %s", m, got)
		}
		if got := launcherOf(m, gone); got != "ssh" {
			t.Errorf("%s without its command: %s", m, got)
		}
	}
}
