"""Few demonstrations: the prior of minimum jerk, its blend with the data, the share."""

import numpy as np
import pytest

from tests.motion.test_fpca import STEP, TAU, reaches
from thunder_py.errors import ThunderError
from thunder_py.motion import FPCA, SplineBasis

ENDS = [(tau, order) for order in range(3) for tau in (0.0, 1.0)]


def most_probable(fpca, b):
    """Coefficients (K, d) of the most probable motion with position, velocity, acceleration b (6, d) at both ends."""
    rows = np.vstack([fpca.basis_.evaluate([tau], order) for tau, order in ENDS])
    n, K, d = fpca.component_coefficients_.shape
    variances = np.broadcast_to(
        fpca.explained_variance_ if fpca.joint else fpca.explained_variance_.T.ravel(), (n if fpca.joint else n * d,)
    )
    # columns: components, then x_bar; one block per coordinate where they are not joint
    columns = np.zeros((K, d, len(variances) + d))
    for k in range(d):
        where = slice(0, n) if fpca.joint else slice(k * n, (k + 1) * n)
        columns[:, k, where] = fpca.component_coefficients_[:, :, k].T
        columns[:, k, len(variances) + k] = 1.0
    roots = np.sqrt(np.concatenate([variances, fpca.offset_variance_]))
    A = np.einsum("ck,kdn->cdn", rows, columns * roots).reshape(6 * d, -1)
    left = b - rows @ (fpca.mean_coefficients_ + fpca.offset_mean_)
    # the shortest solution, row by row of about the same size
    size = np.linalg.norm(A, axis=1, keepdims=True)
    z = np.linalg.pinv(A / size, 1e-13) @ (left.reshape(-1, 1) / size)
    return fpca.mean_coefficients_ + fpca.offset_mean_ + (columns * roots) @ z[:, 0]


def quintic(b, tau):
    powers = [[0.0 if j < k else np.prod(np.arange(j, j - k, -1.0)) * t ** (j - k) for j in range(6)] for t, k in ENDS]
    return tau[:, None] ** np.arange(6) @ np.linalg.solve(powers, b)


@pytest.mark.parametrize(("count", "joint", "demean"), [(1, False, True), (2, True, False), (12, True, True)])
def test_full_share_is_minimum_jerk(count, joint, demean):
    """Under any position, velocity and acceleration at the ends, aligned components with rho = 1 give the quintic."""
    fpca = FPCA(alignment="path", shrinkage=1.0, joint=joint, demean=demean).fit(reaches(count=count))
    rng = np.random.default_rng(0)
    for scale in (0.0, 1.0):
        b = scale * rng.normal(size=(6, 3))
        b[:2] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
        planned = fpca.basis_.evaluate(TAU) @ most_probable(fpca, b)
        np.testing.assert_allclose(planned, quintic(b, TAU), atol=1e-6)


def covariance(fpca, k):
    """Covariance (K, K) of coefficients of coordinate k."""
    S = fpca.component_coefficients_[:, :, k]
    return S.T @ ((fpca.explained_variance_ if fpca.joint else fpca.explained_variance_[:, k])[:, None] * S)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("rho", [0.05, 0.6])
def test_blend(rho, joint):
    """(1 - rho) data + rho (inverse of the jerk's Gram matrix, in scale, + quadratics of data / (1 - rho))."""
    y = reaches()
    data = FPCA(smoothing=None, joint=joint, alignment="none", shrinkage=0.0).fit(y)
    shrunk = FPCA(smoothing=None, joint=joint, shrinkage=rho, alignment="none").fit(y)
    assert shrunk.shrinkage_ == rho
    np.testing.assert_array_equal(shrunk.mean_coefficients_, data.mean_coefficients_)
    L = np.linalg.cholesky(data.basis_.gram())
    P = np.linalg.solve(L, np.linalg.solve(L, data.basis_.gram(3)).T)
    p, V = np.linalg.eigh(P)
    constant = L.T @ np.ones(15)
    flat = np.linalg.svd(np.eye(3) - np.outer(c := V[:, :3].T @ constant, c))[0][:, :2]
    flat = V[:, :3] @ flat
    prior = V[:, 3:] @ np.diag(1.0 / p[3:]) @ V[:, 3:].T
    parts = [L.T @ covariance(data, k) @ L for k in range(3)]
    s = [np.trace(V[:, 3:].T @ part @ V[:, 3:]) / np.trace(prior) for part in parts]
    q = [np.trace(flat.T @ part @ flat) / 2.0 for part in parts]
    if joint:  # one scale for coordinates that turn into each other
        s, q = [np.mean(s)] * 3, [np.mean(q)] * 3
    for k in range(3):
        expected = (1.0 - rho) * parts[k] + rho * (s[k] * prior + q[k] / (1.0 - rho) * flat @ flat.T)
        got = L.T @ covariance(shrunk, k) @ L
        np.testing.assert_allclose(got, expected, atol=1e-10 * np.abs(expected).max())
        variance = data.offset_variance_[k]
        assert shrunk.offset_variance_[k] == pytest.approx((1.0 - rho) * variance + rho / (1.0 - rho) * variance)


class TestChosenShare:
    def fitted(self, y, **way):
        return FPCA(shrinkage="auto", alignment="path", **way).fit(y)

    @pytest.mark.parametrize("joint", [False, True])
    def test_many_motions_need_little(self, joint):
        """All bends in proportion to one: the data know what minimum jerk does not."""
        rng = np.random.default_rng(0)
        bends = rng.normal(size=(40, 1, 1)) * np.array([0.0, 0.3, 0.0]) * np.sin(np.pi * TAU)[:, None] ** 3
        y = STEP[:, None] * [0.4, 0.0, 0.1] + bends + 1e-3 * rng.normal(size=(40, 90, 3))
        wiggle = rng.normal(size=(40, 1, 1)) * [0.02, 0.0, 0.0] * np.sin(2.0 * np.pi * TAU)[:, None] ** 3
        assert self.fitted(y + wiggle, joint=joint).shrinkage_ < 0.2

    @pytest.mark.parametrize("joint", [False, True])
    def test_minimum_jerk_motions_need_all(self, joint):
        """Quintics between random states, a few: nothing else is to be learned."""
        rng = np.random.default_rng(2)
        b = rng.normal(size=(5, 6, 3)) * np.repeat([0.0, 0.3, 1.0], 2)[:, None]
        b[:, 1] = rng.normal(size=(5, 3))
        y = np.stack([quintic(row, TAU) for row in b])
        assert self.fitted(y, joint=joint, smoothing=None).shrinkage_ >= 0.95

    def test_predicts_better_than_either_end(self):
        """Of 6 motions learned, 50 others predicted from their ends: the chosen share is near the best one."""
        many = reaches(count=56, seed=4)
        few, others = many[:6], many[6:]

        def error(shrinkage):
            fpca = FPCA(shrinkage=shrinkage, smoothing=None, joint=True, alignment="none").fit(few)
            other = FPCA(smoothing=None, alignment="none", shrinkage=0.0).fit(others)
            c = other.inverse_transform(other.scores_, other.offsets_, tau=TAU)
            states = [other.inverse_transform(other.scores_, other.offsets_, tau=[t], derivative=k) for t, k in ENDS]
            b = np.concatenate(states, axis=1)
            B = fpca.basis_.evaluate(TAU)
            return np.sqrt(np.mean([((B @ most_probable(fpca, r) - x) ** 2).mean() for r, x in zip(b, c, strict=True)]))

        assert error("auto") <= 1.05 * min(error(0.001), error(0.1), error(0.5), error(1.0))


def test_splines_without_jerk():
    with pytest.raises(ThunderError, match="degree of the basis must be at least 3 with shrinkage, got 2"):
        FPCA(basis=SplineBasis(12, degree=2), shrinkage=0.5, alignment="none").fit(reaches())


@pytest.mark.parametrize(("power", "shrinkage"), [(0, "auto"), (2, 0.5)])
def test_motions_without_jerk(power, shrinkage):
    """Constants, ramps and parabolas have no jerk to scale minimum jerk with; one reach among them has."""
    t = np.linspace(0.0, 1.0, 40)
    still = np.outer(t**power, [1.2, 0.5])
    message = "motions must have jerk with shrinkage, got motions that are constant, linear or quadratic over time: add"
    with pytest.raises(ThunderError, match=message):
        FPCA(shrinkage=shrinkage).fit(np.array([still] * 3))
    assert FPCA(shrinkage=0).fit(np.array([still] * 3)).shrinkage_ == 0.0
    reach = np.outer(10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5, [1.2, 0.5])
    share = FPCA(shrinkage=shrinkage).fit(np.array([still, still, reach])).shrinkage_
    assert share == (1.0 if shrinkage == "auto" else shrinkage)
