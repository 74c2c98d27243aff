"""Time of reading robot files: URDF and xacro of 7 joints and 60 links, MJCF beside MuJoCo's compiler, and folders.

python benchmarks/robot_files.py [FOLDER ...]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import thunder_py as th
from thunder_py.errors import FileFormatError
from thunder_py.optional import require

_BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
_LIMIT = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'


def urdf(joints: int = 7, links: int = 60) -> str:
    """Return a chain of moving joints that carries further links."""
    parts = [f'<link name="l{k}">{_BODY}</link>' for k in range(links)]
    for k in range(1, links):
        parent, kind = (k - 1, "revolute") if k <= joints else (k % (joints + 1), "fixed")
        ends = f'<parent link="l{parent}"/><child link="l{k}"/><origin xyz="0 0 0.3" rpy="0 1 0"/>'
        parts.append(f'<joint name="j{k}" type="{kind}">{ends}{_LIMIT if kind == "revolute" else ""}</joint>')
    return f'<robot name="arm">{"".join(parts)}</robot>'


def xacro(joints: int = 7, links: int = 60) -> str:
    """Return the same chain written with a macro for bodies."""
    text = urdf(joints, links).replace(_BODY, '<xacro:body mass="${2 * 0.5}"/>')
    body = _BODY.replace('"1"', '"${mass}"', 1)
    macro = f'<xacro:macro name="body" params="mass">{body}</xacro:macro>'
    return text.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"').replace("><", f">{macro}<", 1)


def least(call: Callable[[], object], count: int = 7) -> float:
    """Return the least time of several calls [ms]."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="folders with .urdf and .xml files")
    folders = parser.parse_args().folders
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.urdf")
        path.write_text(urdf())
        print(f"URDF, 7 joints and 60 links: {least(lambda: th.io.load_description(path)):.1f} ms")
        path = Path(folder, "arm.urdf.xacro")
        path.write_text(xacro())
        first = least(lambda: th.io.load_description(path), 1)
        print(f"The same as xacro: {first:.0f} ms, later {least(lambda: th.io.load_description(path)):.0f} ms")
        mjcf, model = Path(folder, "panda.xml"), require("mujoco", "mujoco").MjModel
        th.Robot.load("panda").save(mjcf)
        ours, compiled = least(lambda: th.io.load_description(mjcf)), least(lambda: model.from_xml_path(str(mjcf)))
        print(f"MJCF of the Panda: {ours:.1f} ms, MuJoCo's compiler {compiled:.1f} ms")
    for folder_of_files in folders:
        results: Counter[str] = Counter()
        start = time.perf_counter()
        for file in sorted(folder_of_files.rglob("*")):
            if file.suffix.lower() in (".urdf", ".xml"):
                try:
                    th.io.load_description(file)
                    results["one arm"] += 1
                except FileFormatError as error:
                    results[type(error).__name__] += 1
        print(f"{folder_of_files}: {dict(results)} in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
