"""Print what NPY_DISABLE_CPU_FEATURES must be for NumPy to compute as on a processor that has no more than it needs.

Usage: NPY_DISABLE_CPU_FEATURES="$(python tools/numpy_baseline.py)" pytest
"""

try:
    from numpy._core import _multiarray_umath as core
except ImportError:  # NumPy 1
    from numpy.core import _multiarray_umath as core


def dispatched_features():
    """Return the features that NumPy has code for and this processor has, but not every one."""
    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


if __name__ == "__main__":
    print(*dispatched_features())
