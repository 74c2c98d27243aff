#!/usr/bin/env bash
# Compile and run examples/cpp with the C++ interface of the installed thunder_py: tools/cpp_examples_test.sh [LIBRARY].
# LIBRARY is a libthunder_core.a that a release build made of the same sources: the examples are compiled without
# optimization and with assertions, which may not change the layout of a class. Without it all is compiled: minutes.
set -euo pipefail
library=${1:+$(realpath "$1")}
examples=$(realpath "$(dirname "$0")/../examples/cpp")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"  # where `python` finds no other package than the installed one
package=$(python -c 'import thunder_py; print(thunder_py.get_cmake_dir())')
configure() { cmake -S "$examples" -B . -Dthunder_py_DIR="$package" -DPython_EXECUTABLE="$(command -v python)" "$@" > configured.log; }
run() {
  "./$1" | tee output
  grep -q 'at rest: 1' output
}

if [[ -z $library ]]; then
  configure -DCMAKE_BUILD_TYPE=Release
  cmake --build . --parallel 2
else
  configure -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
  python "$examples/write_robot.py" panda robots/panda.hpp
fi
for name in franka_callback effort_controller own_law; do
  if [[ -n $library ]]; then
    mkdir -p "CMakeFiles/$name.dir"
    bash -c "$(python -c 'import json, sys
print(next(c["command"] for c in json.load(open("compile_commands.json")) if c["file"] == sys.argv[1]))' "$examples/$name.cpp")"
    c++ "CMakeFiles/$name.dir/$name.cpp.o" "$library" -pthread -o "$name"
  fi
  run "$name"
done
