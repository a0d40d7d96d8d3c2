# Tests of Fortran's bindings (tests/fortran), compiled by mpifort with each Fortran compiler that there is, for INTEGERs of
# 4 and of 8 bytes. Without a compiler there are none, and one test says so.
find_program(GFORTRAN NAMES gfortran)
find_program(FLANG NAMES flang-new-19 flang-new flang)
set(FORTRAN_TESTS ${CMAKE_BINARY_DIR}/tests/fortran)
set(sources ${CMAKE_SOURCE_DIR}/tests/fortran)
set(tests checks pt2pt coll datatypes operators groups topologies errors rma files environment processes keywords f08 mpi1
  all)
set(all_sources ${sources}/binding.h)
# Programs that each are a test, on so many ranks as a comment says.
file(GLOB plain CONFIGURE_DEPENDS ${sources}/sections*.f90)
foreach(name IN LISTS tests)
  file(GLOB source CONFIGURE_DEPENDS ${sources}/${name}.F90 ${sources}/${name}.F)
  list(APPEND all_sources ${source})
endforeach()

# The test of all calls, and for each length of an INTEGER the library that stands for C's in it.
add_custom_command(OUTPUT ${FORTRAN_TESTS}/calls/stand_in.c
  COMMAND ${GO} run ./abi/fortran -calls ${FORTRAN_TESTS}/calls COMMAND ${CMAKE_COMMAND} -E touch ${FORTRAN_TESTS}/calls/stand_in.c
  DEPENDS ${fortran_inputs} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Calls of all Fortran procedures" VERBATIM)
foreach(integer 4 8)
  add_library(fortran-stand-in${integer} SHARED EXCLUDE_FROM_ALL ${FORTRAN_TESTS}/calls/stand_in.c)
  target_compile_options(fortran-stand-in${integer} PRIVATE -std=gnu11 -O0 -Wall -Wno-unused-function)
  target_compile_definitions(fortran-stand-in${integer} PRIVATE INTEGER${integer})
  target_include_directories(fortran-stand-in${integer} PRIVATE ${CMAKE_SOURCE_DIR} ${sources})
  set_target_properties(fortran-stand-in${integer} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${FORTRAN_TESTS}/calls)
endforeach()
add_library(fortran-mixed-c OBJECT EXCLUDE_FROM_ALL ${sources}/mixed/mixed.c)
target_compile_options(fortran-mixed-c PRIVATE -Wall -Wextra -Werror -O0 -g)
target_link_libraries(fortran-mixed-c PRIVATE mpi)

# fortran_program(name compiler integer libraries SOURCES ... FLAGS ...): ${FORTRAN_TESTS}/<compiler>-<integer>/<name>, with the
# module files of its own beside it.
function(fortran_program name compiler integer)
  cmake_parse_arguments(PARSE_ARGV 3 given "" "GROUP" "SOURCES;FLAGS;LINK;DEPENDS")
  get_filename_component(short ${compiler} NAME)
  set(folder ${FORTRAN_TESTS}/${short}-${integer})
  set(flags -O0 -w)
  if(short MATCHES gfortran)
    list(APPEND flags -ffree-line-length-none)
  endif()
  if(integer EQUAL 8)
    list(APPEND flags -fdefault-integer-8 -DIMPI_INTEGER8)
  endif()
  add_custom_command(OUTPUT ${folder}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/${name}-modules
    COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${FORTRAN_TESTS}/cache
      ${STAGE}/bin/mpifort -fc=${compiler} ${flags} ${given_FLAGS} -J${folder}/${name}-modules -I${sources}
      ${given_SOURCES} -o ${folder}/${name} ${given_LINK}
    DEPENDS ${given_SOURCES} ${given_DEPENDS} ${all_sources} ${FORTRAN}/entries4.c ${FORTRAN}/entries8.c stage
    WORKING_DIRECTORY ${FORTRAN_TESTS} COMMENT "${short}: tests/fortran/${name}, INTEGERs of ${integer} bytes" VERBATIM)
  if(NOT given_GROUP)
    set(given_GROUP fortran_programs)
  endif()
  set_property(GLOBAL APPEND PROPERTY ${given_GROUP} ${folder}/${name})
endfunction()

# What runs of the programs of a compiler: names say with which compiler, INTEGERs, binding and ranks.
function(fortran_test name)
  add_test(NAME fortran/${name} COMMAND ${QUIET} ${ARGN} WORKING_DIRECTORY ${FORTRAN_TESTS})
  set_tests_properties(fortran/${name} PROPERTIES TIMEOUT ${LIMIT} LABELS fortran)
endfunction()

file(MAKE_DIRECTORY ${FORTRAN_TESTS})
foreach(compiler ${GFORTRAN} ${FLANG})
  if(NOT EXISTS ${compiler})
    continue()
  endif()
  get_filename_component(short ${compiler} NAME)
  foreach(integer 4 8)
    set(combination ${short}-${integer})
    set(folder ${FORTRAN_TESTS}/${combination})
    set(number 0)
    foreach(binding mpif mpi f08)
      math(EXPR number "${number}+1")
      set(these ${all_sources})
      list(FILTER these EXCLUDE REGEX "/binding\\.h$")
      fortran_program(${binding} ${compiler} ${integer} FLAGS -DBINDING=${number} SOURCES ${these})
      foreach(n 1 2 3 4)
        fortran_test(${combination}/${binding}/shm/${n} ${STAGE}/bin/mpiexec -n ${n} ${folder}/${binding})
      endforeach()
      foreach(n 2 4)
        fortran_test(${combination}/${binding}/clients2/${n} ${STAGE}/bin/mpiexec -clients 2 -n ${n} ${folder}/${binding})
      endforeach()
      add_test(NAME fortran/${combination}/${binding}/mpich COMMAND ${sources}/on_mpich ${CMAKE_BINARY_DIR}/peers/mpich
        ${folder}/${binding})
      set_tests_properties(fortran/${combination}/${binding}/mpich PROPERTIES TIMEOUT ${LIMIT} LABELS fortran
        SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")

      # flang takes a minute and a half for all of these: make test-long has them compiled.
      set(group fortran_programs)
      set(labels fortran)
      if(NOT short MATCHES gfortran)
        set(group fortran_long)
        list(APPEND labels long)
      endif()
      set(standin ${FORTRAN_TESTS}/calls/libfortran-stand-in${integer}.so)
      fortran_program(calls-${binding} ${compiler} ${integer} GROUP ${group} SOURCES ${FORTRAN_TESTS}/calls/calls_${binding}.F90
        LINK ${standin} -Wl,-rpath,${FORTRAN_TESTS}/calls DEPENDS fortran-stand-in${integer} ${FORTRAN_TESTS}/calls/stand_in.c)
      add_test(NAME fortran/${combination}/${binding}/calls COMMAND ${folder}/calls-${binding})
      set_tests_properties(fortran/${combination}/${binding}/calls PROPERTIES TIMEOUT ${LIMIT} LABELS "${labels}"
        FIXTURES_REQUIRED ${group} PASS_REGULAR_EXPRESSION "[0-9]+ calls, 0 errors")
    endforeach()
    foreach(source IN LISTS plain)
      get_filename_component(name ${source} NAME_WE)
      fortran_program(${name} ${compiler} ${integer} SOURCES ${source})
      file(STRINGS ${source} ranks LIMIT_COUNT 8 REGEX "^! ranks: ")
      string(REGEX MATCHALL "[0-9]+" ranks "${ranks}")
      foreach(n IN LISTS ranks)
        fortran_test(${combination}/${name}/shm/${n} ${STAGE}/bin/mpiexec -n ${n} ${folder}/${name})
      endforeach()
      fortran_test(${combination}/${name}/clients2/2 ${STAGE}/bin/mpiexec -clients 2 -n 2 ${folder}/${name})
    endforeach()
    fortran_program(mixed ${compiler} ${integer} SOURCES ${sources}/mixed/mixed.F90
      LINK $<TARGET_OBJECTS:fortran-mixed-c> DEPENDS fortran-mixed-c)
    fortran_test(${combination}/mixed/shm/2 ${STAGE}/bin/mpiexec -n 2 ${folder}/mixed)
    fortran_test(${combination}/mixed/clients2/2 ${STAGE}/bin/mpiexec -clients 2 -n 2 ${folder}/mixed)
  endforeach()
endforeach()
get_property(made GLOBAL PROPERTY fortran_programs)
add_custom_target(fortran-programs ALL DEPENDS ${made})
get_property(long GLOBAL PROPERTY fortran_long)
if(long)
  add_custom_target(fortran-long DEPENDS ${long})
  add_test(NAME fortran/long COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target fortran-long)
  set_tests_properties(fortran/long PROPERTIES TIMEOUT 1800 LABELS "fortran;long" FIXTURES_SETUP fortran_long)
endif()
if(NOT made)
  add_test(NAME fortran/programs COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no Fortran compiler")
  set_tests_properties(fortran/programs PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
