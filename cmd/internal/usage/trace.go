package usage

// Trace describes impi-trace. The command itself reads the words; a test of it compares them with these.
var Trace = Command{Name: "impi-trace",
	Purpose: "show where the time of a traced job went",
	Usage:   []string{"impi-trace [options] DIR"},
	About: "It reads the trace of a job that ran with IMPI_TRACE=DIR (impirun -trace DIR), and prints a summary: late " +
		"ranks,\nwaits by cause, the longest waits, the critical path, and calls by line of the program. It writes " +
		"DIR/trace.html,\na page that needs no network, and DIR/trace.pftrace, which Perfetto (ui.perfetto.dev) opens; " +
		"options say which\nfiles it writes instead. Lines of the program need its debug information (-g).",
	Dashes: Either,
	Options: []Option{
		{Names: []string{"o"}, Values: []string{"FILE"}, Help: "write the file for Perfetto: calls as slices, messages as " +
			"flows, waits by cause"},
		{Names: []string{"html"}, Values: []string{"FILE"}, Help: "write the page: timeline, waits, critical path, who " +
			"talks to whom, sizes, calls"},
		{Names: []string{"csv"}, Values: []string{"DIR"}, Help: "write calls.csv, messages.csv and waits.csv"},
		{Names: []string{"otf2"}, Values: []string{"DIR"}, Help: "write an OTF2 archive, for Vampir or Cube; needs python3 " +
			"with the package otf2"},
		{Names: []string{"text"}, Help: "print the summary, and write no file"},
		{Names: []string{"from"}, Values: []string{"TIME"}, Help: "leave out what ended earlier: seconds from the job's " +
			"begin, or with a unit (1.5, 200ms)"},
		{Names: []string{"to"}, Values: []string{"TIME"}, Help: "leave out what began later"},
		{Names: []string{"job"}, Values: []string{"N"}, Help: "which job, if DIR has several: 1 is the newest (1)"},
		{Names: []string{"events"}, Values: []string{"N"}, Help: "how many calls the page has one by one; of more calls it " +
			"has the longest, and the rest as shares of the time (1000000)"},
		{Names: []string{"help", "h"}, Help: "this text"},
		{Names: []string{"version", "V"}, Help: "version"},
	},
	Notes: []Note{
		{"Exit code", "0 if the trace was read and all was written; 1 if there is no trace, or a file cannot be " +
			"written; 2\nfor a mistake in the command line. What is missing of a trace is said in notes, and " +
			"the rest is\nshown."},
	},
	See: []string{"mpirun(1)", "impi-stat(1)", "impi-info(1)"}}
