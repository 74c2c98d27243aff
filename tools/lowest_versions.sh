#!/usr/bin/env bash
# The tests that other packages can touch, with the lowest versions that pyproject.toml allows.
# Usage: tools/lowest_versions.sh WHEEL_OR_FOLDER_WITH_ONE [PYTEST_OPTION ...]; needs uv.
set -euo pipefail
wheel=$(realpath "$1")
[[ -f $wheel ]] || wheel=$(realpath "$1"/*.whl)
shift
cd "$(dirname "$0")/.."
unset PIP_CONSTRAINT UV_CONSTRAINT  # of the newest versions
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

extras=()
for extra in cluster jax logs motion mujoco spreadsheets symbolic tables vision visual; do extras+=(--extra "$extra"); done
python -m venv "$folder/environment"
python="$folder/environment/bin/python"
uv pip compile -q --python "$python" --resolution lowest-direct "${extras[@]}" pyproject.toml > "$folder/versions.txt"
uv pip install -q --python "$python" -r "$folder/versions.txt" pytest pytest-xdist hypothesis
uv pip install -q --python "$python" --no-deps "$wheel"
# packages of then and of now warn about each other; independent implementations are not installed
"$python" -m pytest -q -p no:cacheprovider -o filterwarnings=default \
  --ignore tests/io/test_urdf.py --ignore tests/plotting/test_meshes.py "$@" \
  tests/identification tests/io tests/motion/test_{loaders,plan_in_use,metrics}*.py tests/parallel tests/plotting \
  tests/simulation tests/symbolic
