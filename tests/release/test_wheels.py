"""What keeps a compiled module from running on other machines is found in wheels."""

from __future__ import annotations

import platform
import re
import zipfile
from pathlib import Path

import pytest

from thunder_py import _core

ELFFile = pytest.importorskip("elftools.elf.elffile", reason="comes with auditwheel").ELFFile
pytestmark = pytest.mark.release

from tools import check_wheels  # noqa: E402  needs elftools


@pytest.fixture(scope="module")
def lines():
    """Objections to the module of this machine, for the C library of 2012."""
    with open(_core.__file__, "rb") as file:
        return check_wheels.check_extension(ELFFile(file), (2, 17), platform.machine())


def test_libraries_that_may_be_missing_are_named(lines):
    assert "libstdc++.so.6 may be missing on another machine" in lines
    assert not any(line.startswith(("libc.so", "libm.so", "ld-linux")) for line in lines)


def test_symbols_of_newer_libraries_are_named(lines):
    newer = [line for line in lines if "newer" in line]
    assert any(re.fullmatch(r"GLIBCXX_[\d.]+ is newer than glibc 2\.17", line) for line in newer)
    assert "GLIBC_2.2.5 is newer than glibc 2.17" not in newer


def test_the_entry_may_be_exported_and_nothing_else(lines):
    assert "PyInit__core is exported" not in lines
    with open(_core.__file__, "rb") as file:
        names = check_wheels.exported(ELFFile(file))
    assert {f"{name} is exported" for name in names - {"PyInit__core"}} <= set(lines)


def test_the_processor_must_be_that_of_the_tag():
    other = {"x86_64": "aarch64", "aarch64": "x86_64"}[platform.machine()]
    with open(_core.__file__, "rb") as file:
        lines = check_wheels.check_extension(ELFFile(file), (2, 17), other)
    assert re.fullmatch(rf"the module is for EM_\w+, the tag for {other}", lines[0])


def test_a_wheel_of_one_machine_is_refused(tmp_path, monkeypatch, capsys):
    """By its tag; a portable one by its size and its contents."""
    for tag in ("linux_x86_64", "manylinux_2_17_x86_64"):
        with zipfile.ZipFile(tmp_path / f"thunder_py-1-cp311-cp311-{tag}.whl", "w") as archive:
            archive.writestr("thunder_py/", "")
            archive.writestr("thunder_py/py.typed", "x" * 2000)
    monkeypatch.setattr(check_wheels, "LARGEST", 100)
    local, portable = sorted(tmp_path.iterdir())
    assert check_wheels.check_portable(Path(local)) == ["the tag must be manylinux_..."]
    found = check_wheels.check_portable(portable)
    assert "0.0 MB are more than 0.0 MB" in found
    assert "thunder_py/_core.pyi is missing" in found
    assert not any(line.startswith("thunder_py/ ") for line in found)
    assert check_wheels.check_wheels([local]) == 1
    assert capsys.readouterr().out == f"{local.name}: the tag must be manylinux_...\n"


def test_the_module_is_named_for_the_processor_of_the_tag(tmp_path):
    """Python imports no other: its own name for modules holds the processor."""
    machine, other = platform.machine(), {"x86_64": "aarch64", "aarch64": "x86_64"}[platform.machine()]
    path = tmp_path / f"thunder_py-1-cp311-cp311-manylinux_2_17_{machine}.whl"
    refused = {}
    for arch in (machine, other):
        name = f"thunder_py/_core.cpython-311-{arch}-linux-gnu.so"
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(_core.__file__, name)
        refused[arch] = f"{name} is named for another processor than {machine}" in check_wheels.check_portable(path)
    assert refused == {machine: False, other: True}
