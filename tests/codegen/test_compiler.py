import ctypes
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core
from thunder_py.errors import CompilerError
from thunder_py.symbolic import Function, SymbolicModel, compiler

SOURCE = "int answer(void);\nint answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "thunder_py" / "compiled"


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A compiler that notes its calls in a file; returns how often it has compiled."""
    log, script = tmp_path / "log", tmp_path / "counting cc"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] || echo x >> "{log}"\nexec cc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", f"'{script}'")
    return lambda: len(log.read_text().split()) if log.exists() else 0


def answer(path: Path) -> int:
    return ctypes.CDLL(str(path)).answer()


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.suffix != ".so")


def test_compiles_once(cache, counted):
    first = compiler.compile_source(SOURCE)
    assert answer(first) == 42
    assert compiler.compile_source(SOURCE) == first
    assert counted() == 1
    assert first.parent == cache == compiler.cache_folder()
    assert leftovers(cache) == []


def test_source_flags_and_compiler_are_the_key(counted, monkeypatch):
    paths = {compiler.compile_source(SOURCE)}
    paths.add(compiler.compile_source(SOURCE + "\n"))
    paths.add(compiler.compile_source(SOURCE, [*compiler.FLAGS, "-O1"]))
    assert counted() == 3
    monkeypatch.setenv("CC", "cc")
    paths.add(compiler.compile_source(SOURCE))
    assert len(paths) == 4


@pytest.mark.parametrize("damage", ["truncated", "empty", "changed", "foreign"])
def test_a_damaged_library_is_compiled_again(damage, counted):
    path = compiler.compile_source(SOURCE)
    content = path.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    path.write_bytes({"truncated": content[:middle], "empty": b"", "changed": changed, "foreign": b"\0" * 5000}[damage])
    assert compiler.compile_source(SOURCE) == path
    assert path.read_bytes()[:4] == b"\x7fELF"
    assert answer(path) == 42
    assert counted() == 2


def test_two_at_once(cache):
    code = f"from thunder_py.symbolic.compiler import compile_source as c; print(c({SOURCE!r}))"

    def run(_: int) -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(3) as pool:
        paths = set(pool.map(run, range(3)))
    assert len(paths) == 1
    assert answer(Path(paths.pop().strip())) == 42
    assert leftovers(cache) == []


def test_the_folder_is_the_users_alone(cache):
    before = os.umask(0)
    try:
        compiler.compile_source(SOURCE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o777)
    compiler.compile_source(SOURCE + "\n")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert compiler.cache_folder() == tmp_path / ".cache" / "thunder_py" / "compiled"


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerError, match=r"none of cc, gcc, clang .* apt install gcc"):
        compiler.compile_source(SOURCE)


def test_bad_command_in_the_environment(monkeypatch):
    for command, reason in (
        ("no-such-compiler -m32", "must name a program on the path, got 'no-such-compiler'"),
        ("'unclosed", "must be a command, got"),
    ):
        monkeypatch.setenv("CC", command)
        with pytest.raises(CompilerError, match=reason):
            compiler.compile_source(SOURCE)


def test_options_in_the_environment(monkeypatch):
    monkeypatch.setenv("CC", "cc -DANSWER=43")
    assert answer(compiler.compile_source("int answer(void);\nint answer(void) { return ANSWER; }\n")) == 43


def test_the_message_of_a_failing_compiler_is_shown(cache):
    with pytest.raises(CompilerError, match=r"(?s)failed \(exit code 1\).*function\.c:1.*nonsense"):
        compiler.compile_source("nonsense;;(\n")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [("exit 0", "wrote no library"), ("kill -9 $$", "signal 9"), ("exit 3", r"failed \(exit code 3\)$")],
)
def test_compilers_that_misbehave(script, reason, cache, tmp_path, monkeypatch):
    program = tmp_path / "bad-cc"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("CC", str(program))
    with pytest.raises(CompilerError, match=reason):
        compiler.compile_source(SOURCE)
    assert list(cache.iterdir()) == []


def test_a_file_where_the_folder_should_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        CompilerError, match=r"cannot write compiled code to .*file/thunder_py/compiled.*XDG_CACHE_HOME"
    ):
        compiler.compile_source(SOURCE)


def test_a_full_disk(cache, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(CompilerError, match="No space left on device"):
        compiler.compile_source(SOURCE)
    assert list(cache.iterdir()) == []


def test_another_users_folder(cache, monkeypatch):
    compiler.compile_source(SOURCE)
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    with pytest.raises(CompilerError, match="belongs to another user"):
        compiler.compile_source(SOURCE)


def test_compiled_functions_equal_interpreted_ones():
    model = SymbolicModel(th.Robot.load("panda"))
    results = {"M": model.mass_matrix(), "G": model.gravity_vector()}
    f = Function("f", {"q": model.q, "k": model.dq[0]}, {**results, "E": model.dq[0] * model.q[1]})
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(4, 3, 7)), rng.normal(size=(3,))
    interpreted = [f(q, k), f(q[0, 0], 2.0)]
    assert not f.compiled
    f.compile()
    assert f.compiled
    for a, b in zip(interpreted, [f(q, k), f(q[0, 0], 2.0)], strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-13)
    assert f(np.empty((0, 7)), 1.0)[0].shape == (0, 7, 7)


def test_libraries_that_cannot_be_attached(tmp_path):
    graph = _core.Graph()
    x = graph.symbol("x")
    f = _core.Function("f", [("x", [], [x])], [("y", [], [x])])
    with pytest.raises(ValueError, match=r"cannot load /no/such\.so: .*No such file"):
        f.attach("/no/such.so", "f_packed")
    with pytest.raises(ValueError, match=r"no function f_packed in .*undefined symbol"):
        f.attach(str(compiler.compile_source(SOURCE)), "f_packed")
    assert not f.compiled
    assert f(2.0) == 2.0
    entries = [graph.symbol(str(k)) for k in range(65)]
    many = _core.Function("many", [(f"x{k}", [], [e]) for k, e in enumerate(entries)], [("y", [], [entries[0]])])
    with pytest.raises(ValueError, match="more than 64 arguments"):
        many.attach(str(compiler.compile_source(SOURCE)), "answer")
