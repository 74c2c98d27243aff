"""Parameter files of generated libraries: flat YAML for the generated class and any YAML reader."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..robot.inertia import reg_from_dyn
from ..symbolic.parameters import ParameterGroup
from .contents import Contents

__all__ = ["parameter_files", "row_length"]

Array = npt.NDArray[np.float64]


def row_length(contents: Contents, group: ParameterGroup) -> int:
    """Return the count of numbers per line: those of a link, of a joint or all."""
    rows = {"inertial": contents.n, "dh": contents.n, "friction": contents.n}
    rows |= {f"elastic_{key}": contents.robot.e for key in ("K", "D", "Dm")}
    return group.values.size // rows.get(group.name, 1)


def parameter_files(contents: Contents) -> dict[str, str]:
    """Return ``<name>_conf.yaml`` with all parameters and ``<name>_par_REG.yaml`` with those of the links."""
    name, head = contents.name, f"# Parameters of {contents.name} as thunder_<robot>::{{}} reads and writes them\n"
    robot = f"robot: {name}\n"
    conf = head.format("load_conf").replace("<robot>", name) + robot
    for group in contents.groups:
        conf += _list(group.argument, group.values, row_length(contents, group))
    inertial = contents.inertial.values.reshape(-1, 10)
    reg = contents.robot.inertial if contents.inertial.argument == "par_REG" else reg_from_dyn(inertial)
    text = head.format("load_par_REG").replace("<robot>", name) + robot + _list("par_REG", reg.ravel(), 10)
    return {f"{name}_conf.yaml": conf, f"{name}_par_REG.yaml": text}


def _list(key: str, values: Array, length: int) -> str:
    rows = values.reshape(-1, length)
    return f"{key}: [\n" + "".join(f"  {', '.join(map(_number, row))},\n" for row in rows) + "]\n"


def _number(value: float) -> str:
    """Return the shortest exact text, with the decimal point that YAML 1.1 requires before an exponent."""
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"
