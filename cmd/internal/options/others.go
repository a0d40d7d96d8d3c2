package options

import "fmt"

// Options of other launchers that are not in table.go under their own names. Scripts name them, so none is unknown: it
// is understood, or passed over because what it asks for is so anyway or is none of ours (-v says which), or refused
// with a reason and what to say instead. testdata/others.txt has what mpiexec of MPICH and mpirun of Open MPI list.

func otherOptions() []option {
	return []option{
		{names: configNames, values: []string{"FILE"},
			help:  "read the programs from FILE, one a line, each with its options",
			apply: func(*parser, []string) error { return fmt.Errorf("it stands before all programs, and none follows") }},
		{names: []string{"iface"}, values: []string{"NETWORK"},
			help: "where ranks listen on every machine: the name of a network interface, as eth0, or a network, as " +
				"10.1.0.0/16",
			apply: func(p *parser, v []string) error { p.plan.Iface = v[0]; return nil }},
		{names: []string{"path"}, values: []string{"DIRS"}, help: "look for this program in DIRS before PATH",
			apply: func(p *parser, v []string) error { p.local.prog.Search = v[0]; return nil }},
		{names: []string{"default-hostfile"}, values: []string{"FILE"},
			apply: func(p *parser, v []string) error { p.hostFile = v[0]; return nil }},
		{names: []string{"info"}, apply: func(p *parser, _ []string) error { p.mode(Version); return nil }},

		noEffect(0, "enable-x", "disable-x", "profile", "disable-hostname-propagation", "pmi-port", "noprefix", "novm",
			"d", "debug-devel", "debug-daemons", "debug-daemons-file", "leave-session-attached", "do-not-resolve",
			"enable-instant-on-support", "fwd-mpirun-port", "use-regexp", "report-child-jobs-separately", "show-progress",
			"display-allocation", "display-devel-allocation", "display-devel-map", "display-diffable-map", "display-topo"),
		noEffect(1, "topolib", "membind", "demux", "localhost", "order-nodes", "gpus-per-proc", "am", "cf", "cartofile",
			"tune", "max-restarts", "max-vm-size", "personality", "launch-agent"),

		refused(0, "-host or -hostfile without this machine does it", "nolocal", "skip-launch-node"),
		refused(0, "start it around the launcher, as in totalview impirun -a -n 4 ./program (docs/diagnosis.md)", "tv"),
		refused(1, "the debugger follows the ranks, as in -debug all gdb -- ./program", "debugger"),
		refused(0, "jobs need no daemons here, and impirun ends with the job", "dvm"),
		refused(1, "jobs need no daemons here", "hnp"),
		refused(1, "for names of several jobs start impirun -names, and say -nameserver HOST:PORT", "ompi-server"),
		refused(0, "-output json is what programs can read", "xml"),
		refused(1, "-output json is what programs can read", "xml-file", "report-events"),
		refused(0, "programs find their rank in IMPI_RANK", "index-argv-by-rank"),
		refused(0, "/proc, ps or -v show the processes", "output-proctable"),
		refused(1, "the shell knows impirun's process as $!", "report-pid", "report-uri"),
		refused(0, "say -wdir DIR", "set-cwd-to-session-dir"),
		refused(1, "copy the files before the job, as with scp", "preload-files"),
		refused(0, "copy the program before the job, as with scp", "preload-binary"),
		refused(1, "ranks stand in the order of -host or -hostfile", "rankfile", "rf"),
		refused(1, "-map-by ppr:N:UNIT says it", "ppr"),
	}
}

// refused are options whose silent loss would change what the user gets. The reason says what to do instead.
func refused(values int, reason string, names ...string) option {
	return option{names: names, values: placeholders(values),
		apply: func(*parser, []string) error { return fmt.Errorf("not supported: %s", reason) }}
}
