"""The papers' experiments by name, as ``thunder experiment`` runs them."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from ..errors import ThunderError, UnknownNameError, nearest_hint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REGISTRY", "Experiment", "run_experiment", "summaries", "takes_data"]

#: name -> module of this package with ``run(quick: bool) -> Experiment``, and perhaps a parameter ``data``; the first
#: line of its docstring describes it
REGISTRY: dict[str, str] = {
    "lissajous": "lissajous_panda",
    "gains": "article_gains",
    "softhand": "article_softhand",
    "elbow": "elbow_2009",
    "scara": "scara",
    "d42-joint": "d42_joint",
    "d42-cartesian": "d42_cartesian",
    "d42-estimation": "d42_estimation",
    "human-like": "human_like",
    "human-like-sampling": "human_like_sampling",
    "human-like-obstacles": "human_like_obstacles",
    "human-like-arm": "human_like_arm",
    "human-like-real": "human_like_real",
}


class Experiment(Protocol):
    """What an experiment returns."""

    def table(self) -> str:
        """Return the figures of merit, the paper's beside ours where it prints some, as Markdown."""

    def plot(self) -> Figure:
        """Draw it on a new figure of pyplot."""


def run_experiment(name: str, quick: bool = False, data: str | Path | None = None) -> Experiment:
    """Run an experiment of a paper.

    Parameters
    ----------
    name : str
        One of `REGISTRY`.
    quick : bool
        A short form, of seconds: less time or fewer cases.
    data : path-like, optional
        Folder of recordings, for experiments that can use them (`takes_data`).

    Returns
    -------
    Experiment
        With ``table()`` and ``plot()``, and what else the experiment has.

    Raises
    ------
    UnknownNameError
        No such experiment.
    ThunderError
        `data` for an experiment that uses no recordings.
    """
    module = _module(name)
    if data is None:
        return cast(Experiment, module.run(quick))
    if not takes_data(name):
        those = ", ".join(filter(takes_data, REGISTRY))
        raise ThunderError(
            f"data must be left out for {name!r}, which uses no recordings, unlike {those}; got {data!s}"
        )
    return cast(Experiment, module.run(quick, data=data))


def takes_data(name: str) -> bool:
    """Whether an experiment can use a folder of recordings."""
    return "data" in signature(_module(name).run).parameters


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
