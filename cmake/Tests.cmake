# What ctest runs. Names say where and with how many ranks: shm/4/pt2pt/ring is tests/pt2pt/ring.c on four
# ranks in shared memory, clients2/4/pt2pt/ring the same program on two IMPI clients of this machine, and
# clientsA/4/pt2pt/ring on two whose ranks are behind agents.
set(QUIET ${CMAKE_SOURCE_DIR}/tools/quiet)
set(LIMIT 300) # seconds; a test that takes longer hangs, also on a machine that does other things

# Folders of tests of what goes other ways for other numbers of ranks.
set(by_ranks "^(coll|comm|neighbor|rma|processes)$")

function(mpi_tests source)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  setting(ranks ranks ${source} "1;2;3;4;8")
  setting(clients clients ${source} "any")
  setting(serial serial ${source} no) # yes: nothing else runs meanwhile
  setting(long long ${source} no)     # yes: make test-long runs it, and make test does not
  set(labels c)
  set(launch "") # more options of the launcher
  if(folder STREQUAL ft) # its programs kill ranks of theirs
    set(launch -with-ft ulfm -q)
  endif()
  if(long STREQUAL yes)
    list(APPEND labels long)
  endif()
  foreach(n IN LISTS ranks)
    foreach(where shm clients2 clients3 clientsA)
      set(k 1)
      set(options "")
      if(where MATCHES "clients([23])")
        set(k ${CMAKE_MATCH_1})
        set(options -clients ${k})
        # Shares of (1,1), (2,1) and (2,2), of (1,1,1) and (3,3,2), by number of clients: (4,4) and (2,1,1) tell no more.
        if((k EQUAL 2 AND n EQUAL 8 AND 4 IN_LIST ranks) OR (k EQUAL 3 AND n EQUAL 4 AND 3 IN_LIST ranks AND 8 IN_LIST ranks))
          continue()
        endif()
        # Where all that counts is that ranks are in other clients, (2,1) and (3,3,2) tell no more, either.
        if(NOT folder MATCHES "${by_ranks}" AND ((k EQUAL 2 AND n EQUAL 3 AND 4 IN_LIST ranks) OR
            (k EQUAL 3 AND n EQUAL 8 AND 3 IN_LIST ranks)))
          continue()
        endif()
      elseif(where STREQUAL clientsA) # behind agents; one number of ranks tells as much as many
        set(k 2)
        set(options -clients 2 -via agent)
        if(NOT n EQUAL 4 OR folder MATCHES "^(datatype|errors|io|tools)$")
          continue()
        endif()
      elseif(n EQUAL 3 AND 4 IN_LIST ranks AND NOT folder MATCHES "${by_ranks}")
        continue()
      endif()
      if(k EQUAL 1 OR (NOT n LESS k AND NOT clients STREQUAL "none"))
        set(test ${where}/${n}/${folder}/${name})
        add_test(NAME ${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec ${launch} ${options} -n ${n} $<TARGET_FILE:test-${folder}-${name}>)
        set_tests_properties(${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "${where};${labels}" RUN_SERIAL ${serial})
      endif()
    endforeach()
  endforeach()
endfunction()
foreach(source IN LISTS c_tests)
  mpi_tests(${source})
endforeach()

# Agents that prove who they are, and behind TLS.
foreach(way SECRET=shared TLS=1)
  string(REGEX REPLACE "=.*" "" name ${way})
  string(TOLOWER ${name} name)
  set(where clientsA-${name})
  foreach(test pt2pt/traffic pt2pt/sizes coll/reduce)
    string(REPLACE / - target test-${test})
    if(TARGET ${target})
      add_test(NAME ${where}/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -via agent -n 4 $<TARGET_FILE:${target}>)
      set_tests_properties(${where}/4/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "clientsA;c" ENVIRONMENT IMPI_AUTH_${way})
    endif()
  endforeach()
endforeach()

# Long messages inside a machine, each way forced: through the ring, and out of the sender's memory.
foreach(test pt2pt/sizes pt2pt/fresh pt2pt/traffic pt2pt/unexpected datatype/transfer)
  string(REPLACE "/" "-" target test-${test})
  foreach(way 0 1)
    add_test(NAME single-copy=${way}/2/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -n 2 $<TARGET_FILE:${target}>)
    set_tests_properties(single-copy=${way}/2/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "shm;c" ENVIRONMENT IMPI_SINGLE_COPY=${way})
  endforeach()
endforeach()

# Windows of the program's own memory are worked on by their owners where other processes cannot be read.
foreach(test rma/put_get rma/accumulate rma/atomics rma/watching rma/passive rma/errors_arguments rma/random_epochs)
  string(REPLACE "/" "-" target test-${test})
  add_test(NAME single-copy=0/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -n 4 $<TARGET_FILE:${target}>)
  set_tests_properties(single-copy=0/4/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "shm;c" ENVIRONMENT IMPI_SINGLE_COPY=0)
endforeach()

# Clients that agree on nothing beyond IMPI 0.0: what is packed is external32 on the way, and all end at once.
foreach(k 2 3)
  foreach(test datatype/pack_spans datatype/pack datatype/packed_typed datatype/packed_collectives
      datatype/packed_particles datatype/both_forms datatype/partial session/alone session/world comm/idup_many
      comm/threads_apart)
    string(REPLACE "/" "-" target test-${test})
    add_test(NAME plain${k}/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients ${k} -n 4 $<TARGET_FILE:${target}>)
    set_tests_properties(plain${k}/4/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "clients${k};c" ENVIRONMENT IMPI_PLAIN=1)
  endforeach()
endforeach()

foreach(test datatype/packed_typed datatype/packed_collectives)
  string(REPLACE "/" "-" target test-${test})
  add_test(NAME plainA/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -via agent -n 4 $<TARGET_FILE:${target}>)
  set_tests_properties(plainA/4/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "clientsA;c" ENVIRONMENT IMPI_PLAIN=1)
endforeach()

# Several TCP connections between two hosts: they carry what one does.
foreach(test pt2pt/sizes pt2pt/traffic coll/large)
  string(REPLACE "/" "-" target test-${test})
  if(TARGET ${target})
    add_test(NAME streams/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -streams 3 -n 4 $<TARGET_FILE:${target}>)
    add_test(NAME streamsA/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -streams 3 -via agent -n 4 $<TARGET_FILE:${target}>)
    add_test(NAME streamsTLS/4/${test} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -streams 3 -n 4 $<TARGET_FILE:${target}>)
    set_tests_properties(streamsTLS/4/${test} PROPERTIES ENVIRONMENT IMPI_AUTH_TLS=1)
    set_tests_properties(streams/4/${test} streamsA/4/${test} streamsTLS/4/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "streams;c")
  endif()
endforeach()

# Ranks that talk by another MPI library, MPICH 5 of tools/peers, where it is (tests/vendor): some tests, and all under the
# label long. What needs memory that ranks share is not among them, nor what docs/vendor.md says does not work, nor memory
# that the other library cannot read.
set(vendor_some 4/pt2pt/bursts 2/pt2pt/order 3/pt2pt/sizes 4/pt2pt/traffic 2/pt2pt/unexpected 3/coll/reduce
  4/coll/alltoall 3/coll/persistent_uneven 2/rma/put_get 4/rma/passive 2/comm/intercomm 3/datatype/transfer)
set(vendor_not comm/split_type env/fork env/footprint env/huge env/info env/wakeups pt2pt/away rma/computing
  session/after session/leave coll/beyond_2_31 coll/other_length coll/unreadable_later)
foreach(source IN LISTS c_tests)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  setting(ranks ranks ${source} "1;2;3;4;8")
  setting(long long ${source} no)
  setting(serial serial ${source} no)
  foreach(n 2 3 4)
    set(test ${n}/${folder}/${name})
    if(NOT n IN_LIST ranks OR long STREQUAL yes OR "${folder}/${name}" IN_LIST vendor_not OR folder STREQUAL ft)
      continue()
    endif()
    add_test(NAME vendor/${test} COMMAND ${CMAKE_SOURCE_DIR}/tests/vendor ${STAGE} ${CMAKE_BINARY_DIR}/peers/mpich ${n}
      $<TARGET_FILE:test-${folder}-${name}>)
    set(labels vendor long)
    if(test IN_LIST vendor_some)
      set(labels vendor)
    endif()
    set_tests_properties(vendor/${test} PROPERTIES TIMEOUT ${LIMIT} LABELS "${labels}" RUN_SERIAL ${serial}
      SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
  endforeach()
endforeach()

# No false alarm: programs that make no mistake say nothing with IMPI_CHECK=all either, in shared memory and on two clients.
# Those that are left out make mistakes, to see what becomes of them, or need that nobody waits where checks compare, or
# count or time what checks do besides.
set(checked_not coll/again coll/again_long coll/boards coll/other_length coll/persistent_uneven coll/progress
  comm/early_messages datatype/any_type datatype/edges
  datatype/first_use datatype/growing env/conversions env/wakeups errors/collectives errors/nonblocking_collectives
  errors/stale io/arguments pt2pt/get_status rma/put_get)
foreach(source IN LISTS c_tests)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  setting(ranks ranks ${source} "1;2;3;4;8")
  setting(clients clients ${source} "any")
  setting(long long ${source} no)
  setting(serial serial ${source} no)
  foreach(n 2 4)
    if(NOT n IN_LIST ranks OR long STREQUAL yes OR "${folder}/${name}" IN_LIST checked_not OR folder STREQUAL ft)
      continue()
    endif()
    set(tests checked/${n}/${folder}/${name})
    add_test(NAME ${tests} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -n ${n} $<TARGET_FILE:test-${folder}-${name}>)
    if(n EQUAL 4 AND NOT clients STREQUAL "none")
      list(APPEND tests checked2/${n}/${folder}/${name})
      add_test(NAME checked2/${n}/${folder}/${name} COMMAND ${QUIET} ${STAGE}/bin/mpiexec -clients 2 -n ${n}
        $<TARGET_FILE:test-${folder}-${name}>)
    endif()
    set_tests_properties(${tests} PROPERTIES TIMEOUT ${LIMIT} LABELS "checked;long" RUN_SERIAL ${serial}
      ENVIRONMENT IMPI_CHECK=all)
  endforeach()
endforeach()

# Two clients of two ranks that other launchers start over their libraries (tests/clusters, docs/clusters.md), and one of
# these with one of ours. MPICH's and Open MPI's libraries carry messages of one machine, too, where the letter is capital.
set(clusters_MO pt2pt/order pt2pt/wildcard pt2pt/sizes pt2pt/modes pt2pt/traffic pt2pt/unexpected coll/reduce coll/alltoall
  coll/scan coll/inter coll/nonblocking coll/subgroups comm/basic comm/intercomm comm/cart comm/dist_graph datatype/transfer
  datatype/pack_spans rma/passive rma/pscw io/size processes/names session/world errors/truncate env/finalize)
set(clusters_mi pt2pt/probe pt2pt/cancel coll/bcast coll/allgather comm/graph comm/group datatype/both_forms rma/put_get
  rma/atomics io/atomic neighbor/one_way processes/spawn processes/reconnect session/alone errors/handlers tools/counts)
set(clusters_io pt2pt/order pt2pt/synchronous coll/reduce coll/gather comm/intercomm datatype/partial rma/passive io/info
  processes/names session/world)
foreach(how MO mi io)
  foreach(test IN LISTS clusters_${how})
    string(REPLACE "/" "-" target test-${test})
    set(name clusters-${how}/4/${test})
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/clusters ${STAGE} ${CMAKE_BINARY_DIR}/peers ${how} 4
      $<TARGET_FILE:${target}>)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${LIMIT} LABELS "clusters;c"
      SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
  endforeach()
endforeach()

# What was compiled for the commands of the stage serves tests, too, if they are compiled alike.
set(like_stage "GOFLAGS=-trimpath -buildmode=pie")

# go_test(name words...): a command in the source tree.
function(go_test name)
  add_test(NAME go/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(go/${name} PROPERTIES TIMEOUT 1200 LABELS go PROCESSORS 2) # the go command fills the machine
endfunction()
foreach(set race unit race-all)
  go_test(${set} ${CMAKE_SOURCE_DIR}/tools/go-tests ${set})
endforeach()
set_tests_properties(go/unit PROPERTIES ENVIRONMENT "${like_stage}")
set_tests_properties(go/race PROPERTIES PROCESSORS 1) # its tests sleep more than others
set_property(TEST go/race-all APPEND PROPERTY LABELS long)
# What computes for minutes: bounds of algorithms and the page of times up to 10^5 ranks (make test-long).
go_test(long ${GO} test -count=1 -timeout 400s ./cmd/collsim ./coll/simulate -long)
set_property(TEST go/long APPEND PROPERTY LABELS long)
# All that is plain Go, for arm64. What takes longer is make portability.
go_test(elsewhere ${CMAKE_SOURCE_DIR}/tools/portability plain)
set_property(TEST go/elsewhere APPEND PROPERTY LABELS long)
go_test(generated ${GO} test -count=1 -run UpToDate ./abi/gen)
set_tests_properties(go/generated PROPERTIES ENVIRONMENT "${like_stage}")

# bench/guidelines: its driver builds the program, runs it, and understands its lines.
add_test(NAME bench/guidelines COMMAND ${GO} run ./bench/guidelines -stage ${STAGE} -np 2 -sizes 8 -rounds 3 -all gatherv<=gather
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(bench/guidelines PROPERTIES TIMEOUT ${LIMIT} LABELS go
  PASS_REGULAR_EXPRESSION "gatherv<=gather +8 +[0-9.]+ +[0-9.]+ +[0-9.]+( violated)?\n1 measured, [01] violated")

# front/*: programs that were compiled with another MPI, where that is installed. All tests take a while (make test-long).
set(programs "")
foreach(test pt2pt/completion pt2pt/persistent pt2pt/grequest pt2pt/edges pt2pt/comm_buffer coll/inter coll/user_op
    coll/alltoall comm/attributes comm/dist_graph datatype/envelope datatype/markers errors/handlers errors/strings
    rma/create io/datarep neighbor/dist_graph processes/spawn_failures front/newer front/errors)
  list(APPEND programs ${CMAKE_SOURCE_DIR}/tests/${test}.c)
endforeach()
list(APPEND programs ${CMAKE_SOURCE_DIR}/tests/front/bindings.cc)
foreach(abi mpich openmpi)
  add_test(NAME front/${abi} COMMAND ${CMAKE_SOURCE_DIR}/tests/front/run ${STAGE} ${abi}
    ${CMAKE_BINARY_DIR}/tests/front/${abi} "2 2x4" ${programs})
  add_test(NAME front/all-${abi} COMMAND ${CMAKE_SOURCE_DIR}/tests/front/run ${STAGE} ${abi}
    ${CMAKE_BINARY_DIR}/tests/front/all-${abi} "1 2 3 4 2x2 2x4")
  set_tests_properties(front/${abi} PROPERTIES TIMEOUT 600 LABELS front) # it compiles, too
  set_tests_properties(front/all-${abi} PROPERTIES TIMEOUT 1800 LABELS "front;long")
  set_tests_properties(front/${abi} front/all-${abi} PROPERTIES SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
  # Programs in Fortran, which mpifort of that MPI compiles.
  add_test(NAME front/fortran-${abi} COMMAND ${CMAKE_SOURCE_DIR}/tests/front/fortran/run ${STAGE} ${abi}
    ${CMAKE_BINARY_DIR}/tests/front/fortran-${abi} "1 2 3 4 2x4")
  set_tests_properties(front/fortran-${abi} PROPERTIES TIMEOUT 600 LABELS front
    SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
endforeach()

# front/tables: the classes of the C++ bindings beside those of MPICH's own library, where that is installed.
find_program(PYTHON python3)
if(PYTHON AND TARGET front-mpich-cxx)
  add_test(NAME front/tables COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/tests/front/tables.py ${STAGE}/lib/mpich/libmpichcxx.so.12)
  set_tests_properties(front/tables PROPERTIES TIMEOUT ${LIMIT} LABELS front SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")
endif()

# front/standard: the ABI of MPI 5.0 in both directions, beside an MPICH 5 where tools/peers has fetched one.
set(programs "")
foreach(test pt2pt/persistent coll/user_op comm/group datatype/envelope rma/atomics)
  list(APPEND programs ${CMAKE_SOURCE_DIR}/tests/${test}.c)
endforeach()
add_test(NAME front/standard COMMAND ${CMAKE_SOURCE_DIR}/tests/front/standard ${STAGE} ${CMAKE_BINARY_DIR}/peers/mpich
  ${CMAKE_BINARY_DIR}/tests/front/standard ${programs})
add_test(NAME front/all-standard COMMAND sh -c
  "\"$0\"/tools/peers \"$1\"/peers && exec \"$0\"/tests/front/standard \"$2\" \"$1\"/peers/mpich \"$1\"/tests/front/all-standard"
  ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${STAGE})
set_tests_properties(front/standard PROPERTIES TIMEOUT ${LIMIT} LABELS front PROCESSORS 2)
set_tests_properties(front/all-standard PROPERTIES TIMEOUT 1800 LABELS "front;long" PROCESSORS 2)
set_tests_properties(front/standard front/all-standard PROPERTIES SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")

# lint/*: what reads the sources without running them. A check whose tool cannot be had says so, and counts as skipped.
foreach(check gofmt vet staticcheck staticcheck-tests tidy clang-format)
  add_test(NAME lint/${check} COMMAND ${CMAKE_SOURCE_DIR}/tools/lint ${check})
  set_tests_properties(lint/${check} PROPERTIES TIMEOUT 600 LABELS lint
    SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ${check} ")
endforeach()
set_tests_properties(lint/vet lint/staticcheck lint/staticcheck-tests PROPERTIES PROCESSORS 2 TIMEOUT 900 ENVIRONMENT "${like_stage}")
set_property(TEST lint/staticcheck-tests APPEND PROPERTY LABELS long)

# examples/*: the same answer on ranks of one machine and of several clients.
foreach(source IN LISTS examples)
  get_filename_component(name ${source} NAME_WE)
  if(NOT name STREQUAL "genmatrix") # no MPI program
    add_test(NAME examples/${name} COMMAND sh ${CMAKE_SOURCE_DIR}/tests/examples.sh ${STAGE} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${name})
    set_tests_properties(examples/${name} PROPERTIES TIMEOUT ${LIMIT} LABELS examples)
  endif()
endforeach()

add_test(NAME examples/fortran COMMAND sh ${CMAKE_SOURCE_DIR}/tests/examples_f.sh ${STAGE} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
set_tests_properties(examples/fortran PROPERTIES TIMEOUT ${LIMIT} LABELS "examples;fortran"
  ENVIRONMENT XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/fortran/cache SKIP_REGULAR_EXPRESSION "(^|\n)skipped: ")

# io/interop: files of this library and of others are the same, and each reads the other's.
missing(not_yet MPI_File_set_view MPI_File_write_all MPI_File_read_ordered)
if(NOT not_yet)
  add_test(NAME io/interop
    COMMAND sh ${CMAKE_SOURCE_DIR}/tests/io/interop/interop.sh ${STAGE} ${CMAKE_BINARY_DIR}/tests/interop ${CMAKE_SOURCE_DIR})
  set_tests_properties(io/interop PROPERTIES TIMEOUT ${LIMIT} LABELS install PROCESSORS 2)
endif()

# io/programs: the parallel tests of PnetCDF and HDF5, which are fetched and built.
add_test(NAME io/programs COMMAND ${CMAKE_SOURCE_DIR}/tests/io/programs ${STAGE} ${CMAKE_BINARY_DIR}/tests/programs)
set_tests_properties(io/programs PROPERTIES TIMEOUT 1800 LABELS long PROCESSORS 2 SKIP_REGULAR_EXPRESSION "^--- SKIP")

# python/*: the tests of mpi4py, which is fetched and built: that alone takes minutes. part is what takes seconds more.
foreach(which part all)
  set(python_ranks 1 2)
  set(python_labels python long)
  if(which STREQUAL all)
    list(APPEND python_ranks 3 5)
  endif()
  add_test(NAME python/mpi4py-${which}
    COMMAND ${CMAKE_SOURCE_DIR}/tests/python/mpi4py ${STAGE} ${CMAKE_BINARY_DIR}/tests/python ${which} ${python_ranks})
  set_tests_properties(python/mpi4py-${which} PROPERTIES TIMEOUT 3000 LABELS "${python_labels}" PROCESSORS 2
    SKIP_REGULAR_EXPRESSION "--- SKIP")
endforeach()

# unit/*: parts of the bridge's C by themselves.
add_test(NAME unit/rows COMMAND ${QUIET} $<TARGET_FILE:unit-rows>)
set_tests_properties(unit/rows PROPERTIES TIMEOUT ${LIMIT} LABELS unit)

# tsan: the bridge's C under the thread sanitizer; skipped, and said so, where there is none.
if(TSAN)
  add_test(NAME tsan/threads COMMAND ${QUIET} $<TARGET_FILE:tsan-threads> $<TARGET_FILE:tsan-rank0> $<TARGET_FILE:tsan-rank1>)
else()
  add_test(NAME tsan/threads COMMAND ${CMAKE_COMMAND} -E echo "this compiler or kernel has no thread sanitizer")
  set_tests_properties(tsan/threads PROPERTIES SKIP_REGULAR_EXPRESSION "no thread sanitizer")
endif()
set_tests_properties(tsan/threads PROPERTIES TIMEOUT ${LIMIT} LABELS tsan)

# install/*: what a user's build finds. Each script gets the stage and a folder of its own.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/install/*.sh)
foreach(script IN LISTS scripts)
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME install/${name} COMMAND sh ${script} ${STAGE} ${CMAKE_BINARY_DIR}/tests/install/${name} ${CMAKE_SOURCE_DIR})
  set_tests_properties(install/${name} PROPERTIES TIMEOUT 600 LABELS install)
endforeach()
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/install/long/*.sh)
foreach(script IN LISTS scripts)
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME install/long/${name} COMMAND sh ${script} ${STAGE} ${CMAKE_BINARY_DIR}/tests/install/long/${name} ${CMAKE_SOURCE_DIR})
  set_tests_properties(install/long/${name} PROPERTIES TIMEOUT 1800 LABELS long)
endforeach()

# launcher/*: bad input, deaths and signals, clients on machines of their own. A Go program that needs the stage; each Test
# function is one test. Where there are no network namespaces, those of *apart_test.go are skipped, those of
# managed_test.go where there is no mpiexec of MPICH, of pmix_test.go where there is no mpirun of Open MPI,
# of clusters_test.go where one of these is missing, and of *slurm_test.go where there is no Slurm.
file(GLOB launcher_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/launcher/*_test.go)
foreach(source IN LISTS launcher_tests)
  file(STRINGS ${source} lines REGEX "^func Test[A-Za-z0-9_]+\\(t ")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^func (Test[A-Za-z0-9_]+).*" "\\1" function "${line}")
    add_test(NAME launcher/${function} COMMAND ${CMAKE_BINARY_DIR}/tests/launcher/launcher.test -test.run "^${function}$" -test.v -test.parallel 4)
    set_tests_properties(launcher/${function} PROPERTIES TIMEOUT ${LIMIT} LABELS launcher
      ENVIRONMENT IMPI_STAGE=${STAGE} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/launcher
      FAIL_REGULAR_EXPRESSION "no tests to run;--- SKIP")
    if(source MATCHES "[/_](apart|clusters|managed|vendor)(_long)?_test\\.go$")
      set_tests_properties(launcher/${function} PROPERTIES LABELS "launcher;${CMAKE_MATCH_1}"
        FAIL_REGULAR_EXPRESSION "no tests to run" SKIP_REGULAR_EXPRESSION "--- SKIP: Test[A-Za-z0-9]+[/ ]")
    endif()
    if(source MATCHES "[/_](pmix|slurm)_test\\.go$")
      set_tests_properties(launcher/${function} PROPERTIES LABELS "launcher;sites"
        FAIL_REGULAR_EXPRESSION "no tests to run" SKIP_REGULAR_EXPRESSION "--- SKIP: Test[A-Za-z0-9]+ ")
    endif()
    if(source MATCHES "[/_]long_test\\.go$")
      set_tests_properties(launcher/${function} PROPERTIES LABELS "launcher;long" TIMEOUT 3600)
    endif()
    if(source MATCHES "[/_]slurm_test\\.go$") # a Slurm and its jobs take a while: make test-sites, make test-long
      set_tests_properties(launcher/${function} PROPERTIES LABELS "launcher;sites;long")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()
add_custom_target(launcher-tests ALL
  COMMAND ${CMAKE_COMMAND} -E env "${like_stage}"
    ${GO} test -c -o ${CMAKE_BINARY_DIR}/tests/launcher/launcher.test ./tests/launcher
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go test -c launcher" VERBATIM)
add_dependencies(launcher-tests stage)

# mistakes: C programs with one mistake each, and what is said of them. A Go program that compiles and runs all of them, many
# at the same time, since they mostly wait.
add_test(NAME mistakes COMMAND ${CMAKE_BINARY_DIR}/tests/mistakes/mistakes.test -test.v -test.parallel 12)
set_tests_properties(mistakes PROPERTIES TIMEOUT ${LIMIT} LABELS mistakes ENVIRONMENT IMPI_STAGE=${STAGE}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/mistakes FAIL_REGULAR_EXPRESSION "no tests to run;--- SKIP")
add_custom_target(mistakes-tests ALL
  COMMAND ${CMAKE_COMMAND} -E env "${like_stage}"
    ${GO} test -c -o ${CMAKE_BINARY_DIR}/tests/mistakes/mistakes.test ./tests/mistakes
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go test -c mistakes" VERBATIM)
add_dependencies(mistakes-tests stage)

# conform/*: libimpi as an IMPI server and client, compared with the protocol by a tester that has an implementation of its own.
foreach(group server client table mesh packet flow cancel collective comm finish hostile several joint)
  add_test(NAME conform/${group} COMMAND ${STAGE}/bin/impi-conform -run "^${group}/"
    -server-cmd "${STAGE}/bin/impirun -server {clients} -host 127.0.0.1"
    -client-cmd "${STAGE}/bin/impirun -client {rank} {server} -n {n} {prog}"
    -values "IMPI_XSIZE={xsize} IMPI_MAXLINEAR={maxlinear}" -mpicc ${STAGE}/bin/mpicc -junit ${CMAKE_BINARY_DIR}/conform-${group}.xml)
  set_tests_properties(conform/${group} PROPERTIES TIMEOUT ${LIMIT} LABELS conform
    ENVIRONMENT IMPI_STREAMS=3) # more than a foreign client ever gets
endforeach()
add_test(NAME conform/golden COMMAND ${STAGE}/bin/impi-conform -golden ${CMAKE_SOURCE_DIR}/cmd/impi-conform/testdata
  -server-cmd "${STAGE}/bin/impirun -server {clients} -host 127.0.0.1"
  -client-cmd "${STAGE}/bin/impirun -client {rank} {server} -n {n} {prog}" -mpicc ${STAGE}/bin/mpicc)
set_tests_properties(conform/golden PROPERTIES TIMEOUT ${LIMIT} LABELS conform)
add_test(NAME conform/record COMMAND ${CMAKE_SOURCE_DIR}/tests/conform/record.sh ${STAGE} ${CMAKE_BINARY_DIR}/conform-record)
set_tests_properties(conform/record PROPERTIES TIMEOUT ${LIMIT} LABELS conform)
# conform/page: the tester's page in a browser without a window, and pictures of it in build/screenshots.
add_test(NAME conform/page COMMAND ${CMAKE_BINARY_DIR}/tests/conform/conform.test -test.v)
set_tests_properties(conform/page PROPERTIES TIMEOUT ${LIMIT} LABELS conform
  ENVIRONMENT "IMPI_STAGE=${STAGE};IMPI_SCREENSHOTS=${CMAKE_BINARY_DIR}/screenshots"
  FAIL_REGULAR_EXPRESSION "no tests to run" SKIP_REGULAR_EXPRESSION "--- SKIP: Test[A-Za-z0-9]+ ")
# conform/tiny: the tester is tried against a small client of its own that is at fault at each of its messages in turn.
add_test(NAME conform/tiny COMMAND ${CMAKE_BINARY_DIR}/tests/conform/tiny.test -test.v)
set_tests_properties(conform/tiny PROPERTIES TIMEOUT ${LIMIT} LABELS conform ENVIRONMENT IMPI_STAGE=${STAGE}
  FAIL_REGULAR_EXPRESSION "no tests to run;--- SKIP")
# trace/page: the page of impi-trace, and pictures of it. trace/perfetto: its file in Perfetto, whose page pip installs.
add_test(NAME trace/page COMMAND ${CMAKE_BINARY_DIR}/tests/conform/browser.test -test.v -test.skip Perfetto)
add_test(NAME trace/perfetto COMMAND ${CMAKE_SOURCE_DIR}/cmd/impi-trace/internal/browser/perfetto.sh
  ${CMAKE_BINARY_DIR}/perfetto ${CMAKE_BINARY_DIR}/tests/conform/browser.test)
set_tests_properties(trace/page trace/perfetto PROPERTIES TIMEOUT ${LIMIT} PROCESSORS 2
  ENVIRONMENT "IMPI_STAGE=${STAGE};IMPI_SCREENSHOTS=${CMAKE_BINARY_DIR}/screenshots"
  FAIL_REGULAR_EXPRESSION "no tests to run" SKIP_REGULAR_EXPRESSION "skipped: |--- SKIP: Test[A-Za-z0-9]+ ")
set_tests_properties(trace/page PROPERTIES LABELS trace)
set_tests_properties(trace/perfetto PROPERTIES LABELS "trace;long")
add_custom_target(conform-tests ALL
  COMMAND ${CMAKE_COMMAND} -E env "${like_stage}"
    ${GO} test -c -o ${CMAKE_BINARY_DIR}/tests/conform/ ./tests/conform ./tests/conform/tiny
    ./cmd/impi-trace/internal/browser
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go test -c conform" VERBATIM)
add_dependencies(conform-tests stage)

# The label quick: what tells in less than a minute on two idle cores whether a change is worth the whole (make quick).
# Its first is the Go tests of packages that need no other process, its last a job that another process's death ends.
# The first is a part of go/unit: make test leaves it out (CMakePresets.json).
go_test(quick ${GO} run ./tools/gotest -timeout 300s -short ./abi/... ./cmd/internal/... ./coll/... ./datatype/...
  ./onesided ./topology/... ./transport/wire/... ./startup/auth/... ./tests/tree/... ./tools/...)
set(quick
  shm/2/pt2pt/order shm/2/pt2pt/sizes shm/2/pt2pt/modes shm/2/pt2pt/probe shm/2/pt2pt/persistent shm/2/pt2pt/completion
  shm/2/pt2pt/unexpected shm/2/pt2pt/self shm/2/coll/barrier shm/2/coll/bcast shm/2/coll/reduce shm/2/coll/short
  shm/2/coll/allgather shm/2/comm/basic shm/2/comm/attributes shm/2/comm/intercomm shm/2/datatype/constructors
  shm/2/datatype/pack shm/2/datatype/transfer shm/2/env/world shm/2/env/info shm/2/errors/arguments shm/2/session/world)
set(quick_targets library tool-impirun launcher-tests)
foreach(test IN LISTS quick)
  string(REGEX REPLACE "^shm/2/" "test-" target ${test})
  string(REPLACE "/" "-" target ${target})
  list(APPEND quick_targets ${target})
endforeach()
list(APPEND quick go/quick clients2/2/pt2pt/order launcher/TestTheDeathOfOneRankEndsAllAndIsTheCause)
foreach(test IN LISTS quick)
  set_property(TEST ${test} APPEND PROPERTY LABELS quick)
endforeach()
add_custom_target(quick)
add_dependencies(quick ${quick_targets})
