// Package hint has the one hint that goes with an error: what to look at, or to do. The texts of errors stand where
// they are found, beside the values that they name; docs/errors.md lists all of them with their hints, and a test keeps
// it.
package hint

import (
	"strings"
	"syscall"

	"github.com/libimpi/libimpi/abi"
)

// row is a hint for errors of a class whose text contains says.
type row struct {
	class int
	says  string // "": any
	hint  string
}

// Of returns the hint for an error of a call ("MPI_Send"; "": not known) by its class and text; "" if there is none.
func Of(class int, call, text string) string {
	for _, r := range rows {
		if r.class == class && strings.Contains(text, r.says) {
			return strings.ReplaceAll(r.hint, "the call", callName(call))
		}
	}
	return ""
}

func callName(call string) string {
	if call == "" {
		return "the call"
	}
	return call
}

// OfSignal returns the hint for a crash, of which text says why there was a signal; "" if there is none. line says
// whether the line of the program is known.
func OfSignal(signal int, text string, line bool) string {
	switch {
	case strings.Contains(text, "met no usable memory"): // a call of MPI
		return Of(abi.MPI_ERR_BUFFER, "", "")
	case strings.Contains(text, "sent the signal to itself"):
		return ""
	case !line && signals[syscall.Signal(signal)] != "":
		return withoutLine
	}
	return signals[syscall.Signal(signal)]
}

const withoutLine = "compile with -g to see the line; impirun -debug RANKS starts ranks under a debugger"

var signals = map[syscall.Signal]string{
	syscall.SIGSEGV: "-fsanitize=address shows where memory goes wrong first; impirun -debug RANKS starts a debugger",
	syscall.SIGBUS:  "a file that is mapped may have become shorter, or /dev/shm may be full (df /dev/shm)",
	syscall.SIGFPE:  "look for a division by a value that is 0 at this rank only, such as a count of local elements",
	syscall.SIGILL:  "it is a trap of the compiler, or the program was compiled for another processor (-march=native)",
	syscall.SIGABRT: "what the program wrote before says why: a failed assert, an exception that nobody catches, or " +
		"damaged memory",
}

// rows are looked through in order.
var rows = []row{
	{abi.MPI_ERR_BUFFER, "a buffered send needs", "attach MPI_BSEND_OVERHEAD and the packed size for every " +
		"message that is under way at once, or use MPI_Isend"},
	{abi.MPI_ERR_BUFFER, "arguments sendbuf and recvbuf are the same", "pass MPI_IN_PLACE as sendbuf: the data " +
		"in recvbuf is the contribution"},
	{abi.MPI_ERR_BUFFER, "MPI_IN_PLACE", "MPI_IN_PLACE is for collective operations, as sendbuf at most ranks, " +
		"and as recvbuf at the root of a scatter"},
	{abi.MPI_ERR_BUFFER, "is NULL", "allocate the buffer before the call; a rank without data passes count 0"},
	{abi.MPI_ERR_BUFFER, "where no memory is", "an integer was passed as an address, or arguments were exchanged"},
	{abi.MPI_ERR_BUFFER, "", "compare the buffer with count and datatype, and with operations that are not complete"},

	{abi.MPI_ERR_COUNT, "2^63-1", "the count is likely to be a variable that was never set"},
	{abi.MPI_ERR_COUNT, "is negative", "a product of int may have become too large: the call with suffix _c " +
		"takes MPI_Count"},
	{abi.MPI_ERR_COUNT, "", "all ranks have to give counts and datatypes of the same number of bytes"},

	{abi.MPI_ERR_TYPE, "has not been committed", "call MPI_Type_commit once, after the datatype has been made"},
	{abi.MPI_ERR_TYPE, "no handle of libimpi", "compile everything with this library's mpicc; docs/other-mpis.md"},
	{abi.MPI_ERR_TYPE, "or has been freed", "MPI_Type_free ends a datatype for all later calls; a Fortran and a " +
		"C handle differ"},
	{abi.MPI_ERR_TYPE, "MPI_DATATYPE_NULL", "the datatype was freed, or its constructor has failed before"},
	{abi.MPI_ERR_TYPE, "large counts", "MPI_Type_get_envelope_c and MPI_Type_get_contents_c know large counts"},
	{abi.MPI_ERR_TYPE, "accumulate", "use one predefined type throughout the datatypes of origin and target"},
	{abi.MPI_ERR_TYPE, "cannot be freed", "free only what a constructor of datatypes has returned"},
	{abi.MPI_ERR_TYPE, "", "both sides have to name the same predefined types in the same order"},

	{abi.MPI_ERR_TAG, "", "tags are not negative, and at most the value of attribute MPI_TAG_UB"},

	{abi.MPI_ERR_COMM, "MPI_COMM_NULL", "MPI_Comm_split and MPI_Comm_create return it to processes that are in " +
		"no new communicator: those must not call"},
	{abi.MPI_ERR_COMM, "from MPI_Init to MPI_Finalize", "call MPI_Init first; with sessions, make communicators by " +
		"MPI_Comm_create_from_group"},
	{abi.MPI_ERR_COMM, "no handle of libimpi", "compile everything with this library's mpicc; docs/other-mpis.md"},
	{abi.MPI_ERR_COMM, "or has been freed", "look for an earlier MPI_Comm_free of a copy of this handle"},
	{abi.MPI_ERR_COMM, "is an intercommunicator", "MPI_Intercomm_merge makes an intracommunicator of it"},
	{abi.MPI_ERR_COMM, "is not an intercommunicator", "MPI_Intercomm_create makes one of two intracommunicators"},
	{abi.MPI_ERR_COMM, "", "every process is in one group of an intercommunicator only"},

	{abi.MPI_ERR_RANK, "argument", "ranks begin at 0; MPI_PROC_NULL stands for a neighbor that is missing at a " +
		"border"},
	{abi.MPI_ERR_RANK, "", "every rank of the list has to be in the group, once"},

	{abi.MPI_ERR_REQUEST, "already active", "complete it by MPI_Wait or MPI_Test before it is started again"},
	{abi.MPI_ERR_REQUEST, "is not an active request", "a completed request is MPI_REQUEST_NULL: do not keep " +
		"copies of it"},
	{abi.MPI_ERR_REQUEST, "not active", "a persistent request is active from MPI_Start until it is completed"},
	{abi.MPI_ERR_REQUEST, "not a persistent request", "only requests of MPI_X_init calls can be started"},
	{abi.MPI_ERR_REQUEST, "collective", "complete collective operations, at all members, by MPI_Wait or MPI_Test"},
	{abi.MPI_ERR_REQUEST, "", "give each operation a request variable of its own until it is complete"},

	{abi.MPI_ERR_ROOT, "", "all members have to name the same root, a rank of the communicator"},
	{abi.MPI_ERR_GROUP, "", "MPI_Group_rank of the calling process must not be MPI_UNDEFINED; a freed group is " +
		"no group"},
	{abi.MPI_ERR_OP, "the operation is", "all ranks have to call with the same operation"},
	{abi.MPI_ERR_OP, "", "MPI_Op_create makes operations for reductions; MPI_REPLACE and MPI_NO_OP are one-sided"},
	{abi.MPI_ERR_TOPOLOGY, "", "MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create return a new " +
		"communicator, which alone has the topology"},
	{abi.MPI_ERR_DIMS, "", "MPI_Dims_create finds dimensions for a number of processes; set its dims to 0 before"},

	{abi.MPI_ERR_ARG, "is NULL", "this argument is an address, and must not be NULL"},
	{abi.MPI_ERR_ARG, "is negative", "the variable may never have been set, or an earlier call has failed"},
	{abi.MPI_ERR_ARG, "error c", "codes and classes are those of this library, or of MPI_Add_error_class and _code"},
	{abi.MPI_ERR_ARG, "filetype", "a filetype is made of etypes, in increasing order"},
	{abi.MPI_ERR_ARG, "etype", "a filetype is made of etypes, in increasing order"},
	{abi.MPI_ERR_ARG, "process set", "MPI_Session_get_num_psets and MPI_Session_get_nth_pset name those that " +
		"there are"},
	{abi.MPI_ERR_ARG, "partition", "mark every partition ready once in each round, from 0 to partitions-1"},
	{abi.MPI_ERR_ARG, "message", "a message of MPI_Mprobe is received once, by MPI_Mrecv or MPI_Imrecv"},
	{abi.MPI_ERR_ARG, "", "compare the arguments with the manual page of the call"},

	{abi.MPI_ERR_TRUNCATE, "message of", "receive with the sender's count, or ask MPI_Probe and MPI_Get_count " +
		"first; another message may have the same tag"},
	{abi.MPI_ERR_TRUNCATE, "rank ", "all ranks have to give counts and datatypes of the same number of bytes"},
	{abi.MPI_ERR_TRUNCATE, "", "MPI_Pack_size tells how much room packed data needs"},

	{abi.MPI_ERR_OTHER, "before MPI_Init", "call MPI_Init first, also in constructors of global objects"},
	{abi.MPI_ERR_OTHER, "after MPI_Finalize", "move the call, which may be in a destructor or an atexit " +
		"function, before MPI_Finalize"},
	{abi.MPI_ERR_OTHER, "called a second time", "MPI_Initialized tells libraries whether somebody has called " +
		"MPI_Init"},
	{abi.MPI_ERR_OTHER, "remote group", "IMPI_CHECK=1 compares the calls of all members"},
	{abi.MPI_ERR_OTHER, "objects of this kind", "free objects that are made in a loop"},
	{abi.MPI_ERR_OTHER, "is under way", "complete the operation before, by its end call"},
	{abi.MPI_ERR_OTHER, "wrong arguments", "the message of that process says more"},
	{abi.MPI_ERR_OTHER, "", "MPI_Error_class and docs/failure.md tell which errors a program can survive"},

	{abi.MPI_ERR_IN_STATUS, "", "the field MPI_ERROR of each status tells what became of its operation"},
	{abi.MPI_ERR_ACCESS, "", "open the file with a mode that allows this access"},
	{abi.MPI_ERR_READ_ONLY, "", "open the file with MPI_MODE_WRONLY or MPI_MODE_RDWR"},
	{abi.MPI_ERR_AMODE, "", "amode is one of MPI_MODE_RDONLY, _WRONLY and _RDWR, with others added by |"},
	{abi.MPI_ERR_ASSERT, "", "0 is always a valid assertion"},
	{abi.MPI_ERR_BAD_FILE, "", "a name may have a prefix such as ufs:, and is seen by all ranks' machines"},
	{abi.MPI_ERR_NO_SUCH_FILE, "", "add MPI_MODE_CREATE, or look whether all machines see the folder"},
	{abi.MPI_ERR_FILE_EXISTS, "", "MPI_MODE_EXCL asks for a file that does not exist yet"},
	{abi.MPI_ERR_FILE, "", "files return their errors by default: look at the code that MPI_File_open has returned"},
	{abi.MPI_ERR_IO, "", "look at the file system: room (df), quota, and whether it is mounted for writing"},
	{abi.MPI_ERR_NO_SPACE, "", "df tells which file system is full"},
	{abi.MPI_ERR_QUOTA, "", "quota tells what you may still write"},
	{abi.MPI_ERR_BASE, "", "pass size 0 at processes without memory for the window"},
	{abi.MPI_ERR_CONVERSION, "", "choose a datatype that holds the values on every machine"},
	{abi.MPI_ERR_DISP, "", "displacements are not negative, and count in units of disp_unit at the target"},
	{abi.MPI_ERR_DUP_DATAREP, "", "register a data representation once in each process"},
	{abi.MPI_ERR_UNSUPPORTED_DATAREP, "", "the name is that of MPI_Register_datarep, at every process"},
	{abi.MPI_ERR_INFO_KEY, "", "MPI_MAX_INFO_KEY bounds keys, with the 0 at the end"},
	{abi.MPI_ERR_INFO_VALUE, "", "compare the value with what MPI 5.0 says of this key; docs/files.md has the " +
		"keys of files"},
	{abi.MPI_ERR_INFO_NOKEY, "", "MPI_Info_get_nthkey lists the keys that there are"},
	{abi.MPI_ERR_INFO, "", "MPI_INFO_NULL is allowed where a call takes hints, and nowhere else"},
	{abi.MPI_ERR_KEYVAL, "", "MPI_Comm_create_keyval, MPI_Type_create_keyval and MPI_Win_create_keyval make " +
		"different keys"},
	{abi.MPI_ERR_LOCKTYPE, "", "arguments of MPI_Win_lock are lock_type, rank, assert, win"},
	{abi.MPI_ERR_NAME, "", "publish the name before, at a server that both jobs know (impirun -nameserver)"},
	{abi.MPI_ERR_SERVICE, "", "MPI_Publish_name takes names of up to MPI_MAX_PORT_NAME characters"},
	{abi.MPI_ERR_PORT, "", "the other side has to be in MPI_Comm_accept or MPI_Comm_spawn, and its machine has to let " +
		"connections in"},
	{abi.MPI_ERR_NO_MEM, "", "ulimit -a, free and df /dev/shm tell what there is"},
	{abi.MPI_ERR_NOT_SAME, "", "all members have to pass the same value: IMPI_CHECK=1 finds the first call that " +
		"differs"},
	{abi.MPI_ERR_RMA_ATTACH, "", "attach each piece of memory once, and detach what was attached"},
	{abi.MPI_ERR_RMA_RANGE, "", "target_disp, target_count and target_datatype have to lie within the target's " +
		"window"},
	{abi.MPI_ERR_RMA_SHARED, "", "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators of one " +
		"machine each"},
	{abi.MPI_ERR_RMA_SYNC, "", "access windows between two MPI_Win_fence, MPI_Win_start and _complete, or " +
		"MPI_Win_lock and _unlock"},
	{abi.MPI_ERR_RMA_CONFLICT, "", "separate accesses to the same memory by a synchronization"},
	{abi.MPI_ERR_RMA_FLAVOR, "", "the constructor of the window decides what it can do"},
	{abi.MPI_ERR_SIZE, "", "a product of int may have become too large: sizes are MPI_Aint"},
	{abi.MPI_ERR_SPAWN, "", "impirun -v shows where programs are looked for, and how many slots there are"},
	{abi.MPI_ERR_UNSUPPORTED_OPERATION, "", "docs/functions.md says what works where"},
	{abi.MPI_ERR_WIN, "", "MPI_Win_free ends a window for all copies of its handle"},
	{abi.MPI_ERR_SESSION, "", "MPI_Session_finalize ends a session for all copies of its handle"},
	{abi.MPI_ERR_ERRHANDLER, "", "MPI_Comm_, Win_, File_ and Session_create_errhandler make different kinds"},
	{abi.MPI_ERR_ABI, "", "call it before any function that depends on Fortran's datatypes"},
	{abi.MPI_ERR_VALUE_TOO_LARGE, "", "the call with suffix _c takes MPI_Count"},
	{abi.MPI_ERR_PROC_ABORTED, "", "look for the first process that has ended, and why"},
	{abi.MPIX_ERR_PROC_FAILED, "", "MPI_ERRORS_RETURN and MPIX_Comm_shrink let the others go on without it; " +
		"docs/survive.md"},
	{abi.MPI_ERR_PENDING, "", "wait for this request again; the status of another one tells who is lost"},
	{abi.MPIX_ERR_PROC_FAILED_PENDING, "", "MPIX_Comm_ack_failed lets the receive wait for the others; MPI_Cancel " +
		"ends it"},
	{abi.MPIX_ERR_REVOKED, "", "MPIX_Comm_shrink makes a communicator of the members that are left"},
	{abi.MPI_ERR_INTERN, "", "please report this, with the program if you can: it is an error of the library"},
}
