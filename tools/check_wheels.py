"""Check that wheels run on other machines: tag, size, needed libraries and symbols, exported names.

Usage: python tools/check_wheels.py WHEEL...
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.check_distributions import check_wheel, wheel_names

#: [bytes], compressed; a wheel has about 4 MB
LARGEST = 8_000_000
#: libraries that every Linux with this C library has
LIBRARIES = re.compile(r"(libc\.so\.6|libm\.so\.6|libdl\.so\.2|librt\.so\.1|libpthread\.so\.0|ld-linux.*\.so\.\d)")
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}


def needed(elf: ELFFile) -> set[str]:
    """Libraries that the dynamic linker has to find."""
    sections = [section for section in elf.iter_sections() if isinstance(section, DynamicSection)]
    return {tag.needed for section in sections for tag in section.iter_tags("DT_NEEDED")}


def versions(elf: ELFFile) -> set[str]:
    """Versions of symbols of these libraries, as GLIBC_2.17."""
    sections = [section for section in elf.iter_sections() if isinstance(section, GNUVerNeedSection)]
    return {aux.name for section in sections for _, entries in section.iter_versions() for aux in entries}


def exported(elf: ELFFile) -> set[str]:
    """Names that other libraries of the process could pick up."""
    symbols = elf.get_section_by_name(".dynsym").iter_symbols()
    return {symbol.name for symbol in symbols if symbol.name and symbol["st_shndx"] != "SHN_UNDEF"}


def check_extension(elf: ELFFile, glibc: tuple[int, ...], arch: str) -> list[str]:
    """Return what is wrong with the compiled module of a wheel whose tag promises this C library."""
    wrong = []
    if elf["e_machine"] != MACHINES[arch]:
        wrong.append(f"the module is for {elf['e_machine']}, the tag for {arch}")
    wrong += [
        f"{name} may be missing on another machine" for name in sorted(needed(elf)) if not LIBRARIES.fullmatch(name)
    ]
    for name in sorted(versions(elf)):
        version = re.fullmatch(r"GLIBC_([\d.]+)", name)
        if not version or tuple(map(int, version[1].split("."))) > glibc:
            wrong.append(f"{name} is newer than glibc {'.'.join(map(str, glibc))}")
    wrong += [f"{name} is exported" for name in sorted(exported(elf)) if name != "PyInit__core"]
    return wrong


def check_portable(path: Path) -> list[str]:
    """Return what is wrong with a wheel, a line each."""
    tag = re.search(r"manylinux_(\d+)_(\d+)_(x86_64|aarch64)", path.name)
    if tag is None:
        return ["the tag must be manylinux_..."]
    wrong = check_wheel(wheel_names(path))
    if path.stat().st_size > LARGEST:
        wrong.append(f"{path.stat().st_size / 1e6:.1f} MB are more than {LARGEST / 1e6:.1f} MB")
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                if f"-{tag[3]}-" not in name:  # Python would not find it
                    wrong.append(f"{name} is named for another processor than {tag[3]}")
                elf = ELFFile(io.BytesIO(archive.read(name)))
                wrong += check_extension(elf, (int(tag[1]), int(tag[2])), tag[3])
    return wrong


def check_wheels(paths: list[Path]) -> int:
    """Print what is wrong, or that nothing is; return 1 if anything is."""
    wrong = [f"{path.name}: {line}" for path in paths for line in check_portable(path)]
    sizes = "".join(f"\n{path.stat().st_size / 1e6:5.2f} MB  {path.name}" for path in paths)
    print("\n".join(wrong) or f"{len(paths)} wheel(s) run wherever their tags promise{sizes}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(check_wheels([Path(name) for name in sys.argv[1:]]))
