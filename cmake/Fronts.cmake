# Libraries with the ABIs of other MPIs, for programs that were compiled with these (abi/front). Each has a folder of its
# own below lib, where nobody finds it by accident. They find libimpi beside that folder, whatever LD_LIBRARY_PATH says.
file(GLOB front_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/abi/front/*.c)
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

# The C++ bindings of MPI-2 for programs that were compiled with Open MPI's headers, where there is a compiler for them.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  add_library(front-openmpi-cxx SHARED ${CMAKE_SOURCE_DIR}/abi/front/cxx/openmpi.cc)
  set_target_properties(front-openmpi-cxx PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME libmpi_cxx.so.40
    LIBRARY_OUTPUT_DIRECTORY ${STAGE}/lib/openmpi BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_compile_options(front-openmpi-cxx PRIVATE -std=c++17 -O2 -Wall -Wextra -Werror)
  target_link_options(front-openmpi-cxx PRIVATE -Wl,-soname,libmpi_cxx.so.40,--disable-new-dtags,-z,now)
  target_link_libraries(front-openmpi-cxx PRIVATE front-openmpi)
  add_dependencies(stage front-openmpi-cxx)
endif()
