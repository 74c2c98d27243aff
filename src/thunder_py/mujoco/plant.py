"""MuJoCo as a plant: dynamics, and optionally integration, by an engine that shares no code with this package."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, overload
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Array, array, one_of, positive
from ..errors import FileFormatError, ThunderError
from ..files import read_whole
from ..io.mjcf import compiled
from ..io.mjcf_elastic import couplings, read_drives
from ..io.mjcf_text import read_mjcf_text
from ..io.mjcf_writer import acceptable_bodies, write_mjcf
from ..io.xml import numbers, open_tag, quaternion, tag
from ..model.elastic import equilibrium
from ..model.joint_data import Friction
from ..optional import LazyModule
from ..robot import Robot
from ..robot.payload import Payload, one_or_several
from ..values import Stateful

mujoco: Any = LazyModule("mujoco", "mujoco")
#: state of the motors of elastic joints, where there are any
Motors: TypeAlias = ArrayLike | None


def with_payloads(
    text: str, links: Sequence[str], payloads: Sequence[Payload]
) -> list[tuple[float, str, dict[str, Payload]]]:
    """Return, for each time at which a payload appears, the time, the text with all payloads, and their bodies' names.

    Parameters
    ----------
    text : str
        MJCF.
    links : sequence of str
        Names of the bodies to which payloads may be fixed, from the base outwards.
    payloads : sequence of Payload
        Payloads in any order.

    Raises
    ------
    UnknownNameError
        If a payload's link is unknown.
    ThunderError
        If a link's number is out of range, or its body has no name.
    """
    phases: list[tuple[float, str, dict[str, Payload]]] = []
    attached: dict[str, Payload] = {}
    for k, payload in enumerate(sorted(payloads, key=lambda payload: payload.time), start=1):
        name = f"payload:{k}"
        text = _with(text, _link(payload, links), payload, name)
        attached = {**attached, name: payload}
        if phases and phases[-1][0] == payload.time:
            phases.pop()
        phases.append((payload.time, text, attached))
    return phases


def check_payloads(before: Any, after: Any, payloads: Mapping[str, Payload]) -> None:
    """Refuse a file whose compiler settings (bounds, total mass) change bodies when payloads are added.

    Parameters
    ----------
    before, after : mujoco.MjModel
        Models without and with payloads.
    payloads : mapping of str to Payload
        Payloads by the names of their bodies.

    Raises
    ------
    ThunderError
        If the compiler changed a payload or the mass of the other bodies.
    """
    expected = float(before.body_mass.sum()) + sum(float(payload.mass) for payload in payloads.values())
    same = [np.isclose(after.body_mass.sum(), expected, rtol=1e-9, atol=0.0)]
    for name, payload in payloads.items():
        body, moments = after.body(name), np.trace(np.asarray(payload.inertia))
        same += [np.isclose(body.mass[0], payload.mass, rtol=1e-9), np.isclose(sum(body.inertia), moments)]
    if not all(same):
        raise ThunderError(
            "payloads: the file's compiler would change masses or inertias (settotalmass, boundmass, boundinertia): "
            f"leave these out; the bodies must weigh {expected:g} kg together, got {after.body_mass.sum():g} kg"
        )


def _link(payload: Payload, links: Sequence[str]) -> str:
    number = payload.link_number(links)
    if not links[number - 1]:
        raise ThunderError(f"payload link must be a body with a name, got {number}")
    return links[number - 1]


def _with(text: str, link: str, payload: Payload, name: str) -> str:
    """Insert a body into the body named `link`, after its opening tag."""
    start = re.search(rf"<body [^>]*\bname={re.escape(quoteattr(link))}[^>]*>", text)
    assert start is not None  # the text contains the link
    moments, axes = np.linalg.eigh(np.asarray(payload.inertia))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    inertial = tag(
        "inertial",
        mass=numbers([payload.mass]),
        pos=numbers(np.asarray(payload.com)),
        quat=numbers(quaternion(axes)),
        diaginertia=numbers(np.maximum(moments, 0.0)),
    )
    return f"{text[: start.end()]}{open_tag('body', name=name)}{inertial}</body>{text[start.end() :]}"


class Damping:
    """Damping f(dq) / dq of a robot's friction f.

    Parameters
    ----------
    friction : Friction or None
        None for no friction.
    """

    def __init__(self, friction: Friction | None) -> None:
        self._terms = () if friction is None else tuple(zip(friction.terms, friction.coefficients.T, strict=True))
        self._delta = 1.0 if friction is None else friction.delta

    def __call__(self, dq: Array) -> Array:
        """Return the damping at joint velocities, (n,) each [N m s/rad, N s/m]."""
        speed = np.abs(dq)
        total = np.zeros_like(speed)
        for term, coefficients in self._terms:
            if term == "coulomb":
                total += coefficients / (speed + self._delta)
            else:
                total += coefficients * speed ** _POWERS[term]
        return total


#: exponents of abs(dq) in the damping
_POWERS = {term: k for k, term in enumerate(term for term in Friction.TERMS if term != "coulomb")}


def set_small_inertia(model: Any, body: str, dyn: Array) -> None:
    """Set a body's mass and principal moments below 1e-15, which MuJoCo's compiler refuses.

    Its dynamics only require that every joint moves some mass.

    Parameters
    ----------
    model : mujoco.MjModel
        Model, changed in place.
    body : str
        Name of the body; its center of mass and principal axes are already those of `dyn`.
    dyn : (10,) array
        Parameters in DYN order.
    """
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    axes, tensor = np.zeros((3, 3)), np.zeros((3, 3))
    mujoco.mju_quat2Mat(axes.ravel(), model.body_iquat[index])
    tensor[np.triu_indices(3)] = tensor.T[np.triu_indices(3)] = dyn[4:]
    model.body_mass[index] = dyn[0]
    model.body_inertia[index] = np.diagonal(axes.T @ tensor @ axes)


def robot_mjcf(robot: Robot) -> str:
    """Return a robot as MJCF with damping as its only friction, for plants that set it with `Damping` at every step.

    Parameters
    ----------
    robot : Robot
        The robot.
    """
    viscous = Friction(terms=("viscous",), coefficients=np.ones((robot.n, 1)))
    return write_mjcf(robot if _viscous_only(robot) else robot.replace(friction=viscous))


def small_inertias(robot: Robot) -> dict[str, Array]:
    """Return the parameters in DYN order of links and motors that MuJoCo's compiler refuses as too small, by name.

    Parameters
    ----------
    robot : Robot
        The robot; see `set_small_inertia`.
    """
    bodies = zip(robot.link_names, acceptable_bodies(robot), strict=True)
    raised = {name: body.raised_from for name, body in bodies if body.raised_from is not None}
    return raised | dict.fromkeys(robot.motor_names, np.zeros(10))


#: integrators of MuJoCo
INTEGRATORS = ("euler", "rk4", "implicit", "implicitfast")
_ROUNDING = 1e-9  # tolerance of times that are multiples of a step [s]
#: disabled features of MuJoCo, by the names of its flags
_DISABLED = ("CONTACT", "ACTUATION", "SENSOR")
#: fields in which MuJoCo's compiler accepts infinity
_FINITE = ("body_mass", "body_inertia", "body_pos", "body_ipos", "dof_damping", "dof_armature")


class MujocoPlant(Stateful):
    """An arm in MuJoCo, without contacts, as a plant for `thunder_py.simulate`.

    With ``simulate(plant, ...)`` MuJoCo computes accelerations and this package integrates; with
    ``simulate(plant, ..., integrator="plant")`` MuJoCo integrates too.

    Parameters
    ----------
    robot : Robot or path-like
        A robot, or an MJCF file. Links, armature, rotors, friction and elastic joints of a robot are exact, or refused.
        Of a file, which MuJoCo reads itself, the revolute and prismatic joints are the plant's, motors of elastic
        joints as in files of this package; actuators and contacts are ignored.
    timestep : float, optional
        Longest step of MuJoCo's integrator [s]; default the step of `simulate`, or that of the file if it is shorter.
    integrator : {"implicitfast", "euler", "implicit", "rk4"}, optional
        Integrator of MuJoCo, for ``integrator="plant"``; default ``"implicitfast"``, or that of the file. All but
        ``"rk4"`` are of first order and treat damping implicitly; ``"rk4"`` accepts only robots without friction or
        with viscous friction.
    payloads : sequence of Payload
        Bodies that are fixed to links from a time on; by name or number of the link.
    limits : bool
        Whether joints stop at their limits, which are soft constraints in MuJoCo.

    Attributes
    ----------
    n : int
        Number of joints.
    joint_names, link_names : tuple of str
        Names in MuJoCo's order, without motors; links are bodies that have a joint.
    motor_joints : tuple of int
        Elastic joints, from 0: the state has positions x and velocities dx of their motors, (e,) each.
    model, data : mujoco.MjModel, mujoco.MjData
        Present model and data.
    robot : Robot or None
        The robot without payloads, for which `simulate` checks gains; None for a file.

    Raises
    ------
    ThunderError
        If MuJoCo does not support the robot, or an option is invalid.
    FileFormatError
        If MuJoCo cannot read the file, or a number in it is infinite.
    OSError
        If the file cannot be read.
    ModuleNotFoundError
        If MuJoCo is not installed.

    Notes
    -----
    Friction that is not viscous is applied as damping ``f(dq) / dq`` at the joint's speed at the start of a step:
    exact in accelerations, of first order in MuJoCo's integrators, and refused with its Runge-Kutta method.

    The motor of an elastic joint is a joint of its own in MuJoCo, and its spring a tendon. A plant with such joints
    takes x and dx and returns their rates, too.

    A plant has a state (present payloads, MuJoCo's data), so parallel runs need one plant each.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import MujocoPlant
    >>> robot = th.Robot.load("panda")
    >>> plant, (q, dq, tau) = MujocoPlant(robot), np.random.default_rng(0).normal(size=(3, 7))
    >>> np.allclose(plant.mass_matrix(q), robot.mass_matrix(q), rtol=0.0, atol=1e-11)
    True
    >>> np.allclose(plant.forward_dynamics(q, dq, tau), robot.forward_dynamics(q, dq, tau), atol=1e-8)
    True
    >>> rest = th.reference.SetPoint([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    >>> run = th.simulate(plant, th.ComputedTorque(robot, 100.0, 20.0), rest, 0.1)
    >>> run.rmse() < 1e-6
    True
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        timestep: float | None = None,
        integrator: str | None = None,
        payloads: Payload | Sequence[Payload] = (),
        limits: bool = False,
    ) -> None:
        if integrator is None and isinstance(robot, Robot):
            integrator = "implicitfast"
        if integrator is not None:
            one_of(integrator, INTEGRATORS, "integrator")
        if not isinstance(limits, (bool, np.bool_)):
            raise ThunderError(f"limits must be True or False, got {limits!r}")
        self._settings = (None if integrator is None else f"mjINT_{integrator.upper()}", bool(limits))
        if integrator == "rk4" and isinstance(robot, Robot) and not _viscous_only(robot):
            raise ThunderError(
                "integrator='rk4' needs friction that is viscous only: it would hold the rest over its stages"
            )
        self.robot = robot if isinstance(robot, Robot) else None
        text, path = _text(robot)
        self._raised = small_inertias(robot) if isinstance(robot, Robot) else {}
        self._set_up(text, path)
        own = math.inf if path is None else float(self.model.opt.timestep)
        self._timestep = own if timestep is None else positive(timestep, "timestep")
        self._damping = Damping(robot.description.friction) if isinstance(robot, Robot) else None
        every = one_or_several(payloads, Payload, "payloads must be a sequence of Payload")
        self._phases = [(-math.inf, self.model, self.data)]
        for time, loaded, names in with_payloads(text, self.link_names, every):
            model = self._ready(compiled(mujoco, loaded, path))
            check_payloads(self.model, model, names)
            self._phases.append((time, model, mujoco.MjData(model)))
        self.begin_step(0.0)

    def _set_up(self, text: str, path: Path | None) -> None:
        self.model = self._ready(compiled(mujoco, text, path))
        if not all(np.isfinite(getattr(self.model, key)).all() for key in _FINITE):
            raise FileFormatError("masses, inertias, positions and damping must be finite, got inf", path=path)
        self.data: Any = mujoco.MjData(self.model)
        kinds = {int(kind) for kind in self.model.jnt_type}
        if self.model.nv == 0 or not kinds <= {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}:
            raise ThunderError(f"{path}: joints must be revolute or prismatic, and there must be at least one")
        drives = couplings(mujoco, self.model)
        motors = [drive.motor for drive in drives]
        joints = [j for j in range(self.model.nv) if j not in motors]
        self.n = len(joints)
        self.motor_joints = tuple(joints.index(drive.joint) for drive in drives)
        # degrees of freedom of the links, of the motors, and of those that torques drive
        self._joints, self._motors = np.array(joints), np.array(motors, dtype=int)
        self._driven = self._joints.copy()
        self._driven[list(self.motor_joints)] = self._motors
        names = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in joints]
        self.joint_names = tuple(name or f"joint{j + 1}" for j, name in enumerate(names))
        bodies = dict.fromkeys(int(self.model.jnt_bodyid[j]) for j in joints)
        links = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_BODY, body) for body in bodies]
        self.link_names = tuple(name or "" for name in links)

    def _ready(self, model: Any) -> Any:
        """Set a model's options, and the masses and moments that its compiler refuses as too small."""
        integrator, limits = self._settings
        for link, dyn in self._raised.items():
            set_small_inertia(model, link, dyn)
        bits = mujoco.mjtDisableBit
        for name in (*_DISABLED, *(() if limits else ("LIMIT",))):
            model.opt.disableflags |= int(getattr(bits, f"mjDSBL_{name}"))
        if integrator is not None:
            model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
        return model

    def begin_step(self, t: float) -> None:
        """Select the model with the payloads at time t [s]; `simulate` calls this before each step."""
        if not math.isfinite(t):
            raise ThunderError(f"t must be finite, got {t!r}")
        _, self.model, self.data = next(phase for phase in reversed(self._phases) if phase[0] <= t + _ROUNDING)

    @overload
    def forward_dynamics(self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike) -> Array: ...

    @overload
    def forward_dynamics(
        self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, x: ArrayLike, dx: ArrayLike
    ) -> tuple[Array, Array]: ...

    def forward_dynamics(
        self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, x: Motors = None, dx: Motors = None
    ) -> Array | tuple[Array, Array]:
        """Return MuJoCo's joint accelerations, (n,), and with elastic joints those of the motors, (e,).

        Parameters
        ----------
        q, dq, tau : (n,) array_like
            One state, and the torques [N m, N]. Non-finite values give NaN, which ends a run.
        x, dx : (e,) array_like, optional
            State of the motors, if there are any.

        Raises
        ------
        ThunderError
            If a shape is wrong, or x and dx are missing or not expected.
        """
        if self._put(q, dq, tau, x, dx):
            mujoco.mj_forward(self.model, self.data)
            ddq, ddx = self.data.qacc[self._joints], self.data.qacc[self._motors]
        else:
            ddq, ddx = np.full(self.n, np.nan), np.full(len(self._motors), np.nan)
        return (ddq, ddx) if self.motor_joints else ddq

    @overload
    def advance(self, t: float, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, dt: float) -> tuple[Array, Array]: ...

    @overload
    def advance(
        self, t: float, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, dt: float, x: ArrayLike, dx: ArrayLike
    ) -> tuple[Array, Array, Array, Array]: ...

    def advance(
        self, t: float, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, dt: float, x: Motors = None, dx: Motors = None
    ) -> tuple[Array, Array] | tuple[Array, Array, Array, Array]:
        """Return q and dq at t + dt by MuJoCo's integrator, with the torque held; with elastic joints x and dx, too.

        Parameters
        ----------
        t, dt : float
            Time and step [s]; dt is divided into equal steps no longer than `timestep`.
        q, dq, tau : (n,) array_like
            State at t, and the torques [N m, N]. Non-finite values give NaN.
        x, dx : (e,) array_like, optional
            State of the motors at t, if there are any.

        Raises
        ------
        ThunderError
            If a shape is wrong, x and dx are missing or not expected, or dt is not positive.
        """
        if not 0.0 < dt < math.inf:
            raise ThunderError(f"dt must be positive and finite [s], got {dt!r}")
        self.begin_step(t)
        steps = max(1, math.ceil(dt / self._timestep - 1e-9))
        self.model.opt.timestep = dt / steps
        joints, motors, state = self._joints, self._motors, np.full((2, self.model.nv), np.nan)
        if self._put(q, dq, tau, x, dx):
            for k in range(steps):
                if k > 0 and self._damping is not None:
                    self.model.dof_damping[joints] = self._damping(self.data.qvel[joints])
                self._step()
            state = np.stack([self.data.qpos, self.data.qvel])
        ends = state[0, joints], state[1, joints]
        return (*ends, state[0, motors], state[1, motors]) if self.motor_joints else ends

    def _step(self) -> None:
        """Step as mj_step does, without its check of states, which writes a log into the working folder."""
        mujoco.mj_forward(self.model, self.data)
        if self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER:
            mujoco.mj_Euler(self.model, self.data)
        elif self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            mujoco.mj_RungeKutta(self.model, self.data, 4)
        else:
            mujoco.mj_implicit(self.model, self.data)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return MuJoCo's M(q), (n, n), armature and rotors included; without the motors of elastic joints."""
        self._at(q, np.zeros(self.n))
        M, product = np.zeros((self.n, self.n)), np.zeros(self.model.nv)
        for row, unit in zip(M, np.eye(self.model.nv)[self._joints], strict=True):
            mujoco.mj_mulM(self.model, self.data, product, unit)
            row[:] = product[self._joints]
        return M

    def bias(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """Return MuJoCo's C dq + G + friction(dq), (n,), with relaxed springs at elastic joints."""
        self._at(q, dq)
        return np.asarray((self.data.qfrc_bias - self.data.qfrc_passive)[self._joints])

    def elastic_equilibrium(self, q: ArrayLike) -> Array:
        """Return the motor positions at which the springs balance gravity, (e,), as `Robot.elastic_equilibrium`."""
        if not self.motor_joints:
            raise ThunderError("elastic_equilibrium needs elastic joints, and the plant has none")
        drives = read_drives(self.model, couplings(mujoco, self.model), self._joints.tolist())
        return equilibrium(drives, q, self.bias(q, np.zeros(self.n)), self.joint_names)

    def _at(self, q: ArrayLike, dq: ArrayLike) -> None:
        """Evaluate MuJoCo at a state without torques, with motors that move as their joints do."""
        q, dq = array(q, (self.n,), "q"), array(dq, (self.n,), "dq")
        moving = list(self.motor_joints)
        self._put(q, dq, np.zeros(self.n), *((q[moving], dq[moving]) if moving else (None, None)))
        mujoco.mj_forward(self.model, self.data)

    def _put(self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, x: Motors, dx: Motors) -> bool:
        """Set a finite state and torques, and return whether they are: MuJoCo would write a log for others."""
        values = [_vector(value, self.n, name) for value, name in ((q, "q"), (dq, "dq"), (tau, "tau"))]
        motors = self._motor_state(x, dx)
        if not all(np.isfinite(value).all() for value in (*values, *motors)):
            return False
        data = self.data
        data.qpos[self._joints], data.qvel[self._joints], data.qfrc_applied[self._driven] = values
        if motors:
            data.qpos[self._motors], data.qvel[self._motors] = motors
        if self._damping is not None:
            self.model.dof_damping[self._joints] = self._damping(values[1])
        return True

    def _motor_state(self, x: Motors, dx: Motors) -> list[Array]:
        """Return x and dx, or nothing for a plant without elastic joints."""
        if not self.motor_joints:
            if x is not None or dx is not None:
                raise ThunderError("x and dx must be None for a plant without elastic joints")
            return []
        if x is None or dx is None:
            raise ThunderError(f"x and dx must be the state of the {len(self._motors)} motors, got None")
        return [_vector(value, len(self._motors), name) for value, name in ((x, "x"), (dx, "dx"))]

    def __repr__(self) -> str:
        elastic = f", {len(self.motor_joints)} elastic" if self.motor_joints else ""
        return f"<MujocoPlant: {self.n} joints ({', '.join(self.joint_names)}){elastic}>"


def _text(robot: Robot | str | Path) -> tuple[str, Path | None]:
    """Return MJCF text with damping as its only friction, which the plant sets itself, and the path of its file."""
    if isinstance(robot, Robot):
        return robot_mjcf(robot), None
    if not isinstance(robot, (str, Path)):
        raise ThunderError(f"robot must be a Robot or an MJCF file, got {type(robot).__name__}")
    path = Path(robot)
    if path.suffix not in (".xml", ".mjcf"):
        raise ThunderError(f"robot must be a Robot or an MJCF file (.xml, .mjcf), got {str(robot)!r}")
    return read_mjcf_text(read_whole(path), path), path


def _vector(value: ArrayLike, n: int, name: str) -> Array:
    """Return a vector, without checks for the arrays that simulations pass."""
    if isinstance(value, np.ndarray) and value.shape == (n,) and value.dtype == np.float64:
        return value
    return array(value, (n,), name)


def _viscous_only(robot: Robot) -> bool:
    friction = robot.description.friction
    return friction is None or friction.terms == ("viscous",)
