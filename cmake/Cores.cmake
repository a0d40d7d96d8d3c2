# A core counts as three of ctest's processors, so that three tests that mostly wait share two cores and others get one
# each: six jobs are for two cores (CMakePresets.json, make quick).
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  get_test_property(${test} PROCESSORS cores)
  if(test MATCHES "^(launcher|conform)/")
    set_tests_properties(${test} PROPERTIES PROCESSORS 2)
  elseif(cores)
    math(EXPR thirds "3 * ${cores}")
    set_tests_properties(${test} PROPERTIES PROCESSORS ${thirds})
  else()
    set_tests_properties(${test} PROPERTIES PROCESSORS 3)
  endif()
endforeach()
