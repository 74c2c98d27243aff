"""Tables 10 to 15 over unprinted quantities, and the number of basis functions."""

import numpy as np
import pytest

from thunder_py.motion import DMP
from thunder_py.papers.human_like import dmp_study, sweeps
from thunder_py.papers.human_like.reaches import daily_reaches, synthetic_reaches
from thunder_py.recordings.metrics import mean_jerk, rms_distance


def nominal(quantities: tuple[sweeps.FreeParameter, ...], **others: object) -> dict[str, object]:
    return {each.name: each.nominal for each in quantities} | others


@pytest.fixture(scope="module")
def reaches() -> dict[str, np.ndarray]:
    return sweeps.table_10(**nominal(sweeps.REACHES, seeds=1, count=10, data=None))  # type: ignore[arg-type]


class TestReaches:
    def test_jerk_goes_with_the_cube_of_the_duration(self, reaches: dict[str, np.ndarray]) -> None:
        fast = sweeps.table_10(**nominal(sweeps.REACHES, seeds=1, count=10, data=None, duration=2.5))  # type: ignore[arg-type]
        for name, value in reaches.items():
            assert fast[name] == pytest.approx((8.0 if "m/s^3" in name else 1.0) * value, rel=1e-12)

    def test_learning_from_the_reaches_themselves_changes_plans_only(self, reaches: dict[str, np.ndarray]) -> None:
        same = sweeps.table_10(**nominal(sweeps.REACHES, seeds=1, count=10, data=None, learned="the same"))  # type: ignore[arg-type]
        assert same["fPC, distance [m]"] != reaches["fPC, distance [m]"]
        assert same["reach, jerk [m/s^3]"] == reaches["reach, jerk [m/s^3]"]

    def test_the_published_basis_turns_the_order_of_jerks(self, reaches: dict[str, np.ndarray]) -> None:
        """Table 11 has fPC below the reaches and both below the DMP: so it is with the span of the published basis."""
        quintics = sweeps.table_10(seeds=1, count=10, data=None, learned="quintics")
        assert reaches["fPC, jerk [m/s^3]"] > reaches["DMP, jerk [m/s^3]"]
        jerks = [quintics[f"{name}, jerk [m/s^3]"] for name in ("fPC", "reach", "DMP")]
        assert jerks[0] < jerks[1] < jerks[2]

    def test_daily_reaches_are_ways_out_and_back(self) -> None:
        found = daily_reaches(1)
        assert found.kind == "synthetic"
        assert {reach.trial.task.split()[0] for reach in found.items} == {"intransitive"}
        parts = [reach.trial.name.split("/")[-1] for reach in found.items]
        assert parts.count("1") == parts.count("2") == 10

    def test_noise_is_filtered(self) -> None:
        clean, noisy = (synthetic_reaches(3, 1, noise=noise).items[0] for noise in (0.0, 0.0005))
        assert 0.0 < rms_distance(clean, noisy) < 0.01


class TestNumberOfFunctions:
    def test_reproductions_are_compared_with_their_demonstration(self) -> None:
        (shown,) = synthetic_reaches(1, 1).items
        ((distance, ratio),) = dmp_study.reproductions([shown], {"basis": "gaussian"}, (21,))[0]
        motion = DMP(21, scaling="paper", basis="gaussian").fit(shown).rollout()
        assert distance == rms_distance(shown, motion)
        assert ratio == pytest.approx(mean_jerk(motion) / mean_jerk(shown))

    def test_more_mollifiers_have_less_jerk_only_without_noise(self) -> None:
        jerk = []
        for noise in (0.0, 0.001):
            shown = dmp_study._demonstrations("sigma-lognormal", 4, noise)
            found = dmp_study.reproductions(shown, {"basis": "mollifier"}, (15, 50))
            jerk.append(np.median(found[..., 1], axis=1))
        clean, noisy = jerk
        assert clean[1] < clean[0]
        assert noisy[1] > noisy[0]
