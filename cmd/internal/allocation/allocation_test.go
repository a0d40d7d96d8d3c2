package allocation

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// environment is made of NAME=value words and of files.
func environment(settings []string, files map[string]string) Environment {
	return Environment{
		Get: func(name string) string {
			for _, s := range settings {
				if v, ok := strings.CutPrefix(s, name+"="); ok {
					return v
				}
			}
			return ""
		},
		File: func(name string) ([]byte, error) {
			text, ok := files[name]
			if !ok {
				return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
			}
			return []byte(text), nil
		},
	}
}

var files = map[string]string{
	"/pbs":     "n1\nn1\nn2\n\nn1\n",
	"/pbs/bad": "n1\nn2 4\n",
	"/lsf":     "a\nb\nb\n",
	"/pe":      "n1.site 4 all.q@n1.site UNDEFINED\n\nn2.site 2 all.q@n2.site UNDEFINED\n",
	"/pe/bad":  "n1 4\nn2\tmany all.q\n",
	"/empty":   "\n",
}

func TestAnAllocationIsReadFromWhatItsManagerSays(t *testing.T) {
	for _, tt := range []struct{ settings, want string }{
		{"", "none"},
		{"SLURM_JOB_ID=7", "none"},
		{"SLURM_JOB_NODELIST=n1", "none"},
		{"SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n[001-003,7],login,rack[1-2]n[1-2] SLURM_TASKS_PER_NODE=4(x2),3,1(x6)",
			"Slurm job 7 (SLURM_JOB_NODELIST): n001:4 n002:4 n003:3 n7:1 login:1 rack1n1:1 rack1n2:1 rack2n1:1 rack2n2:1"},
		{"SLURM_JOBID=7 SLURM_NODELIST=n[9-11] SLURM_TASKS_PER_NODE=2(x3)",
			"Slurm job 7 (SLURM_NODELIST): n9:2 n10:2 n11:2"},
		{"SLURM_JOB_ID=7 SLURM_NODELIST=a,b SLURM_JOB_CPUS_PER_NODE=8,3 SLURM_CPUS_PER_TASK=2",
			"Slurm job 7 (SLURM_NODELIST): a:4 b:1"},
		{"SLURM_JOB_ID=7 SLURM_NODELIST=a,b SLURM_CPUS_PER_TASK=2", "Slurm job 7 (SLURM_NODELIST): a:1 b:1"},
		{"SLURM_JOB_ID=7 SLURM_NODELIST=n[1-3] SLURM_TASKS_PER_NODE=4(x2)",
			"error: the allocation of Slurm: SLURM_TASKS_PER_NODE=4(x2) is about 2 machines, and the job has 3"},
		{"PBS_JOBID=3.site PBS_NODEFILE=/pbs", "PBS job 3.site (/pbs): n1:3 n2:1"},
		{"PBS_NODEFILE=/pbs", "none"},
		{"PBS_JOBID=3 PBS_NODEFILE=/pbs/bad",
			`error: the allocation of PBS: /pbs/bad, line 2, column 4: expected the end of the line, and found "4"`},
		{"PBS_JOBID=3 PBS_NODEFILE=/empty", "error: the allocation of PBS: /empty names no machine"},
		{"PBS_JOBID=3 PBS_NODEFILE=/no", "error: the allocation of PBS: open /no: file does not exist"},
		{"LSB_JOBID=5 LSB_MCPU_HOSTS=a_4_b_2 LSB_HOSTS=c", "LSF job 5 (LSB_MCPU_HOSTS): a:4 b:2"},
		{"LSB_JOBID=5 LSB_DJOB_HOSTFILE=/lsf LSB_HOSTS=c", "LSF job 5 (/lsf): a:1 b:2"},
		{"LSB_JOBID=5 LSB_HOSTS=a_a_b", "LSF job 5 (LSB_HOSTS): a:2 b:1"},
		{"LSB_JOBID=5", "none"},
		{"LSB_HOSTS=a", "none"},
		{"LSB_JOBID=5 LSB_MCPU_HOSTS=a_4_b", "error: the allocation of LSF: LSB_MCPU_HOSTS, column 6: expected the " +
			"number of slots of b, and found the end"},
		{"LSB_JOBID=5 LSB_MCPU_HOSTS=a_x",
			`error: the allocation of LSF: LSB_MCPU_HOSTS, column 3: expected a number of slots, and found "x"`},
		{"LSB_JOBID=5 LSB_MCPU_HOSTS=-o_1",
			`error: the allocation of LSF: LSB_MCPU_HOSTS, column 1: expected the name of a machine, and found "-o"`},
		{"PE_HOSTFILE=/pe JOB_ID=9", "Grid Engine job 9 (/pe): n1.site:4 n2.site:2"},
		{"PE_HOSTFILE=/pe/bad",
			`error: the allocation of Grid Engine: /pe/bad, line 2, column 4: expected a number of slots, and found "many"`},
	} {
		var settings []string
		for s := range strings.FieldsSeq(tt.settings) {
			if strings.HasPrefix(s, "LSB_MCPU") || strings.HasPrefix(s, "LSB_HOSTS") {
				name, value, _ := strings.Cut(s, "=")
				s = name + "=" + strings.ReplaceAll(value, "_", " ")
			}
			settings = append(settings, s)
		}
		a, err := Read(environment(settings, files), "")
		got := "none"
		if err != nil {
			got = "error: " + err.Error()
		} else if a != nil {
			got = a.String() + ":"
			for _, m := range a.Machines {
				got += fmt.Sprintf(" %s:%d", m.Name, m.Slots)
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.settings, got, tt.want)
		}
	}
}

func TestMistakesInListsAreNamedByTheirColumn(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "column 1: expected the name of a machine, and found the end",
		"a,":                 "column 3: expected the name of a machine, and found the end",
		",a":                 `column 1: expected the name of a machine, and found ",a"`,
		"-oProxyCommand=x":   `column 1: expected the name of a machine, and found "-oProxyCommand=x"`,
		"a b":                `column 2: expected the name of a machine, and found " b"`,
		"n[1-3":              `column 6: expected ",", "-" or "]", and found the end`,
		"n[1-":               "column 5: expected a number, and found the end",
		"n[]":                `column 3: expected a number, and found "]"`,
		"n[3-1],b":           `column 5: expected a number from 3 to 65538, and found "1]"`,
		"n[1-9999999]":       `column 5: expected a number from 1 to 65536, and found "9999999]"`,
		"n[1-9999][1-9999]":  `column 1: expected at most 65536 machines, and found "n[1-9999][1-9999]"`,
		"n[1-65536],x":       `column 12: expected at most 65536 machines, and found "x"`,
		"n[12345678901]":     `column 3: expected a number, and found "12345678901]"`,
		"n]":                 `column 2: expected the name of a machine, and found "]"`,
		"n[1,a]":             `column 5: expected a number, and found "a]"`,
		"n[1x]":              `column 4: expected ",", "-" or "]", and found "x]"`,
		"good,better[1-2],;": `column 18: expected the name of a machine, and found ";"`,
	} {
		if _, err := Names("LIST", text); err == nil || err.Error() != "LIST, "+want {
			t.Errorf("%q: %v\nwant LIST, %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "column 1: expected a number, and found the end", "4(x2": `column 5: expected ")", and found the end`,
		"4(2)": `column 3: expected "x" and a number, and found "2)"`, "0": `column 1: expected a number from 1 to 65536, ` +
			`and found "0"`, "4(x0)": `column 4: expected a number from 1 to 65536, and found "0)"`,
		"4 4": `column 2: expected "," or "(x", and found " 4"`, "4,": "column 3: expected a number, and found the end",
	} {
		if _, err := Repeated("LIST", text); err == nil || err.Error() != "LIST, "+want {
			t.Errorf("%q: %v\nwant LIST, %s", text, err, want)
		}
	}
}

func TestOneManagerAloneCanBeAsked(t *testing.T) {
	both := []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1", "PBS_JOBID=3", "PBS_NODEFILE=/pbs"}
	for only, want := range map[Manager]string{"": "7", Slurm: "7", PBS: "3"} {
		a, err := Read(environment(both, files), only)
		if err != nil || a.Job != want {
			t.Errorf("%q: %+v, %v", only, a, err)
		}
	}
	if a, err := Read(environment(both, files), LSF); a != nil || err != nil {
		t.Error(a, err)
	}
}

func TestAMachineIsFoundWithAndWithoutItsDomain(t *testing.T) {
	a := &Allocation{Machines: []Machine{{"n1", 1}, {"n2.site", 2}}}
	places := map[string]int{"n1": 0, "N1": 0, "n1.site": 0, "n2": 1, "n2.site": 1, "n2.other": -1, "n": -1}
	for name, want := range places {
		if got := a.Find(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// What is written down in brackets is what it stands for.
func TestCompressedListsExpandToWhatTheyWereMadeOf(t *testing.T) {
	names, err := Names("LIST", "a[08-11],b[1,3-4]x[0-1],c")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("a08 a09 a10 a11 b1x0 b1x1 b3x0 b3x1 b4x0 b4x1 c")
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}

func FuzzLists(f *testing.F) {
	for _, s := range []string{"n[001-003,7],login,rack[1-2]n[1-4]", "4(x2),3", "n[1-", "a,,b", "n[9-1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := Names("LIST", text)
		if err == nil && (len(names) == 0 || len(names) > maxMachines) {
			t.Errorf("%q: %d names", text, len(names))
		}
		for _, name := range names {
			if !isName(name) {
				t.Errorf("%q: %q", text, name)
			}
		}
		if numbers, err := Repeated("LIST", text); err == nil && (len(numbers) == 0 || len(numbers) > maxMachines) {
			t.Errorf("%q: %d numbers", text, len(numbers))
		}
	})
}
