# Libraries with the ABIs of other MPIs, for programs that were compiled with these (abi/front). Each has a folder of its
# own below lib, where nobody finds it by accident. They find libimpi beside that folder, whatever LD_LIBRARY_PATH says.
file(GLOB front_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/abi/front/*.c)
list(FILTER front_sources EXCLUDE REGEX "/first\\.c$")
function(front abi soname)
  string(TOUPPER ${abi} upper)
  set(folder ${STAGE}/lib/${abi})
  add_library(front-${abi} SHARED ${front_sources})
  # The name of the file is the soname: nothing is ever linked with it here.
  set_target_properties(front-${abi} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname}
    LIBRARY_OUTPUT_DIRECTORY ${folder} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
  target_compile_definitions(front-${abi} PRIVATE FRONT_${upper} "FRONT_LIBRARY=\"${SONAME}\"")
  target_compile_options(front-${abi} PRIVATE -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-maybe-uninitialized)
  target_link_options(front-${abi} PRIVATE -Wl,--no-as-needed,-soname,${soname},--disable-new-dtags,-z,now
    -Wl,--dynamic-list=${CMAKE_SOURCE_DIR}/abi/front/shared.list)
  set_target_properties(front-${abi} PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/abi/front/shared.list)
  target_link_libraries(front-${abi} PRIVATE ${LIBRARY} ${CMAKE_DL_LIBS})
  add_dependencies(front-${abi} library)
  add_dependencies(stage front-${abi})
  foreach(name IN LISTS ARGN)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${soname} ${folder}/${name} SYMBOLIC)
  endforeach()
endfunction()
front(mpich libmpi.so.12 libmpich.so.12 libmpi.so)
front(openmpi libmpi.so.40 libmpi.so)

# Persistent collective operations by the names that Open MPI 4 has for them (mpi-ext.h).
file(STRINGS ${CMAKE_SOURCE_DIR}/abi/functions.tsv functions REGEX "^MPI_[A-Za-z_]+_init\t")
foreach(line IN LISTS functions)
  string(REGEX REPLACE "^MPI_([A-Za-z_]+)\t.*" "\\1" name "${line}")
  if(NOT name MATCHES "^(Session|[PBRS]?[Ss]end|P?[Rr]ecv)_init$")
    target_link_options(front-openmpi PRIVATE -Wl,--defsym=MPIX_${name}=PMPI_${name},--defsym=PMPIX_${name}=PMPI_${name})
  endif()
endforeach()

# The C++ bindings of MPI-2 for programs that were compiled with their headers, where there is a compiler for them.
include(CheckLanguage)
check_language(CXX)
function(front_cxx abi soname)
  add_library(front-${abi}-cxx SHARED ${CMAKE_SOURCE_DIR}/abi/front/cxx/${abi}.cc)
  set_target_properties(front-${abi}-cxx PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname}
    LIBRARY_OUTPUT_DIRECTORY ${STAGE}/lib/${abi} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_compile_options(front-${abi}-cxx PRIVATE -std=c++17 -O2 -Wall -Wextra -Werror)
  target_link_options(front-${abi}-cxx PRIVATE -Wl,-soname,${soname},--disable-new-dtags,-z,now)
  target_link_libraries(front-${abi}-cxx PRIVATE front-${abi})
  add_dependencies(stage front-${abi}-cxx)
  foreach(name IN LISTS ARGN)
    file(CREATE_LINK ${soname} ${STAGE}/lib/${abi}/${name} SYMBOLIC)
  endforeach()
endfunction()
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  front_cxx(mpich libmpichcxx.so.12 libmpicxx.so.12)
  front_cxx(openmpi libmpi_cxx.so.40)
endif()

# What scripts are preloaded with that put folders in front of LD_LIBRARY_PATH.
add_library(front-first SHARED ${CMAKE_SOURCE_DIR}/abi/front/first.c)
set_target_properties(front-first PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME libimpi_first.so
  LIBRARY_OUTPUT_DIRECTORY ${STAGE}/lib)
target_compile_options(front-first PRIVATE -std=gnu11 -O2 -Wall -Wextra -Werror -fno-stack-protector -fno-builtin)
target_link_options(front-first PRIVATE -nostdlib -Wl,-soname,libimpi_first.so,-z,now)
add_dependencies(stage front-first)
