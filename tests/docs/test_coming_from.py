"""Pages for users of other packages: equal cells are equal, and names on both sides exist."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import thunder_py as th
from tests.docs.pages import DOCS, ROOT, snippets

PAGES = DOCS / "coming_from"
_CODE = re.compile(r"`([^`]+)`")
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)
_CALLS = re.compile(r"\b(th|robot)((?:\.[A-Za-z_]\w*)+)")


class Row(NamedTuple):
    """A row of a table: the table's header and its cells, as Markdown."""

    header: list[str]
    cells: list[str]

    @property
    def code(self) -> list[str]:
        """First piece of code of each cell, empty where there is none."""
        return [(_CODE.findall(cell) or [""])[0] for cell in self.cells]


def rows(page: str) -> list[Row]:
    """All rows of all tables of a page."""
    found: list[Row] = []
    header: list[str] | None = None
    for line in (PAGES / page).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = cells
        elif not set(line) <= set("|- :"):
            found.append(Row(header, cells))
    return found


def inline_code(page: str) -> list[str]:
    """Code between words and in tables."""
    return _CODE.findall(_FENCED.sub("", (PAGES / page).read_text(encoding="utf-8")))


def names_here(page: str) -> set[str]:
    """Dotted names of this package, and those of a robot as `robot.name`, in code between words and in tables."""
    codes = inline_code(page)
    found = {name for code in codes for name in re.findall(r"\bthunder_py(?:\.\w+)+", code)}
    for code in codes:
        for root, rest in _CALLS.findall(code):
            found.add("thunder_py" + rest if root == "th" else "robot" + rest)
    return found


def resolve(name: str, robot: th.Robot) -> None:
    """Look a dotted name up; of a robot only the first attribute, since what follows may be an array's."""
    first, *rest = name.split(".")
    thing: Any = robot if first == "robot" else th
    for attribute in rest[:1] if first == "robot" else rest:
        thing = getattr(thing, attribute)
        if isinstance(thing, np.ndarray):
            break


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_names_of_this_package_exist(page):
    robot = th.Robot.load("panda")
    names = names_here(page)
    assert len(names) > 10
    for name in names:
        resolve(name, robot)


def run_page(page: str, folder, monkeypatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets((PAGES / page).read_text(encoding="utf-8")):
        if not snippet.skip:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(snippet.code, names)
    return names


# --- Pinocchio --------------------------------------------------------------------------------------------------------

EQUAL = [row for row in rows("pinocchio.md") if "equal" in row.header[0]]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield run_page("pinocchio.md", tmp_path_factory.mktemp("pinocchio"), patch)


@pytest.mark.parametrize("row", EQUAL, ids=lambda row: row.code[0])
def test_rows_for_pinocchio_are_equal(row, both):
    pin, model, data, q, dq = (both[name] for name in ("pin", "model", "data", "q", "dq"))
    pin.computeJointJacobiansTimeVariation(model, data, q, dq)  # rows before this one have left other things in data
    pin.updateFramePlacements(model, data)
    there, here = (np.array(eval(code, both)) for code in row.code[:2])
    assert there.shape == here.shape
    assert there.size
    if there.dtype.kind == "U":
        assert there.tolist() == here.tolist()
    else:
        np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-10)


def test_pinocchio_has_its_names(both):
    assert len(EQUAL) > 25
    for code in inline_code("pinocchio.md"):
        for root, rest in re.findall(r"(?<![\w.])(pin|model|data)((?:\.[A-Za-z_]\w*)+)", code):
            thing = both[root]
            for attribute in rest.split(".")[1:2]:
                thing = getattr(thing, attribute)


# --- Thunder Dynamics -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Headers of the class that is generated from the page's file, and of that with Thunder's interface."""
    with pytest.MonkeyPatch.context() as patch:
        names = run_page("thunder.md", tmp_path_factory.mktemp("thunder"), patch)
        robot, header = names["robot"], f"thunder_{names['robot'].name}.h"
        folders = [th.codegen.generate(robot, str(thunder), thunder=thunder) for thunder in (False, True)]
        return [(folder / header).read_text(encoding="utf-8") for folder in folders]


def test_generated_class_has_thunders_names(library):
    wanted = {
        code
        for row in rows("thunder.md")
        for code in _CODE.findall(row.cells[0])
        if re.fullmatch(r"(get|set|load|save)_\w+", code)
    }
    others = set(re.findall(r"`(set_\w+|setArguments)`", (PAGES / "thunder.md").read_text(encoding="utf-8")))
    assert len(wanted) > 50
    for names, headers in ((wanted, library[:1]), (others, library)):
        header = "".join(headers)
        assert not [name for name in sorted(names) if not re.search(rf"\b{name}\(", header)]


# --- Robotics Toolbox -------------------------------------------------------------------------------------------------

TOOLBOX_ROWS = [row for row in rows("robotics_toolbox.md") if "equal" in row.header[0]]


def toolbox_names() -> set[tuple[str, str]]:
    """Names of the toolbox on the page: `puma` or `rtb`, and the path after it."""
    found = [re.findall(r"\b(puma|rtb)\.([A-Za-z_][\w.]*)", code) for code in inline_code("robotics_toolbox.md")]
    return {(root, path.rstrip(".")) for names in found for root, path in names}


@pytest.fixture(scope="module")
def answers():
    """Recorded by tests/data/robotics_toolbox/make.py."""
    path = DOCS.parent / "tests" / "data" / "robotics_toolbox" / "answers.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def converted(answers):
    """The names of the page's program, run on the recorded robot in place of the toolbox's."""
    data = answers["robot"]
    links = [SimpleNamespace(**{**link, "I": np.array(link["I"])}) for link in data["links"]]
    assert not any(link.isflip for link in links)
    poses = {name: SimpleNamespace(A=np.array(data[name])) for name in ("base", "tool")}
    puma = SimpleNamespace(**{**data, **poses, "links": links, "dynchanged": lambda: None})
    puma.rne = lambda q, qd, qdd: np.array(answers["values"]["puma.rne(q, qd, qdd)"])
    models = SimpleNamespace(DH=SimpleNamespace(Puma560=lambda: puma))
    program = snippets((PAGES / "robotics_toolbox.md").read_text(encoding="utf-8"))[0]
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setitem(sys.modules, "roboticstoolbox", SimpleNamespace(models=models))
        exec(program.code, names)
    assert printed.getvalue() == program.shown
    return names


@pytest.mark.parametrize("row", TOOLBOX_ROWS, ids=lambda row: row.code[0])
def test_rows_for_the_robotics_toolbox_are_equal(row, converted, answers):
    here = np.array(eval(row.code[1], converted))
    tolerance = 1e-3 if "ikine" in row.code[0] else 1e-9
    np.testing.assert_allclose(here, answers["values"][row.code[0]], rtol=1e-9, atol=tolerance)


def test_the_robotics_toolbox_has_its_names(answers):
    assert {f"{root}.{path}" for root, path in toolbox_names()} == set(answers["names"])


def _turn(axis: int, angle: float) -> np.ndarray:
    T, (i, j) = np.eye(4), ((1, 2), (2, 0), (0, 1))[axis]
    T[[i, j], [i, j]], T[i, j], T[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
    return T


def _shift(axis: int, length: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = length
    return T


def _poses(source: SimpleNamespace, q: np.ndarray) -> list[np.ndarray]:
    """Poses of the links by the elementary transforms of the toolbox: a joint with flip moves by -q."""
    T, poses = source.base.A, []
    for link, x in zip(source.links, q, strict=True):
        moved = link.offset - x if link.isflip else link.offset + x
        along = _turn(2, moved) @ _shift(2, link.d) if link.isrevolute else _turn(2, link.theta) @ _shift(2, moved)
        across = _shift(0, link.a) @ _turn(0, link.alpha)
        T = T @ (across @ along if source.mdh else along @ across)
        poses.append(T)
    return poses


@pytest.mark.parametrize("seed", range(6))
def test_joints_that_move_the_other_way(seed, converted):
    """Poses and gravity by elementary transforms and differences, for joints with and without flip."""
    rng, n = np.random.default_rng(seed), 4

    def link(k: int) -> SimpleNamespace:
        a, alpha, d, theta, offset, m = rng.uniform(0.1, 1.0, 6)
        revolute, own = bool(rng.random() < 0.7), {"m": m, "r": rng.normal(size=3), "I": np.diag([1.0, 1.2, 1.1 + k])}
        table = {"a": a, "alpha": alpha, "d": d, "theta": theta, "offset": offset, "isrevolute": revolute}
        return SimpleNamespace(**table, **own, G=1.0, B=0.0, Jm=0.0, isflip=bool(k == seed % n or rng.random() < 0.4))

    base, tool = (SimpleNamespace(A=_turn(k, 0.4) @ _shift(k, 0.3)) for k in (1, 2))
    limits, gravity = np.array([[-2.0] * n, [2.0] * n]), np.array([0.3, -0.2, -9.81])
    links = [link(k) for k in range(n)]
    source = SimpleNamespace(n=n, links=links, mdh=seed % 2, base=base, tool=tool, qlim=limits, gravity=gravity)
    robot, q, h = converted["from_toolbox"](source, "arm"), rng.uniform(-1.0, 1.0, n), 1e-6

    def center(k: int, at: np.ndarray) -> np.ndarray:
        T = _poses(source, at)[k]
        return T[:3, :3] @ links[k].r + T[:3, 3]

    def potential(at: np.ndarray) -> float:
        return -sum(links[k].m * gravity @ center(k, at) for k in range(n))

    steps = h * np.eye(n)
    G = [(potential(q + e) - potential(q - e)) / (2.0 * h) for e in steps]
    np.testing.assert_allclose(robot.forward_kinematics(q), _poses(source, q)[-1] @ tool.A, atol=1e-14)
    np.testing.assert_allclose(robot.gravity_vector(q), G, atol=1e-7)


def test_readme_has_the_table_of_other_packages():
    page, readme = (path.read_text(encoding="utf-8") for path in (DOCS / "other_packages.md", ROOT / "README.md"))
    table = page[page.index("| | thunder_py") :].partition("\n\n")[0]
    assert f"\n\n{table}\n\n" in readme
