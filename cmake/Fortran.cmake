# Fortran's bindings: the C functions that procedures are, in one library for INTEGERs of 4 bytes and one for 8, and the
# sources of the modules, which each compiler translates for itself (mpifort). No Fortran compiler is needed here.
set(FORTRAN ${CMAKE_BINARY_DIR}/fortran)
file(GLOB fortran_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/abi/fortran/*.go ${CMAKE_SOURCE_DIR}/abi/fortran/*.tsv
  ${CMAKE_SOURCE_DIR}/abi/*.tsv ${CMAKE_SOURCE_DIR}/abi/table/*.go)
add_custom_command(OUTPUT ${FORTRAN}/entries4.c ${FORTRAN}/entries8.c
  COMMAND ${GO} run ./abi/fortran -entries ${FORTRAN}/entries4.c -modules ${STAGE}/share/libimpi/fortran
  COMMAND ${GO} run ./abi/fortran -entries ${FORTRAN}/entries8.c -integer 8
  COMMAND ${CMAKE_COMMAND} -E touch ${FORTRAN}/entries4.c ${FORTRAN}/entries8.c
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${STAGE}/share/libimpi/fortran/mpif.h ${STAGE}/include/mpif.h
  DEPENDS ${fortran_inputs} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Fortran's bindings" VERBATIM)
add_custom_target(fortran-sources DEPENDS ${FORTRAN}/entries4.c ${FORTRAN}/entries8.c)
add_dependencies(stage fortran-sources)

# MPI_X and PMPI_X are the same functions with other names, and call those of C.
set(library ${CMAKE_SOURCE_DIR}/abi/fortran/library)
function(fortran_objects name integer)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${library} ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE FORTRAN_INTEGER=${integer})
  target_compile_options(${name} PRIVATE -std=gnu11 -O2 -fPIC -Wall -Wextra -Werror)
  add_dependencies(${name} fortran-sources)
endfunction()
function(fortran_library integer soname)
  set(twice ${FORTRAN}/entries${integer}.c ${library}/by_hand.c ${library}/register.c)
  if(integer EQUAL 8)
    list(APPEND twice ${library}/contents.c)
  endif()
  fortran_objects(fortran${integer}-once ${integer} ${library}/room.c ${library}/section.c ${library}/constants.c
    ${library}/callbacks.c)
  fortran_objects(fortran${integer} ${integer} ${twice})
  fortran_objects(fortran${integer}-profile ${integer} ${twice})
  target_compile_definitions(fortran${integer}-profile PRIVATE FORTRAN_PROFILE)
  string(REGEX REPLACE "\\.so\\..*" "" file ${soname})
  add_library(${file} SHARED $<TARGET_OBJECTS:fortran${integer}-once> $<TARGET_OBJECTS:fortran${integer}>
    $<TARGET_OBJECTS:fortran${integer}-profile>)
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
  add_custom_command(OUTPUT ${folder}/entries.c ${folder}/mpi.h
    COMMAND ${GO} run ./abi/fortran -front ${abi} -entries ${folder}/entries.c -header ${folder}/mpi.h
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/entries.c ${folder}/mpi.h
    DEPENDS ${fortran_inputs} ${CMAKE_SOURCE_DIR}/abi/front/${abi}.tsv ${CMAKE_SOURCE_DIR}/abi/front/openmpi_fortran.tsv
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Fortran's bindings with the ABI of ${abi}" VERBATIM)
  add_custom_target(fortran-${abi}-sources DEPENDS ${folder}/entries.c ${folder}/mpi.h)
  set(once ${library}/room.c ${library}/callbacks.c ${library}/${abi}.c)
  set(constants ${library}/constants.c)
  if(abi STREQUAL mpich)
    list(APPEND once ${library}/section.c ${constants})
  else()
    fortran_objects(fortran-${abi}-constants 4 ${constants})
    target_sources(front-${abi} PRIVATE $<TARGET_OBJECTS:fortran-${abi}-constants>)
  endif()
  set(twice ${folder}/entries.c ${library}/by_hand.c ${library}/register.c)
  fortran_objects(fortran-${abi}-once 4 ${once})
  fortran_objects(fortran-${abi} 4 ${twice})
  fortran_objects(fortran-${abi}-profile 4 ${twice})
  target_compile_definitions(fortran-${abi}-profile PRIVATE FORTRAN_PROFILE)
  foreach(objects constants once "" profile)
    string(REGEX REPLACE "-$" "" objects fortran-${abi}-${objects})
    if(TARGET ${objects})
      target_compile_definitions(${objects} PRIVATE FORTRAN_${upper})
      target_include_directories(${objects} BEFORE PRIVATE ${folder})
      add_dependencies(${objects} fortran-${abi}-sources)
    endif()
  endforeach()
  add_library(front-${abi}-fortran SHARED $<TARGET_OBJECTS:fortran-${abi}-once> $<TARGET_OBJECTS:fortran-${abi}>
    $<TARGET_OBJECTS:fortran-${abi}-profile>)
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
