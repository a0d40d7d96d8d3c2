package usage

// Conform describes impi-conform. The command itself reads the options; a test of it compares them with these.
var Conform = Command{Name: "impi-conform", Purpose: "test an implementation of IMPI",
	Usage: []string{"impi-conform [options]"},
	About: "impi-conform tests an implementation of IMPI 0.0: it plays the server, the clients and the processes " +
		"that\nthe implementation communicates with, with one case for each rule and for each way to break it.",
	Dashes: Either,
	Options: []Option{
		{Names: []string{"server-cmd"}, Values: []string{"COMMAND"}, Help: "the command that starts the server under test; " +
			"{clients} is how many clients it serves (\"impirun -server {clients}\")"},
		{Names: []string{"client-cmd"}, Values: []string{"COMMAND"}, Help: "the command that starts a client under test; " +
			"{rank} is its rank, {server} the server's address:port, {n} its number of processes, {prog} the program and its " +
			"arguments (\"impirun -client {rank} {server} -n {n} {prog}\"). Given several times, the further ones start, in " +
			"turn, the further clients under test of a case"},
		{Names: []string{"values"}, Values: []string{"VARS"}, Help: "variables that tell a client which values to " +
			"contribute to C_COLL_XSIZE and C_COLL_MAXLINEAR (\"IMPI_XSIZE={xsize} IMPI_MAXLINEAR={maxlinear}\"); without " +
			"them the cases that need it are skipped"},
		{Names: []string{"listen"}, Values: []string{"ADDRESS[:PORT]"}, Help: "play for implementations on other " +
			"machines, which reach this one at ADDRESS: instead of being run, the commands are shown, to be typed there; with " +
			"PORT, ports are counted up from there"},
		{Names: []string{"ports"}, Values: []string{"LO-HI"}, Help: "with -listen: the ports at which the tester listens"},
		{Names: []string{"template"}, Values: []string{"NAME|TEXT"}, Help: "with -listen: the commands of libimpi or " +
			"lam, or that of a client with place holders as in -client-cmd; {player} {args} are the two parts of {prog}. " +
			"-server-cmd and -client-cmd are templates, too (the one that was remembered, or libimpi)"},
		{Names: []string{"remember"}, Help: "with -listen: keep the templates in the user's configuration folder"},
		{Names: []string{"player"}, Values: []string{"FILE"}, Help: "instead of cases: write the source of the program " +
			"that a client under test runs, to be compiled there"},
		{Names: []string{"mpicc"}, Values: []string{"COMMAND"},
			Help: "the compiler of the program that a client under test runs (mpicc)"},
		{Names: []string{"run"}, Values: []string{"REGEXP"}, Help: "run only cases whose name matches"},
		{Names: []string{"list"}, Help: "list the cases, and what each tests"},
		{Names: []string{"timeout"}, Values: []string{"TIME"}, Help: "the deadline of a case (30s)"},
		{Names: []string{"jobs"}, Values: []string{"N"}, Help: "how many cases run at a time (4)"},
		{Names: []string{"junit"}, Values: []string{"FILE"}, Help: "write the results as JUnit XML"},
		{Names: []string{"json"}, Values: []string{"FILE"}, Help: "write the record of the run as JSON: what was tested " +
			"where and how, each case's verdict, and all that happened in it"},
		{Names: []string{"html"}, Values: []string{"FILE"}, Help: "write the record as a page, with sequence diagrams"},
		{Names: []string{"name"}, Values: []string{"NAME"},
			Help: "the implementation's name in records (the first word of the commands)"},
		{Names: []string{"version-of"}, Values: []string{"TEXT"},
			Help: "the implementation's version in records (the first line that the first word with --version writes)"},
		{Names: []string{"compare"}, Values: []string{"A.json", "B.json"}, Help: "instead of cases: list the cases whose " +
			"verdict in record B is another than in record A"},
		{Names: []string{"web"}, Values: []string{"ADDRESS"}, Joined: true, Help: "instead of running cases: show the " +
			"tester as a page, on which people configure, run and read them, and print its address. -web alone listens on a " +
			"free port of 127.0.0.1; ADDRESS is PORT, HOST or HOST:PORT, and needs a token if other machines reach it"},
		{Names: []string{"token"}, Values: []string{"FILE"}, Help: "with -web: the token is in FILE, at least 16 " +
			"characters, and only its owner may read it (without FILE, for an address that other machines reach, one is " +
			"made and printed)"},
		{Names: []string{"v"}, Help: "show what the implementation wrote in failed cases"},
		{Names: []string{"golden"}, Values: []string{"DIR"}, Help: "instead of cases: run some small jobs of libimpi, " +
			"and compare their bytes with the traces in DIR"},
		{Names: []string{"rewrite"}, Help: "with -golden: rewrite the traces"},
		{Names: []string{"print"}, Values: []string{"FILE"}, Help: "print a trace in words"},
	},
	Notes: []Note{
		{"Commands", "Words are separated by blanks. If one of the two commands is missing, its cases are skipped."},
		{"By hand", "With -listen a line of standard input answers what the tester asks for; \"skip\" gives up the case, " +
			"\"quit\" or the end of the input all cases. Output and exit codes of these commands are not seen."},
		{"Verdicts", "A case passes, fails, is skipped, or is indeterminate: nothing was seen of the implementation, or " +
			"the tester was disturbed (interrupted, no ports, no memory)."},
		{"Exit code", "0 if no case failed, 1 if one did, 2 if the tester could not run, 3 if none failed and one is " +
			"indeterminate. With -compare: 1 if a verdict got worse."},
	},
	See: []string{"mpirun(1)", "mpicc(1)"}}
