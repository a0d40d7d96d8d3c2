package main

// setting is one environment variable that libimpi reads.
type setting struct {
	name, fallback string
	secret         bool
	help           string
}

// internal are variables that impirun sets for its ranks; they are not for users to set.
var internal = []string{"IMPI_BOOT_FD", "IMPI_JOB", "IMPI_RANK", "IMPI_SIZE", "IMPI_LOCAL_RANK", "IMPI_LOCAL_SIZE",
	"IMPI_APPNUM", "IMPI_INITIAL_ERRHANDLER", "IMPI_VERBOSE", "IMPI_PARAMETERS"}

// settings are all that there are: a test compares them with what the sources read.
var settings = []setting{
	{"IMPI_AUTH_KEY", "unset", true, "key of a job of several clients: a decimal number below 2^64"},
	{"IMPI_AUTH_SECRET", "unset", true, "secret of a job of several clients, any text: proved, and never sent"},
	{"IMPI_AUTH_SECRET_FILE", "unset", false,
		"file whose first line is the secret; only its owner may be able to read it"},
	{"IMPI_AUTH_TLS", "unset", false,
		"if set, clients and hosts talk TLS 1.3; needs the secret, or IMPI_TLS_CERT, _KEY and _CA"},
	{"IMPI_TLS_CERT", "unset", false, "PEM file: certificate of this client or server"},
	{"IMPI_TLS_KEY", "unset", false, "PEM file: its private key"},
	{"IMPI_TLS_CA", "unset", false, "PEM file: the authority that has signed everybody's certificate"},
	{"IMPI_AUTH_NONE", "unset", false, "if set, clients may join a job without a key"},
	{"IMPI_SINGLETON", "unset", false, "ok: run alone, whatever launcher has started this process"},
	{"IMPI_SINGLE_COPY", "unset", false, "long messages inside a machine: 0: always through the ring, 1: always read " +
		"from the sender's memory (process_vm_readv), where that works; unset: the ring, and memory if the sender computes"},
	{"IMPI_PROGRESS", "unset", false, "a progress thread continues long messages inside a machine while the program " +
		"computes: 0: never, 1: always; unset: where ranks do not outnumber cores"},
	{"IMPI_CHECK", "0", false, "1: in every collective operation all ranks first compare what they are about to do, and " +
		"an error names those who do not agree; the same at all clients"},
	{"IMPI_ALGORITHM", "unset", false, "algorithms of collective operations, as in bcast:binomial,reduce:halving; the " +
		"same at all ranks and clients; unset: the tables below"},
	{"IMPI_REPRODUCIBLE", "0", false, "1: reductions combine in the order of the ranks, so that results are the same " +
		"bits wherever ranks run; the same at all clients"},
	{"IMPI_TUNE", "unset", false, "file of the parameters by which collective algorithms are chosen, as make tune " +
		"writes it; none: those that are built in; unset: the user's or the site's, if there is one"},
	{"IMPI_RSH", "ssh -o BatchMode=yes", false, "starts a command on another machine (impirun -rsh)"},
	{"IMPI_VIA", "auto", false, "direct, agent, auto: who is connected to other clients (impirun -via)"},
	{"IMPI_DATALEN", "65536", false, "bytes in a packet between clients, 1 to 16777216 (impirun -datalen)"},
	{"IMPI_ACKMARK", "32", false, "packets between clients after which a process acknowledges (impirun -ackmark)"},
	{"IMPI_HIWATER", "192", false, "packets between clients that may wait for an acknowledgement (impirun -hiwater)"},
	{"IMPI_TAGUB", "2147483647", false, "largest tag of a job of several clients, at least 32767 (impirun -tagub)"},
	{"IMPI_XSIZE", "-1", false, "bytes from which collectives between clients are long; -1: 1024 (impirun -xsize)"},
	{"IMPI_MAXLINEAR", "-1", false, "clients up to which collectives use no trees; -1: 4 (impirun -maxlinear)"},
	{"IMPI_STREAMS", "1", false,
		"TCP connections between two hosts, 1 to 16, for long distances that lose packets (impirun -streams)"},
	{"IMPI_SILENCE", "30", false, "seconds after which a client of which nothing is heard is lost; 0: never"},
	{"IMPI_PLAIN", "0", false,
		"1: clients agree on nothing beyond IMPI 0.0, as if the others were another implementation"},
	{"MPIEXEC_TIMEOUT", "none", false, "seconds after which impirun ends a job"},
	{"IMPI_CC", "cc", false, "compiler that mpicc runs (also MPICH_CC, OMPI_CC, I_MPI_CC)"},
	{"IMPI_CXX", "c++", false, "compiler that mpicxx runs (also MPICH_CXX, OMPI_CXX, I_MPI_CXX)"},
}

// inForce answers the value and where it comes from. A secret is never shown.
func (s *setting) inForce(lookup func(string) (string, bool)) (value, source string) {
	v, ok := lookup(s.name)
	switch {
	case !ok:
		return s.fallback, "default"
	case s.secret:
		return "(hidden)", "environment"
	}
	return v, "environment"
}
