! All tests of a binding, or those of the chapters that are named: all [CHAPTER ...].
#include "binding.h"
program all_tests
  use checks, only: start
  use pt2pt, only: pt2pt_tests
  use coll, only: coll_tests
  use datatypes, only: datatypes_tests
  use operators, only: operators_tests
  use groups, only: groups_tests
  use topologies, only: topologies_tests
  use errors, only: errors_tests
  use rma, only: rma_tests
  use files, only: files_tests
  use environment, only: environment_tests
  use processes, only: processes_tests, child
#if BINDING != 1
  use keywords, only: keywords_tests
#endif
#if BINDING == 3
  use only_f08, only: only_f08_tests
  use mixed, only: mixed_tests
  use sections_p2p, only: sections_p2p_tests
  use sections_coll, only: sections_coll_tests
  use sections_reduce, only: sections_reduce_tests
  use sections_elsewhere, only: sections_elsewhere_tests
#else
  use mpi1, only: mpi1_tests
#endif
  implicit none
  integer :: e
  call MPI_Init(e)
  if (.not. child()) then
    call start
    if (wanted('pt2pt')) call pt2pt_tests
    if (wanted('coll')) call coll_tests
    if (wanted('datatypes')) call datatypes_tests
    if (wanted('operators')) call operators_tests
    if (wanted('groups')) call groups_tests
    if (wanted('topologies')) call topologies_tests
    if (wanted('errors')) call errors_tests
    if (wanted('rma')) call rma_tests
    if (wanted('files')) call files_tests
    if (wanted('environment')) call environment_tests
#if BINDING != 1
    if (wanted('keywords')) call keywords_tests
#endif
#if BINDING == 3
    if (wanted('f08')) call only_f08_tests
    if (wanted('mixed')) call mixed_tests
    if (wanted('sections_p2p')) call sections_p2p_tests
    if (wanted('sections_coll')) call sections_coll_tests
    if (wanted('sections_reduce')) call sections_reduce_tests
    if (wanted('sections_elsewhere')) call sections_elsewhere_tests
#else
    if (wanted('mpi1')) call mpi1_tests
#endif
    if (wanted('processes')) call processes_tests
  end if
  call MPI_Finalize(e)
contains
  logical function wanted(chapter)
    character(*), intent(in) :: chapter
    character(20) :: argument
    integer :: i
    wanted = command_argument_count() == 0
    do i = 1, command_argument_count()
      call get_command_argument(i, argument)
      if (argument == chapter) wanted = .true.
    end do
  end function
end program
