! What is around communication: inquiry, info objects, sessions, generalized requests, statuses in all forms, sizes.
#include "binding.h"
module environment
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: environment_tests

  integer, save :: queries = 0, frees = 0, cancels = 0
contains
  subroutine environment_tests
    call inquiry
    call times
    call info
    call strings_of_info
    call sessions
    call generalized_requests
#if BINDING != 1
    call statuses
    call sizes
#endif
    call truth
    call services
  end subroutine

  subroutine inquiry
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(MPI_MAX_PROCESSOR_NAME) :: name
    integer :: major, minor, n, level, e
    logical :: flag
    call MPI_Get_version(major, minor, e)
    CHECK(major == MPI_VERSION .and. minor == MPI_SUBVERSION)
    version = ' '
    call MPI_Get_library_version(version, n, e)
    CHECK(n > 0 .and. version(n:n) /= ' ')
    name = repeat('x', len(name))
    call MPI_Get_processor_name(name, n, e)
    CHECK(n == len_trim(name) .and. verify(name(n + 1:), ' ') == 0)
    call MPI_Initialized(flag, e)
    CHECK(flag .and. (flag .eqv. .true.))
    call MPI_Finalized(flag, e)
    CHECK(.not. flag)
    call MPI_Query_thread(level, e)
    CHECK(level >= MPI_THREAD_SINGLE .and. level <= MPI_THREAD_MULTIPLE)
    call MPI_Is_thread_main(flag, e)
    CHECK(flag)
    call MPI_Pcontrol(1)
    call MPI_Abi_get_version(major, minor, e)
    CHECK(e == MPI_SUCCESS .and. major == MPI_ABI_VERSION)
    CHECK(MPI_STATUS_SIZE == 8)
#if BINDING == 3
    CHECK(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING)
#else
    CHECK(.not. MPI_SUBARRAYS_SUPPORTED .and. .not. MPI_ASYNC_PROTECTS_NONBLOCKING)
#endif
  end subroutine

  subroutine times
    double precision :: t
    t = MPI_Wtime()
    CHECK(MPI_Wtime() >= t .and. MPI_Wtick() > 0 .and. MPI_Wtick() < 1)
    CHECK(PMPI_Wtime() >= t)
  end subroutine

  subroutine info
    INFO_T :: i, j
    integer :: n, e
    logical :: flag
    character(MPI_MAX_INFO_KEY) :: key
    character(20) :: value
    call MPI_Info_create(i, e)
    call MPI_Info_set(i, '  a key ', '  a value of it  ', e)
    call MPI_Info_set(i, 'b', 'c', e)
    call MPI_Info_get_nkeys(i, n, e)
    CHECK(n == 2)
    call MPI_Info_get_nthkey(i, 0, key, e)
    CHECK(key == 'a key')
    call MPI_Info_get_valuelen(i, 'a key', n, flag, e)
    CHECK(flag .and. n == 13)
    value = repeat('x', 20)
    call MPI_Info_get(i, ' a key', 20, value, flag, e)
    CHECK(flag .and. value == 'a value of it')
    call MPI_Info_get(i, 'none', 20, value, flag, e)
    CHECK(.not. flag .and. value == 'a value of it')
    if (ours) then  ! MPICH 5 fails
      value = repeat('x', 20)
      call MPI_Info_get(i, 'a key', 3, value, flag, e)
      CHECK(flag .and. value == 'a v')
    end if
    call MPI_Info_dup(i, j, e)
    call MPI_Info_delete(i, 'b   ', e)
    call MPI_Info_get_nkeys(i, n, e)
    CHECK(n == 1)
    call MPI_Info_get_nkeys(j, n, e)
    CHECK(n == 2)
    call MPI_Info_free(i, e)
    call MPI_Info_free(j, e)
    CHECK(j == MPI_INFO_NULL)
    call MPI_Info_create_env(i, e)
    call MPI_Info_get_nkeys(i, n, e)
    CHECK(n >= 0)
    call MPI_Info_free(i, e)
  end subroutine

  subroutine strings_of_info
    INFO_T :: i
    integer :: n, e
    logical :: flag
    character(8) :: value
    call MPI_Info_create(i, e)
    call MPI_Info_set(i, 'key', '123456789', e)
    n = 0
    call MPI_Info_get_string(i, 'key', n, value, flag, e)
    CHECK(flag .and. n == 9)
    n = 8
    value = repeat('x', 8)
    call MPI_Info_get_string(i, 'key', n, value, flag, e)
    CHECK(flag .and. n == 9 .and. value == '12345678')
    n = 4
    value = repeat('x', 8)
    call MPI_Info_get_string(i, 'key ', n, value, flag, e)
    CHECK(flag .and. n == 9 .and. value == '1234')
    n = 8
    call MPI_Info_get_string(i, 'none', n, value, flag, e)
    CHECK(.not. flag .and. n == 8)
    call MPI_Info_free(i, e)
  end subroutine

  subroutine sessions
    SESSION_T :: s
    GROUP_T :: g
    COMM_T :: c
    INFO_T :: i
    integer :: n, m, k, e
    character(MPI_MAX_PSET_NAME_LEN) :: name
    logical :: flag, found
    character(10) :: size
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, s, e)
    CHECK(e == MPI_SUCCESS)
    call MPI_Session_get_num_psets(s, MPI_INFO_NULL, n, e)
    CHECK(n >= 2)
    found = .false.
    do k = 0, n - 1
      m = 0
      call MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, m, name, e)
      CHECK(m > 0 .and. m <= len(name))
      name = repeat('x', len(name))
      call MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, m, name, e)
      CHECK(len_trim(name) == m)
      if (name == 'mpi://WORLD') found = .true.
    end do
    CHECK(found)
    call MPI_Session_get_pset_info(s, 'mpi://WORLD  ', i, e)
    call MPI_Info_get(i, 'mpi_size', 10, size, flag, e)
    read (size, *) m
    CHECK(flag .and. m == ranks)
    call MPI_Info_free(i, e)
    call MPI_Session_get_info(s, i, e)
    call MPI_Info_free(i, e)
    call MPI_Group_from_session_pset(s, 'mpi://WORLD', g, e)
    call MPI_Comm_create_from_group(g, 'fortran/sessions ', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, c, e)
    call MPI_Comm_size(c, m, e)
    CHECK(m == ranks)
    call MPI_Allreduce(1, m, 1, MPI_INTEGER, MPI_SUM, c, e)
    CHECK(m == ranks)
    call MPI_Comm_free(c, e)
    call MPI_Group_free(g, e)
    call MPI_Session_finalize(s, e)
    CHECK(e == MPI_SUCCESS .and. s == MPI_SESSION_NULL)
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    STATUS(status)
    integer :: ierror
    logical :: ended
    queries = queries + 1
    ended = cancels > 0
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state - 2_MPI_ADDRESS_KIND**40), ierror)
    call MPI_Status_set_cancelled(status, ended, ierror)
    SOURCE_OF(status) = 21
    TAG_OF(status) = 22
  end subroutine

  subroutine freed(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + 1
    ierror = MPI_SUCCESS
    if (extra_state == 0) ierror = MPI_ERR_OTHER
    extra_state = extra_state + 1 ! the variable that MPI_Grequest_start got, as with other MPIs
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
    if (extra_state == 0) ierror = MPI_ERR_OTHER
    if (.not. complete) cancels = cancels + 1
  end subroutine

  subroutine generalized_requests
    REQUEST_T :: r
    integer(MPI_ADDRESS_KIND), target :: extra
    integer(MPI_ADDRESS_KIND), pointer :: now
    integer :: n, e
    logical :: flag
    STATUS(st)
    queries = 0
    frees = 0
    cancels = 0
    extra = 2_MPI_ADDRESS_KIND**40 + 6
    call MPI_Grequest_start(query, freed, cancel, extra, r, e)
    call MPI_Test(r, flag, st, e)
    CHECK(.not. flag .and. frees == 0)
    call MPI_Grequest_complete(r, e)
    call MPI_Wait(r, st, e)
    CHECK(queries == 1 .and. frees == 1 .and. r == MPI_REQUEST_NULL)
    now => extra
    CHECK(now == 2_MPI_ADDRESS_KIND**40 + 7)
    call MPI_Get_elements(st, MPI_INTEGER, n, e)
    CHECK(n == 6 .and. SOURCE_OF(st) == 21 .and. TAG_OF(st) == 22)
    call MPI_Grequest_start(query, freed, cancel, extra, r, e)
    call MPI_Cancel(r, e)
    CHECK(cancels == 1)
    call MPI_Grequest_complete(r, e)
    call MPI_Wait(r, st, e)
    call MPI_Test_cancelled(st, flag, e)
    CHECK(flag .and. frees == 2)
  end subroutine

#if BINDING != 1
  ! A status of mpi_f08 is one of the others, and back.
  subroutine statuses
    use impi_types, only: MPI_Status
    type(MPI_Status) :: new
    integer :: old(MPI_STATUS_SIZE), again(MPI_STATUS_SIZE), n, e
    STATUS(st)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 8, n, 1, MPI_INTEGER, 0, 8, MPI_COMM_SELF, st, e)
#if BINDING == 3
    call MPI_Status_f082f(st, old, e)
#else
    old = st
#endif
    CHECK(old(MPI_SOURCE) == 0 .and. old(MPI_TAG) == 8)
    call MPI_Status_f2f08(old, new, e)
    CHECK(new%MPI_SOURCE == 0 .and. new%MPI_TAG == 8)
    again = 0
    call MPI_Status_f082f(new, again, e)
    CHECK(all(again == old))
  end subroutine

  subroutine sizes
    integer :: n, e
    double precision :: d(3, 4)
    complex :: z
    real :: r
    logical :: l
    call MPI_Sizeof(n, n, e)
    CHECK(n == storage_size(n) / 8)
    call MPI_Sizeof(d, n, e)
    CHECK(n == storage_size(d) / 8)
    call MPI_Sizeof(z, n, e)
    CHECK(n == storage_size(z) / 8)
    call MPI_Sizeof(r, n, e)
    CHECK(n == storage_size(r) / 8)
    call MPI_Sizeof(l, n, e)
    CHECK(n == storage_size(l) / 8 .and. e == MPI_SUCCESS)
  end subroutine

#endif

  ! What the library takes for .TRUE. is the compiler's.
  subroutine truth
    logical :: yes, no, flag
    INFO_T :: i
    integer :: e
    if (ours .or. storage_size(yes) == 32) then  ! MPICH 5 has no others
      call MPI_Abi_get_fortran_booleans(storage_size(yes) / 8, yes, no, flag, e)
      CHECK(.not. flag .or. (yes .and. .not. no))
    end if
    call MPI_Abi_get_fortran_info(i, e)
    if (e == MPI_SUCCESS .and. i /= MPI_INFO_NULL) call MPI_Info_free(i, e)
  end subroutine

  subroutine services
    character(MPI_MAX_PORT_NAME) :: port, found
    integer :: e, m, class
    port = repeat('x', len(port))
    call MPI_Open_port(MPI_INFO_NULL, port, e)
    CHECK(len_trim(port) > 0 .and. len_trim(port) < len(port))
    m = rank
    if (ours) then
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
      call MPI_Lookup_name('no such service ', MPI_INFO_NULL, found, e)
      call MPI_Error_class(e, class, m)
      CHECK(class == MPI_ERR_NAME)
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, e)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, e)
    end if
    call MPI_Close_port(port, e)
    CHECK(e == MPI_SUCCESS)
  end subroutine
end module
