#!/usr/bin/env bash
# Install a wheel into an environment of its own and use it outside the checkout, with no compiler on the path.
# Usage: tools/try_wheel.sh FOLDER_WITH_ONE_WHEEL [PYTHON]
set -euo pipefail
wheel=$(realpath "$1"/*.whl)
smoke=$(realpath "$(dirname "$0")/../tests/smoke.py")
python=$(command -v "${2:-python3}")
folder=$(mktemp -d)
trap "$(command -v rm) -rf '$folder'" EXIT
cd "$folder"
"$python" -m venv environment
export PATH="$folder/environment/bin"
unset PYTHONPATH
pip install -q --only-binary :all: "$wheel"
python "$smoke"
