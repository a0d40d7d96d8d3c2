# Fortran's bindings: the C functions that procedures are, in one library for INTEGERs of 4 bytes and one for 8, and the
# sources of the modules, which each compiler translates for itself (mpifort). No Fortran compiler is needed here.
set(FORTRAN ${CMAKE_BINARY_DIR}/fortran)
file(GLOB fortran_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/abi/fortran/*.go ${CMAKE_SOURCE_DIR}/abi/fortran/write/*.go
  ${CMAKE_SOURCE_DIR}/abi/fortran/*.tsv
  ${CMAKE_SOURCE_DIR}/abi/*.tsv ${CMAKE_SOURCE_DIR}/abi/table/*.go)
set(fortran_write ${FORTRAN}/write)
add_custom_command(OUTPUT ${fortran_write}
  COMMAND ${GO} build -trimpath -buildmode=pie -o ${fortran_write} ./abi/fortran/write
  COMMAND ${CMAKE_COMMAND} -E touch ${fortran_write}
  DEPENDS ${fortran_inputs} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "go build abi/fortran/write" VERBATIM)
add_custom_target(fortran-write DEPENDS ${fortran_write})
set(written ${FORTRAN}/entries4.c ${FORTRAN}/entries8.c ${FORTRAN}/constants.c ${FORTRAN}/trampolines.c)
add_custom_command(OUTPUT ${written}
  COMMAND ${fortran_write} -entries ${FORTRAN}/entries4.c -modules ${STAGE}/share/libimpi/fortran
  COMMAND ${fortran_write} -entries ${FORTRAN}/entries8.c -integer 8
  COMMAND ${CMAKE_COMMAND} -E touch ${written}
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${STAGE}/share/libimpi/fortran/mpif.h
    ${STAGE}/share/libimpi/fortran/mpif-ext.h ${STAGE}/include
  DEPENDS ${fortran_write} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Fortran's bindings" VERBATIM)
add_custom_target(fortran-sources DEPENDS ${written})
add_dependencies(fortran-sources fortran-write)
add_dependencies(stage fortran-sources)

# MPI_X and PMPI_X are the same functions with other names, and call those of C: the object of PMPI_X is that of MPI_X after
# its symbols have been renamed, which takes no time beside compiling it. All that a library is made of is two translation
# units, so that headers are read once; -O1 takes two thirds of the time of -O2, and adds half a nanosecond to a call.
set(library ${CMAKE_SOURCE_DIR}/abi/fortran/library)
if(NOT CMAKE_NM OR NOT CMAKE_OBJCOPY)
  message(FATAL_ERROR "nm and objcopy are needed (binutils)")
endif()
function(fortran_objects name integer)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${library} ${CMAKE_SOURCE_DIR} ${FORTRAN})
  target_compile_definitions(${name} PRIVATE FORTRAN_INTEGER=${integer})
  target_compile_options(${name} PRIVATE -std=gnu11 -O1 -fPIC -Wall -Wextra -Werror)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  add_dependencies(${name} fortran-sources)
endfunction()
# fortran_entries(name integer abi sources...): objects of MPI_X and of PMPI_X.
function(fortran_entries name integer abi)
  fortran_objects(${name} ${integer} ${ARGN})
  add_custom_command(OUTPUT ${FORTRAN}/${name}-profile.o
    COMMAND ${library}/profile ${CMAKE_NM} ${CMAKE_OBJCOPY} ${abi} $<TARGET_OBJECTS:${name}> ${FORTRAN}/${name}-profile.o
    DEPENDS ${name} $<TARGET_OBJECTS:${name}> ${library}/profile COMMENT "PMPI_X of ${name}" VERBATIM)
endfunction()
function(fortran_library integer soname)
  set(twice ${FORTRAN}/entries${integer}.c ${library}/spawn.c)
  if(integer EQUAL 8)
    list(APPEND twice ${library}/contents.c)
  endif()
  fortran_objects(fortran${integer}-once ${integer} ${library}/room.c ${library}/section.c ${library}/callbacks.c
    ${FORTRAN}/constants.c ${FORTRAN}/trampolines.c)
  fortran_entries(fortran${integer} ${integer} own ${twice})
  string(REGEX REPLACE "\\.so\\..*" "" file ${soname})
  add_library(${file} SHARED $<TARGET_OBJECTS:fortran${integer}-once> $<TARGET_OBJECTS:fortran${integer}>
    ${FORTRAN}/fortran${integer}-profile.o)
  set_target_properties(${file} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${STAGE}/lib BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_link_options(${file} PRIVATE -Wl,-soname,${soname},--enable-new-dtags,-z,defs)
  target_link_libraries(${file} PRIVATE ${LIBRARY})
  add_dependencies(${file} library)
  add_dependencies(stage ${file})
  file(CREATE_LINK ${soname} ${STAGE}/lib/${file}.so SYMBOLIC)
endfunction()
fortran_library(4 libmpifort_abi.so.1)
fortran_library(8 libmpifort_abi_i8.so.1)

# Modules that compilers can read are made by mpifort when it needs them, and by make install.
file(WRITE ${STAGE}/lib/fortran/README "Modules for Fortran compilers. mpifort -install-modules makes them, and links to those of the
first compiler for pkg-config; users of other compilers have them in their caches.
")
# The libraries of MPICH's and Open MPI's Fortran, which call their front's C (abi/front): all names are in one file.
# Open MPI has in its C library what libraries in C refer to.
function(fortran_front abi soname)
  string(TOUPPER ${abi} upper)
  set(folder ${FORTRAN}/${abi})
  set(written ${folder}/entries.c ${folder}/mpi.h ${folder}/constants.c ${folder}/modules.c ${folder}/trampolines.c)
  add_custom_command(OUTPUT ${written}
    COMMAND ${fortran_write} -front ${abi} -entries ${folder}/entries.c -header ${folder}/mpi.h
    COMMAND ${CMAKE_COMMAND} -E touch ${written}
    DEPENDS ${fortran_write} ${CMAKE_SOURCE_DIR}/abi/front/${abi}.tsv ${CMAKE_SOURCE_DIR}/abi/front/openmpi_fortran.tsv
      ${CMAKE_SOURCE_DIR}/mpi.h ${CMAKE_SOURCE_DIR}/mpix.h
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Fortran's bindings with the ABI of ${abi}" VERBATIM)
  add_custom_target(fortran-${abi}-sources DEPENDS ${written})
  add_dependencies(fortran-${abi}-sources fortran-write)
  set(once ${library}/room.c ${library}/callbacks.c ${folder}/trampolines.c ${folder}/modules.c)
  set(constants ${folder}/constants.c)
  if(abi STREQUAL mpich)
    list(APPEND once ${library}/section.c ${constants})
  else()
    fortran_objects(fortran-${abi}-constants 4 ${constants})
    target_sources(front-${abi} PRIVATE $<TARGET_OBJECTS:fortran-${abi}-constants>)
  endif()
  set(twice ${folder}/entries.c ${library}/spawn.c)
  fortran_objects(fortran-${abi}-once 4 ${once})
  fortran_entries(fortran-${abi} 4 ${abi} ${twice})
  foreach(objects constants once "")
    string(REGEX REPLACE "-$" "" objects fortran-${abi}-${objects})
    if(TARGET ${objects})
      target_compile_definitions(${objects} PRIVATE FORTRAN_${upper})
      target_include_directories(${objects} BEFORE PRIVATE ${folder})
      add_dependencies(${objects} fortran-${abi}-sources)
    endif()
  endforeach()
  add_library(front-${abi}-fortran SHARED $<TARGET_OBJECTS:fortran-${abi}-once> $<TARGET_OBJECTS:fortran-${abi}>
    ${FORTRAN}/fortran-${abi}-profile.o)
  set_target_properties(front-${abi}-fortran PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${STAGE}/lib/${abi} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
  target_link_options(front-${abi}-fortran PRIVATE -Wl,--no-as-needed,-soname,${soname},--disable-new-dtags
    -Wl,-z,now,-z,defs)
  target_link_libraries(front-${abi}-fortran PRIVATE front-${abi} ${LIBRARY})
  add_dependencies(stage front-${abi}-fortran)
  foreach(name IN LISTS ARGN)
    file(CREATE_LINK ${soname} ${STAGE}/lib/${abi}/${name} SYMBOLIC)
  endforeach()
endfunction()
fortran_front(mpich libmpifort.so.12 libmpichfort.so.12)
fortran_front(openmpi libmpi_mpifh.so.40 libmpi_usempif08.so.40 libmpi_usempi_ignore_tkr.so.40)
