#!/usr/bin/env bash
# Run the closed loop over ROS 1 or 2 again and again, with other processes on all processors, and count the failures:
# tools/ros_repeat.sh 1|2 TIMES WHEEL | FOLDER OF SITE-PACKAGES [NUMBER OF BUSY PROCESSES, 2 unless told].
# build/ros_repeat_N.txt has a line for each run; output of those that failed is beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

generation=$1 times=$2 what=$3 busy=${4:-2}
log=build/ros_repeat_$generation.txt
: > "$log"
hogs=()
for ((k = 0; k < busy; k++)); do
  (while :; do :; done) &
  hogs+=($!)
done
trap 'kill "${hogs[@]}" 2> /dev/null || true' EXIT  # with none to kill the status stays that of the runs

failed=0
for ((k = 1; k <= times; k++)); do
  out=build/ros_repeat_${generation}_$k.out
  begun=$SECONDS
  if "tools/ros${generation}_test.sh" "$what" > "$out" 2>&1; then
    verdict=passed
    rm "$out"
  else
    verdict="FAILED ($out)"
    failed=$((failed + 1))
  fi
  echo "run $k of $times: $verdict, $((SECONDS - begun)) s, load $(cut -d ' ' -f 1 /proc/loadavg)" | tee -a "$log"
done
echo "$((times - failed)) of $times runs passed, with $busy busy processes" | tee -a "$log"
exit "$((failed > 0))"
