package usage

// Stat describes impi-stat. The command itself reads the words; a test of it compares them with these.
var Stat = Command{Name: "impi-stat",
	Purpose: "show what the ranks of running jobs wait for",
	Usage:   []string{"impi-stat [--json] [PID ...]"},
	About: "It asks launchers of this user on this machine, which ask their ranks. Ranks that do the same are one line: " +
		"the\ncall, its peer, tag and communicator, its arguments, the line of the program if that has debug information " +
		"(-g),\nand for how long. Then it says who is missing in collective operations, which calls do not agree, which " +
		"receive\nwould match a message but for one thing, who waits for whom, and which messages nobody has received. A " +
		"PID is a\nlauncher's, or that of a rank on its machine; without one it shows all jobs.",
	Dashes: Letter,
	Options: []Option{
		{Names: []string{"json"}, Help: "print the same as JSON"},
		{Names: []string{"help", "h"}, Help: "this text"},
		{Names: []string{"version", "V"}, Help: "version"},
	},
	Notes: []Note{
		{"Exit code", "0 if all that was asked for was shown; 1 if there is no such job, it is another user's, or it " +
			"does\nnot answer; 2 for a mistake in the command line."},
	},
	See: []string{"mpirun(1)", "impi-info(1)"}}
