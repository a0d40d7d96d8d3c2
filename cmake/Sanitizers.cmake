# sanitize/*: all C of the bridge as the sanitizers watch it, in libraries of their own (build/asan, build/tsan), under a core
# of the C tests. Nothing of this is built before a test of the label runs: the first test of a kind builds what the others need.
set(asan_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
set(tsan_flags -fsanitize=thread -Wno-tsan) # fences: what they order is atomic anyway

# Where compiler and kernel can have them; CPrograms.cmake has looked for TSan.
file(WRITE ${CMAKE_BINARY_DIR}/asan-probe.c "int main(void) { return 0; }\n")
try_run(asan_runs asan_builds ${CMAKE_BINARY_DIR}/asan-probe ${CMAKE_BINARY_DIR}/asan-probe.c
  COMPILE_DEFINITIONS ${asan_flags} LINK_OPTIONS ${asan_flags})
set(asan_RUNS OFF)
if(asan_builds AND "${asan_runs}" STREQUAL "0")
  set(asan_RUNS ON)
endif()
set(tsan_RUNS ${TSAN})
set(asan_labels sanitize)
set(tsan_labels sanitize long)

# sanitized_library(kind go_flags...): build/<kind>/lib, of which programs find nothing but the library.
function(sanitized_library kind)
  string(REPLACE ";" " " flags "${${kind}_flags}")
  set(lib ${CMAKE_BINARY_DIR}/${kind}/lib)
  add_custom_target(library-${kind}
    COMMAND ${CMAKE_COMMAND} -E env CGO_ENABLED=1 "CGO_CFLAGS=-g -O1 ${flags}" "CGO_LDFLAGS=-g -O1 ${flags}"
      ${GO} build -trimpath -buildmode=c-shared ${ARGN}
      "-ldflags=-X=main.commit=${COMMIT} \"-extldflags=-Wl,-soname,${SONAME},-z,nodelete '-Wl,--version-script=${MAP}' ${UNWIND}\""
      -o ${lib}/${SONAME} ./gobridge
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${SONAME} ${lib}/libmpi_abi.so
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go build libmpi_abi.so (${kind})" VERBATIM)
  add_custom_target(sanitize-${kind})
  if(${kind}_RUNS)
    add_test(NAME sanitize/${kind}/build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target sanitize-${kind} -j 2)
  else()
    add_test(NAME sanitize/${kind}/build COMMAND ${CMAKE_COMMAND} -E echo "no ${kind} with this compiler or kernel")
    set_tests_properties(sanitize/${kind}/build PROPERTIES SKIP_REGULAR_EXPRESSION "no ${kind} with")
  endif()
  set_tests_properties(sanitize/${kind}/build PROPERTIES TIMEOUT 600 LABELS "${${kind}_labels}"
    FIXTURES_SETUP sanitize-${kind} RESOURCE_LOCK build-system) # cmake may have to configure anew
endfunction()

# sanitized_test(kind folder/name options settings ranks...): tests/<folder>/<name>.c on so many ranks.
function(sanitized_test kind test options settings)
  if(NOT ${kind}_RUNS)
    return()
  endif()
  string(REPLACE "/" "-" target ${kind}-${test})
  if(NOT TARGET ${target})
    get_filename_component(folder ${test} DIRECTORY)
    get_filename_component(name ${test} NAME)
    add_executable(${target} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/${test}.c)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${kind}/${folder})
    target_compile_options(${target} PRIVATE -O0 -g ${${kind}_flags}) # four times as quick to compile; it is run once
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
    set(lib ${CMAKE_BINARY_DIR}/${kind}/lib)
    target_link_options(${target} PRIVATE ${${kind}_flags})
    target_link_libraries(${target} PRIVATE -L${lib} -Wl,-rpath,${lib} -lmpi_abi Threads::Threads m)
    add_dependencies(${target} library-${kind})
    add_dependencies(sanitize-${kind} ${target})
  endif()
  foreach(n IN LISTS ARGN)
    set(at sanitize/${kind}/${n}/${test})
    add_test(NAME ${at} COMMAND ${QUIET} ${STAGE}/bin/mpiexec ${options} -n ${n} $<TARGET_FILE:${target}>)
    set_tests_properties(${at} PROPERTIES TIMEOUT ${LIMIT} LABELS "${${kind}_labels}" FIXTURES_REQUIRED sanitize-${kind}
      ENVIRONMENT "${settings}")
  endforeach()
endfunction()

# Addresses, and what C leaves undefined, on two ranks, or on four where collective operations and windows go other ways
# then, too. Go's own accesses to memory are looked at, too (-asan). What counts memory, or makes a million objects, is left
# out.
sanitized_library(asan -asan)
set(asan_tests
  pt2pt/allpairs pt2pt/buffered pt2pt/cancel pt2pt/completion pt2pt/derived pt2pt/edges pt2pt/fairness pt2pt/large_forms
  pt2pt/mixed_paths pt2pt/modes pt2pt/order pt2pt/partitioned pt2pt/persistent pt2pt/probe pt2pt/self pt2pt/sizes
  pt2pt/traffic pt2pt/unexpected
  datatype/again datatype/columns datatype/constructors datatype/nested datatype/pack datatype/pack_spans
  datatype/packed_typed datatype/partial datatype/special datatype/transfer
  coll/again coll/again_long coll/allgather coll/alltoall coll/barrier coll/bcast coll/forms coll/forms_inter
  coll/gather coll/inter coll/large coll/layouts coll/outstanding coll/persistent_uneven coll/reduce coll/reduce_scatter coll/scan
  coll/short coll/typed coll/user_op coll/user_op_nonblocking neighbor/cart neighbor/dist_graph neighbor/graph
  errors/arguments errors/buffers errors/datatypes errors/handlers errors/overflow errors/stale errors/strings
  errors/nonblocking_collectives errors/truncate errors/wrong_calls
  rma/accumulate rma/atomics rma/computing rma/errors_arguments rma/errors_epochs rma/passive rma/pscw rma/put_get rma/random_epochs
  rma/shared_memory)
foreach(test IN LISTS asan_tests)
  setting(ranks ranks ${CMAKE_SOURCE_DIR}/tests/${test}.c "2;4")
  if(4 IN_LIST ranks AND test MATCHES "^(coll|neighbor|rma)/" AND NOT test MATCHES "^(coll/forms|neighbor/cart)$")
    sanitized_test(asan ${test} "" "" 4)
  else()
    sanitized_test(asan ${test} "" "" 2)
  endif()
endforeach()

# Threads of one process: its locks, tables, requests and boards. Go's accesses are not seen; each call into Go and
# back orders what C does before and after it. What two processes share, tests/tsan looks at. It takes a build of its
# own for a few tests: make test-long.
sanitized_library(tsan)
foreach(test env/threads env/threads_hand_over env/threads_load coll/threads coll/threads_nonblocking
  datatype/again pt2pt/derived_threads errors/stale_threads)
  sanitized_test(tsan ${test} "" TSAN_OPTIONS=atexit_sleep_ms=0 2)
endforeach()
sanitized_test(tsan comm/inter_threads "" TSAN_OPTIONS=atexit_sleep_ms=0 2)
sanitized_test(tsan env/threads "-clients;2" TSAN_OPTIONS=atexit_sleep_ms=0 4)

# Strings, arrays and descriptors of Fortran's bindings (abi/fortran/library): their library, too, and the program of
# mpi_f08 (cmake/FortranPrograms.cmake), whose variables are watched as well.
if(asan_RUNS AND GFORTRAN AND CMAKE_C_COMPILER_ID STREQUAL "GNU") # one AddressSanitizer for both
  set(lib ${CMAKE_BINARY_DIR}/asan/lib)
  set(cc ${CMAKE_C_COMPILER} -std=gnu11 -O0 -g -fPIC ${asan_flags} -DFORTRAN_INTEGER=4 -I${library}
    -I${CMAKE_SOURCE_DIR} -I${FORTRAN})
  add_custom_target(fortran-asan
    COMMAND ${cc} -c -include ${library}/spawn.c ${FORTRAN}/entries4.c
      -o ${CMAKE_BINARY_DIR}/asan/entries.o
    COMMAND ${library}/profile ${CMAKE_NM} ${CMAKE_OBJCOPY} own ${CMAKE_BINARY_DIR}/asan/entries.o
      ${CMAKE_BINARY_DIR}/asan/entries-profile.o
    COMMAND ${cc} -shared -Wl,-soname,libmpifort_abi.so.1 ${CMAKE_BINARY_DIR}/asan/entries.o
      ${CMAKE_BINARY_DIR}/asan/entries-profile.o ${library}/room.c ${library}/section.c ${library}/callbacks.c
      ${FORTRAN}/constants.c ${FORTRAN}/trampolines.c -L${lib} -lmpi_abi -o ${lib}/libmpifort_abi.so.1
    COMMENT "libmpifort_abi.so.1 (asan)" VERBATIM)
  add_dependencies(fortran-asan library-asan fortran-sources)
  add_dependencies(sanitize-asan fortran-asan)
  set(at sanitize/asan/fortran)
  add_test(NAME ${at}/build COMMAND ${fortran_tests}/program ${STAGE} none ${CMAKE_BINARY_DIR}/asan/fortran ${GFORTRAN} 4 3)
  set_tests_properties(${at}/build PROPERTIES TIMEOUT ${LIMIT} LABELS "sanitize;fortran" FIXTURES_SETUP fortran-asan
    ENVIRONMENT "OPTIONS=-fsanitize=address;${fortran_cache}")
  add_test(NAME ${at}/2 COMMAND ${QUIET} ${STAGE}/bin/mpiexec -n 2 env LD_LIBRARY_PATH=${lib} ASAN_OPTIONS=detect_leaks=0
    ${CMAKE_BINARY_DIR}/asan/fortran/tests)
  set_tests_properties(${at}/2 PROPERTIES TIMEOUT ${LIMIT} LABELS "sanitize;fortran"
    FIXTURES_REQUIRED "sanitize-asan;fortran-asan")
endif()
