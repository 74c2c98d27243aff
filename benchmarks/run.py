"""Measure this package beside Pinocchio, in one run on one machine, and print the table.

python benchmarks/run.py                                 everything; the first run builds Pinocchio, minutes long
python benchmarks/run.py --quick                         under a minute; Pinocchio in C++ only if built before
python benchmarks/run.py --markdown docs/benchmarks.md   also renews the generated part of the documentation
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import _arm
import _loop
import _python
import numpy as np
import pinocchio as pin
from _build import CACHE, COMMON, FLAGS, Program, build_all, compiler_version, compilers
from _measure import check_same_numbers, fastest, run_in_turns
from _table import SLOPE_GOALS, markdown

GROWTH_JOINTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
BEGIN, END = "<!-- made by benchmarks/run.py: begin -->", "<!-- made by benchmarks/run.py: end -->"


def main() -> None:
    arguments = parse()
    quick = arguments.quick
    programs, ours = build(quick)
    arm = _arm.panda()
    CACHE.mkdir(parents=True, exist_ok=True)
    options = ["--ticks", "100"] if quick else []
    if arguments.real_loop:
        options.append("--real-loop")
    report("C++")
    cpp = run_in_turns(programs, arm.write(CACHE / "panda.txt"), 2 if quick else 5, *options)
    check_same_numbers(cpp)
    report("growth")
    growth = [slope(q, ours, 2 if quick else 5) for q in SLOPE_GOALS]
    report("Python")
    results: dict[str, Any] = {
        "machine": machine(programs),
        "cpp": cpp,
        "growth": growth,
        "import_ms": _python.import_milliseconds(5 if quick else 20),
        "batch": _python.batches(arm, rounds=50 if quick else 500),
        "steps_per_second": _loop.steps_per_second(duration=2.0 if quick else 10.0, rounds=3),
        "python": _python.python_calls(arm, 50 if quick else 400),
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    text = markdown(results)
    if arguments.markdown:
        renew(arguments.markdown, text)
    print(text)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions, g++ with baseline flags only")
    parser.add_argument("--real-loop", action="store_true", help="wait for real 1 kHz ticks instead of emulating them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="renew the generated part of this file")
    return parser.parse_args()


def build(quick: bool) -> tuple[list[Program], Program]:
    """Return the programs to run, and the one of them that a user who installs the package most likely has."""
    found = compilers()
    ours = Program("thunder", found[0], "baseline")
    if quick:
        theirs = [Program("pinocchio", c, "baseline") for c in found]
        programs = [ours, *(p for p in theirs if p.is_built)]
        if len(programs) == 1:
            report("Pinocchio's C++ is left out: a run without --quick builds it")
    else:
        others = [Program(library, c, f) for f in FLAGS for c in found for library in ("thunder", "pinocchio")]
        programs = [ours, *(p for p in others if p != ours)]
    return build_all(programs), ours


def slope(quantity: str, program: Program, rounds: int) -> dict[str, Any]:
    """Time a quantity on chains of 2 to 40 joints and fit time = c n^slope."""
    times = []
    for n in GROWTH_JOINTS:
        path = _arm.random_arm(n).write(CACHE / f"random{n}.txt")
        records = run_in_turns([program], path, rounds, "--ticks", "0", "--only", quantity)
        times.append(fastest(records)["median_ns"])
    fitted = np.polyfit(np.log(GROWTH_JOINTS), np.log(times), 1)[0]
    return {"quantity": quantity, "joints": GROWTH_JOINTS, "median_ns": times, "slope": float(fitted)}


def machine(programs: list[Program]) -> dict[str, str]:
    """Describe what the numbers depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Pinocchio": pin.__version__,
        **{c: compiler_version(c) for c in dict.fromkeys(p.compiler for p in programs)},
        **{f"{name} flags": " ".join([*COMMON, *flags]) for name, flags in FLAGS.items()},
    }


def renew(path: Path, text: str) -> None:
    """Put the tables between the two marks of a Markdown file."""
    page = path.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def report(what: str) -> None:
    print(f"benchmarks: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
