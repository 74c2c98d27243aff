"""Every class whose objects one thread at a time may use: how to make one, and every use of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py import _core
from thunder_py.control import ButterworthDerivative
from thunder_py.control.unknown import read_unknown  # noqa: F401
from thunder_py.reference import JointReference, TaskReference
