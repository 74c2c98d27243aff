"""Every quantity a robot computes from joint vectors, with the names of these vectors, as the methods have them."""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import thunder_py as th
from thunder_py import _core

#: what this machine runs
INSTRUCTION_SETS = tuple(_core.build_config()["instruction_sets"])


@contextmanager
def use_instruction_set(name: str) -> Iterator[None]:
    """Compute with the kernels of an instruction set, then with those of before."""
    before = _core.build_config()["instruction_set"]
    _core.use_instruction_set(name)
    try:
        yield
    finally:
        _core.use_instruction_set(before)


#: names of the vectors by quantity, from the signatures in the docstrings of the compiled methods
INPUTS = {
    name: tuple(re.findall(r"(\w+): numpy\.typing\.ArrayLike", member.__doc__.partition("\n")[0]))
    for name, member in vars(_core.Model).items()
    if "threads: int" in (member.__doc__ or "").partition("\n")[0]
}


def size(robot: th.Robot, vector: str) -> int:
    """Length of an input: an entry for each elastic joint of motors, p of parameters, else one for each joint."""
    return robot.e if vector in ("x", "dx", "ddx") else robot.p if vector == "pi" else robot.n


def kernel(robot: th.Robot, name: str) -> Callable[..., Any]:
    """Method of the compiled model, whose result is one array also where the robot names its parts."""
    return functools.partial(getattr(_core.Model, name), robot)


def bound() -> set[str]:
    """Names of the methods of the compiled model that compute something."""
    return {name for name, member in vars(_core.Model).items() if callable(member) and not name.startswith("_")}
