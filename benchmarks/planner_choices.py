"""Tables behind defaults of `FPCA` and `HumanLikePlanner`.

Alignment, ratios of length and speed (docs/human_like_planning.md), and automatic shrinkage (docs/fpca.md).

python benchmarks/planner_choices.py travel
python benchmarks/planner_choices.py scenes|shares|rules --data FOLDER, which contains `culm` and `kinesis_rtg`.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from thunder_py.errors import NoPathError, ThunderWarning
from thunder_py.geometry import Sphere
from thunder_py.motion import FPCA, HumanLikePlanner, SplineBasis
from thunder_py.motion.alignment import aligned
from thunder_py.motion.fpca import fit
from thunder_py.motion.fpca.curves import read_curves
from thunder_py.motion.fpca.splines import smooth
from thunder_py.papers.human_like.reaches import culm_reaches, kinesis_reaches
from thunder_py.recordings import MotionSet
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches, sigma_lognormal_reaches

COUNT, MARGIN = 500, 0.02
#: what is known at the ends, as `fit._KNOWN`: positions; velocities, own or zero; accelerations, own or zero
ENDS = ((1, True), (2, True), (2, False), (3, True), (3, False))
REST = ENDS.index((3, False))
MODELS = {
    "none, 0": {"alignment": "none", "shrinkage": 0.0},
    "none, 0.1": {"alignment": "none", "shrinkage": 0.1},
    "none, 0.1, joint": {"alignment": "none", "shrinkage": 0.1, "joint": True},
    "path, 0.1": {"alignment": "path", "shrinkage": 0.1},
    "path, 0.1, joint": {"alignment": "path", "shrinkage": 0.1, "joint": True},
    "default": {},
}


def scenes():
    """Random reaches with one to five spheres near the straight line."""
    rng, found = np.random.default_rng(1), []
    while len(found) < COUNT:
        a, b = rng.uniform(-0.5, 0.5, (2, 3))
        if np.linalg.norm(b - a) < 0.25:
            continue
        spheres = []
        for _ in range(rng.integers(1, 6)):
            center = a + (b - a) * rng.uniform(0.15, 0.85) + 0.08 * rng.normal(size=3)
            spheres.append(Sphere(center, rng.uniform(0.03, 0.12)))
        if all(sphere.distance(p) >= 0.03 for sphere in spheres for p in (a, b)):
            found.append((a, b, spheres))
    return found


def print_scenes(sets):
    """Print length over distance and mean jerk over that of minimum jerk."""
    problems = scenes()
    for name, motions in sets.items():
        for label, options in MODELS.items():
            planner = HumanLikePlanner(FPCA(**options).fit(motions), max_distance_ratio=np.inf, max_travel_ratio=np.inf)
            lengths, jerks, failed = [], [], 0
            for a, b, spheres in problems:
                D = np.linalg.norm(b - a)
                try:
                    plan = planner.plan(a, b, 1.0, obstacles=spheres, margin=MARGIN)
                except NoPathError:
                    failed += 1
                    continue
                x = plan.position(np.linspace(0.0, 1.0, 201))
                lengths.append(np.linalg.norm(np.diff(x, axis=0), axis=1).sum() / D)
                jerks.append(plan.mean_jerk(300) / (23.09 * D))
            print(
                f"| {name} | {label} | {np.percentile(lengths, 95):.2f} ({max(lengths):.2f}) | "
                f"{np.percentile(jerks, 95):.1f} | {failed} |",
                flush=True,
            )


def print_travel():
    """Print length and peak speed of aligned plans over those of minimum jerk; seeds 2, 5 and 8 of the recordings."""
    sets = {"synthetic reaches": [sigma_lognormal_reaches(60, seed=seed) for seed in (2, 5, 8)]}
    for share in (0.45, 0.7, 0.8, 0.9, 1.0):
        sets[f"daily activities, first {share:.0%}"] = [
            _first(daily_living(60, seed=seed), share) for seed in (2, 5, 8)
        ]
    for name, several in sets.items():
        rows = []
        for motions in several:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ThunderWarning)
                planner = HumanLikePlanner(FPCA(alignment="path", shrinkage=0.2).fit(motions))
                plan = planner.plan(np.zeros(3), [0.3, 0.1, 0.2], 1.0)
            D = np.sqrt(0.14)
            ends = [np.linalg.norm(t.x[-1] - t.x[0]) / np.linalg.norm(t.x - t.x[0], axis=1).max() for t in motions]
            rows.append((np.median(ends), plan.path_length["m"] / D, plan.peak_speed["m"] / (1.875 * D)))
        low, high = np.min(rows, axis=0), np.max(rows, axis=0)
        print(f"| {name} | " + " | ".join(f"{a:.2g} to {b:.2g}" for a, b in zip(low, high, strict=True)) + " |")


def _first(motions, share):
    """Return the positions of the first part of motions."""
    return motions.map(lambda t: t.select(("x", "y", "z")).slice(t.t[0], t.t[0] + share * t.duration))


#: kinds of ends in the criterion of the automatic share, by index in `ENDS`: the present ones, and others
RULES = {
    "present": [1, 2, 3, 4],
    "all five": [0, 1, 2, 3, 4],
    "positions in place of own accelerations": [0, 1, 2, 4],
    "positions, rest": [0, 4],
    "positions": [0],
}


def errors(setting, training, left_out, scale, rules):
    """Return the mean L2 errors over tau (shares, ends), and the indices of the shares by rule."""
    blends = fit.blends(setting, fit.moments(setting, training))
    result = []
    for rho in fit._SHARES:
        blend = blends(rho)
        for orders, moving in ENDS:
            left = left_out - fit.predicted(setting, blend, left_out, orders, moving)
            size = np.sqrt(((setting.space.L.T @ left) ** 2).sum(axis=(1, 2)))
            result.append(float((scale * size).mean()))
    result = np.reshape(result, (len(fit._SHARES), len(ENDS)))
    left_out_errors = fit.cross_validated_errors(setting, training, ENDS)
    shares = [fit.likely_share(left_out_errors[:, RULES[rule]], len(training)) for rule in rules]
    return result, [fit._SHARES.index(share) for share in shares]


def cases(name, subjects, rng):
    """Yield training and left-out indices: people left out (CULM), or ten reaches (kinesis; twenty, synthetic)."""
    known = list(dict.fromkeys(subjects))
    if name != "CULM":
        most, splits = (30, 8) if name == "kinesis" else (40, 6)
        for count in (5, 10, 20, most):
            orders = [rng.permutation(len(subjects)) for _ in range(splits)]
            yield f"{count} reaches", [(order[:count], order[most:]) for order in orders]
        return
    for people, per in ((1, 8), (3, 8), (5, 8), (9, 8), (1, 45)):
        pairs = []
        for out in known[::3]:
            picked = rng.permutation([one for one in known if one != out])[:people]
            parts = [rng.permutation(np.flatnonzero(subjects == one))[:per] for one in picked]
            pairs.append((np.concatenate(parts), np.flatnonzero(subjects == out)))
        yield f"{people} people, {per} each", pairs


def share_losses(sets, rules):
    """Yield set, case, and by model the errors in mm (shares, ends) and those of the rules (rules, ends)."""
    basis, rng = SplineBasis(), np.random.default_rng(100)
    for name, motions in sets.items():
        curves = read_curves(motions)
        plain = smooth(curves, basis, "gcv", shared=[[0, 1, 2]]).coefficients
        canonical, frames = aligned(plain, curves.dofs, curves.names, "path")
        subjects = np.array([trial.subject for trial in motions])
        for label, pairs in cases(name, subjects, rng):
            models = []
            for kind, joint in (("path", True), ("path", False), ("none", False)):
                x, scale = (canonical, frames.scale) if kind == "path" else (plain, np.ones(len(plain)))
                space = fit.SplineSpace(basis, True)
                setting = fit.Setting(basis, space, joint, kind == "path", [[0, 1, 2]])
                found = [errors(setting, x[a], x[b], scale[b], rules) for a, b in pairs]
                table = 1e3 * np.mean([one for one, _ in found], axis=0)
                models.append((table, 1e3 * np.mean([one[k] for one, k in found], axis=0)))
            yield name, label, models


def print_shares(sets):
    """Print automatic share / best fixed share / share 1 from rest to rest, in mm; then its loss for `ENDS`, in %."""
    for name, label, models in share_losses(sets, ["present"]):
        cells, losses = [], []
        for table, (chosen,) in models:
            cells.append(f"{chosen[REST]:.1f} / {table.min(axis=0)[REST]:.1f} / {table[-1, REST]:.1f}")
            losses.append(" ".join(f"{loss:+.1f}" for loss in 100.0 * (chosen / table.min(axis=0) - 1.0)))
        print(f"| {name}, {label} | {' | '.join(cells)} | {' | '.join(losses)} |", flush=True)


def print_rules(sets):
    """Print by rule and set: mean loss in %, number of losses above 5 %, largest loss, largest from rest to rest."""
    synthetic = {
        "sigma-lognormal": sigma_lognormal_reaches(60, seed=11),
        "minimum jerk": minimum_jerk_reaches(60, seed=12, boundary_velocity=0.1, boundary_acceleration=0.5, noise=5e-4),
    }
    losses = {}
    for name, _, models in (*share_losses(sets, list(RULES)), *share_losses(synthetic, list(RULES))):
        for table, chosen in models:
            loss = 100.0 * (chosen / table.min(axis=0) - 1.0)
            fixed = 100.0 * (table / table.min(axis=0) - 1.0)
            single = fixed[fixed.max(axis=1).argmin()]
            losses.setdefault(name, []).append(np.vstack([loss, single]))
    print(f"| criterion | {' | '.join(losses)} |")
    for k, rule in enumerate([*RULES, "best single share"]):
        cells = []
        for found in losses.values():
            loss = np.array(found)[:, k]
            above, worst, rest = (loss > 5.0).sum(), loss.max(), loss[:, REST].max()
            cells.append(f"{loss.mean():.2f}, {above} of {loss.size}, {worst:.0f}, {rest:.0f}")
        print(f"| {rule} | {' | '.join(cells)} |")


def main():
    """Print one of the tables, most of them of recordings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("travel", "scenes", "shares", "rules"))
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    if options.table == "travel":
        return print_travel()
    if options.data is None:
        parser.error(f"--data is required for {options.table}")
    culm, kinesis = culm_reaches(options.data / "culm"), kinesis_reaches(options.data / "kinesis_rtg" / "rtgData.txt")
    every = 6 if options.table == "scenes" else 1
    sets = {
        "kinesis": MotionSet(reach.trial for reach in kinesis.items),
        "CULM": MotionSet([reach.trial for reach in culm.items][::every]),
    }
    return {"scenes": print_scenes, "shares": print_shares, "rules": print_rules}[options.table](sets)


if __name__ == "__main__":
    main()
