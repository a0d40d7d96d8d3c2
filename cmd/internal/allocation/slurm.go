package allocation

import (
	"fmt"
	"strconv"
	"strings"
)

// Slurm's notation. Machines: names separated by commas, in which [001-003,7] stands for n001, n002, n003 and n7, more
// than once in a name if need be. Tasks: a number for each machine, where 4(x2) stands for 4,4.

// slurm reads SLURM_JOB_NODELIST and how many tasks, or else processors, each machine has.
func slurm(from Environment) (*Allocation, error) {
	job := from.Get("SLURM_JOB_ID")
	if job == "" {
		job = from.Get("SLURM_JOBID")
	}
	source := "SLURM_JOB_NODELIST"
	if from.Get(source) == "" {
		source = "SLURM_NODELIST"
	}
	if job == "" || from.Get(source) == "" {
		return nil, nil
	}
	names, err := Names(source, from.Get(source))
	if err != nil {
		return nil, err
	}
	slots, err := slurmSlots(from, len(names))
	if err != nil {
		return nil, err
	}
	a, at := &Allocation{Job: job, Source: source}, map[string]int{}
	for i, name := range names {
		a.add(name, slots[i], at)
	}
	return a, nil
}

// slurmSlots are the tasks of each machine. Without SLURM_TASKS_PER_NODE, which salloc and sbatch set, they are as many
// as find room on its processors.
func slurmSlots(from Environment, machines int) ([]int, error) {
	source, each := "SLURM_TASKS_PER_NODE", 1
	if from.Get(source) == "" {
		source = "SLURM_JOB_CPUS_PER_NODE"
		if word := from.Get("SLURM_CPUS_PER_TASK"); word != "" {
			n, ok := count(word)
			if !ok {
				return nil, &SyntaxError{"SLURM_CPUS_PER_TASK", 0, 1, "a number of processors", word}
			}
			each = n
		}
	}
	text := from.Get(source)
	if text == "" {
		text = fmt.Sprintf("1(x%d)", machines)
	}
	slots, err := Repeated(source, text)
	if err != nil {
		return nil, err
	}
	if len(slots) != machines {
		return nil, fmt.Errorf("%s=%s is about %d machines, and the job has %d", source, text, len(slots), machines)
	}
	for i := range slots {
		slots[i] = max(1, slots[i]/each)
	}
	return slots, nil
}

// scanner reads a text from the left.
type scanner struct {
	source, text string
	at           int
}

func (s *scanner) fail(want string) error {
	got := s.text[s.at:]
	if i := strings.IndexByte(got, ','); i > 0 {
		got = got[:i]
	}
	return &SyntaxError{s.source, 0, s.at + 1, want, got}
}

func (s *scanner) end() bool { return s.at == len(s.text) }

// next takes byte c if it comes next.
func (s *scanner) next(c byte) bool {
	if s.end() || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// digits takes a number, whose digits count: 001 is not 1.
func (s *scanner) digits(what string) (word string, n int, err error) {
	begin := s.at
	for !s.end() && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	word = s.text[begin:s.at]
	if n, err = strconv.Atoi(word); err != nil || len(word) > 9 {
		s.at = begin
		return "", 0, s.fail(what)
	}
	return word, n, nil
}

// Names expands Slurm's list of machines. source is where it stands, for errors.
func Names(source, text string) (list []string, err error) {
	s := &scanner{source: source, text: text}
	for {
		begin := s.at
		names, err := s.name()
		if err != nil {
			return nil, err
		}
		if list = append(list, names...); len(list) > maxMachines {
			s.at = begin
			return nil, s.fail(fmt.Sprintf("at most %d machines", maxMachines))
		}
		if s.end() {
			return list, nil
		}
		if !s.next(',') {
			return nil, s.fail(`"," or "["`)
		}
	}
}

// name takes one name with its brackets, of which each multiplies what is there.
func (s *scanner) name() ([]string, error) {
	begin, list := s.at, []string{""}
	for !s.end() && s.text[s.at] != ',' {
		if s.next('[') {
			numbers, err := s.numbers()
			if err != nil {
				return nil, err
			}
			if len(list)*len(numbers) > maxMachines {
				s.at = begin
				return nil, s.fail(fmt.Sprintf("at most %d machines", maxMachines))
			}
			more := make([]string, 0, len(list)*len(numbers))
			for _, head := range list {
				for _, tail := range numbers {
					more = append(more, head+tail)
				}
			}
			list = more
			continue
		}
		c := s.text[s.at]
		if !isNameByte(c) || s.at == begin && (c == '-' || c == '.') {
			return nil, s.fail("the name of a machine")
		}
		for i := range list {
			list[i] += string(c)
		}
		s.at++
	}
	if s.at == begin {
		return nil, s.fail("the name of a machine")
	}
	return list, nil
}

// numbers takes what stands in brackets, and the bracket that closes.
func (s *scanner) numbers() (list []string, err error) {
	for {
		word, first, err := s.digits("a number")
		if err != nil {
			return nil, err
		}
		last := first
		if s.next('-') {
			begin := s.at
			if _, last, err = s.digits("a number"); err != nil {
				return nil, err
			}
			if last < first || last-first >= maxMachines {
				s.at = begin
				return nil, s.fail(fmt.Sprintf("a number from %d to %d", first, first+maxMachines-1))
			}
		}
		for n := first; n <= last; n++ {
			list = append(list, fmt.Sprintf("%0*d", len(word), n))
		}
		if len(list) > maxMachines {
			return nil, s.fail(fmt.Sprintf("at most %d machines", maxMachines))
		}
		if s.next(']') {
			return list, nil
		}
		if !s.next(',') {
			return nil, s.fail(`",", "-" or "]"`)
		}
	}
}

// Repeated expands Slurm's list of numbers, such as 4(x2),3.
func Repeated(source, text string) (list []int, err error) {
	s := &scanner{source: source, text: text}
	for {
		begin := s.at
		_, n, err := s.digits("a number")
		if err != nil {
			return nil, err
		}
		if n < 1 || n > maxSlots {
			s.at = begin
			return nil, s.fail(fmt.Sprintf("a number from 1 to %d", maxSlots))
		}
		times := 1
		if s.next('(') {
			if !s.next('x') {
				return nil, s.fail(`"x" and a number`)
			}
			begin := s.at
			if _, times, err = s.digits("a number"); err != nil {
				return nil, err
			}
			if times < 1 || len(list)+times > maxMachines {
				s.at = begin
				return nil, s.fail(fmt.Sprintf("a number from 1 to %d", maxMachines))
			}
			if !s.next(')') {
				return nil, s.fail(`")"`)
			}
		}
		for range times {
			list = append(list, n)
		}
		if s.end() {
			return list, nil
		}
		if !s.next(',') {
			return nil, s.fail(`"," or "(x"`)
		}
	}
}
