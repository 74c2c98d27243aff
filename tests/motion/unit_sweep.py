"""Count the recordings whose wrong units `check_plausible` names: python tests/motion/unit_sweep.py FOLDER."""

import sys
import warnings
from pathlib import Path

import numpy as np

from thunder_py.recordings import Trial, check_plausible
from thunder_py.recordings.loaders import load_culm, load_kinesis
from thunder_py.recordings.processing import segment_by_speed

#: factors of x and t for a recording in meters, radians and seconds that is read in a wrong unit, and the remedy
LENGTHS = {
    "mm as m": (1e3, 1.0, "unit='mm'"),
    "cm as m": (1e2, 1.0, "'cm'"),
    "m as mm": (1e-3, 1.0, "unit='m'"),
    "m as cm": (1e-2, 1.0, "unit='m'"),
    "ms as s": (1.0, 1e3, "time_unit='ms'"),
    "s as ms": (1.0, 1e-3, "time_unit='s'"),
}
ANGLES = {
    "deg as rad": (180.0 / np.pi, 1.0, "unit 'deg'"),
    "rad as deg": (np.pi / 180.0, 1.0, "unit 'rad'"),
    "ms as s": LENGTHS["ms as s"],
    "s as ms": LENGTHS["s as ms"],
}


def angles(trial):
    """Return azimuth and elevation of the hand and the angle of the elbow, for a shoulder behind the movement."""
    p = trial.x - np.nanmean(trial.x, axis=0)
    p[:, 1] += 1.1 * np.nanmax(np.linalg.norm(p, axis=1))
    distance = np.linalg.norm(p, axis=1)
    length = 0.51 * np.nanmax(distance)
    elbow = np.pi - np.arccos(1.0 - distance**2 / (2.0 * length**2))
    q = np.column_stack([np.arctan2(p[:, 1], p[:, 0]), np.arcsin(p[:, 2] / distance), elbow])
    return Trial(trial.t, q, ("azimuth", "elevation", "elbow"), name=trial.name)


def variants(trials):
    """Return label, trials and wrong units: as recorded, from their starts, and as joint angles of an arm."""
    starts = [trial.with_values(trial.x - trial.x[np.isfinite(trial.x[:, 0])][0]) for trial in trials]
    return [
        ("", trials, LENGTHS),
        (" from their starts", starts, LENGTHS),
        (", joints", list(map(angles, trials)), ANGLES),
    ]


def messages(trials):
    """Return the warnings about trials."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_plausible(trials)
    return [str(warning.message) for warning in caught]


def counts(trials, units):
    """Return the number of trials with a warning as they are, and of those with the right remedy in each wrong unit.

    Each trial is judged alone. Together they must give no warning as they are, and one in a wrong unit.
    """
    assert not messages(trials)
    result = [sum(bool(messages([trial])) for trial in trials)]
    for x, t, remedy in units.values():
        wrong = [Trial(t * trial.t, x * trial.x, trial.dofs, trial.units, name=trial.name) for trial in trials]
        assert [remedy in text for text in messages(wrong)] == [True]
        result.append(sum([remedy in text for text in messages([trial])] == [True] for trial in wrong))
    return result


def main(folder):
    culm = load_culm(folder / "culm")
    planned = segment_by_speed(culm.filter(task="Planned"), cutoff=10.0)
    first = {f"S0{k}" for k in range(2, 7)}
    for name, trials in {"CULM": culm, "reaches of CULM": planned}.items():
        for part, chosen in (("S02 to S06", True), ("S07 to S11", False)):
            show(f"{name}, {part}", [trial for trial in trials if (trial.subject in first) is chosen])
    show("kinesis", list(load_kinesis(folder / "kinesis_rtg" / "rtgData.txt")))


def show(name, trials):
    for label, group, units in variants(trials):
        false, *told = counts(group, units)
        found = ", ".join(f"{unit} {count}" for unit, count in zip(units, told, strict=True))
        print(f"| {name}{label} | {len(group)} | {false} | {found} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
