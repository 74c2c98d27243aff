import sys

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.optional import MissingExtraError
from thunder_py.symbolic import Function
from thunder_py.symbolic import mathematics as sym

jax = pytest.importorskip("jax")
QUANTITIES = (
    "mass_matrix", "coriolis_matrix", "gravity_vector", "inverse_dynamics", "forward_dynamics", "regressor",
    "slotine_li_regressor",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _sixty_four_bits():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def _all(robot: th.Robot, names: tuple[str, ...] = QUANTITIES) -> Function:
    model = robot.symbolic()
    results = {name: getattr(model, name)() for name in names}
    return Function("all", model.arguments_of(*results.values()), results)


def test_quantities_are_those_of_the_core() -> None:
    robot = th.Robot.load("panda")
    recorded = _all(robot)
    rng = np.random.default_rng(0)
    state = {name: rng.uniform(-2.0, 2.0, (5, 1 if name == "tau" else 3, 7)) for name in recorded.arguments}
    found = recorded.to_jax()(*state.values())
    for name, value in zip(QUANTITIES, found, strict=True):
        inputs = th._core.quantities(robot)[name][0]
        expected = getattr(robot, name)(*(state[key] for key in inputs))
        assert value.shape == np.broadcast_shapes(expected.shape, (5, 3, *[1] * (value.ndim - 2)))
        assert value.dtype == np.float64
        scale = np.abs(expected).max()
        np.testing.assert_allclose(value, np.broadcast_to(expected, value.shape), rtol=0.0, atol=1e-12 * scale)


def test_a_batch_may_be_empty() -> None:
    recorded = _all(th.Robot.load("elbow"), ("mass_matrix", "inverse_dynamics"))
    f = recorded.to_jax()
    for batch in ((0,), (3, 0), (0, 2)):
        state = [np.zeros((*batch, 2))] * len(recorded.arguments)
        shapes = [value.shape for value in f(*state)]
        assert shapes == [(*batch, 2, 2), (*batch, 2)] == [value.shape for value in recorded(*state)]


def test_differentiated_and_vectorized_dynamics() -> None:
    robot = th.Robot.load("scara")  # with a prismatic joint
    recorded = _all(robot, ("inverse_dynamics",))
    f = recorded.to_jax()
    q, dq, ddq = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 4, robot.n))
    expected = recorded.jacobian("q")(q, dq, ddq)
    slopes = jax.jit(jax.vmap(jax.jacrev(f)))(q, dq, ddq)
    np.testing.assert_allclose(slopes, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_every_operation_and_its_derivatives() -> None:
    model = th.Robot.load("elbow").symbolic()
    a, b = model.q
    operations = [
        -a, a + b, a - b, a * b, a / b, sym.sqrt(a), sym.sin(a), sym.cos(a), sym.tan(a), sym.arcsin(a), sym.arccos(a),
        sym.exp(a), sym.log(a), sym.tanh(a), abs(a - 1.0), sym.sign(b - a), sym.arctan2(a, b), (a - 2.0) ** 5, a**-1.5,
        a**b, a < b, a <= b, sym.where(a < b, a * b, sym.log(a)), 3.0 + 0.0 * a, a,
    ]  # fmt: skip
    recorded = model.function("operations", np.array(operations, dtype=object))
    assert len({name for name, _ in recorded.operations}) > 20
    f, q = recorded.to_jax(), np.array([[0.3, 0.7], [1e200, -1e200]])
    values = np.asarray(f(q))
    np.testing.assert_allclose(values[0], recorded(q[0]), rtol=1e-13)
    np.testing.assert_array_equal(values[1, :3], [-1e200, 0.0, 2e200])  # in a step with a product that overflows
    for slopes in jax.jit(lambda q: [jax.jacfwd(f)(q), jax.jacrev(f)(q)])(q[0]):
        np.testing.assert_allclose(slopes, recorded.jacobian("q")(q[0]), rtol=1e-12)


def test_programs_grow_with_neither_joints_nor_operations() -> None:
    sizes = []
    for name, quantity in (("elbow", "regressor"), ("panda", "regressor"), ("panda", "slotine_li_regressor")):
        recorded = _all(th.Robot.load(name), (quantity,))
        text = recorded.to_jax().lower(*(np.zeros(v.shape) for v in recorded.arguments.values())).as_text()
        sizes.append(text.count("\n"))
    assert max(sizes) < 1.2 * min(sizes) < 1000


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = _all(th.Robot.load("elbow"), ("gravity_vector",))
    f = recorded.to_jax()
    with pytest.raises(ThunderError, match=r"q must have shape \(\.\.\., 2\), got \(3,\)"):
        f(np.zeros(3))
    with pytest.raises(ThunderError, match="all takes q, got 2 arguments"):
        f(np.zeros(2), np.zeros(2))
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ThunderError, match=r"JAX must compute with 64 bits: call jax\.config\.update"):
        recorded.to_jax()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r'pip install "thunder_py\[jax\]"'):
        recorded.to_jax()
