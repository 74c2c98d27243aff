#!/usr/bin/env bash
# Run the closed loop over Debian's ROS 1: tools/ros1_test.sh [WHEEL | FOLDER OF SITE-PACKAGES] [pytest arguments].
# A wheel is installed in an environment of its own beside what it needs; a folder of site-packages, of the same minor
# version as /usr/bin/python3, is used as it is. Without an argument the checkout is built, which takes minutes.
# tools/ros1_test.sh --packages prints the Debian packages that it needs and installs.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

needed=(python3-rospy python3-roslaunch python3-venv rosout python3-sensor-msgs python3-trajectory-msgs
  python3-geometry-msgs python3-std-srvs python3-diagnostic-msgs python3-actionlib
  ros-std-msgs ros-trajectory-msgs ros-actionlib-msgs)
if [[ ${1:-} == --packages ]]; then
  echo "${needed[@]}"
  exit
fi
missing=()
for package in "${needed[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'install ok' || missing+=("$package")
done
if ((${#missing[@]})); then
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } > build/ros_apt.log 2>&1 || {
    echo "install these first: ${missing[*]} (build/ros_apt.log)" >&2
    exit 1
  }
fi

what=${1:-.}
shift || true
if [[ -d $what && $what != . ]]; then
  what=$(realpath "$what")
  # a folder in PYTHONPATH is not looked through for .pth files, which editable packages have
  mkdir -p build/ros-site
  printf 'import site\n\nsite.addsitedir("%s")\n' "$what" > build/ros-site/sitecustomize.py
  export PYTHONPATH="$PWD/build/ros-site:$what${PYTHONPATH:+:$PYTHONPATH}"
  python=/usr/bin/python3
else
  # --system-site-packages: rospy is Debian's; NumPy and the rest are the environment's own
  [[ -x build/ros-venv/bin/python ]] || /usr/bin/python3 -m venv --system-site-packages build/ros-venv
  python=build/ros-venv/bin/python
  # no matplotlib or Jinja2: nodes and identification need none of them
  { $python -m pip install -q --no-deps --force-reinstall "$what" &&
    $python -m pip install -q "numpy>=1.26" "scipy>=1.11" "pyyaml>=6" joblib tqdm rosbags opencv-python-headless pytest pytest-xdist; } > build/ros_pip.log 2>&1 || {
    cat build/ros_pip.log >&2
    exit 1
  }
fi
# the messages of the action are in no package of Debian
rm -rf build/ros1-msgs && mkdir -p build/ros1-msgs
"$python" tools/control_msgs.py 1 build/ros1-msgs
export PYTHONPATH="$PWD/build/ros1-msgs${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" -m pytest -n0 -q tests/ros/test_ros1_loop.py "$@"
