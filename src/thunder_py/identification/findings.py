"""Results of an identification that only wrong data explain, and what is wrong with the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..checks import Array
from ..model import inertia
from ..parallel import one_blas_thread
from ..robot import Robot
from .equations import Filtering, windows
from .identification import ratio
from .log import Correction, LogSource, Recorded, as_sources

if TYPE_CHECKING:
    from .identification import Identification

#: residual relative to the torque above which a joint's fit is looked at, and above which that of all explains nothing
_DOUBTFUL, _UNEXPLAINED = 0.3, 0.5
#: standard deviations below zero from which on a value is certainly negative, and positions at which inertias are
_CERTAIN, _POSITIONS = 3.0, 20
#: instants that corrections are tried on, windows of logs that these come from, and trials that stay in memory
_INSTANTS, _WINDOWS, _KEPT = 250, 8, 32
#: residuals relative to the torque that count as zero, and below which all joints are explained
_EXACT, _GOOD = 0.01, 0.15
#: error of the torques of the robot as it is, relative to the measured ones, below which it says no more
_TRUSTED = 0.3
#: decrease of the sum of logarithms of residuals that speaks for a step of a correction, and that says nothing
_EVIDENCE, _EQUAL = 0.3, 0.1
#: steps of a correction, and corrections that each step starts from
_DEPTH, _BREADTH = 4, 3
#: most joints whose signs are all tried
_ENUMERATED = 8
#: weight of the barriers of bodies and coefficients, in instants
_BARRIER, _ROUNDS, _STEPS = 2.0, 4, 60
#: pseudo-inertias of the ten unit parameters, (10, 4, 4)
_UNITS = inertia.pseudo_inertia(np.eye(10))


def diagnose(
    identification: Identification, prior: Robot, torque_rms: Array, logs: Sequence[LogSource], filtering: Filtering
) -> list[str]:
    """Return sentences on wrong signs, units or order of joints, and on logs without motion.

    Parameters
    ----------
    identification : Identification
        The result.
    prior : Robot
        Robot before it, whose torques wrong signals did not shape.
    torque_rms : (r,) array
        Root mean square of the measured torque of each row [N m or N].
    logs : sequence of LogSource
        Logs of the identification.
    filtering : Filtering
        Their conversion to samples.
    """
    found, base = [], identification.base
    told = {name for group in identification.invisible for name in group}
    known = np.isfinite(identification.standard_deviations) | np.isin(base.names, list(told))
    of_links = known[base.independent < identification.robot.p]
    if 2 * of_links.sum() < of_links.size:
        found.append(
            f"the motion determines only {of_links.sum()} of {of_links.size} base parameters, the others keep their "
            "prior: move all joints, see optimize_excitation"
        )
    if identification.rank and np.isinf(identification.freedom).all():
        found.append(
            "the logs are too short: the fit and its intervals assume white noise, and wrong signs or units do not show"
        )
        return found
    relative = ratio(identification.residual_rms, torque_rms)
    strange = []
    if identification.rank and (relative > _UNEXPLAINED).all():
        strange.append(f"the fit leaves {100.0 * relative.min():.0f} % of the torque or more at every joint")
    negative = _negative_inertia(identification)
    if negative:
        strange.append(f"the log asks for negative inertia at {', '.join(negative)}")
    values = zip(base.names, identification.base_parameters, identification.standard_deviations, strict=True)
    friction = [
        f"{name} ({value:.3g})"
        for name, value, sigma in values
        if name.endswith((".viscous", ".coulomb")) and value < -_CERTAIN * sigma
    ]
    if friction:
        strange.append(f"the log asks for negative friction, {', '.join(friction)}")
    if identification.rank and (strange or (relative > _DOUBTFUL).any()):
        proposal = _search(prior, logs, filtering)
        if proposal is not None:
            return [*found, _sentence(identification.robot, *proposal)]
    hint = (
        "no other signs, order, unit or zero of the joints explain it: does the log have outliers (robust=True), or "
        "does the model lack something?"
    )
    return [*found, *(f"{each}; {hint}" for each in strange)]


def _negative_inertia(identification: Identification) -> list[str]:
    """Return the joints whose diagonal element of the mass matrix is certainly negative at all of some positions.

    These elements are linear in the base parameters, so that their standard deviations follow from the covariance.
    """
    robot, base = identification.robot, identification.base
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSITIONS, robot.n))
    still, b = np.zeros_like(q), base.count
    gravity, names = robot.regressor(q, still, still), []
    for j, name in enumerate(robot.joint_names):
        ddq = still.copy()
        ddq[:, j] = 1.0
        columns = np.zeros((_POSITIONS, identification.parameters.size))
        columns[:, : robot.p] = (robot.regressor(q, still, ddq) - gravity)[:, j]
        own = columns[:, base.independent]
        sigma = np.sqrt(np.maximum(np.einsum("kb,bc,kc->k", own, identification.covariance[:b, :b], own), 0.0))
        if (columns @ identification.parameters < -_CERTAIN * sigma).all():
            names.append(name)
    return names


def _sentence(robot: Robot, correction: Correction, before: Array, behind: Array) -> str:
    """Return what to read differently, and the joint where it shows most, by relative residuals, (n,)."""
    options = []
    angles = np.array([kind == "R" for kind in robot.joint_types])
    for unit, factor in (("deg", np.pi / 180.0), ("rad", 180.0 / np.pi)):
        sizes = np.linalg.norm(correction.q[angles], axis=1)
        if sizes.size and np.allclose(np.log(sizes / factor), 0.0, atol=1.0):
            options.append(f"unit={unit!r}")
            correction = correction._replace(q=correction.q / np.where(angles, factor, 1.0)[:, None])
    if str(correction):
        options.append(f"correct={str(correction)!r}")
    j = int(np.argmax(before - behind))
    return (
        f"the log fits with {' and '.join(options)} of LogFile: the residual of {robot.joint_names[j]} falls from "
        f"{100.0 * before[j]:.3g} to {100.0 * behind[j]:.3g} % of its torque"
    )


class _Fitted(NamedTuple):
    """Sum of the logarithms of residuals in their own units, residuals relative to the torque (n,), and parameters."""

    value: float
    relative: Array
    parameters: Array


class _Sums(NamedTuple):
    """Means of Y_j' Y_j (n, P, P) and of Y_j' tau_k (n, P, n), and the torques of the robot as it is (k, n)."""

    columns: Array
    torques: Array
    expected: Array


class _Trials:
    """Fits of physically consistent links with friction, rotors and constant torques to signals in other orders."""

    def __init__(self, robot: Robot, motion: Array, torque: Array) -> None:
        """Take positions, velocities and accelerations (3, k, n) and torques (k, n)."""
        self.robot, self.motion, self.torque = robot, motion, torque
        self.squares = torque.T @ torque / len(torque)
        self._known: dict[bytes, _Sums] = {}
        # a large body as the prior of each link, which hardly acts: no real one exceeds it
        postures = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSITIONS, robot.n))
        reach = float(np.linalg.norm(robot.forward_kinematics(postures)[:, :3, 3], axis=1).max()) or 1.0
        mass = 10.0 * np.sqrt(self.squares.diagonal().max()) / (9.81 * reach)
        inner = 2.0 * mass * (0.3 * reach) ** 2
        self.body = np.array([mass, 0.0, 0.0, 0.0, inner, 0.0, 0.0, inner, 0.0, inner])

    def fit(self, correction: Correction, *, consistent: bool = True) -> _Fitted:
        """Fit the torques by weighted least squares; without `consistent` the value is a lower bound."""
        T, sums, k, n = correction.tau, self._sums(correction), len(self.torque), self.robot.n
        right, own = np.einsum("jpk,jk->jp", sums.torques, T), np.einsum("jk,kl,jl->j", T, self.squares, T)
        squares = np.maximum(own, 1e-6 * self.squares.diagonal().max() * np.sum(T**2, axis=1))
        noise, x, left = squares, None, squares
        constants = slice(13 * n, 14 * n)
        for _ in range(_ROUNDS if consistent else _ROUNDS - 1):  # the noise of each joint is its residual
            A, b = np.tensordot(1.0 / noise, sums.columns, 1), right.T @ (1.0 / noise)
            A[np.diag_indices(len(A))] += np.r_[np.zeros(constants.start), 40.0 / (k * squares)]
            x = self._inside(A, b, x, squares) if consistent else _scaled_solve(A, b, 1e-7)
            left = np.maximum((sums.columns @ x) @ x - 2.0 * right @ x + own, 0.0)
            noise = left + _EXACT**2 * squares
        value = 0.5 * float(np.log(noise).sum()) - float(np.linalg.slogdet(T)[1]) + self._of_prior(sums, T, squares)
        return _Fitted(value, np.sqrt(left / squares), np.asarray(x))

    def _of_prior(self, sums: _Sums, T: Array, squares: Array) -> float:
        """Return what the torques of the robot as it is say for a correction: zero where they resemble none."""
        measured, expected = self.torque @ T.T, sums.expected
        size = np.sum(np.mean(expected**2, axis=0) / squares)
        scale = max(np.sum(np.mean(measured * expected, axis=0) / squares) / size, 0.0) if size > 0.0 else 0.0
        left = np.mean((measured - scale * expected) ** 2, axis=0) / squares
        return float(0.5 * np.log(np.clip(left, _TRUSTED**2, 1.0)).sum())

    def _sums(self, correction: Correction) -> _Sums:
        key = correction.q.tobytes() + correction.zero.tobytes()
        if key not in self._known:
            if len(self._known) == _KEPT:
                del self._known[next(iter(self._known))]
            self._known[key] = self._computed(correction)
        return self._known[key]

    def _computed(self, correction: Correction) -> _Sums:
        n, k = self.robot.n, len(self.torque)
        q, dq, ddq = self.motion @ correction.q.T
        q = q + correction.zero
        Y = self.robot.regressor(q, dq, ddq)[..., : 10 * n]
        columns, torques = np.zeros((n, 14 * n, 14 * n)), np.zeros((n, 14 * n, n))
        coulomb = np.tanh(dq / (0.02 * np.abs(dq).max(axis=0) + 1e-9))
        for j in range(n):
            own = np.column_stack([Y[:, j], ddq[:, j], dq[:, j], coulomb[:, j], np.ones(k)])
            places = np.r_[: 10 * n, 10 * n + j : 14 * n : n]
            columns[j][np.ix_(places, places)] = own.T @ own / k
            torques[j, places] = own.T @ self.torque / k
        return _Sums(columns, torques, self.robot.inverse_dynamics(q, dq, ddq))

    def _inside(self, A: Array, b: Array, x: Array | None, squares: Array) -> Array:
        """Return the minimum of x'Ax/2 - b'x with barriers at bodies and coefficients that do not exist, by Newton."""
        n, weight = self.robot.n, _BARRIER / len(self.torque)
        links, positive = slice(0, 10 * n), np.arange(10 * n, 13 * n)
        pull = np.zeros(14 * n)
        pull[links] = np.tile(np.einsum("ij,aji->a", np.linalg.inv(inertia.pseudo_inertia(self.body)), _UNITS), n)
        if x is None:
            x = np.concatenate([np.tile(self.body, n), np.tile(0.2 * np.sqrt(squares), 3), np.zeros(n)])

        def value(x: Array) -> float:
            inside = np.append(np.linalg.eigvalsh(inertia.pseudo_inertia(x[links].reshape(n, 10))), x[positive])
            if not (inside > 0.0).all():
                return np.inf
            return float(0.5 * x @ A @ x - b @ x + weight * (pull @ x - np.log(inside).sum()))

        for _ in range(_STEPS):
            P = inertia.pseudo_inertia(x[links].reshape(n, 10))
            slopes = np.einsum("nij,ajk->naik", np.linalg.inv(P), _UNITS)
            gradient, H = A @ x - b + weight * pull, A.copy()
            gradient[links] -= weight * np.einsum("naii->na", slopes).ravel()
            gradient[positive] -= weight / x[positive]
            H[positive, positive] += weight / x[positive] ** 2
            for i, block in enumerate(weight * np.einsum("naik,nbki->nab", slopes, slopes)):
                H[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] += block
            step = -_scaled_solve(H, gradient, 1e-13)
            decrement = -float(gradient @ step)
            if decrement < 1e-4:
                break
            now, length = value(x), 1.0
            while length > 1e-8 and value(x + length * step) > now - 1e-4 * length * decrement:
                length *= 0.5
            x = x + length * step
        return x


def _scaled_solve(A: Array, b: Array, ridge: float) -> Array:
    """Solve with a diagonal of one, to which `ridge` is added."""
    s = 1.0 / np.sqrt(A.diagonal() + 1e-300)
    return np.asarray(s * np.linalg.solve(s[:, None] * A * s + ridge * np.eye(len(s)), s * b))


def find_correction(
    robot: Robot,
    logs: Recorded | Sequence[Recorded],
    *,
    cutoff: float | None = None,
    hold: float = 0.0,
    resample: float | None = None,
) -> Correction | None:
    """Find reversed, exchanged or coupled joints, another unit of angles, or another zero, if these explain logs.

    The torques are fitted anew for each of many corrections, with bodies that exist and friction that dissipates; the
    inertial parameters of the robot need not be right, and may be zero. What the log cannot tell, such as the zero of a
    joint whose axis is vertical, stays as it is. `identify` does the same where its residuals are large or parameters
    negative.

    Parameters
    ----------
    robot : Robot
        Geometry, without elastic joints, and inertial parameters if they are known.
    logs : Log, SimulationResult, path, LogFile, or sequence of these
        Logs.
    cutoff, hold, resample
        As for `identify`.

    Returns
    -------
    Correction or None
        The correction after which the logs fit much better, for `LogFile` or `Log.corrected`.

    Notes
    -----
    Corrections are combined from signs of q, of tau or of both, exchanges of two joints, zeros shifted by quarter
    turns, degrees or radians, and couplings ``q = A q_motor, tau = A^-T tau_motor`` (or of torques alone) of two
    neighboring joints with entries 0, 1/2 and 1 of either sign, or, where none of these fits, any numbers. The sum over
    the joints of the logarithms of their residuals selects among them, with that of the errors of the robot's own
    torques behind a common scale, from 0.3 to 1 of the measured ones; it must fall by 0.3 for each step.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import Log, find_correction
    >>> robot, t = th.Robot.load("panda"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid(0.6 * np.ones(7), 0.3 + 0.07 * np.arange(7))(t)
    >>> log = Log(t=t, q=q, dq=dq, ddq=ddq, tau=robot.inverse_dynamics(q, dq, ddq) * [1, 1, 1, -1, 1, 1, 1])
    >>> str(find_correction(robot, log)), find_correction(robot, log.corrected("tau4=-tau4"))
    ('tau4=-tau4', None)
    """
    found = _search(robot, as_sources(robot, logs), Filtering(cutoff, hold, resample))
    return None if found is None else found[0]


def _search(robot: Robot, logs: Sequence[LogSource], filtering: Filtering) -> tuple[Correction, Array, Array] | None:
    """Return the correction that explains the torques best, if it is much better than none, and relative residuals."""
    if robot.e:
        return None
    parts = []
    for log in logs[:_WINDOWS]:
        source = windows(robot, log, filtering._replace(quiet=True))
        for window in itertools.islice(source, math.ceil(_WINDOWS / len(logs))):
            samples = window.samples()[window.used]
            parts.append(np.stack([*samples.motion, samples.torque]))
    signals = np.concatenate(parts, axis=1)
    chosen = np.linspace(0, signals.shape[1] - 1, min(_INSTANTS, signals.shape[1])).astype(np.intp)
    trials = _Trials(robot, signals[:3, chosen], signals[3, chosen])
    first = _Tried(trials.fit(Correction.none(robot.n)), Correction.none(robot.n))
    with one_blas_thread():
        moves = list(_moves(robot))
        best = _improved(trials, [first], [*_signs(robot.n), *moves], moves)
        strange = best.fit.relative > _GOOD
        pairs = [j for j in range(robot.n - 1) if strange[j : j + 2].any()]
        if not best.good:
            best = _improved(trials, [first, best], list(_couplings(robot.n, pairs)), moves)
        if not best.good:
            starts = [first] if best is first else [first, best]
            further = [tried for start in starts for tried in _any_couplings(trials, start, pairs)]
            best = min([best, *further], key=lambda tried: tried.score)
    if best is first:
        return None
    return best.correction, first.fit.relative, best.fit.relative


class _Tried(NamedTuple):
    """A correction of some steps and the fit behind it."""

    fit: _Fitted
    correction: Correction
    steps: int = 0

    @property
    def score(self) -> float:
        """Smaller is better; each step must be worth it."""
        return self.fit.value + _EVIDENCE * self.steps

    @property
    def good(self) -> bool:
        """Whether the torques of all joints are explained."""
        return bool((self.fit.relative <= _GOOD).all())


def _improved(
    trials: _Trials, starts: list[_Tried], moves: list[Correction], further_moves: list[Correction]
) -> _Tried:
    """Return the best of the starts and of what follows from them by several moves."""
    best, beam, stalled = min(starts, key=lambda tried: tried.score), starts, 0
    seen: set[bytes] = set()
    for _ in range(_DEPTH):
        bounds: list[tuple[float, int, _Tried]] = []
        for tried, move in itertools.product(beam, moves):
            further = move.after(tried.correction)
            parts = (further.q.ravel(), further.tau.ravel(), np.cos(further.zero), np.sin(further.zero))
            key = (np.concatenate(parts) + 0.0).round(6).tobytes()
            if key not in seen:
                seen.add(key)
                bound = _Tried(trials.fit(further, consistent=False), further, tried.steps + 1)
                bounds.append((bound.score, len(bounds), bound))
        found: list[_Tried] = []
        for score, _, bound in sorted(bounds):
            if len(found) >= _BREADTH and score > found[_BREADTH - 1].score + _EQUAL:
                break
            exact = bound._replace(fit=trials.fit(bound.correction))
            found = sorted([*found, exact], key=lambda tried: tried.score)
        if not found:
            break
        beam, moves, stalled = found[:_BREADTH], further_moves, stalled + 1
        if found[0].score < best.score:
            equal = [tried for tried in found if tried.score < found[0].score + _EQUAL]
            best, stalled = min(equal, key=lambda tried: _places(tried.correction)), 0
        if stalled > 1 or best.good:
            break
    return best


def _places(correction: Correction) -> int:
    """Return how many numbers differ from those of signals that are right; those of q count more."""
    n = len(correction.zero)
    changed = (correction.q != np.eye(n)).sum() + (correction.zero != 0.0).sum()
    return int(3 * changed + 2 * (correction.tau != np.eye(n)).sum())


def _signs(n: int) -> Iterator[Correction]:
    """Yield all signs of some joints, or of all of them where they are many."""
    for row in itertools.product((1.0, -1.0), repeat=n) if n <= _ENUMERATED else (-np.ones(n),):
        yield from _of_both(np.diag(row))


def _of_both(M: Array) -> Iterator[Correction]:
    """Yield a map of tau, of q, and of both."""
    right = Correction.none(len(M))
    yield from (right._replace(tau=M), right._replace(q=M), Correction(M, M, right.zero))


def _moves(robot: Robot) -> Iterator[Correction]:
    """Yield signs and exchanges of single joints, units and zeros."""
    n, right = robot.n, Correction.none(robot.n)
    for row in np.eye(n):
        yield from _of_both(np.eye(n) - 2.0 * np.diag(row))
    for i, j in itertools.combinations(range(n), 2):
        yield from _of_both(np.eye(n)[[j if k == i else i if k == j else k for k in range(n)]])
    angles = np.array([kind == "R" for kind in robot.joint_types])
    for factor in (np.pi / 180.0, 180.0 / np.pi):
        yield right._replace(q=np.diag(np.where(angles, factor, 1.0)))
    for row, quarters in itertools.product(np.eye(n)[angles], (1.0, -1.0, 2.0)):
        yield right._replace(zero=0.5 * np.pi * quarters * row)


def _couplings(n: int, pairs: Iterable[int]) -> Iterator[Correction]:
    """Yield couplings of neighboring joints with small integers or their halves, with three or four entries."""
    entries = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=4))).reshape(-1, 2, 2)
    blocks = entries[(np.abs(np.linalg.det(entries)) > 0.5) & ((entries != 0.0).sum(axis=(1, 2)) > 2)]
    blocks = np.concatenate([blocks, 0.5 * blocks[(blocks != 0.0).all(axis=(1, 2))]])
    for j, block in itertools.product(pairs, blocks):
        yield from _coupling(n, j, block)


def _coupling(n: int, j: int, block: Array) -> tuple[Correction, Correction]:
    """Return the coupling of two joints in positions and torques, and that in torques alone."""
    A = np.eye(n)
    A[j : j + 2, j : j + 2] = block
    both = Correction(A, np.asarray(np.linalg.inv(A)).T, np.zeros(n))
    return both, both._replace(q=np.eye(n))


def _any_couplings(trials: _Trials, start: _Tried, pairs: Iterable[int]) -> Iterator[_Tried]:
    """Yield couplings of neighboring joints with any numbers."""
    from scipy.optimize import minimize

    n = trials.robot.n
    for j, kind in itertools.product(pairs, (0, 1)):

        def value(entries: Array, j: int = j, kind: int = kind) -> float:
            block = entries.reshape(2, 2)
            if abs(np.linalg.det(block)) < 0.05:
                return np.inf
            return trials.fit(_coupling(n, j, block)[kind].after(start.correction), consistent=False).value

        simplex = np.eye(2).ravel() + np.vstack([np.zeros(4), 0.5 * np.eye(4)])
        options: Any = {"maxfev": 150, "xatol": 1e-3, "initial_simplex": simplex}
        found = minimize(value, simplex[0], method="Nelder-Mead", options=options)
        move = _coupling(n, j, found.x.round(3).reshape(2, 2))[kind].after(start.correction)
        yield _Tried(trials.fit(move), move, start.steps + 4)  # four numbers
