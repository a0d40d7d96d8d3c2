package usage

// Info describes impi-info. The command itself reads the words; a test of it compares them with these.
var Info = Command{Name: "impi-info",
	Purpose: "show an installation of libimpi, its settings, and what a machine allows",
	Usage:   []string{"impi-info [--json] [NAME ...]", "impi-info --check [HOST | HOST:PORT ...]"},
	About: "Without options it shows the version, the folders, all settings with value and source, and the " +
		"algorithms\nof collective operations. If NAME is a setting, such as IMPI_VIA, it shows its value and " +
		"source.",
	Dashes: Letter, Words: Settings,
	Options: []Option{
		{Names: []string{"json"}, Help: "print the same as JSON, with stable keys"},
		{Names: []string{"check"}, Help: "test what this machine allows jobs to do: shared memory, reading from other " +
			"processes, limits, clocks. With HOST, also connections in both directions, through the remote shell that " +
			"impirun uses (IMPI_RSH); with HOST:PORT, whether anything answers there"},
		{Names: []string{"names"}, Help: "the names of all settings, one a line"},
		{Names: []string{"tools"}, Help: "the variables, events and categories that tools can query in a running " +
			"program (MPI_T)"},
		{Names: []string{"help", "h"}, Help: "this text"},
		{Names: []string{"version", "V"}, Help: "version"},
	},
	Notes: []Note{
		{"Exit code", "0 if all is well; 1 if a check failed, or a setting has an invalid value; 2 for a mistake in " +
			"the\ncommand line, or a NAME that is not a setting."},
		{"Environment", "IMPI_RSH, the remote shell of --check (ssh -o BatchMode=yes)."},
	},
	See: []string{"mpirun(1)", "mpicc(1)"}}
