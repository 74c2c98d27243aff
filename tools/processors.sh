#!/usr/bin/env bash
# The part of the tests that roundings can touch, computed as on other processors: once as on the oldest one, by NumPy, BLAS
# and the package's own kernels; once with each further instruction set of the kernels that this processor has but the one
# that the rest of the tests run with.
# Usage: tools/processors.sh [PYTEST_OPTION ...]
set -euo pipefail
cd "$(dirname "$0")/.."

own=(tests/control tests/dynamics tests/kinematics tests/manipulation/test_throwing*.py tests/simulation)
all=(
  tests/control tests/dynamics tests/identification tests/kinematics tests/manipulation/test_{interc,throwing,wrist}*.py
  tests/motion/test_{alignment,dmp,dynamic,fpca,metrics,plan,promp,published,replan,rotations,splines}*.py
  tests/simulation tests/trajectory
)

echo "as on the oldest processor"
THUNDER_ISA=baseline NPY_DISABLE_CPU_FEATURES="$(python tools/numpy_baseline.py)" OPENBLAS_CORETYPE=Prescott \
  pytest -q "$@" "${all[@]}"

sets=$(env -u THUNDER_ISA python -c '
from thunder_py._core import build_config
config = build_config()
print(*(name for name in config["instruction_sets"] if name not in ("baseline", config["instruction_set"])))')
for instructions in $sets; do
  echo "THUNDER_ISA=$instructions"
  THUNDER_ISA=$instructions pytest -q "$@" "${own[@]}"
done
