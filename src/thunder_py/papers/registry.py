"""The papers' experiments by name, as ``thunder experiment`` runs them."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast, get_type_hints, runtime_checkable

from ..checks import whole
from ..errors import ThunderError, UnknownNameError, nearest_hint
from .parallel import shared_workers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "REGISTRY",
    "Experiment",
    "ExperimentWithResults",
    "gives_results",
    "run_experiment",
    "summaries",
    "takes",
    "takes_data",
]

#: name -> module of this package with ``run(quick: bool) -> Experiment``, perhaps with more parameters, see `_OPTIONS`;
#: the first line of its docstring describes it
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
    "human-like-real": "human_like.real",
    "throwing": "throwing.run",
    "elastic-wrist": "elastic_wrist.run",
    "moving-objects": "moving_objects.run",
    "picking": "picking.run",
    "mujoco": "mujoco.run",
}


class Experiment(Protocol):
    """What an experiment returns."""

    def table(self) -> str:
        """Return the figures of merit, the paper's beside ours where it prints some, as Markdown."""

    def plot(self) -> Figure:
        """Draw it on a new figure of pyplot."""


@runtime_checkable
class ExperimentWithResults(Experiment, Protocol):
    """What an experiment returns whose results other programs can read."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number that is reported, as nested dicts, lists, numbers and texts."""


#: parameters that ``run`` may have, and what an experiment without one is like
_OPTIONS = {"data": "uses no recordings", "seeds": "draws no random cases", "jobs": "runs in one process"}


def run_experiment(
    name: str,
    quick: bool = False,
    data: str | Path | None = None,
    *,
    seeds: int | None = None,
    jobs: int | None = None,
) -> Experiment:
    """Run an experiment of a paper.

    Parameters
    ----------
    name : str
        One of `REGISTRY`.
    quick : bool
        A short form, of seconds: less time or fewer cases.
    data : path-like, optional
        Folder of recordings, for experiments that can use them (`takes_data`).
    seeds : int, optional
        Number of random cases, for experiments that draw some; default theirs.
    jobs : int, optional
        Processes, for experiments that can use several; default one. Results do not depend on it.

    Returns
    -------
    Experiment
        With ``table()`` and ``plot()``, and what else the experiment has.

    Raises
    ------
    UnknownNameError
        No such experiment.
    ThunderError
        An option that the experiment does not have, or a number below 1.

    Examples
    --------
    >>> from thunder_py.papers import run_experiment
    >>> elbow = run_experiment("elbow")
    >>> elbow.model.robot.name, elbow.terms["X", 0, 2].shape
    ('elbow', (2, 1))
    """
    module = _module(name)
    options = {"data": data, "seeds": _count(seeds, "seeds"), "jobs": _count(jobs, "jobs")}
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if not takes(name, option):
            those = ", ".join(other for other in REGISTRY if takes(other, option)) or "none yet"
            raise ThunderError(
                f"{option} must be left out for {name!r}, which {_OPTIONS[option]}, unlike {those}; got {value!s}"
            )
    with shared_workers():
        return cast(Experiment, module.run(quick, **given))


def _count(value: int | None, what: str) -> int | None:
    return None if value is None else whole(value, what, 1)


def takes(name: str, option: str) -> bool:
    """Whether an experiment has an option: ``"data"``, ``"seeds"``, ``"jobs"``."""
    return option in signature(_module(name).run).parameters


def takes_data(name: str) -> bool:
    """Whether an experiment can use a folder of recordings."""
    return takes(name, "data")


def gives_results(name: str) -> bool:
    """Whether what an experiment returns has ``to_dict()``."""
    return hasattr(get_type_hints(_module(name).run)["return"], "to_dict")


def _module(name: str) -> ModuleType:
    if name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise UnknownNameError(f"no experiment is called {name!r}, only {known}{nearest_hint(name, REGISTRY)}")
    return import_module(f".{REGISTRY[name]}", __package__)


def summaries() -> dict[str, str]:
    """One sentence for every experiment, by name."""
    found = {}
    for name, module in REGISTRY.items():
        doc = import_module(f".{module}", __package__).__doc__ or ""
        found[name] = doc.strip().splitlines()[0]
    return found
