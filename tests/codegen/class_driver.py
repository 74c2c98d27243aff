"""A C++ program that goes through everything a generated class has, written for the library at hand."""

import re
from pathlib import Path

import numpy as np

from .libraries import STRICT, Array, eigen_include, run

_HEAD = """\
#define EIGEN_RUNTIME_NO_MALLOC
#include "thunder_{name}.h"

#include <cstdio>
#include <iostream>

using Robot = thunder_{name};

template <class V> void show(const char* what, const V& v) {{
  std::printf("%s", what);
  for (int i = 0; i < v.rows(); ++i) for (int j = 0; j < v.cols(); ++j) std::printf(" %.17g", v(i, j));
  std::printf("\\n");
}}
void show(const char* what, double v) {{ std::printf("%s %.17g\\n", what, v); }}
template <class A, class B> void show(const char* what, const std::tuple<A, B>& v) {{
  show((std::string(what) + ".0").c_str(), std::get<0>(v));
  show((std::string(what) + ".1").c_str(), std::get<1>(v));
}}
template <class Call> void refused(const char* what, const Call& call) {{
  try {{ call(); std::printf("%s accepted\\n", what); }}
  catch (const std::invalid_argument& error) {{ std::printf("%s invalid_argument %s\\n", what, error.what()); }}
  catch (const std::out_of_range& error) {{ std::printf("%s out_of_range %s\\n", what, error.what()); }}
  catch (const std::runtime_error& error) {{ std::printf("%s runtime_error %s\\n", what, error.what()); }}
}}
"""


def members(folder: Path, name: str) -> tuple[list[str], list[str], list[str]]:
    """Getters of results, getters of parameters, setters of parameters, as the header has them."""
    text = (folder / f"thunder_{name}.h").read_text()
    found = re.findall(r" (get_\w+)\(\) const;", text)
    results = [getter for getter in found if not getter.startswith("get_par_")]
    return results, [g for g in found if g.startswith("get_par_")], re.findall(r"void (set_par_\w+)\(const E", text)


def vector(values: Array) -> str:
    """C++ expression of a vector."""
    numbers = np.ravel(values)
    return f"(Eigen::Matrix<double, {numbers.size}, 1>() << {', '.join(map(repr, numbers.tolist()))}).finished()"


def build(folder: Path, name: str, body: str, *, sanitize: bool = True) -> Path:
    """Compile a program of statements with the library, as strict C++17."""
    source, program = folder.parent / f"{name}_driver.cpp", folder.parent / f"{name}_driver"
    source.write_text(
        _HEAD.format(name=name) + f"\nint main(int argc, char** argv) {{\n  (void)argc, (void)argv;\n{body}\n}}\n"
    )
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if sanitize else []
    library = [folder / f"thunder_{name}.cpp", folder / f"{name}_gen.cpp"]
    flags = ["-std=c++17", "-O0", *STRICT, *sanitizers, f"-I{folder}", "-isystem", eigen_include()]
    run(["g++", *flags, source, *library, "-o", program])
    return program


def shown(output: str) -> dict[str, Array]:
    """What a driver printed, by name."""
    lines = [line.split() for line in output.splitlines()]
    return {line[0]: np.array(line[1:], dtype=float) for line in lines}
