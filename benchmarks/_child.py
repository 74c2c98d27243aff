"""Run a command, print what it took as JSON. By itself, since a child's peak memory counts its parent's pages."""

import json
import os
import sys
import time

start = time.perf_counter()
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak_mb": usage.ru_maxrss / 1e3, "status": os.waitstatus_to_exitcode(status)}))
