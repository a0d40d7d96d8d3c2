# C programs: the examples that users compile, and the tests.
find_package(Threads REQUIRED)

# c_program(target source): build/<folder>/<name>
function(c_program target source folder)
  add_executable(${target} ${source})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_link_libraries(${target} PRIVATE mpi Threads::Threads m ${CMAKE_DL_LIBS})
endfunction()

# setting(out name source default): the value of a comment "/* name: value */" in a program's first lines.
function(setting out name source default)
  file(STRINGS ${source} head LIMIT_COUNT 6)
  set(${out} ${default} PARENT_SCOPE)
  foreach(line IN LISTS head)
    if(line MATCHES "^/\\* *${name}: *(.*[^ ]) *\\*/")
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

file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
foreach(source IN LISTS benches)
  get_filename_component(name ${source} NAME_WE)
  c_program(bench-${name} ${source} bench)
  set_target_properties(bench-${name} PROPERTIES OUTPUT_NAME ${name})
endforeach()

# One folder per chapter of the standard, one program per behaviour. tests/launcher and tests/install have
# their own drivers.
file(GLOB c_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*.c)
list(FILTER c_tests EXCLUDE REGEX "/tests/(launcher|install)/")
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
