package settings

var (
	offOn       = []Choice{{0, "off", "0"}, {1, "on", "1"}}
	checkings   = []Choice{{0, "off", "0"}, {1, "calls and types", "1"}, {2, "all", "all"}} // and lists of words
	neverAlways = []Choice{{-1, "where it helps", ""}, {0, "never", "0"}, {1, "always", "1"}}
)

// All are the settings, in the order of the page.
var All = []Setting{
	{Name: "IMPI_AUTH_TLS", Default: "unset", Group: "security",
		Meaning: "if set, clients and hosts use TLS 1.3; needs the secret, or `IMPI_TLS_CERT`, `IMPI_TLS_KEY` " +
			"and `IMPI_TLS_CA`"},
	{Name: "IMPI_TLS_CERT", Default: "unset", Group: "security",
		Meaning: "PEM file: the certificate of this client or server"},
	{Name: "IMPI_TLS_KEY", Default: "unset", Group: "security",
		Meaning: "PEM file: the private key of that certificate"},
	{Name: "IMPI_TLS_CA", Default: "unset", Group: "security",
		Meaning: "PEM file: the authority that signed the certificates of all clients and of the server"},
	{Name: "IMPI_AUTH_SECRET", Default: "unset", Group: "security", Secret: true,
		Meaning: "a secret, any text; both sides prove that they know it, without sending it"},
	{Name: "IMPI_AUTH_SECRET_FILE", Default: "unset", Group: "security",
		Meaning: "a file whose first line is the secret; only its owner may be able to read it"},
	{Name: "IMPI_AUTH_KEY", Default: "unset", Group: "security", Secret: true,
		Meaning: "IMPI's own key: a decimal number below 2^64, sent as it is"},
	{Name: "IMPI_AUTH_NONE", Default: "unset", Group: "security",
		Meaning: "if set, anybody may join"},
	{Name: "IMPI_LOCAL", Default: "unset", Group: "transport", Scope: Local, Written: Before,
		Meaning: "`vendor:PATH`: ranks of this client on different machines communicate through another MPI library, with " +
			"the ABI of MPI 5.0, MPICH or Open MPI, instead of TCP; `vendor-only:PATH`: those on one machine, too " +
			"([vendor.md](vendor.md))"},
	{Name: "IMPI_JOIN", Default: "unset", Group: "transport",
		Meaning: "`R@HOST:PORT`: ranks that another launcher starts, or a process alone, join the IMPI server at that " +
			"address as client R ([clusters.md](clusters.md))"},
	{Name: "IMPI_PORT", Default: "unset", Group: "transport", Detail: Detailed,
		Meaning: "with `IMPI_JOIN`, the ports at which ranks listen for other clients: `7000-7999`; unset, any"},
	{Name: "IMPI_VIA", Default: "auto", Group: "transport",
		Kind: Choose, Choices: []Choice{{0, "direct", "direct"}, {1, "agent", "agent"}, {2, "auto", "auto"},
			{3, "one", "one"}},
		Meaning: "which processes connect to other clients: `direct`, every rank; `agent`, one process for all ranks " +
			"(under another launcher: for those of each machine); `one`, under another launcher, rank 0 for all ranks; " +
			"`auto`, an agent if the round trip to the server is 2 ms or more (`-via`)"},
	{Name: "IMPI_STREAMS", Default: "1", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "TCP connections between two hosts, 1 to 16; several help if a long-distance path loses packets " +
			"(`-streams`, [wan.md](wan.md))"},
	{Name: "IMPI_SILENCE", Default: "30", Group: "transport",
		Kind: Number, Scope: Local, Written: Before, Detail: Detailed,
		Meaning: "seconds after which a client or machine counts as lost if it sends nothing, not even TCP " +
			"acknowledgements; 0: never"},
	{Name: "IMPI_PLAIN", Default: "0", Group: "transport", Kind: Choose, Choices: offOn, Detail: Detailed,
		Meaning: "1: this client agrees on nothing beyond IMPI 0.0, as if the others were another implementation"},
	{Name: "IMPI_DATALEN", Default: "65536", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "bytes in a packet between clients, 1 to 16777216; the smallest value of all clients applies " +
			"(`-datalen`)"},
	{Name: "IMPI_ACKMARK", Default: "32", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "packets after which a process acknowledges; the smallest value of all clients applies (`-ackmark`)"},
	{Name: "IMPI_HIWATER", Default: "192", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "packets that may wait for an acknowledgement; the smallest value of all clients applies " +
			"(`-hiwater`)"},
	{Name: "IMPI_TAGUB", Default: "2147483647", Group: "transport", Kind: Number, Detail: Detailed,
		Meaning: "the largest tag, at least 32767; the smallest value of all clients applies (`-tagub`)"},
	{Name: "IMPI_XSIZE", Default: "-1", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "bytes from which collectives between clients use their long forms; -1 is 1024; the same at all " +
			"clients (`-xsize`)"},
	{Name: "IMPI_MAXLINEAR", Default: "-1", Group: "transport", Kind: Number, Detail: Tuning,
		Meaning: "clients up to which collectives use no trees; -1 is 4; the same at all clients (`-maxlinear`)"},
	{Name: "IMPI_SINGLE_COPY", Default: "unset", Group: "machine",
		Kind: Choose, Choices: neverAlways, Scope: Local, Written: Always, Detail: Tuning,
		Meaning: "long messages inside a machine: `0`, through the ring; `1`, read from the sender's memory " +
			"(process_vm_readv); unset, both sides copy from memory to memory if the kernel copies quickly, except fresh " +
			"data of some hundred KiB; otherwise the ring, and memory if the sender computes. With `0` accesses to windows " +
			"of the program's own memory use requests"},
	{Name: "IMPI_PROGRESS", Default: "unset", Group: "machine",
		Kind: Choose, Choices: neverAlways, Scope: Local, Written: Before, Detail: Tuning,
		Meaning: "a progress thread continues long messages while the program computes: `0`, never; `1`, always; " +
			"unset, where ranks do not outnumber cores"},
	{Name: "IMPI_CHECK", Default: "0", Group: "machine",
		Kind: Choose, Choices: checkings, Scope: AllEqual, Written: Always,
		Meaning: "mistakes that are looked for ([checking.md](checking.md)): `calls`, ranks make different collective " +
			"calls; `types`, data is sent as other types than it is received as; `buffers`, operations under way share " +
			"memory, or what is sent changes; `leaks`, what is left at `MPI_Finalize`; `threads`, calls from wrong threads; " +
			"several with commas; `all`; `1`, calls and types; the same at all clients"},
	{Name: "IMPI_REPORT", Default: "0", Group: "machine",
		Kind: Choose, Choices: offOn, Scope: Local, Written: Before,
		Meaning: "1: rank 0 prints on stderr, in MPI_Init, how ranks communicate, machine by machine: shared memory, " +
			"TCP, TLS or an agent (`-v`)"},
	{Name: "IMPI_SUMMARY", Default: "unset", Group: "machine",
		Meaning: "1: at the end of the job rank 0 prints on stderr where the time went: calls, places in the program, " +
			"messages, imbalance; or a file for that, as text, or by its name's end `.html` or `.json`; the same at all " +
			"ranks of a client (`-summary`, [diagnosis.md](diagnosis.md#where-the-time-goes))"},
	{Name: "IMPI_TRACE", Default: "unset", Group: "machine",
		Meaning: "a folder in which each rank notes its calls, for `impi-trace`; `DIR,64M,newest`: in at most that many " +
			"bytes (K, M, G; default 256M), of which the newest are kept, not the oldest; the same at all ranks of a " +
			"client (`-trace`, `-trace-size`, `-trace-keep`, [diagnosis.md](diagnosis.md#where-the-time-goes))"},
	{Name: "IMPI_SINGLETON", Default: "unset", Group: "machine", Scope: Local, Written: Before, Detail: Detailed,
		Meaning: "`ok`: run alone, whatever launcher started this process"},
	{Name: "IMPI_REPRODUCIBLE", Default: "0", Group: "collective",
		Kind: Choose, Choices: offOn, Scope: AllEqual, Written: Always,
		Meaning: "1: results of reductions depend only on the vectors of the ranks, the operation and the count, not " +
			"on where ranks run ([collectives.md](collectives.md#the-same-bits)); the same at all clients"},
	{Name: "IMPI_TUNE", Default: "unset", Group: "collective", Detail: Tuning,
		Meaning: "the file of the parameters that choose algorithms, as `make tune` writes it; `none`: the built-in " +
			"parameters; unset: the user's or the site's file, if there is one"},
	{Name: "IMPI_ALGORITHM", Default: "unset", Group: "collective",
		Scope: AllEqual, Written: Always, Detail: Tuning,
		Meaning: "algorithms for collective operations, as in `bcast:binomial,reduce:halving`; unset, " +
			"those of the tables that `impi-info` shows"},
	{Name: "IMPI_RSH", Default: "ssh -o BatchMode=yes", Group: "launcher",
		Meaning: "the command that starts a command on another machine (`-rsh`)"},
	{Name: "IMPI_CONNECT_TIMEOUT", Default: "120", Group: "launcher", Kind: Number,
		Meaning: "seconds to wait for processes of another job, unless the info key `timeout` sets them: in " +
			"`MPI_Comm_connect` and `MPI_Comm_join`, between children and parents, and between jobs that meet " +
			"([processes.md](processes.md))"},
	{Name: "IMPI_NAMES", Default: "unset", Group: "launcher",
		Meaning: "HOST:PORT of the name server, an `impirun -names`, through which jobs share the names of " +
			"`MPI_Publish_name`; unset, a server of this user on this machine, which starts automatically " +
			"(`-nameserver`, [security.md](security.md#names))"},
	{Name: "MPIEXEC_UNIVERSE_SIZE", Default: "unset", Group: "launcher",
		Meaning: "`MPI_UNIVERSE_SIZE`: a number, `infinite` (no such attribute), or `system` (the cores of this " +
			"machine); unset, the slots of all listed machines, or `infinite` if none are listed (`-usize`)"},
	{Name: "MPIEXEC_TIMEOUT", Default: "none", Group: "launcher",
		Meaning: "seconds after which `impirun` ends a job with code 124 (`-timeout`)"},
	{Name: "IMPI_CC", Default: "cc", Group: "launcher",
		Meaning: "the compiler that `mpicc` runs; `MPICH_CC`, `OMPI_CC` and `I_MPI_CC` do the same"},
	{Name: "IMPI_CXX", Default: "c++", Group: "launcher",
		Meaning: "the compiler that `mpicxx` runs; `MPICH_CXX`, `OMPI_CXX` and `I_MPI_CXX` do the same"},
	{Name: "IMPI_FC", Default: "gfortran", Group: "launcher",
		Meaning: "the compiler that `mpifort` runs; `MPICH_FC`, `OMPI_FC` and `I_MPI_FC` do the same, and " +
			"`MPICH_F77`, `MPICH_F90` and the like for `mpif77` and `mpif90`"},
	{Name: "IMPI_PMIX", Default: "unset", Group: "launcher",
		Meaning: "the file of the PMIx library, `libpmix.so.2`, for processes that Open MPI's `mpirun`, `prterun` or " +
			"`srun --mpi=pmix` starts; unset, the launcher's own, or the system's"},
	{Name: "IMPI_RANK", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "rank in this client's part of `MPI_COMM_WORLD`"},
	{Name: "IMPI_SIZE", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "number of ranks in that part"},
	{Name: "IMPI_LOCAL_RANK", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "rank among the ranks on this machine"},
	{Name: "IMPI_LOCAL_SIZE", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "number of ranks on this machine"},
	{Name: "IMPI_APPNUM", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "number of the program on the command line: `MPI_APPNUM`"},
	{Name: "IMPI_JOB", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "the name of the job, different for every start"},
	{Name: "IMPI_INITIAL_ERRHANDLER", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "error handler until the program sets another (`-initial-errhandler`)"},
	{Name: "IMPI_MEMORY_ALLOC_KINDS", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "requested memory allocation kinds (`-memory-alloc-kinds`)"},
	{Name: "IMPI_VERBOSE", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "1 if `-v` was given: rank 0 prints in MPI_Init how ranks communicate, and in MPI_Finalize which " +
			"algorithms collective operations used"},
	{Name: "IMPI_PARAMETERS", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "parameters of collective algorithms, and the file that they come from; unset if the built-in ones " +
			"apply"},
	{Name: "IMPI_BOOT_FD", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "descriptor of the link to the launcher"},
	{Name: "IMPI_FRONTS", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "folders that come first in the `LD_LIBRARY_PATH` of programs that a script starts, even if the " +
			"script changes that variable"},
	{Name: "IMPI_BOOT_DOOR", Default: "unset", Group: "rank", Detail: Internal,
		Meaning: "the launcher's socket, and its key, for programs that have not inherited that descriptor"},
}
