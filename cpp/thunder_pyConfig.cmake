# CMake package of an installed thunder_py, found with -Dthunder_py_DIR=$(python -c "import thunder_py; print(thunder_py.get_cmake_dir())").
# The target thunder_py::core is compiled in the project that uses it: a library compiled elsewhere would need the same
# standard library and flags. It needs Eigen 3.4 (Debian: libeigen3-dev; PyPI: cmeel-eigen) and C++17.
if(TARGET thunder_py::core)
  return()
endif()
# of the system, or else of the Python environment that thunder_py is in
find_package(Eigen3 QUIET NO_MODULE PATHS ${CMAKE_CURRENT_LIST_DIR}/../.. PATH_SUFFIXES cmeel.prefix/share/eigen3/cmake)
if(NOT Eigen3_FOUND)
  set(thunder_py_FOUND FALSE)
  set(thunder_py_NOT_FOUND_MESSAGE "Eigen 3.4 is missing: pip install cmeel-eigen in the Python environment of thunder_py, or \
install it with the system (Debian: libeigen3-dev)")
  return()
endif()
option(THUNDER_UNITY "Compile several sources of thunder_py together" ON)
include(${CMAKE_CURRENT_LIST_DIR}/thunder_core.cmake)
foreach(library thunder_core thunder_recording)
  target_compile_features(${library} PUBLIC cxx_std_17)
  set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON POSITION_INDEPENDENT_CODE ON)
endforeach()
add_library(thunder_py::core ALIAS thunder_core)
