# C programs: the examples that users compile, and the tests.
find_package(Threads REQUIRED)

# c_program(target source): build/<folder>/<name>
function(c_program target source folder)
  add_executable(${target} ${source})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_link_libraries(${target} PRIVATE mpi Threads::Threads m ${CMAKE_DL_LIBS})
endfunction()

# setting(out name source default): the value of a line "name: value" in the comments of a program's first lines.
function(setting out name source default)
  file(STRINGS ${source} head LIMIT_COUNT 8)
  set(${out} ${default} PARENT_SCOPE)
  foreach(line IN LISTS head)
    if(line MATCHES "^[/ ]\\* *${name}: *([A-Za-z0-9_ ]*[A-Za-z0-9_])")
      string(REPLACE " " ";" words "${CMAKE_MATCH_1}")
      set(${out} ${words} PARENT_SCOPE)
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples_c/*.c)
foreach(source IN LISTS examples)
  get_filename_component(name ${source} NAME_WE)
  c_program(example-${name} ${source} examples_c)
  set_target_properties(example-${name} PROPERTIES OUTPUT_NAME ${name})
endforeach()

# What the main job needs (make run).
add_custom_target(main-job)
add_dependencies(main-job library tool-impirun tool-mpicc example-solver)

file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
foreach(source IN LISTS benches)
  get_filename_component(name ${source} NAME_WE)
  c_program(bench-${name} ${source} bench)
  set_target_properties(bench-${name} PROPERTIES OUTPUT_NAME ${name})
endforeach()

# What the launcher's tests start, beside the launcher's tests.
file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/launcher/testdata/*.c)
foreach(source IN LISTS programs)
  get_filename_component(name ${source} NAME_WE)
  c_program(launcher-${name} ${source} tests/launcher)
  set_target_properties(launcher-${name} PROPERTIES OUTPUT_NAME ${name})
  target_compile_options(launcher-${name} PRIVATE -O1 -g -Werror)
endforeach()

# Random programs whose ranks die, which the launcher's tests start, too.
file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/survive/*.c)
c_program(survive-inject "${programs}" tests/launcher)
set_target_properties(survive-inject PROPERTIES OUTPUT_NAME inject)
target_compile_options(survive-inject PRIVATE -O1 -g -Werror)

# missing(out functions): those of the functions that do not work yet, by the generated state page.
set(STATE ${CMAKE_SOURCE_DIR}/docs/functions.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${STATE})
function(missing out)
  set(found "")
  foreach(function IN LISTS ARGN)
    file(STRINGS ${STATE} row REGEX "^\\| ${function} \\|")
    if(NOT row)
      message(FATAL_ERROR "a test needs ${function}, which ${STATE} does not know")
    elseif(row MATCHES "\\| no \\|$")
      list(APPEND found ${function})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# One folder per chapter of the standard, one program per behaviour; tests/book has the examples of a book.
# tests/launcher, tests/install, tests/survive, tests/unit and tests/tsan have their own drivers. A program that says
# "/* needs: MPI_X MPI_Y */" waits until these functions work.
file(GLOB all_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*.c)
list(FILTER all_tests EXCLUDE REGEX "/tests/(launcher|install|survive|tsan|unit)/")
foreach(source IN LISTS all_tests)
  setting(needs needs ${source} "")
  missing(not_yet ${needs})
  if(not_yet)
    file(RELATIVE_PATH test ${CMAKE_SOURCE_DIR} ${source})
    message(STATUS "${test} waits for ${not_yet}")
  else()
    list(APPEND c_tests ${source})
  endif()
endforeach()
foreach(source IN LISTS c_tests)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  c_program(test-${folder}-${name} ${source} tests/${folder})
  target_compile_options(test-${folder}-${name} PRIVATE -O1 -g -Werror)
  target_compile_definitions(test-${folder}-${name} PRIVATE _GNU_SOURCE)
  target_include_directories(test-${folder}-${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  set_target_properties(test-${folder}-${name} PROPERTIES OUTPUT_NAME ${name})
endforeach()

# tests/unit: parts of the bridge's C by themselves.
file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gobridge/kernel/kernels*.c)
add_executable(unit-rows ${CMAKE_SOURCE_DIR}/tests/unit/rows.c ${CMAKE_SOURCE_DIR}/gobridge/kernel/plan.c ${kernels})
target_compile_options(unit-rows PRIVATE -O2 -g -Wall -Wextra)
target_compile_definitions(unit-rows PRIVATE _GNU_SOURCE)
target_include_directories(unit-rows PRIVATE ${CMAKE_SOURCE_DIR})
set_target_properties(unit-rows PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/unit)

# tests/tsan: the bridge's C under the thread sanitizer, where compiler and kernel can have it. A rank is a library of
# the bridge's C over a small engine; the program loads two copies.
set(tsan_flags -fsanitize=thread -g -O1 -Wall -Wextra)
file(WRITE ${CMAKE_BINARY_DIR}/tsan-probe.c "int main(void) { return 0; }\n")
try_run(tsan_runs tsan_builds ${CMAKE_BINARY_DIR}/tsan-probe ${CMAKE_BINARY_DIR}/tsan-probe.c
  COMPILE_DEFINITIONS -fsanitize=thread LINK_OPTIONS -fsanitize=thread)
set(TSAN OFF)
if(tsan_builds AND "${tsan_runs}" STREQUAL "0")
  set(TSAN ON)
  file(GLOB tsan_bridge CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gobridge/kernel/*.c ${CMAKE_SOURCE_DIR}/gobridge/executor/*.c)
  foreach(file direct bridge z_shim_pt2pt z_shim_collective z_shim_comm z_shim_datatype z_shim_rma)
    list(APPEND tsan_bridge ${CMAKE_SOURCE_DIR}/gobridge/shim/${file}.c)
  endforeach()
  foreach(rank 0 1)
    add_library(tsan-rank${rank} MODULE ${tsan_bridge} ${CMAKE_SOURCE_DIR}/tests/tsan/engine.c)
    target_include_directories(tsan-rank${rank} PRIVATE ${CMAKE_SOURCE_DIR}/tests/tsan)
    # Fences: what they order is atomic anyway. With -O1 the compiler does not see which branches exclude each other.
    target_compile_options(tsan-rank${rank} PRIVATE ${tsan_flags} -Wno-tsan -Wno-unused-parameter -Wno-maybe-uninitialized)
    # What the tests do not call is not there: nobody binds it.
    target_link_options(tsan-rank${rank} PRIVATE -fsanitize=thread -Wl,-Bsymbolic,-z,lazy)
  endforeach()
  add_executable(tsan-threads ${CMAKE_SOURCE_DIR}/tests/tsan/threads.c)
  target_compile_options(tsan-threads PRIVATE ${tsan_flags})
  target_link_options(tsan-threads PRIVATE -fsanitize=thread)
  target_link_libraries(tsan-threads PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
endif()
