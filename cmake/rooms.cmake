# One target per room. A room is a folder; its name is its target: ackord_room(broker_log DEPENDS …).
# Every .cc below the folder belongs to it, but those below EXCLUDE, a folder of programs.
function(ackord_room name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${ARG_EXCLUDE}/")
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
  endif()
endfunction()

# One test program per folder of tests/unit: ackord_unit_test(broker_log DEPENDS …) builds unit_broker_log
# from every *_test.cc in the folder and hands its cases to ctest.
function(ackord_unit_test name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_executable(unit_${name} ${sources})
  target_include_directories(unit_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(unit_${name} PRIVATE ACKORD_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  if(ACKORD_SANITIZE MATCHES "undefined")
    # The tests' own arithmetic is not what is examined.
    target_compile_options(unit_${name} PRIVATE -fno-sanitize=undefined)
  endif()
  target_link_libraries(unit_${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME unit_${name} COMMAND unit_${name})
endfunction()
