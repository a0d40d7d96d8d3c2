/* What tests of all three bindings share. BINDING says which one it is: 1 mpif.h, 2 module mpi, 3 module mpi_f08. All
 * pass ierror and arguments in order; what only some bindings have is in keywords.F90, f08.F90 and mpi1.F.
 *
 * A line of a test has at most 120 columns; macros make it longer. */
#if BINDING == 1
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif BINDING == 2
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif

/* An attribute of buffers that calls go on using; procedures without an interface cannot be told. */
#if BINDING == 1
#define ASYNC
#else
#define ASYNC , asynchronous
#endif

#if BINDING == 3
#define COMM_T type(MPI_Comm)
#define DATATYPE_T type(MPI_Datatype)
#define ERRHANDLER_T type(MPI_Errhandler)
#define FILE_T type(MPI_File)
#define GROUP_T type(MPI_Group)
#define INFO_T type(MPI_Info)
#define MESSAGE_T type(MPI_Message)
#define OP_T type(MPI_Op)
#define REQUEST_T type(MPI_Request)
#define SESSION_T type(MPI_Session)
#define WIN_T type(MPI_Win)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define ERROR_OF(s) s%MPI_ERROR
#define SOURCE_AT(s, i) s(i)%MPI_SOURCE
#define TAG_AT(s, i) s(i)%MPI_TAG
#else
#define COMM_T integer
#define DATATYPE_T integer
#define ERRHANDLER_T integer
#define FILE_T integer
#define GROUP_T integer
#define INFO_T integer
#define MESSAGE_T integer
#define OP_T integer
#define REQUEST_T integer
#define SESSION_T integer
#define WIN_T integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define ERROR_OF(s) s(MPI_ERROR)
#define SOURCE_AT(s, i) s(MPI_SOURCE, i)
#define TAG_AT(s, i) s(MPI_TAG, i)
#endif

/* The fact must hold. */
#define CHECK(fact) if (.not. (fact)) call wrong(__FILE__, __LINE__)
