# The libraries thunder_core and thunder_recording, from the sources beside this file. The build of the package includes it,
# and so does `find_package(thunder_py)` in projects that use an installed one.
include(CheckCXXCompilerFlag)
find_package(Threads REQUIRED)
set(THUNDER_CPP ${CMAKE_CURRENT_LIST_DIR})

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS ${THUNDER_CPP}/src/*.cpp)
# one table of kernels for each instruction set, in objects of their own
file(GLOB kernel_tables CONFIGURE_DEPENDS ${THUNDER_CPP}/src/kernels/kernels_*.cpp)
list(REMOVE_ITEM core_sources ${kernel_tables})
# recordings: long to compile, and most C++ tests do without
set(recording_sources ${core_sources})
list(FILTER recording_sources INCLUDE REGEX "/recording/")
list(REMOVE_ITEM core_sources ${recording_sources})

if(THUNDER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # collecting garbage takes g++ a tenth of its time; the objects are the same. A process has at most 1.2 GB
  add_compile_options(--param=ggc-min-heapsize=500000 --param=ggc-min-expand=30)
endif()
add_library(thunder_core STATIC ${core_sources})
add_library(thunder_recording STATIC ${recording_sources})
target_include_directories(thunder_core PUBLIC ${THUNDER_CPP}/include)
target_link_libraries(thunder_core PUBLIC Eigen3::Eigen Threads::Threads)
target_link_libraries(thunder_recording PUBLIC thunder_core)
# what is hot is in the kernels: -O3 elsewhere takes a third longer to compile and runs no faster
if(NOT SKBUILD_STATE STREQUAL "wheel")  # developers see them; looking for them takes time
  set(warnings -Wall -Wextra)
endif()
target_compile_options(thunder_core PRIVATE ${warnings} $<$<CONFIG:Release>:-O2>)
# recordings are made, differentiated and written once for each model: half the size, in three quarters of the time; what
# evaluates them is hot
target_compile_options(thunder_recording PRIVATE ${warnings} $<$<CONFIG:Release>:-Os>)
set_source_files_properties(${THUNDER_CPP}/src/recording/function.cpp ${THUNDER_CPP}/src/recording/interpreter.cpp
  PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
# recorded kernels as well, where every operation is a call
set_source_files_properties(${THUNDER_CPP}/src/recording/symbolic_chain.cpp PROPERTIES COMPILE_DEFINITIONS THUNDER_INLINE=inline)
# products of steps, and every number of a batch goes through all_finite, on one thread; it reads no header that is compiled before
set_source_files_properties(${THUNDER_CPP}/src/math/loops.cpp PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>
  SKIP_PRECOMPILE_HEADERS ON)
target_precompile_headers(thunder_core PRIVATE <Eigen/Dense> <algorithm> <memory> <string> <vector>)

# sources of a topic instantiate the same templates: a translation unit for each of the patterns of names, as large as 1.2 GB
# of memory allow
function(thunder_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${THUNDER_UNITY}" UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(pattern ${ARGN})
    string(MAKE_C_IDENTIFIER ${pattern} unit)
    set(members ${sources})
    list(FILTER members INCLUDE REGEX ${pattern})
    set_source_files_properties(${members} PROPERTIES UNITY_GROUP ${unit})
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
endfunction()
thunder_units(thunder_core "/control/" "/(planning/functional/|math/dense)" "/(estimation|kernels|kinematics|math|model)/" "/planning/"
  "/(realtime|simulation|threads)/")
thunder_units(thunder_recording "/recording/")

function(add_kernels isa)
  # a test checks that the object exports nothing that another could pick up
  add_library(thunder_kernels_${isa} OBJECT ${THUNDER_CPP}/src/kernels/kernels_${isa}.cpp)
  target_include_directories(thunder_kernels_${isa} PRIVATE ${THUNDER_CPP}/include)
  target_compile_options(thunder_kernels_${isa} PRIVATE ${warnings} $<$<CONFIG:Release>:-O3> $<$<CONFIG:Debug>:-O1> ${ARGN})
  target_sources(thunder_core PRIVATE $<TARGET_OBJECTS:thunder_kernels_${isa}>)
endfunction()

add_kernels(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # g++ copies packs in halves by default, and every load of a whole one then waits for both stores
  check_cxx_compiler_flag(-mmove-max=512 THUNDER_HAVE_MOVE_MAX)
  if(THUNDER_HAVE_MOVE_MAX)
    set(whole_256 -mmove-max=256 -mstore-max=256)
    set(whole_512 -mmove-max=512 -mstore-max=512)
  endif()
  set(avx2 -mavx2 -mfma -ffp-contract=fast)
  add_kernels(avx2 ${avx2} ${whole_256})
  add_kernels(avx512 ${avx2} -mavx512f -mavx512vl -mavx512dq -mprefer-vector-width=256 ${whole_512})
  target_compile_definitions(thunder_core PUBLIC THUNDER_HAVE_X86_KERNELS)
endif()
