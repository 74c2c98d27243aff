"""Contents of a generated library: functions, parameters and state."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..checks import check_name
from ..errors import ThunderError, ThunderWarning, UnknownNameError, nearest_hint, outer_level
from ..model.model import RobotModel
from ..robot import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, Robot
from ..symbolic import Function, SymbolicModel
from ..symbolic.mathematics import Expressions
from ..symbolic.parameters import ParameterGroup
from .elastic import has_linear_springs, record_inverse_dynamics, record_Mm
from .recorded import by_parameters, masked_kinematics, record_pinv, record_reg_Jdq, record_reg_JTw

Record = Callable[[SymbolicModel, dict[str, Expressions]], Any]

#: names of families with one function for each frame
FAMILIES = {"T_0_i": "T_0_", "J_i": "J_"}

_TORQUE = "N m, or N of a prismatic joint"
_ACCELERATION = "rad/s^2, or m/s^2 of a prismatic joint"
_INERTIA = "kg m^2, kg m or kg"
_PER_PARAMETER = "torque per unit of the parameter"

# name, quantity, description, unit
_DYNAMICS = (
    ("M", "mass_matrix", "Mass matrix, drives included", _INERTIA),
    ("C", "coriolis_matrix", "Coriolis matrix of Christoffel symbols: M_dot - 2 C is skew", _INERTIA + ", per s"),
    ("G", "gravity_vector", "Gravity torque, which holds the arm at rest", _TORQUE),
    ("M_dot", "mass_matrix_dot", "Time derivative of M", _INERTIA + ", per s"),
    ("C_dot", "coriolis_matrix_dot", "Time derivative of C", _INERTIA + ", per s^2"),
    ("G_dot", "gravity_vector_dot", "Time derivative of G", _TORQUE + ", per s"),
    ("M_ddot", "mass_matrix_ddot", "Second time derivative of M", _INERTIA + ", per s^2"),
    ("C_ddot", "coriolis_matrix_ddot", "Second time derivative of C", _INERTIA + ", per s^3"),
    ("G_ddot", "gravity_vector_ddot", "Second time derivative of G", _TORQUE + ", per s^2"),
    ("inverse_dynamics", "inverse_dynamics", "Torque of a motion: M ddq + C dq + G + dl", _TORQUE),
    ("inverse_dynamics_dot", "inverse_dynamics_dot", "Time derivative of inverse_dynamics", _TORQUE + ", per s"),
    (
        "inverse_dynamics_ddot", "inverse_dynamics_ddot", "Second time derivative of inverse_dynamics",
        _TORQUE + ", per s^2",
    ),
    ("slotine_li_torque", "slotine_li_torque", "Torque along a reference: M ddq_r + C dq_r + G + dl", _TORQUE),
    ("generalized_momentum", "generalized_momentum", "Momentum of the joints: M dq", "kg m^2/s or kg m/s"),
    ("momentum_drift", "momentum_drift", "C' dq, in the momentum's derivative tau + C' dq - G - dl", _TORQUE),
    ("forward_dynamics", "forward_dynamics", "Acceleration under the torque tau", _ACCELERATION),
    ("kinetic_energy", "kinetic_energy", "Kinetic energy", "J"),
    ("potential_energy", "potential_energy", "Potential energy, zero for mass at the world's origin", "J"),
)  # fmt: skip
# long functions, generated where they are selected by name: name, quantity, names of its parts, description, unit
_DERIVATIVES = (
    (
        "dID",
        "inverse_dynamics_derivatives",
        InverseDynamicsDerivatives._fields,
        "Partial derivatives of inverse_dynamics by q, by dq and by ddq",
        f"{_TORQUE}, per unit of the variable",
    ),
    (
        "dFD",
        "forward_dynamics_derivatives",
        ForwardDynamicsDerivatives._fields,
        "Partial derivatives of forward_dynamics by q, by dq and by tau",
        f"{_ACCELERATION}, per unit of the variable",
    ),
)
# name, quantity, description; the names have the columns of the links, as in Thunder, the quantities all columns
_REGRESSORS = (
    ("Y", "regressor", "Classical regressor: Y(q, dq, ddq) par_REG is the torque of the links"),
    ("Yr", "slotine_li_regressor", "Slotine-Li regressor: Yr par_REG = M ddq_r + C dq_r + G of the links"),
    ("reg_M", "mass_regressor", "Regressor of M ddq_r"),
    ("reg_C", "coriolis_regressor", "Regressor of C dq_r"),
    ("reg_G", "gravity_regressor", "Regressor of G"),
)
#: columns of drives that the regressors of the links lack, and the functions that have them
_DRIVES = {"friction": "reg_dl", "rotors": "reg_rotor", "armature": "reg_armature"}
_LACKS = {"Y": _DRIVES, "Yr": _DRIVES, "reg_M": ("rotors", "armature"), "reg_C": ("rotors",), "reg_G": ()}
_ELASTIC = (
    ("k", "elastic_torque", "Spring torque: sum of K[j] (x - q)^(2j+1)", _TORQUE),
    ("d", "elastic_damping_torque", "Damping torque of the springs", _TORQUE),
    ("dm", "motor_damping_torque", "Damping torque of the motors", _TORQUE),
    ("motor_inertia_torque", "motor_inertia_torque", "Inertial torque of the motors: Mm ddx", _TORQUE),
    ("reg_k", "elastic_regressor", "Regressor of k: reg_k par_K = k", _PER_PARAMETER),
    ("reg_d", "elastic_damping_regressor", "Regressor of d: reg_d par_D = d", _PER_PARAMETER),
    ("reg_dm", "motor_damping_regressor", "Regressor of dm: reg_dm par_Dm = dm", _PER_PARAMETER),
    ("reg_Mm", "motor_inertia_regressor", "Regressor of Mm: reg_Mm par_Mm = Mm ddx", _PER_PARAMETER),
    (
        "elastic_forward_dynamics",
        "elastic_forward_dynamics",
        "Accelerations of joints, then of motors, under the torque tau",
        _ACCELERATION,
    ),
)


@dataclass(frozen=True)
class Item:
    """Describe a function that can be generated.

    Attributes
    ----------
    name : str
        Name in the library, after the robot's prefix: ``"M"``.
    arguments : tuple of str
        State arguments, followed by the parameters of the function.
    record : callable
        Function of a model and the symbols that returns the expressions, or a dict of them for several results;
        None for hand-written code (C_std).
    description, unit : str
        Text for headers and the README.
    by_default : bool
        False for functions that are generated only where they are selected by name.
    """

    name: str
    arguments: tuple[str, ...]
    record: Record | None
    description: str
    unit: str
    by_default: bool = True


def catalogue(model: SymbolicModel) -> dict[str, Item]:
    """Return all functions that can be generated for a model, by name, in the order of the library."""
    robot = model.robot
    quantities = _core.quantities(robot)
    items = [*_kinematics(model)]

    def add(name: str, quantity: str, description: str, unit: str, columns: slice | None = None) -> None:
        inputs, shape, _, _ = quantities[quantity]
        if 0 not in shape:
            items.append(Item(name, tuple(inputs), _quantity(quantity, columns=columns), description, unit))

    for name, quantity, description, unit in _DYNAMICS:
        add(name, quantity, description, unit)
        if name == "C":
            text = "The same matrix as C, summed from the Christoffel symbols: slower, for comparison"
            items.append(Item("C_std", ("q", "dq"), None, text, unit))
    for name, quantity, parts, description, unit in _DERIVATIVES:
        inputs = tuple(quantities[quantity][0])
        items.append(Item(name, inputs, _parts(quantity, parts), description, unit, by_default=False))
    for name, quantity, description in _REGRESSORS:
        add(name, quantity, description, _PER_PARAMETER, slice(0, 10 * robot.n))
        inputs, text = (
            tuple(quantities[quantity][0]),
            f"As {name}, for all parameters, in the order of default_parameters",
        )
        items.append(Item(quantity, inputs, _quantity(quantity), text, _PER_PARAMETER, by_default=False))
    items += _drives(robot)
    if robot.e:
        for name, quantity, description, unit in _ELASTIC:
            add(name, quantity, description, unit)
        items.append(Item("Mm", (), record_Mm, "Inertia matrix of the motors, diagonal", _INERTIA))
        if has_linear_springs(robot):
            inputs = ("q", "dq", "ddq", "d3q", "d4q")
            text = "Torques tau, and positions x and velocities dx of the motors, under which the links move as given"
            unit = f"{_TORQUE}; rad or m; per s"
            items.append(Item("elastic_inverse_dynamics", inputs, record_inverse_dynamics, text, unit))
    return {item.name: item for item in items}


def _kinematics(model: SymbolicModel) -> Iterable[Item]:
    robot = model.robot
    for i in range(robot.n + 1):
        where = f"link frame {i} ({robot.link_names[i - 1]})" if i else "the base"
        yield Item(f"T_0_{i}", ("q",), _quantity("forward_kinematics", i), f"Pose of {where} in the world", "1, m")
    yield Item("T_0_ee", ("q",), _quantity("forward_kinematics"), "Pose of the end effector in the world", "1, m")
    for i in range(1, robot.n + 1):
        text = f"Jacobian of link frame {i} ({robot.link_names[i - 1]}): linear rows first, in world axes"
        yield Item(f"J_{i}", ("q",), _quantity("jacobian", i), text, "m, 1")
    end = "Jacobian of the end effector"
    yield Item("J_ee", ("q",), _quantity("jacobian"), f"{end}: linear rows first, in world axes", "m, 1")
    yield Item("J_ee_dot", ("q", "dq"), _quantity("jacobian_dot"), "Time derivative of J_ee", "m/s, 1/s")
    text = "Second time derivative of J_ee"
    yield Item("J_ee_ddot", ("q", "dq", "ddq"), _quantity("jacobian_ddot"), text, "m/s^2, 1/s^2")
    text = "Damped pseudo-inverse of J_ee: J'(J J' + damping^2 1)^-1, or (J'J + damping^2 1)^-1 J' below six joints"
    yield Item("J_ee_pinv", ("q", "damping"), record_pinv, text, "1/m, 1")
    if robot.description.dh is not None:
        text = "Derivative of J_ee dq by the lengths a_1, d_1, ..., a_n, d_n and the tool's x, y, z"
        yield Item("reg_Jdq_lengths", ("q", "dq"), record_reg_Jdq, text, "1/s")
        text = "Derivative of J_ee' w by the same lengths"
        yield Item("reg_JTw_lengths", ("q", "w"), record_reg_JTw, text, "N")
    if masked_kinematics(model).size:
        text = "Derivative of J_ee dq by the run-time entries of the DH table, the base and the tool"
        yield Item("reg_Jdq", ("q", "dq"), by_parameters("dq"), text, "twist per unit of the entry")
        text = "Derivative of J_ee' w by the same entries"
        yield Item("reg_JTw", ("q", "w"), by_parameters("w"), text, _PER_PARAMETER)


def _drives(robot: RobotModel) -> Iterable[Item]:
    """Yield friction, rotors and armature with their columns of the regressor."""
    d, first = robot.description, 10 * robot.n
    slotine_li = ("q", "dq", "dq_r", "ddq_r")
    if d.friction is not None and d.friction.terms:
        columns = slice(first, first + robot.n * len(d.friction.terms))
        terms = ", ".join(d.friction.terms)
        yield Item("dl", ("dq",), _quantity("friction_torque"), f"Friction torque of the joints ({terms})", _TORQUE)
        record = _quantity("friction_regressor", columns=columns)
        yield Item("reg_dl", ("dq",), record, "Regressor of dl: reg_dl par_Dl = dl", _PER_PARAMETER)
        first = columns.stop
    for name, count in (("rotor", len(d.rotors)), ("armature", 0 if d.armature is None else robot.n)):
        if count:
            record = _quantity("slotine_li_regressor", columns=slice(first, first + count))
            text = f"Columns of the Slotine-Li regressor for par_{name}"
            yield Item(f"reg_{name}", slotine_li, record, text, _PER_PARAMETER)
            first += count


def _quantity(quantity: str, frame: int | None = None, columns: slice | None = None) -> Record:
    def record(model: SymbolicModel, symbols: dict[str, Expressions]) -> Any:
        value = model.quantity(quantity, frame=frame)
        return value if columns is None else value[:, columns]

    return record


def _parts(quantity: str, names: tuple[str, ...]) -> Record:
    """Record the stacked parts of a quantity as results of their own."""

    def record(model: SymbolicModel, symbols: dict[str, Expressions]) -> dict[str, Expressions]:
        return dict(zip(names, model.quantity(quantity), strict=True))

    return record


def selected_names(select: str | Iterable[str] | None) -> list[str]:
    """Return the names of a selection, separated by commas or in an iterable."""
    names = select.split(",") if isinstance(select, str) else list(select or ())
    return [name for name in (str(text).strip() for text in names) if name]


def select_items(
    items: dict[str, Item], select: str | Iterable[str] | None, own: Collection[str] = ()
) -> dict[str, Item]:
    """Return the selected functions of the catalogue, in its order; C_std includes M_dot, which it calls.

    Parameters
    ----------
    items : dict of str to Item
        The `catalogue`.
    select : str or iterable of str, optional
        Names, comma-separated or as an iterable; ``T_0_i`` and ``J_i`` select those of every link. Default all but
        ``dID``, ``dFD`` and the regressors of all parameters.
    own : collection of str
        Names of the user's functions, which may be selected as well.

    Raises
    ------
    UnknownNameError
        If a name is not in the catalogue; the nearest is suggested.
    """
    if select is None:
        return {name: item for name, item in items.items() if item.by_default}
    names = selected_names(select)
    selected: set[str] = set()
    for name in names:
        if name in FAMILIES:
            selected |= {known for known in items if known.removeprefix(FAMILIES[name]).isdigit()}
        elif name in items:
            selected.add(name)
        elif name not in own:
            known = [*items, *FAMILIES, *own]
            raise UnknownNameError(
                f"select: no function is called {name!r}{nearest_hint(name, known)}; known are {', '.join(known)}"
            )
    if not names:
        raise UnknownNameError("select must name at least one function")
    if "C_std" in selected:
        selected.add("M_dot")
    return {name: item for name, item in items.items() if name in selected}


def missing_columns(items: dict[str, Item], selected: Iterable[str]) -> str:
    """Return a sentence about columns that selected regressors lack, empty if the selection has them.

    Parameters
    ----------
    items : dict of str to Item
        The `catalogue`.
    selected : iterable of str
        Names of the selected functions.
    """
    names, texts = set(selected), []
    for name, quantity, _ in _REGRESSORS:
        lacking = [key for key in _LACKS[name] if _DRIVES[key] in items and _DRIVES[key] not in names]
        if name in names and quantity not in names and lacking:
            columns = ", ".join(f"{key} ({_DRIVES[key]})" for key in lacking)
            texts.append(
                f"{name} has the columns of the links only, not those of {columns}; {quantity} has all columns"
            )
    return "; ".join(texts)


Shape = tuple[int, ...]

#: state of the class and its names in Thunder's setters
STATES = {
    "q": "q", "dq": "dq", "ddq": "ddq", "d3q": "d3q", "d4q": "d4q", "dq_r": "dqr", "ddq_r": "ddqr", "tau": "tau",
    "x": "x", "dx": "dx", "ddx": "ddx", "w": "w", "damping": "damping",
}  # fmt: skip


@dataclass(frozen=True)
class LibraryFunction:
    """Describe one function of a library.

    Attributes
    ----------
    name : str
        Name without the robot's prefix.
    arguments, results : dict of str to tuple of int
        Names and shapes; a single result has the name ``out``.
    description, unit : str
        Text for headers and the README.
    recorded : Function or None
        Recording to emit; None for C_std, which is a loop over M_dot.
    custom : bool
        True for functions of the user.
    """

    name: str
    arguments: dict[str, Shape]
    results: dict[str, Shape]
    description: str
    unit: str
    recorded: Function | None
    custom: bool = False

    @property
    def by_hand(self) -> bool:
        """True for C_std."""
        return self.recorded is None

    @property
    def ports(self) -> dict[str, Shape]:
        """Arguments, then results."""
        return {**self.arguments, **self.results}


@dataclass(frozen=True)
class Contents:
    """Store the contents of a library for the writers of its files.

    Attributes
    ----------
    robot : Robot
        The arm.
    name : str
        Prefix of functions and files.
    functions : tuple of LibraryFunction
        In the library's order.
    groups : tuple of ParameterGroup
        Parameter groups of the robot.
    state : dict of str to tuple of int
        Members of the class that are arguments of functions: vectors, ``damping``, the user's symbols.
    own_symbols : tuple of str
        Symbols of the user among the state.
    scalar : {"double", "float"}
        Scalar type of the C core.
    batch : bool
        Generate functions for many samples, too.
    missing : str
        Columns that selected regressors lack, see `missing_columns`.
    thunder : bool
        The class has the interface of Thunder Dynamics.
    """

    robot: Robot
    name: str
    functions: tuple[LibraryFunction, ...]
    groups: tuple[ParameterGroup, ...]
    state: dict[str, Shape]
    own_symbols: tuple[str, ...]
    scalar: str
    batch: bool
    missing: str
    thunder: bool = False

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    def has(self, name: str) -> bool:
        """Return True if there is a function of this name."""
        return any(function.name == name for function in self.functions)

    @property
    def has_all_parameters(self) -> bool:
        """True if there is a regressor of all parameters."""
        return any(self.has(quantity) for _, quantity, _ in _REGRESSORS)


def collect(
    robot: Robot,
    model: SymbolicModel,
    items: dict[str, Item],
    custom: Iterable[Function],
    *,
    name: str,
    select: str | Iterable[str] | None,
    scalar: str,
    batch: bool,
    thunder: bool,
    report: Callable[[str], None],
) -> Contents:
    """Record the selected functions and the functions of the user.

    Parameters
    ----------
    robot, model : Robot, SymbolicModel
        The arm and its expressions.
    items : dict of str to Item
        Functions from which is selected.
    custom : iterable of Function
        Functions of the user: those that the selection names, all if it names none.
    name, select, scalar, batch, thunder
        See `generate`.
    report : callable
        Called with the name of each function before it is recorded.

    Raises
    ------
    ThunderError, UnknownNameError
        If a name is unknown or in use, or a shape differs from the model's.
    """
    groups = tuple(group for group in model.parameters.values() if group.values.size)
    state, symbols = _state(robot, model)
    functions: list[LibraryFunction] = []
    custom = list(custom)
    own_names = [function.name for function in custom if isinstance(function, Function)]
    selected = select_items(items, select, own_names)
    named = set(own_names).intersection(selected_names(select))
    missing = missing_columns(items, selected)
    if missing:
        warnings.warn(missing, ThunderWarning, stacklevel=outer_level())
    for item in selected.values():
        report(item.name)
        functions.append(_record(item, model, symbols, name))
    _order_by_hand(functions)
    own: dict[str, Shape] = {}
    for function in custom:
        if not isinstance(function, Function):
            raise ThunderError(f"functions must hold functions that model.add_function returned, got {function!r}")
        if named and function.name not in named:
            continue
        report(function.name)
        functions.append(_custom(function, name, functions, {**state, **own}, groups, own))
    members = {**state, **own}
    return Contents(robot, name, tuple(functions), groups, members, tuple(own), scalar, batch, missing, thunder)


def _state(robot: Robot, model: SymbolicModel) -> tuple[dict[str, Shape], dict[str, Expressions]]:
    """Return shapes and symbols of the state arguments."""
    symbols = {key: model.symbols[key] for key in STATES if key in model.symbols and model.symbols[key].size}
    if robot.description.dh is not None or masked_kinematics(model).size:
        symbols["w"] = np.array([model.graph.symbol(f"w[{k}]") for k in range(6)], dtype=object)
    symbols["damping"] = np.array(model.graph.symbol("damping"), dtype=object)
    return {key: value.shape for key, value in symbols.items()}, symbols


def _record(item: Item, model: SymbolicModel, symbols: dict[str, Expressions], prefix: str) -> LibraryFunction:
    if item.record is None:
        return LibraryFunction(item.name, {}, {}, item.description, item.unit, None)
    value = item.record(model, symbols)
    parts = value if isinstance(value, dict) else {"out": value}
    results = {key: np.asarray(part, dtype=object) for key, part in parts.items()}
    arguments = {key: symbols[key] for key in item.arguments}
    recorded = _with_parameters(f"{prefix}_{item.name}", arguments, results, model)
    arguments = recorded.arguments
    shapes = {key: value.shape for key, value in arguments.items()}
    extents = {key: part.shape for key, part in results.items()}
    return LibraryFunction(item.name, shapes, extents, item.description, item.unit, recorded)


def _with_parameters(
    name: str, arguments: dict[str, Expressions], results: dict[str, Expressions], model: SymbolicModel
) -> Function:
    """Create a function of the state and of the parameters that influence it."""
    parameters = {group.argument: group.symbols for group in model.parameters.values() if group.mask.any()}
    recorded = Function(name, {**arguments, **parameters}, results)
    used = recorded.inputs_that_matter if parameters else {}
    if all(used[key].any() for key in parameters):
        return recorded
    chosen = {key: value for key, value in parameters.items() if used[key].any()}
    return Function(name, {**arguments, **chosen}, results)


def _order_by_hand(functions: list[LibraryFunction]) -> None:
    """Set the arguments of C_std to those of M_dot, which it calls."""
    derivative = next((function for function in functions if function.name == "M_dot"), None)
    for k, function in enumerate(functions):
        if function.recorded is None and derivative is not None:
            functions[k] = LibraryFunction(
                function.name, derivative.arguments, derivative.results, function.description, function.unit, None
            )


def _custom(
    function: Function,
    prefix: str,
    before: list[LibraryFunction],
    known: Mapping[str, Shape],
    groups: tuple[ParameterGroup, ...],
    own: dict[str, Shape],
) -> LibraryFunction:
    """Check a user's function against the library, and add the prefix."""
    taken = [other.name for other in before]
    check_name(function.name, "function name")
    if function.name in taken:
        raise ThunderError(f"a function {function.name!r} is in the library already; choose another name")
    parameters = {group.argument: group.values.shape for group in groups}
    for key, value in function.arguments.items():
        _check_argument(function.name, key, value.shape, {**known, **parameters})
        if key not in known and key not in parameters:
            own[key] = value.shape
    names = {key: "out" if len(function.results) == 1 else key for key in function.results}
    results = {names[key]: value for key, value in function.results.items()}
    shapes = {key: value.shape for key, value in function.arguments.items()}
    for key, value in results.items():
        if not value.size:
            raise ThunderError(f"{function.name}: the result {key} is empty")
    recorded = Function(f"{prefix}_{function.name}", function.arguments, results, function.description)
    return LibraryFunction(
        function.name, shapes, {key: value.shape for key, value in results.items()},
        _one_line(function.description) or "User-defined function", "", recorded, custom=True,
    )  # fmt: skip


def _one_line(text: str) -> str:
    """Return the printable letters of a text in one line, as comments, strings and tables need it."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _check_argument(name: str, key: str, shape: Shape, known: Mapping[str, Any]) -> None:
    if key in known and known[key] != shape:
        raise ThunderError(f"{name}: {key} must have shape {known[key]} as in the library, got {shape}")
    if key.startswith("par_") and key not in known:
        raise UnknownNameError(f"{name}: the library has no parameters {key!r}{nearest_hint(key, known)}")
