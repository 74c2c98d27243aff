"""Analysis of a regressor's columns: zero, linearly dependent and independent parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import one_of
from ..model.parameters import find_base_parameters
from .mathematics import Expressions, is_zero
from .sympy_bridge import latex

if TYPE_CHECKING:
    from .quantities import SymbolicQuantities


@dataclass(frozen=True)
class RegressorTable:
    """Store a regressor with the classification of its columns.

    Attributes
    ----------
    quantity : str
        Name of the regressor.
    entries : (n, p) array of Expression
        The whole regressor.
    names : tuple of str
        Parameter of every column, as in ``robot.parameter_names``.
    zero : (p,) array of bool
        True for structurally zero columns: their parameters have no influence.
    dependent : dict of str to dict of str to float
        Other columns as linear combinations of columns of `base`: ``{name: {base name: factor}}``, for the robot's
        geometry and gravity.
    base : tuple of str
        Linearly independent columns.
    """

    model: SymbolicQuantities
    quantity: str
    entries: Expressions
    names: tuple[str, ...]
    zero: npt.NDArray[np.bool_]
    dependent: dict[str, dict[str, float]]
    base: tuple[str, ...]

    @property
    def zero_names(self) -> tuple[str, ...]:
        """Parameters without influence."""
        return tuple(name for name, zero in zip(self.names, self.zero, strict=True) if zero)

    @property
    def reduced_names(self) -> tuple[str, ...]:
        """Parameters of the columns of `reduced`."""
        return tuple(name for name, zero in zip(self.names, self.zero, strict=True) if not zero)

    @property
    def reduced(self) -> Expressions:
        """The regressor without its zero columns, (n, number of `reduced_names`)."""
        return self.entries[:, ~self.zero]

    @property
    def reduced_parameters(self) -> npt.NDArray[np.float64]:
        """Values of `reduced_names`: ``reduced @ reduced_parameters`` equals ``entries @ robot.parameters``."""
        return np.asarray(self.model.robot.parameters[~self.zero])

    def latex(self) -> str:
        """Return LaTeX of the reduced regressor; needs SymPy."""
        return latex(self.model, self.reduced)

    def __str__(self) -> str:
        """Return a summary as text."""
        n, p = self.entries.shape
        lines = [
            f"{self.quantity} of {self.model.robot.name}: {n} x {p}",
            f"zero columns ({self.zero.sum()}): {', '.join(self.zero_names) or 'none'}",
            f"reduced regressor: {n} x {len(self.reduced_names)}, of {', '.join(self.reduced_names)}",
            f"linearly independent ({len(self.base)}): {', '.join(self.base)}",
        ]
        for name, combination in self.dependent.items():
            terms = " ".join(f"{factor:+.6g} {other}" for other, factor in combination.items())
            lines.append(f"column of {name} = {terms or '0 at every state'}")
        return "\n".join(lines)


def regressor_table(model: SymbolicQuantities, quantity: str = "slotine_li_regressor") -> RegressorTable:
    """Classify the columns of a regressor; see `SymbolicModel.regressor_table`."""
    one_of(quantity, ("regressor", "slotine_li_regressor"), "quantity")
    entries = model.quantity(quantity)
    names = model.robot.parameter_names
    zero = np.array([all(is_zero(x) for x in column) for column in entries.T], dtype=bool)
    base = find_base_parameters(model.robot)
    dependent = {
        names[k]: {other: float(f) for other, f in zip(base.names, base.mapping[:, k], strict=True) if f != 0.0}
        for k in range(len(names))
        if not zero[k] and k not in base.independent
    }
    return RegressorTable(model, quantity, entries, names, zero, dependent, base.names)
