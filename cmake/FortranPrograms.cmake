# Tests of Fortran's bindings (tests/fortran). A program has all chapters of a binding: fortran/gfortran-f08-4/3 is that of
# mpi_f08, with INTEGERs of 4 bytes, on three ranks. mpif.h, mpi and mpi_f08 meet each compiler and each length of an INTEGER
# once. More would say nothing new: what a compiler passes does not depend on the length of an INTEGER, nor the functions of
# C on the compiler.
find_program(GFORTRAN NAMES gfortran)
find_program(FLANG NAMES flang-new-19 flang-new flang)
set(FORTRAN_TESTS ${CMAKE_BINARY_DIR}/tests/fortran)
set(fortran_tests ${CMAKE_SOURCE_DIR}/tests/fortran)
set(fortran_cache XDG_CACHE_HOME=${FORTRAN_TESTS}/cache) # modules are made for this build
# Processes that an MPICH from PyPI starts often fail to reach each other's shared memory, whoever asks for them. Of sections
# it has what examples/fortran tests.
set(fortran_mpich pt2pt coll datatypes operators groups topologies errors rma files environment keywords f08 mpi1)

function(fortran_test name)
  add_test(NAME fortran/${name} COMMAND ${ARGN})
  set_tests_properties(fortran/${name} PROPERTIES TIMEOUT ${LIMIT} LABELS fortran SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
endfunction()

# fortran_program(compiler binding integer [CALLS] RANKS ... CLIENTS ... MPICH ...): what is compiled with which compiler,
# and numbers of ranks in shared memory, on two clients, and under MPICH's mpiexec.
function(fortran_program compiler binding integer)
  cmake_parse_arguments(PARSE_ARGV 3 given CALLS "" "RANKS;CLIENTS;MPICH")
  string(TOLOWER ${compiler} name)
  string(APPEND name -${binding}-${integer})
  set(folder ${FORTRAN_TESTS}/${name})
  if(NOT ${compiler})
    fortran_test(${name} ${CMAKE_COMMAND} -E echo "skipped: there is no ${compiler}")
    return()
  endif()
  set(numbers mpif 1 mpi 2 f08 3)
  list(FIND numbers ${binding} at)
  math(EXPR at "${at}+1")
  list(GET numbers ${at} number)
  set(calls none)
  set(tests "")
  if(given_CALLS)
    set(calls ${FORTRAN_TESTS}/calls)
  endif()
  fortran_test(${name}/build ${fortran_tests}/program ${STAGE} "${calls}" ${folder} ${${compiler}} ${integer} ${number})
  set_tests_properties(fortran/${name}/build PROPERTIES FIXTURES_SETUP fortran-${name} ENVIRONMENT ${fortran_cache})
  if(given_CALLS)
    set_tests_properties(fortran/${name}/build PROPERTIES FIXTURES_REQUIRED fortran-calls)
    fortran_test(${name}/calls ${QUIET} ${folder}/calls)
    set_tests_properties(fortran/${name}/calls PROPERTIES PASS_REGULAR_EXPRESSION "[0-9]+ calls, 0 errors")
    list(APPEND tests fortran/${name}/calls)
  endif()
  foreach(n IN LISTS given_RANKS)
    fortran_test(${name}/${n} ${QUIET} ${STAGE}/bin/mpiexec -n ${n} ${folder}/tests)
    list(APPEND tests fortran/${name}/${n})
  endforeach()
  foreach(n IN LISTS given_CLIENTS)
    fortran_test(${name}/clients2/${n} ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -n ${n} ${folder}/tests)
    list(APPEND tests fortran/${name}/clients2/${n})
  endforeach()
  foreach(n IN LISTS given_MPICH)
    fortran_test(${name}/mpich/${n} ${QUIET} ${fortran_tests}/on_mpich ${CMAKE_BINARY_DIR}/peers/mpich ${n} ${folder}/tests
      ${fortran_mpich})
    list(APPEND tests fortran/${name}/mpich/${n})
  endforeach()
  set_tests_properties(${tests} PROPERTIES FIXTURES_REQUIRED fortran-${name})
endfunction()

# The programs that call all procedures, and the library that stands for C's in them.
fortran_test(calls ${fortran_tests}/calls ${fortran_write} ${CMAKE_C_COMPILER} ${FORTRAN_TESTS}/calls)
set_tests_properties(fortran/calls PROPERTIES FIXTURES_SETUP fortran-calls)

fortran_program(GFORTRAN mpif 4 CALLS RANKS 2 3 MPICH 2)
fortran_program(GFORTRAN mpi 8 CALLS RANKS 1 4 MPICH 2)
fortran_program(GFORTRAN f08 4 CALLS RANKS 1 2 3 4 CLIENTS 4 MPICH 2)
fortran_program(FLANG mpif 8 RANKS 1 4 MPICH 1)
fortran_program(FLANG mpi 4 RANKS 2 3 MPICH 1)
fortran_program(FLANG f08 8 CALLS RANKS 1 2 3 4 CLIENTS 3 MPICH 2)

# Programs of Open MPI 5 that go on after the loss of a rank, with its names of modules.
foreach(with "GFORTRAN 4" "FLANG 8")
  separate_arguments(with)
  list(GET with 0 compiler)
  list(GET with 1 integer)
  string(TOLOWER ${compiler} name)
  if(${compiler})
    fortran_test(survive-${name}-${integer} ${fortran_tests}/survivors ${STAGE} ${FORTRAN_TESTS}/survive-${name} ${${compiler}}
      ${integer})
    set_tests_properties(fortran/survive-${name}-${integer} PROPERTIES ENVIRONMENT ${fortran_cache})
    if(integer EQUAL 8)
      set_property(TEST fortran/survive-${name}-${integer} APPEND PROPERTY LABELS long)
    endif()
  else()
    fortran_test(survive-${name}-${integer} ${CMAKE_COMMAND} -E echo "skipped: there is no ${compiler}")
  endif()
endforeach()
