import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.quantities import INPUTS, kernel
from tests.dynamics.random_chains import random_robot
from tests.refusals import assert_refused
from tests.symbolic.states import FOLDER, random_values, rebuilt
from thunder_py.errors import ThunderError, UnknownNameError

RIGID = ("forward_kinematics", "jacobian", "mass_matrix", "coriolis_matrix", "inverse_dynamics", "slotine_li_regressor")
RIGID += ("potential_energy", "kinetic_energy", "gravity_vector", "friction_torque", "jacobian_dot", "mass_matrix_dot")
ELASTIC = ("elastic_torque", "elastic_damping_torque", "motor_damping_torque", "motor_inertia_torque")
ELASTIC += ("elastic_forward_dynamics", "elastic_regressor")
GROUPS = ("dh", "inertial", "friction", "gravity", "base", "tool", "rotor", "armature")
ELASTIC_GROUPS = ("elastic_K", "elastic_D", "elastic_Dm", "elastic_Mm")


def arm(kind, elastic=False):
    return random_robot(11, 4, kind, joints="RP", friction=True, rotors=True, armature=True, elastic=elastic)


def new_values(model, name, rng):
    """Other numbers for the run-time entries; what a robot is rebuilt from, and what the function is given."""
    group = model.parameters[name]
    changed = group.values * rng.uniform(0.6, 1.4, group.values.size) + 0.1 * rng.uniform(0, 1, group.values.size)
    truth = np.where(group.mask, changed, group.values)
    given = np.where(group.mask, changed, 1e6 * rng.normal(size=group.values.size))  # baked entries must not matter
    return truth, given


def assert_exact(model, names, seed=0):
    """Functions at new parameters are the rebuilt robot's methods."""
    rng = np.random.default_rng(seed)
    values = {name: new_values(model, name, rng) for name in model.parameters}
    other = rebuilt(model.robot, {name: truth for name, (truth, _) in values.items()}, model.inertial_as)
    given = {model.parameters[name].argument: pair[1] for name, pair in values.items()}
    states = random_values(model.robot, 3, seed)
    for name in names:
        expected = kernel(other, name)(*[states[key] for key in INPUTS[name]])
        parameters = [group.argument for group in model.parameters.values()]
        f = model.function("f", model.quantity(name), [*INPUTS[name], *parameters])
        got = f(*[states[key] for key in INPUTS[name]], *[given[key] for key in parameters])
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * scale, err_msg=name)


def partial(size, seed):
    mask = np.random.default_rng(seed).random(size) < 0.5
    mask[seed % size] = True
    return mask


@pytest.mark.parametrize("kind", ["modified", "standard"])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("pattern", ["all", "none", "random", "random again"])
def test_one_group(kind, group, pattern):
    robot = arm(kind)
    size = robot.symbolic().parameters[group].values.size
    seeds = {"random": 1, "random again": 2}
    mask = partial(size, seeds[pattern]) if pattern in seeds else pattern == "all"
    model = robot.symbolic(**{group: mask})
    assert model.parameters[group].mask.sum() == np.sum(np.full(size, mask) if np.ndim(mask) == 0 else mask)
    assert_exact(model, RIGID)


@pytest.mark.parametrize("kind", ["modified", "standard"])
@pytest.mark.parametrize("pattern", ["all", "none", "random", "random again"])
def test_inertial_about_the_centers_of_mass(kind, pattern):
    robot = arm(kind)
    seeds = {"random": 3, "random again": 4}
    mask = partial(40, seeds[pattern]) if pattern in seeds else pattern == "all"
    model = robot.symbolic(inertial=mask, inertial_as="DYN")
    assert "par_DYN" in model.symbols
    assert_exact(model, RIGID)


@pytest.mark.parametrize("group", ELASTIC_GROUPS)
@pytest.mark.parametrize("pattern", ["all", "none", "random"])
def test_elastic_groups(group, pattern):
    robot = random_robot(4, 4, "modified", friction=True, elastic=True)
    size = robot.symbolic().parameters[group].values.size
    if size == 0:
        pytest.skip("no coefficients")
    model = robot.symbolic(**{group: partial(size, 1) if pattern == "random" else pattern == "all"})
    assert_exact(model, ELASTIC)


@pytest.mark.parametrize("kind", ["modified", "standard"])
@pytest.mark.parametrize("seed", range(6))
def test_every_group_at_random(kind, seed):
    robot = arm(kind, elastic=True)
    sizes = {name: group.values.size for name, group in robot.symbolic().parameters.items()}
    masks = {name: partial(size, 10 * seed + k) for k, (name, size) in enumerate(sizes.items()) if size}
    inertial_as = "DYN" if seed % 2 else "REG"
    assert_exact(robot.symbolic(inertial_as=inertial_as, **masks), (*RIGID, *ELASTIC), seed)


@pytest.mark.parametrize("kind", ["modified", "standard"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("outline", [True, "uniform"])
def test_outlined_recordings(kind, seed, outline):
    """As those of long arms: pieces are told apart by which of their arguments are 0, 1 or -1."""
    robot = arm(kind, elastic=True)
    sizes = {name: group.values.size for name, group in robot.symbolic().parameters.items()}
    masks = {name: partial(size, 20 + seed + k) for k, (name, size) in enumerate(sizes.items()) if size}
    assert_exact(robot.symbolic(outline=outline, **masks), (*RIGID, *ELASTIC), seed)


@pytest.mark.parametrize("group", ["inertial", "rotor", "dh", "gravity"])
def test_outlined_functions_take_only_what_matters(group):
    """A symbol may pass through a call to results that do not depend on it."""
    robot = arm("modified")
    plain, outlined = robot.symbolic(**{group: True}), robot.symbolic(outline=True, **{group: True})
    rng = np.random.default_rng(0)
    for name in (*RIGID, "christoffel_symbols", "mass_matrix_derivative", "mass_matrix_ddot", "coriolis_matrix_dot"):
        f = plain.function("f", plain.quantity(name))
        g = outlined.function("f", outlined.quantity(name))
        assert list(g.arguments) == list(f.arguments), name
        values = [rng.normal(size=shape) for shape in f.argument_shapes]
        expected = f(*values)
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(g(*values), expected, rtol=0, atol=1e-12 * scale, err_msg=name)
    with pytest.raises(ThunderError, match=r"f depends on the symbol .*, which is none of its arguments"):
        outlined.function("f", outlined.inverse_dynamics(), ["q", "dq", "ddq"])


@pytest.mark.parametrize("kind", ["modified", "standard"])
def test_everything_at_run_time(kind):
    robot = arm(kind, elastic=True)
    model = robot.symbolic(**dict.fromkeys(robot.symbolic().parameters, True))
    assert_exact(model, (*RIGID, *ELASTIC, "forward_dynamics", "coriolis_matrix_dot", "mass_matrix_ddot"))


@pytest.mark.parametrize("group", ["inertial", "friction", "gravity", "base", "tool", "rotor", "armature"])
@pytest.mark.parametrize("pattern", ["all", "random"])
def test_chains_without_a_table(group, pattern):
    robot = arm("placements")
    size = robot.symbolic().parameters[group].values.size
    assert_exact(robot.symbolic(**{group: partial(size, 5) if pattern == "random" else True}), RIGID)


@pytest.mark.parametrize("name", ["arm3", "arm5", "sea3"])
def test_masks_of_thunders_files(name):
    robot = th.Robot.load(FOLDER / f"{name}.yaml")
    model = robot.symbolic()
    masks = robot.description.masks
    for group, mask in masks.items():
        flat = np.concatenate([np.ravel(row) for row in mask]).astype(bool)
        assert (model.parameters[group].mask == flat).all(), group
    assert_exact(model, (*RIGID, *(ELASTIC if robot.e else ())))
    # what is said in Python goes before what the file says
    assert not robot.symbolic(gravity=False).parameters["gravity"].mask.any()
    assert robot.symbolic(tool=[1, 0, 0, 0, 0, 0]).parameters["tool"].mask.tolist() == [True] + [False] * 5


def test_what_files_mask_in_part_is_dyn():
    """A mask of a file is about mass, center and central inertia: a part of a link's entries cannot be said of REG."""
    robot = th.Robot.load("elbow")
    whole = ((1,) * 10, (0,) * 10)
    half = ((1,) * 4 + (0,) * 6, (0,) * 10)
    by_whole = th.Robot(robot.description.replace(masks={"inertial": whole})).symbolic()
    by_half = th.Robot(robot.description.replace(masks={"inertial": half})).symbolic()
    assert (by_whole.inertial_as, by_half.inertial_as) == ("REG", "DYN")
    assert "par_REG" in by_whole.symbols
    assert "par_DYN" in by_half.symbols
    assert_exact(by_half, RIGID[:6])


def test_baked_entries_are_numbers_and_others_symbols():
    model = th.Robot.load("elbow").symbolic(dh=[1, 0, 0, 0] * 2)
    group = model.parameters["dh"]
    assert group.entries[0] == model.par_DHtable[0]
    assert group.entries[1] == 0.0
    assert group.argument == "par_DHtable"
    f = model.function("T", model.forward_kinematics(), ["q", "par_DHtable"])
    assert f.inputs_that_matter["par_DHtable"].tolist() == [True, False, False, False] * 2
    assert "run-time parameters: par_DHtable" in repr(model)
    assert "run-time parameters: none" in repr(th.Robot.load("elbow").symbolic())


def elbow(**options):
    return th.Robot.load("elbow").symbolic(**options)


def test_bad_masks():
    entries = "mask of gravity must be True, False or 3 entries"
    assert_refused(
        ({"inertia": True}, "...no parameter group is called 'inertia'; did you mean 'inertial'?...", UnknownNameError),
        ({"friction": True}, "...elbow has no parameters of the group 'friction'; it has dh, inertial, gravity..."),
        ({"elastic_K": True}, "...elbow has no parameters of the group 'elastic_K'..."),
        ({"gravity": [1, 0]}, f"...{entries} of 0 and 1, got [1, 0]..."),
        *(({"gravity": wrong}, f"...{entries}...") for wrong in ([2, 0, 0], "yes", None)),
        ({"dh": [[1, 0], [0, 1]]}, "...mask of dh must be True, False or 8 entries..."),
        ({"inertial_as": "COM"}, "...inertial_as must be one of REG, DYN, got 'COM'..."),
        call=elbow,
    )


def test_a_group_that_is_not_there_may_be_false():
    assert "friction" not in elbow(friction=False).parameters


def test_bad_quantities():
    model = elbow()
    with pytest.raises(UnknownNameError, match=r"no quantity is called 'mass_matrx'; did you mean 'mass_matrix'\?"):
        model.quantity("mass_matrx")
    with pytest.raises(AttributeError, match=r"no attribute 'mass_matrx'; did you mean 'mass_matrix'\?"):
        model.mass_matrx  # noqa: B018
    assert_refused(
        (lambda: model.mass_matrix(frame=1), "...mass_matrix takes no frame..."),
        (lambda: model.jacobian(rows=[0]), "...jacobian takes no rows..."),
        (lambda: model.manipulability(rows=[1, 0]), "...rows must be increasing whole numbers from 0 to 5, got [1,..."),
        (lambda: model.manipulability(rows=[]), "...rows must be increasing..."),
        (lambda: model.manipulability(rows=[6]), "...rows must be increasing..."),
        (lambda: model.mass_matrix(model.q, model.dq), "...mass_matrix takes at most 1 inputs (q), got 2..."),
        (lambda: model.mass_matrix([1.0, 2.0, 3.0]), "...q must have shape (2,), got (3,)..."),
        (lambda: model.jacobian(frame="hand"), "...frame must be a link index 0 to 2 or one of base, link1, link2..."),
        (lambda: model.jacobian(frame=3), "...frame must be a link index 0 to 2..."),
        (lambda: model.jacobian(frame=True), "...frame must be a link index..."),
    )


def test_bad_functions():
    model = elbow()
    with pytest.raises(UnknownNameError, match="f: unknown symbol 'qq'"):
        model.function("f", model.q, ["qq"])
    with pytest.raises(ThunderError, match=r"f depends on the symbol dq.*, which is none of its arguments"):
        model.function("f", model.dq, ["q"])
    for name in ("two words", "3d", "", 'a"; b', "a" * 64, None):
        with pytest.raises(ThunderError, match="function name must be an identifier"):
            model.add_function(name, model.q)
    for name in ("mass_matrix", "q", "par_REG"):
        with pytest.raises(ThunderError, match=f"'{name}' is a quantity or a symbol of the model; choose another name"):
            model.add_function(name, model.q)
    first = model.add_function("twice", 2 * model.q, description="doubles")
    assert first.description == "doubles"
    with pytest.raises(ThunderError, match="a function 'twice' exists already; pass overwrite=True to replace it"):
        model.add_function("twice", model.q)
    model.add_function("twice", model.q + model.q, overwrite=True)
    assert model.functions["twice"]([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert_refused(
        (lambda: model.symbol("q"), "...symbol 'q' exists already..."),
        (lambda: model.symbol("my gain"), "...symbol name must be an identifier..."),
        (lambda: model.symbol("mass_matrix"), "...'mass_matrix' is a quantity, a function or an attribute..."),
        (lambda: model.symbol("twice"), "...'twice' is a quantity, a function or an attribute..."),
        (lambda: model.symbol("robot"), "...'robot' is a quantity, a function or an attribute..."),
    )


def test_own_symbols():
    model = elbow()
    K, gain = model.symbol("K", (2, 2)), model.symbol("gain")
    f = model.add_function("spring", gain * (K @ model.q), ["gain", "K", "q"])
    assert f.argument_shapes == ((), (2, 2), (2,))
    assert f(2.0, [[1, 2], [3, 4]], [1.0, 1.0]).tolist() == [6.0, 14.0]
    assert (model.K == K).all()
    assert list(model.add_function("again", gain * (K @ model.q)).arguments) == ["q", "K", "gain"]
    assert str(K[0, 1]) == "K[0, 1]"
    assert {"K", "q", "mass_matrix", "symbol"} <= set(dir(model))
    copied = model.add_function("copied", f)
    assert list(copied.arguments) == ["gain", "K", "q"]
