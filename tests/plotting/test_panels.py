import inspect
import re
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError

from ..robustness.recipes import RECIPES, from_examples, public_classes

ARGUMENTS = {"Robot.plot_workspace": {"samples": 300}, "Runs.plot_metric": {"metric": "rmse", "x": "seed"}}
#: references without a duration of their own
ENDLESS = {"FollowedInterception", "Lissajous", "SetPoint", "SetPose", "Sinusoid"}


def check(thing: Any, name: str) -> None:
    """Draw an object into panels of its own, and into given ones."""
    method = getattr(thing, name)
    signature = inspect.signature(method)
    (option,) = {"ax", "axes"} & set(signature.parameters)
    parameter = signature.parameters[option]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default is None
    expected = {"ax": ("Axes | None", "Axes"), "axes": ("Mapping[str, Axes] | None", "dict[str, Axes]")}
    assert (parameter.annotation, signature.return_annotation) == expected[option]
    kind = type(thing).__name__
    options: dict[str, Any] = {"duration": 1.0} if kind in ENDLESS else ARGUMENTS.get(f"{kind}.{name}", {})
    drawn = method(**options)
    if option == "ax":
        assert isinstance(drawn, Axes)
        own: Any = plt.figure().add_subplot(projection=drawn.name)
        assert method(**options, ax=own) is own
        assert own.has_data()
        return
    assert all(isinstance(ax, Axes) and ax.has_data() for ax in drawn.values())
    panel, ax = list(drawn.items())[-1]
    own = plt.figure().add_subplot(projection=ax.name)
    assert method(**options, axes={panel: own}) == {panel: own}
    assert own.has_data()
    with pytest.raises(UnknownNameError, match=re.escape(f"axes must be named {', '.join(drawn)}")):
        method(**options, axes={"unknown": own})


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.release
def test_a_drawing_takes_and_returns_its_panels() -> None:
    """All methods that draw outside of `papers`, whose figures show whole experiments."""
    classes = {cls for cls in public_classes() if not cls.__module__.startswith("thunder_py.papers")}
    names = {cls: found for cls in classes if (found := [name for name in dir(cls) if name.startswith("plot")])}
    examples = from_examples({*names} - {*RECIPES})
    assert {cls for cls in names if cls not in RECIPES} == {*examples}
    wrong = {}
    for cls, methods in names.items():
        for name in methods:
            try:
                check(RECIPES[cls].make() if cls in RECIPES else examples[cls], name)
            except Exception as error:
                wrong[f"{cls.__name__}.{name}"] = error
            plt.close("all")
    assert wrong == {}
    assert len(names) > 20


@pytest.mark.parametrize("name", [name for name in th.plotting.__all__ if name.startswith("plot")])
def test_functions_follow_the_rule_too(name: str) -> None:
    signature = inspect.signature(getattr(th.plotting, name))
    assert signature.return_annotation in ("Axes", "dict[str, Axes]")
    assert {"ax", "axes"} & set(signature.parameters)


def test_axes_of_another_kind_are_refused() -> None:
    robot = th.Robot.load("elbow")
    law = th.PDGravity(robot, 50.0, 20.0)
    run = th.simulate(robot, law, th.reference.SetPoint([0.3, 0.2]), 0.1, q0=[0.0, 0.0])
    mapping, panels = "axes must be a mapping from names of panels to Axes", "error, tau, external_estimate, deflection"
    assert_refused(
        ({"axes": 3}, f"...{mapping}, got 3..."),
        ({"axes": [1, 2]}, f"...{mapping}, got [1, 2]..."),
        ({"axes": {"error": 3}}, "...axes['error'] must be Axes, got 3..."),
        ({"axes": {"eror": None}}, f"...{panels}, parameters, got 'eror'; did you mean 'error'..."),
        call=run.plot,
    )


def test_panels_without_content_may_be_given() -> None:
    """A run without adaptation is drawn into the panels of one with it."""
    robot = th.Robot.load("elbow")
    rest = th.reference.SetPoint([0.3, 0.2])
    adaptive = th.SlotineLi(robot, 5.0, 8.0, adaptation=1.0)
    fixed = th.SlotineLi(robot, 5.0, 8.0, adaptation=None)
    drawn = th.simulate(robot, adaptive, rest, 0.1, q0=[0.0, 0.0]).plot()
    assert "parameters" in drawn
    assert list(th.simulate(robot, fixed, rest, 0.1, q0=[0.0, 0.0]).plot(axes=drawn)) == ["error", "tau"]
