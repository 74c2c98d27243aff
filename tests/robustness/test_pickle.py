import contextlib
import copy
import inspect
import pickle
import struct
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import _core
from thunder_py.optional import MissingExtraError

from .recipes import RECIPES, Recipe, from_examples, public_classes

#: Public classes without a recipe, and why
EXCLUDED = {
    "thunder_py.control.DerivativeEstimator": "base class",
    "thunder_py.geometry.Obstacle": "base class",
    "thunder_py.mujoco.RenderedCamera": "holds an OpenGL context of its thread",
    "thunder_py.mujoco.Renderer": "holds an OpenGL context of its thread",
    "thunder_py.mujoco.WorldCamera": "holds an OpenGL context of its thread",
    "thunder_py.mujoco.WorldDrive": "moves a world, which a copy would share",
    "thunder_py.io.Meshes": "needs mesh files, which no bundled robot has",
    "thunder_py.realtime.Pacer": "a clock of its process",
    "thunder_py.realtime.DriveLoop": "holds the drive of a robot",
    "thunder_py.realtime.FrankyDrive": "connection to a robot",
    "thunder_py.realtime.RealtimeLoop": "a thread of its process",
    "thunder_py.realtime.URDrive": "connection to a robot",
    "thunder_py.manipulation.nodes.CameraNode": "live ROS node",
    "thunder_py.manipulation.nodes.InterceptionNode": "live ROS node",
    "thunder_py.manipulation.nodes.PickingNode": "live ROS node",
    "thunder_py.manipulation.nodes.PoseNode": "live ROS node",
    "thunder_py.manipulation.nodes.ThrowingNode": "live ROS node",
    "thunder_py.realtime.nodes.ControllerNode": "live ROS node",
    "thunder_py.realtime.nodes.ReferenceNode": "live ROS node",
    "thunder_py.realtime.nodes.RobotNode": "live ROS node",
}

COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"protocol {k}": lambda x, k=k: pickle.loads(pickle.dumps(x, protocol=k)) for k in (2, pickle.HIGHEST_PROTOCOL)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


CLASSES = public_classes()
NAMES = {name: cls for cls, name in CLASSES.items() if name not in EXCLUDED}


@pytest.fixture(scope="module")
def examples() -> dict[type, Any]:
    return from_examples({*NAMES.values()} - {*RECIPES})


def contents(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Everything that an object holds, floats as their bits: equal if and only if nothing is different."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, [contents(entry, inside) for entry in value.ravel()]
        return str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, (float, np.floating)):
        return struct.pack("d", value)
    if (
        value is None
        or isinstance(value, (bool, int, str, bytes, type, np.integer, np.bool_))
        or (callable(value) and not hasattr(value, "__dict__"))
    ):
        return value
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__qualname__
    if isinstance(value, Mapping):
        return [(contents(key, inside), contents(entry, inside)) for key, entry in value.items()]
    if id(value) in inside:
        return "itself"
    inside = (*inside, id(value))
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return type(value).__name__, [contents(entry, inside) for entry in value]
    if isinstance(value, (np.random.Generator, np.random.BitGenerator)):
        return contents(getattr(value, "bit_generator", value).state, inside)
    if isinstance(value, (_core.Expression, _core.Graph)):
        return str(value) if isinstance(value, _core.Expression) else contents(value.__getstate__(), inside)
    parts = value.__reduce_ex__(4)
    if isinstance(value, BaseException):  # libraries that pickle them may leave an empty dictionary behind
        return type(value).__name__, contents((value.args, vars(value)), inside)
    return type(value).__name__, contents(parts if isinstance(parts, str) else parts[1:3], inside)


def differences(recipe: Recipe) -> list[str]:
    """Copies one after the other, the original last: none of them shares what it remembers with another."""
    original = recipe.make()
    before = contents(original)
    copies = {how: copied(original) for how, copied in COPIES.items()}
    results = {how: contents(recipe.use(one)) for how, one in copies.items()}
    expected = contents(recipe.use(original))
    wrong = [how for how, one in copies.items() if type(one) is not type(original) or results[how] != expected]
    return wrong + ["moves"] * ((contents(original) != before) != recipe.moves)


def test_what_comes_back_goes_on_as_the_original() -> None:
    wrong, missing = {}, []
    for cls, recipe in RECIPES.items():
        try:
            if found := differences(recipe):
                wrong[cls.__name__] = found
        except MissingExtraError as error:
            missing.append(f"could not import what {cls.__name__} needs: {error}")
    assert not wrong
    if missing:
        pytest.skip("; ".join(missing))


@pytest.mark.release
def test_every_public_class_pickles_or_has_a_reason(examples: dict[type, Any]) -> None:
    assert {CLASSES[c] for c in (*RECIPES, *examples)} == set(NAMES)
    assert set(EXCLUDED) <= set(CLASSES.values())
    wrong = {
        cls.__name__: found for cls, one in examples.items() if (found := differences(Recipe(lambda one=one: one)))
    }
    assert not wrong


BOUND = [c for c in vars(_core).values() if inspect.isclass(c) and "pybind11_object" in [b.__name__ for b in c.__mro__]]


def test_instances_that_were_never_initialized_do_not_pickle() -> None:
    for cls in BOUND:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises((TypeError, ValueError)):
                pickle.loads(pickle.dumps(cls.__new__(cls), protocol))


def core_objects() -> dict[str, Any]:
    """One object of every class that the core makes again from arguments, and all those they are made of."""
    found: dict[str, Any] = {}

    def visit(value: Any, depth: int = 0) -> None:
        if depth > 12 or isinstance(value, (np.ndarray, str, bytes, type, _core.Expression, _core.Graph)):
            return
        if isinstance(value, Mapping):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for entry in value:
                visit(entry, depth + 1)
        elif "_core_arguments" in getattr(value, "__dict__", ()):
            found.setdefault(type(value).__name__, value)
            visit(value.__reduce__()[2][:3], depth + 1)
        elif type(value).__module__.startswith("thunder_py") and hasattr(value, "__dict__"):
            visit(vars(value), depth + 1)

    made = [RECIPES[cls].make() for cls in RECIPES if not issubclass(cls, th.Robot)]
    found |= {type(one).__name__: one for one in made if "_core_arguments" in getattr(one, "__dict__", ())}
    for one in made:
        visit(one)
    return found


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    return core_objects()


def rebuilt(cls: type, parts: Any) -> Any:
    made = cls.__new__(cls)
    made.__setstate__(parts)
    return made


def numbers_that_lie(state: np.ndarray) -> list[np.ndarray]:
    """States of another size, and of the same with one number changed."""
    lies = [state[:-1], np.append(state, 0.0), state[:0], np.full_like(state, np.nan), np.full_like(state, 1e300)]
    rng = np.random.default_rng(0)
    for place in {*range(min(state.size, 12)), *rng.integers(0, state.size, 30)}:
        for lie in (np.nan, -1.0, 0.5, 3.0, 1e300, 2.0**31):
            changed = state.copy()
            changed[place] = lie
            lies.append(changed)
    return lies


NOW = 10**18
#: of classes that are parts of public ones
USES: dict[type, Callable[[Any], object]] = {
    _core.ControlLoop: lambda loop: loop.state(NOW, NOW, np.arange(7), 7, *np.zeros((2, 7))),
    _core.SafeTorque: lambda safe: safe.leave(),
}


@pytest.mark.release
def test_the_core_refuses_states_that_cannot_be(objects: dict[str, Any]) -> None:
    """A ValueError, or an object that works: sizes, flags and indices are not trusted."""
    stateful = {name: one for name, one in objects.items() if hasattr(one, "_core_state")}
    assert len(stateful) >= 22
    for name, one in stateful.items():
        cls, (args, kwargs, attributes, state) = type(one), one.__reduce__()[2]
        use = RECIPES[cls].use if cls in RECIPES else lambda thing: thing.step(0.01)
        use = next((used for kind, used in USES.items() if isinstance(one, kind)), use)
        refused = 0
        for lie in numbers_that_lie(state):
            try:
                made = rebuilt(cls, (args, kwargs, attributes, lie))
            except ValueError:
                refused += 1
                continue
            with np.errstate(all="ignore"), contextlib.suppress(ValueError):
                use(made)
        assert refused >= 5, name


@pytest.mark.release
def test_a_refused_state_changes_nothing(objects: dict[str, Any]) -> None:
    for name, one in objects.items():
        if not hasattr(one, "_core_state"):
            continue
        before, refused = one._core_state(), 0
        for lie in numbers_that_lie(before):
            made = copy.deepcopy(one)  # a shallow one shares its parts
            try:
                made._set_core_state(lie)
            except ValueError:
                refused += 1
                assert made._core_state().tobytes() == before.tobytes(), name
        assert refused >= 3, name


def test_messages_of_states() -> None:
    args, kwargs, attributes, state = RECIPES[th.PDGravity].make().__reduce__()[2]
    size = "state must have the size that belongs to the object's arguments"
    integers = "state must hold integers in their ranges"
    changed = [
        (state[:-1], size),
        (np.append(state, 0.0), size),
        (state[:0], size),
        (state + 1.0, "state must be of schema 2, which this version of thunder_py reads"),
        *((np.r_[state[:1], wrong, state[2:]], integers) for wrong in (99.0, 0.5, np.nan)),
        (None, "the pickle of a PDGravity must hold arguments, attributes and state..."),
        *((lie, "state must...") for lie in (7, "text", np.zeros((2, 2)), np.array(["a"]), np.array([None]), [])),
    ]
    assert_refused(
        *((partial(rebuilt, th.PDGravity, (args, kwargs, attributes, part)), message) for part, message in changed),
        *(
            (partial(rebuilt, cls, parts), "the pickle of a ... must hold...")
            for cls in (th.reference.SetPoint, th.PDGravity)
            for parts in (
                None,
                (),
                (1, 2, 3, 4),
                ((), {}, {}),
                ((), {}, {}, None, None),
                ((), [], {}, None),
                ([], {}, {}, None),
            )
        ),
    )


@pytest.mark.release
def test_the_core_refuses_arguments_that_cannot_be(objects: dict[str, Any]) -> None:
    """A ValueError, or an object: never an exception of another kind."""
    lies = [None, "text", -1, 3, 64, 0.5, np.zeros(2), np.full((3, 3), np.nan), [], {}, [None], (1, 2)]
    for name, one in objects.items():
        cls, (args, kwargs, attributes, state) = type(one), one.__reduce__()[2]
        for place in range(len(args)):
            for lie in lies:
                try:
                    rebuilt(cls, ((*args[:place], lie, *args[place + 1 :]), kwargs, attributes, state))
                except ValueError:
                    pass
                except Exception as error:
                    raise AssertionError(f"{name}, argument {place} = {lie!r}") from error


def test_what_exists_is_not_restored() -> None:
    one = th.reference.SetPoint([1.0])
    with pytest.raises(ValueError, match=r"^an initialized SetPoint cannot be restored from a pickle$"):
        one.__setstate__(one.__reduce__()[2])
    assert one(0.0).q == 1.0


def test_parts_of_other_objects_say_so() -> None:
    interceptor = RECIPES[th.manipulation.interception.Interceptor].make()
    with pytest.raises(TypeError, match=r"^a ConstantVelocityFilter that belongs to another object"):
        copy.copy(interceptor.filter)


def test_recordings_are_checked_node_by_node() -> None:
    graph = RECIPES[th.symbolic.SymbolicModel].make().graph
    nodes, values, names, outlining, outlines, calls = graph.__getstate__()
    again = _core.Graph.__new__(_core.Graph)
    again.__setstate__((nodes, values, names, outlining, outlines, calls))
    assert contents(again.__getstate__()) == contents(graph.__getstate__())
    rng, refused = np.random.default_rng(0), 0
    for _ in range(300):
        lie = nodes.copy()
        lie[rng.integers(len(lie)), rng.integers(4)] = rng.choice([-2, -1, 0, 2, 5, 30, len(lie), 2**31 - 1])
        try:
            _core.Graph.__new__(_core.Graph).__setstate__((lie, values, names, outlining, outlines, calls))
        except ValueError:
            refused += 1
    assert refused > 150
    for lies in ((), (nodes,), (nodes, values, names[1:], outlining, outlines, calls), (None,) * 6, (1, 2, 3, 4, 5, 6)):
        with pytest.raises(ValueError, match=r"pickle of a recording|nodes must"):
            _core.Graph.__new__(_core.Graph).__setstate__(lies)
    for node in (-1, len(graph), 2**40, 0.5, "q"):
        with pytest.raises(ValueError, match=r"^the pickle of an expression must hold"):
            _core.Expression.__new__(_core.Expression).__setstate__((graph, node))


def test_recordings_with_outlines() -> None:
    """Functions of their own come back as such, and what is wrong about them is refused."""
    model = th.symbolic.SymbolicModel(th.Robot.load("panda"), outline=True)
    function = th.symbolic.Function("tau", {"q": model.q, "dq": model.dq}, {"C": model.coriolis_matrix()})
    assert function.call_count > 0
    q, dq = np.full((2, 7), 0.3)
    for again in (pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):
        assert (again.call_count, again.operation_count) == (function.call_count, function.operation_count)
        assert again(q, dq).tobytes() == function(q, dq).tobytes()
    other = pickle.loads(pickle.dumps(model))
    assert len(other.graph) == len(model.graph)
    more = th.symbolic.Function("M", {"q": other.q}, {"M": other.mass_matrix()})
    assert more(q).tobytes() == th.symbolic.Function("M", {"q": model.q}, {"M": model.mass_matrix()})(q).tobytes()
    *start, outlines, calls = model.graph.__getstate__()
    key, name, graph, arguments, sizes, results, entries = outlines[0]
    for lie in (
        (key, name, graph, [-1, *arguments[1:]], sizes, results, entries),
        (key, name, graph, arguments[1:], sizes, results, entries),
        (key, name, graph, arguments, [-1, *sizes], results, entries),
        (key, name, graph, arguments, sizes, [10**6], entries),
        (key, name, graph, arguments, sizes, results, [(10**6, 0.0)]),
        (key.replace("x", "0"), name, graph, arguments, sizes, results, entries),
        (key, name),
    ):
        with pytest.raises(ValueError, match=r"^the pickle of a recording must hold"):
            _core.Graph.__new__(_core.Graph).__setstate__((*start, (lie, *outlines[1:]), calls))
    for lie in ([(10**6, []), *calls[1:]], calls[1:], [(calls[0][0], [10**6] * len(calls[0][1])), *calls[1:]]):
        with pytest.raises(ValueError, match=r"^the pickle of a recording must hold"):
            _core.Graph.__new__(_core.Graph).__setstate__((*start, outlines, lie))


def test_compiled_functions_compile_again(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording is pickled; the library comes from the cache, and without a compiler the interpreter evaluates."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    function = RECIPES[th.symbolic.Function].make().compile()
    data = pickle.dumps(function)
    assert str(tmp_path).encode() not in data
    arguments = [np.full(shape, 0.3) for shape in function.argument_shapes]
    for again in (pickle.loads(data), copy.copy(function), copy.deepcopy(function)):
        assert again.compiled
        assert again(*arguments).tobytes() == function(*arguments).tobytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.warns(RuntimeWarning, match=r"^M is not compiled any more: "):
        again = pickle.loads(data)
    assert not again.compiled
    np.testing.assert_allclose(again(*arguments), function(*arguments), rtol=1e-14)


class Doubled(th.PDGravity):
    """A controller of a user, whose constructor takes something else and which remembers something."""

    def __init__(self, robot: th.Robot, gains: dict[str, float]) -> None:
        super().__init__(robot, gains["K_p"], gains["K_d"], K_i=gains["K_i"])
        self.count = 0

    def step(self, *arguments: Any) -> Any:
        self.count += 1
        return 2.0 * super().step(*arguments)


def test_classes_of_users_are_restored_without_their_constructor() -> None:
    robot, gains = th.Robot.load("elbow"), {"K_p": 100.0, "K_d": 10.0, "K_i": 5.0}
    one = Doubled(robot, gains)
    target = th.reference.JointReference(*np.full((3, 2), 0.1))
    for k in range(5):
        one.step(1e-3 * k, [0.1, 0.2], [0.0, 0.1], target)
    gains["K_p"] = 0.0  # arguments are kept as they were
    for make in COPIES.values():
        again = make(one)
        assert (type(again), again.count) == (Doubled, 5)
        assert again.step(0.01, [0.1, 0.2], [0.0, 0.1], target).any()
    states = {make(one).step(0.01, [0.1, 0.2], [0.0, 0.1], target).tobytes() for make in COPIES.values()}
    assert states == {one.step(0.01, [0.1, 0.2], [0.0, 0.1], target).tobytes()}


def test_arguments_are_kept_as_they_were() -> None:
    """Arrays that the caller changes later change neither the object nor its copies."""
    K_p, robot = np.full(2, 100.0), th.Robot.load("elbow")
    one = th.PDGravity(robot, K_p, 10.0)
    K_p[:] = 0.0
    target = th.reference.JointReference(*np.zeros((3, 2)))
    expected = one.step(0.0, [0.1, 0.2], [0.0, 0.0], target)
    assert copy.copy(one).step(0.0, [0.1, 0.2], [0.0, 0.0], target).tobytes() == expected.tobytes()
