#!/usr/bin/env bash
# Install a wheel into an environment of its own and use it outside the checkout, with no compiler on the path.
# Usage: tools/try_wheel.sh WHEEL_OR_FOLDER_WITH_ONE [PYTHON [TESTS...]]; tests are run as well, by pytest.
set -euo pipefail
wheel=$(realpath "$1")
[[ -f $wheel ]] || wheel=$(realpath "$1"/*.whl)
root=$(realpath "$(dirname "$0")/..")
python=$(command -v "${2:-python3}")
shift $(($# < 2 ? $# : 2))
folder=$(mktemp -d)
trap "$(command -v rm) -rf '$folder'" EXIT
cd "$folder"
"$python" -m venv environment
export PATH="$folder/environment/bin"
unset PYTHONPATH
start=$SECONDS
pip install -q --only-binary :all: "$wheel"
echo "installed in $((SECONDS - start)) s"
python "$root/tests/smoke.py"
if (($#)); then
  pip install -q --only-binary :all: pytest pytest-xdist hypothesis
  cd "$root" && python -m pytest -q -n 2 -p no:cacheprovider "$@"
fi
