"""Random states, the bundled robots, Thunder's files, and robots with other parameters."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

import thunder_py as th
from tests.codegen.reference import with_groups

Array = npt.NDArray[np.float64]
FOLDER = Path(__file__).parents[1] / "data" / "thunder"


def bundled() -> list[str]:
    """Names of the bundled robots."""
    return sorted(path.stem for path in (Path(th.__file__).parent / "robots").glob("*.yaml"))


def random_values(robot: th.Robot, batch: int, seed: int = 0) -> dict[str, Array]:
    """A batch of everything that quantities take, (batch, n), (batch, p) or (batch, e)."""
    rng = np.random.default_rng([seed, robot.n])
    values = {
        key: rng.normal(size=(batch, robot.n)) for key in ("q", "dq", "ddq", "d3q", "d4q", "dq_r", "ddq_r", "tau", "s")
    }
    values["pi"] = rng.normal(size=(batch, robot.p))
    return values | {key: rng.normal(size=(batch, robot.e)) for key in ("x", "dx", "ddx")}


def rebuilt(robot: th.Robot, groups: dict[str, Array], inertial_as: str = "REG") -> th.Robot:
    """The robot with other numbers in some parameter groups of a symbolic model."""
    elastic = {key.removeprefix("elastic_"): value for key, value in groups.items() if key.startswith("elastic_")}
    rigid = {key: value for key, value in groups.items() if not key.startswith("elastic_")}
    if inertial_as == "DYN" and "inertial" in rigid:
        rigid["inertial_as_DYN"] = rigid.pop("inertial")
    changed = with_groups(robot, rigid)
    return changed.with_elastic_parameters(**elastic) if elastic else changed
