"""Registry of the papers' experiments, which ``thunder experiment`` runs by name."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..checks import finite, whole
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..parallel import Workers, shared_workers
from ..parallel.tasks import check_workers
from ..robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: name -> module of this package with ``run(quick, *, seeds=None, workers=1) -> Experiment``, and ``data=None`` where
#: the experiment can use recordings, or ``robot=None`` another arm; the first line of the docstring describes it
REGISTRY: dict[str, str] = {
    "lissajous": "lissajous.run",
    "gains": "gains.run",
    "softhand": "softhand.run",
    "elbow": "elbow_2009.run",
    "scara": "scara.run",
    "d42-joint": "mact.joint",
    "d42-cartesian": "mact.cartesian",
    "d42-estimation": "mact.estimation",
    "human-like": "human_like.run",
    "human-like-sampling": "human_like.sampling",
    "human-like-obstacles": "human_like.obstacles",
    "human-like-arm": "human_like.arm",
    "human-like-dmp": "human_like.dmp_study",
    "human-like-real": "human_like.real",
    "human-like-sweeps": "human_like.sweeps",
    "throwing": "throwing.run",
    "elastic-wrist": "elastic_wrist.run",
    "moving-objects": "moving_objects.run",
    "moving-objects-clouds": "moving_objects.clouds",
    "pose-accuracy": "pose_accuracy.run",
    "moving-objects-sweeps": "moving_objects.sweeps",
    "grasping": "grasping.run",
    "picking": "picking.run",
    "mujoco": "mujoco.run",
}


#: the same for experiments with contact and rendered pictures in place of models of both
PHYSICS: dict[str, str] = {"picking": "picking.physics", "throwing": "throwing.physics"}
#: modules with results that have a method ``film(path)``
FILMED = ("grasping.run", "picking.physics")


class Experiment(Protocol):
    """Result of an experiment."""

    def table(self) -> str:
        """Return the figures of merit as Markdown, next to the paper's where it prints them."""

    def plot(self) -> Figure:
        """Draw the results on a new figure of pyplot."""

    def to_dict(self) -> dict[str, Any]:
        """Return all reported numbers as nested dicts, lists, arrays, numbers and strings; see `tables.plain`.

        Quantities are in SI units and radians; where a key does not make the unit plain, it ends in it (``rmse_rad``).
        """


def run_experiment(
    name: str,
    quick: bool = False,
    data: str | Path | None = None,
    *,
    seeds: int | None = None,
    workers: Workers = 1,
    physics: bool = False,
    robot: Robot | str | None = None,
    clock: float | None = None,
) -> Experiment:
    """Run an experiment of a paper.

    Parameters
    ----------
    name : str
        A key of `REGISTRY`.
    quick : bool
        Run a short form, of seconds: shorter simulations or fewer cases.
    data : path-like, optional
        Folder of recordings, for experiments that can use them (`takes`).
    seeds : int, optional
        Number of random draws; default that of the experiment. The draws are described in its table: initial models,
        payloads, sensor noise, scenes, synthetic recordings. Where a paper prints a setting, draw 0 is that setting.
    workers : Workers
        Where the runs are made, see `run_tasks`. Results do not depend on it, except measured computing times.
    physics : bool
        Run the form with contact and rendered pictures in MuJoCo, of the experiments in `PHYSICS`.
    robot : Robot or str, optional
        Another arm than the paper's, or the name or file of one, for experiments that can use it (`takes`): where it
        waits, works and how it is controlled follow from it.
    clock : float, optional
        Offset of the camera's clock [s], which is unknown to the loop and measured by it, for grasping, and for picking
        with physics.

    Returns
    -------
    Experiment
        Result with ``table()``, ``plot()``, ``to_dict()`` and the attributes of the experiment.

    Raises
    ------
    UnknownNameError
        If the experiment is unknown.
    ThunderError
        If `data` is given to an experiment without recordings, `robot` to one of one arm, `physics` to one without
        that form, `seeds` is below 1, or `workers` is invalid.

    Examples
    --------
    >>> from thunder_py.papers import run_experiment
    >>> elbow = run_experiment("elbow", seeds=2)
    >>> elbow.model.robot.name, elbow.terms["X", 0, 2].shape
    ('elbow', (2, 1))
    """
    module = _module(name, physics)
    options: dict[str, Any] = {"seeds": None if seeds is None else whole(seeds, "seeds", 1)}
    options["workers"] = check_workers(workers)
    arm = Robot.load(robot) if isinstance(robot, str) else robot
    given: dict[str, Any] = {"data": data, "robot": arm, "clock": None if clock is None else finite(clock, "clock")}
    for option, value in given.items():
        if value is None:
            continue
        if not takes(name, option, physics):
            those = ", ".join(other for other in REGISTRY if takes(other, option))
            raise ThunderError(f"{option} must be None for {name!r}, unlike for {those}; got {value}")
        options[option] = value
    with shared_workers():
        return cast(Experiment, module.run(quick, **options))


def is_filmed(name: str, physics: bool = False) -> bool:
    """Return True if the result of an experiment has a method ``film(path)``."""
    return (PHYSICS if physics else REGISTRY).get(name) in FILMED


def takes(name: str, option: str, physics: bool = False) -> bool:
    """Return True if an experiment has an option: ``"data"``, a folder of recordings, or ``"robot"``, another arm."""
    return option in signature(_module(name, physics).run).parameters


def _module(name: str, physics: bool = False) -> ModuleType:
    if name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise UnknownNameError(f"no experiment is called {name!r}, only {known}{nearest_hint(name, REGISTRY)}")
    if physics and name not in PHYSICS:
        raise ThunderError(f"physics must be False for {name!r}, unlike {', '.join(PHYSICS)}")
    return import_module(f".{(PHYSICS if physics else REGISTRY)[name]}", __package__)


def summaries() -> dict[str, str]:
    """Return one sentence for every experiment, by name."""
    folder = Path(__file__).parent
    texts = {name: (folder / f"{place.replace('.', '/')}.py").read_text("utf-8") for name, place in REGISTRY.items()}
    return {name: text.split('"""')[1].splitlines()[0] for name, text in texts.items()}  # imports take a second
