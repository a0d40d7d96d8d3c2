package usage

// Info describes impi-info. The command itself reads the words; a test of it compares them with these.
var Info = Command{Name: "impi-info",
	Purpose: "show an installation of libimpi, its settings, and what a machine allows",
	Usage:   []string{"impi-info [--json] [NAME ...]", "impi-info --check [HOST | HOST:PORT ...]"},
	About: "Without options it shows version, places, all settings with value and source, and the algorithms of\n" +
		"collective operations. A NAME is a setting, as in IMPI_VIA: its value and where that comes from.",
	Dashes: Letter, Words: Settings,
	Options: []Option{
		{Names: []string{"json"}, Help: "the same for programs, as JSON with keys that stay"},
		{Names: []string{"check"}, Help: "test what this machine allows jobs: shared memory, reading from other processes, " +
			"limits, clocks. With HOST, also connections from here to there and back, by the remote shell that impirun uses " +
			"(IMPI_RSH); with HOST:PORT, whether somebody answers there"},
		{Names: []string{"names"}, Help: "the names of all settings, one a line"},
		{Names: []string{"tools"}, Help: "what tools may ask a running program (MPI_T): variables, events, categories"},
		{Names: []string{"help", "h"}, Help: "this text"},
		{Names: []string{"version", "V"}, Help: "version"},
	},
	Notes: []Note{
		{"Exit code", "0 if all is well; 1 if a check failed, or a setting has a value that nobody can use; 2 for a\n" +
			"mistake in the command line, or a NAME that is no setting."},
		{"Environment", "IMPI_RSH, the remote shell of --check (ssh -o BatchMode=yes)."},
	},
	See: []string{"mpirun(1)", "mpicc(1)"}}
