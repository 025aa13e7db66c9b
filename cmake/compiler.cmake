# Warnings are errors; sanitizers are chosen by the preset; ccache is used when it is there.
set(ACKORD_SANITIZE "" CACHE STRING "Value of -fsanitize for every target (empty: none)")

# For the simulator alone (docs/RELIABILITY.md): it plants one of them by its name.
option(ACKORD_PLANTED_BUGS "Bugs that ackord-sim can plant are compiled in" OFF)
if(ACKORD_PLANTED_BUGS)
  add_compile_definitions(ACKORD_PLANTED_BUGS)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths, so that several build folders of one checkout share their results.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these falsely in inlined library code and in coroutine frames.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer -Wno-stringop-overflow
                      -Wno-array-bounds -Wno-stringop-overread -Wno-mismatched-new-delete -Wno-subobject-linkage)
endif()
if(ACKORD_SANITIZE)
  add_compile_options(-fsanitize=${ACKORD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ACKORD_SANITIZE})
  if(ACKORD_SANITIZE MATCHES "undefined")
    # AddressSanitizer reports what these are for, at a third of the time to compile.
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)
  endif()
  if(ACKORD_SANITIZE STREQUAL "thread")
    add_compile_options(-Wno-tsan)
  endif()
endif()
