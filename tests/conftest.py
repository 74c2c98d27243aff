"""One thread of linear algebra in each test process: two processes of two threads wait for each other on two cores."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
