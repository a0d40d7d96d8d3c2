# The stage: what make install copies, and what the tests run.
find_program(GO go REQUIRED)

set(SONAME libmpi_abi.so.1)
set(LIBRARY ${STAGE}/lib/${SONAME})
set(MAP ${CMAKE_SOURCE_DIR}/gobridge/shim/z_exports.map)

# Version numbers stand once, in Go.
file(STRINGS ${CMAKE_SOURCE_DIR}/cmd/internal/version/version.go line REGEX "Number +=")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" VERSION "${line}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmd/internal/version/version.go)

# The commit, for who reports an error: known only in a checkout. make configures before each build, so that it is
# looked at each time.
set(COMMIT "")
set(DATE "")
if(EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND git describe --tags --match v[0-9]* --always --dirty --abbrev=10
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git log -1 --format=%cs WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

# The library keeps its symbols, 1.3 MB that no process maps: debuggers and profilers say where a rank is.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(STRIP "")
  set(STRIP_LIBRARY "")
else()
  set(STRIP "-s -w ")
  set(STRIP_LIBRARY "-w ")
endif()
# Where backtraces cross Go (shim/unwind_amd64.S).
set(UNWIND "")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(UNWIND "'-Wl,-T,${CMAKE_SOURCE_DIR}/gobridge/shim/unwind.ld'")
endif()

# go build decides what is out of date; it takes no time when nothing is. What it writes is moved into place,
# so that a program which has the old library mapped is not disturbed. Of headers it sees those of a package alone;
# tools/headers tells it of the others.
#
# Go's runtime would interrupt threads by SIGURG, which may be the program's: PETSc ends a process that gets one. It
# need not: what the library does for long calls functions, at which goroutines yield.
add_custom_target(library ALL
  COMMAND ${GO} run ./tools/headers
  COMMAND ${CMAKE_COMMAND} -E env CGO_ENABLED=1 ${GO} build -trimpath -buildmode=c-shared
    "-ldflags=${STRIP_LIBRARY}-X=main.commit=${COMMIT} -X=runtime.godebugDefault=asyncpreemptoff=1 \"-extldflags=-Wl,-soname,${SONAME},-z,nodelete '-Wl,--version-script=${MAP}' ${UNWIND}\""
    -o ${CMAKE_BINARY_DIR}/go/${SONAME} ./gobridge
  COMMAND ${CMAKE_COMMAND} -E make_directory ${STAGE}/lib
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_BINARY_DIR}/go/${SONAME} ${LIBRARY}.new
  COMMAND ${CMAKE_COMMAND} -E rename ${LIBRARY}.new ${LIBRARY}
  BYPRODUCTS ${LIBRARY}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go build libmpi_abi.so" VERBATIM)

set(VERSION_PACKAGE github.com/libimpi/libimpi/cmd/internal/version)

# One program under all names that people know it by. As position-independent code it shares what is compiled of the
# standard library with libmpi.so: 20 s of processor time less where nothing is compiled yet.
#
# The launcher looks at its limits before Go's runtime begins (cmd/impirun/early_amd64.s).
set(ENTRY_impirun "")
set(STRIP_impirun "${STRIP_LIBRARY}") # parallel debuggers look for its symbols MPIR_...
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(ENTRY_impirun "-E=main.early ")
endif()
function(go_tool package)
  list(GET ARGN 0 first)
  if(NOT DEFINED STRIP_${first})
    set(STRIP_${first} "${STRIP}")
  endif()
  set(copies "")
  foreach(name IN LISTS ARGN)
    if(NOT name STREQUAL first)
      list(APPEND copies COMMAND ${CMAKE_COMMAND} -E create_symlink ${first} ${STAGE}/bin/${name})
    endif()
  endforeach()
  add_custom_target(tool-${first} ALL
    COMMAND ${CMAKE_COMMAND} -E env CGO_ENABLED=0 ${GO} build -trimpath -buildmode=pie
      "-ldflags=${ENTRY_${first}}${STRIP_${first}}-X=${VERSION_PACKAGE}.commit=${COMMIT}" -o ${STAGE}/bin/${first} ${package}
    ${copies}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go build ${first}" VERBATIM)
  add_dependencies(stage tool-${first})
endfunction()

add_custom_target(stage ALL)
add_dependencies(stage library)
go_tool(./cmd/impirun impirun mpirun mpiexec)
go_tool(./cmd/mpicc mpicc mpicxx mpic++ mpiCC mpicc_abi mpifort mpif77 mpif90 mpifort_abi)
go_tool(./cmd/impi-info impi-info)
go_tool(./cmd/impi-stat impi-stat)
go_tool(./cmd/impi-trace impi-trace)
go_tool(./cmd/impi-conform impi-conform)

# The manual, and the completion of shells: of the tables of functions and of options.
add_custom_target(manual ALL
  COMMAND ${GO} run ./abi/gen -man ${STAGE}/share/man -source "libimpi ${VERSION}" "-date=${DATE}"
  COMMAND ${GO} run ./cmd/internal/manual "-date=${DATE}" ${STAGE}/share docs/libimpi.md
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "the manual" VERBATIM)
add_dependencies(stage manual)

# Fixed files, written when CMake runs.
file(MAKE_DIRECTORY ${STAGE}/lib ${STAGE}/include)
foreach(name libmpi_abi.so libmpi.so libmpi_abi.so.0)
  file(CREATE_LINK ${SONAME} ${STAGE}/lib/${name} SYMBOLIC)
endforeach()
foreach(name mpi.h mpix.h mpi-ext.h)
  configure_file(${CMAKE_SOURCE_DIR}/${name} ${STAGE}/include/${name} COPYONLY)
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/cmake/valgrind.supp ${STAGE}/share/libimpi/valgrind.supp COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/cmake/libimpi-gdb.py ${STAGE}/share/libimpi/gdb/libimpi.py COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/cmake/modulefile.in ${STAGE}/share/modulefiles/libimpi/${VERSION} @ONLY)
# Meson asks for ompi-c, ompi-cxx and ompi-fort, others for the rest. Who asks pkg-config for Fortran's modules gets those
# of the first compiler of the installation (mpifort -install-modules).
set(MODULES "")
set(LIBS "-lmpi_abi")
foreach(MODULE mpi mpi-c mpi-cxx ompi-c ompi-cxx libimpi mpi-fort mpi-f77 mpi-f90 ompi-fort ompi-f77 ompi-f90 libimpi-fort)
  if(MODULE MATCHES "-f")
    set(MODULES " -I\${libdir}/fortran")
    set(LIBS "-lmpifort_abi -lmpi_abi")
  endif()
  configure_file(${CMAKE_SOURCE_DIR}/cmake/mpi.pc.in ${STAGE}/lib/pkgconfig/${MODULE}.pc @ONLY)
endforeach()

# What C programs of this build link with.
add_library(mpi INTERFACE)
target_include_directories(mpi INTERFACE ${STAGE}/include)
target_link_libraries(mpi INTERFACE -L${STAGE}/lib -Wl,-rpath,${STAGE}/lib -lmpi_abi)
add_dependencies(mpi library)
