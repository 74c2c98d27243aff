"""Write src/thunder_py/_core.pyi from the built extension: ``python tools/make_stubs.py``."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_OPEN = {
    "tuple": "tuple[typing.Any, ...]",
    "list": "list[typing.Any]",
    "dict": "dict[str, typing.Any]",
    "Iterable": "Iterable[typing.Any]",
}
STUB = Path(__file__).parent.parent / "src" / "thunder_py" / "_core.pyi"


def generate() -> ast.Module:
    """Stub of the installed extension, with docstrings, which editors show."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pybind11_stubgen", "thunder_py._core", "--exit-code", "-o", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        tree = ast.parse((Path(folder) / "thunder_py" / "_core.pyi").read_text())
    _repair(tree)
    if ast.get_docstring(tree) is not None:  # the stub has its own
        tree.body = tree.body[1:]
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)) is not None:
            node.body[0] = ast.Expr(ast.Constant(text))
    return tree


def _repair(tree: ast.Module) -> None:
    """Make what the generator says of enums and of bare containers right."""
    for scope in ast.walk(tree):
        if isinstance(scope, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in scope.bases):
            members = [node for node in scope.body if isinstance(node, ast.AnnAssign)]
            scope.body = [ast.Assign([node.target], ast.Constant(...), lineno=0) for node in members]
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns") and isinstance(value, ast.expr):
                text = re.sub(r"\b(tuple|list|dict|Iterable)\b(?!\[)", lambda bare: _OPEN[bare[1]], ast.unparse(value))
                setattr(node, name, ast.parse(text, mode="eval").body)


def _members(tree: ast.Module) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Classes, functions and methods, with their names."""
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        where = scope.name + "." if isinstance(scope, ast.ClassDef) else ""
        for node in scope.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                yield where + node.name, node


def outline(tree: ast.Module) -> list[str]:
    """Names, arguments and defaults, one line each: what must not drift; types vary with the generator's version."""
    lines = []
    for name, node in _members(tree):
        if isinstance(node, ast.FunctionDef):
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            name = f"{name}({ast.unparse(node.args)})"
        lines.append(name)
    return sorted(lines)


def docstrings(tree: ast.Module) -> dict[str, str]:
    """Docstrings of classes, functions and methods, by name; spaces at the ends of lines do not count."""
    texts = ((name, ast.get_docstring(node)) for name, node in _members(tree))
    return {name: "\n".join(line.rstrip() for line in text.splitlines()) for name, text in texts if text is not None}


def main() -> None:
    """Write the stub and format it."""
    text = ast.unparse(generate())
    STUB.write_text(f'"""Types of the compute core; made by tools/make_stubs.py."""\n\n{text}\n')
    subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--fix", str(STUB)], check=False)
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(STUB)], check=True)


if __name__ == "__main__":
    main()
