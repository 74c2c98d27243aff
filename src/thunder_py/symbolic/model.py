"""The symbolic robot: quantities as expressions, written in SymPy, LaTeX and CasADi."""

from __future__ import annotations

from typing import Any

from . import casadi_bridge, sympy_bridge
from .quantities import SymbolicQuantities
from .regressor_table import RegressorTable, regressor_table

__all__ = ["SymbolicModel"]


class SymbolicModel(SymbolicQuantities):
    """A robot whose quantities are expressions of its state and of those parameters that are run-time arguments.

    Every quantity of `Robot` is a method of the same name here: ``model.mass_matrix()`` is an (n, n) array of
    expressions of ``model.q``; other expressions or numbers may be given in place of the symbols, as in
    ``model.mass_matrix(0.5 * model.q)``. ``@``, slices and NumPy's functions work on the arrays.

    Parameters
    ----------
    robot : Robot
        The arm.
    inertial_as : {"REG", "DYN"}, optional
        What run-time inertial parameters are: about the link frames (REG, as in regressors), the centres of mass (DYN);
        default REG, or DYN where the robot's file masks a part of a link's entries.
    outline : bool or "uniform"
        Record what repeats from joint to joint as functions of their own, called for each: for the code of long arms.
        With ``"uniform"`` only what is one and the same function for all joints: of regressors, and of inverse dynamics
        with run-time inertial parameters. Derivatives write these calls out.
    **arguments
        For each parameter group, ``dh, inertial, friction, gravity, base, tool, rotor, armature, elastic_K, elastic_D,
        elastic_Dm, elastic_Mm``: True (run-time arguments), False (baked numbers) or a mask of its entries. What is
        not given follows the masks of the robot's file, and is baked where it has none.

    Attributes
    ----------
    q, dq, ddq, d3q, dq_r, ddq_r, tau : (n,) array of Expression
        Symbols of the state.
    x, dx, ddx : (e,) array of Expression
        Symbols of the motors of elastic joints.
    parameters : dict of str to ParameterGroup
        The groups that the robot has.
    functions : dict of str to Function
        What `add_function` added.
    """

    def to_sympy(self, expression: Any, *, simplify: bool = False) -> Any:
        """Write expressions in SymPy.

        Parameters
        ----------
        expression : Expression, array of such, or Function
        simplify : bool
            Look for a shorter form of every entry: sines and cosines of sums of angles, common factors. Meant for
            reading arms of a few joints.

        Returns
        -------
        sympy.Expr, sympy.Matrix (of one column for a vector), or sympy.ImmutableDenseNDimArray for more axes
            For a function of several results a dict of them. Symbols are real and have short names, counted from 1:
            ``q1, dq1, ddq_r1, m1, mc_x1, I_xx1, a1, alpha1, g_y``; see `thunder_py.symbolic.names`.

        Raises
        ------
        ModuleNotFoundError
            SymPy is not installed.
        """
        return sympy_bridge.to_sympy(self, expression, simplify=simplify)

    def latex(self, quantity: Any, *, simplify: bool = True) -> str:
        r"""Write a quantity or expressions in LaTeX, with s_1, c_{12} for sin q_1, cos(q_1 + q_2).

        Parameters
        ----------
        quantity : str, Expression, array of such, or Function of one result
            A name of `quantities`, or what to write.
        simplify : bool
            See `to_sympy`.
        """
        return sympy_bridge.latex(self, quantity, simplify=simplify)

    def regressor_table(self, quantity: str = "slotine_li_regressor") -> RegressorTable:
        """Say which parameters have no influence, which act only together with others, and give the reduced regressor.

        Parameters
        ----------
        quantity : {"slotine_li_regressor", "regressor"}
        """
        return regressor_table(self, quantity)

    def to_casadi(self, expression: Any, name: str | None = None) -> Any:
        """Make a CasADi function of scalar operations.

        Parameters
        ----------
        expression : Expression, array of such, mapping of str to such, or Function
            One result or several; CasADi has matrices only, so a vector becomes a column and an array of more axes a
            matrix of its first axis by all others.
        name : str, optional
            Of the function and, for expressions, of the result; default the function's name, or ``function``
            and ``result``.

        Returns
        -------
        casadi.Function
            Its inputs are those of the model's symbols that matter, or the function's arguments, by name.

        Raises
        ------
        ModuleNotFoundError
            CasADi is not installed.
        """
        return casadi_bridge.to_casadi(self, expression, name)

    def from_casadi(self, function: Any) -> Any:
        """Record a CasADi function as a part of this model.

        Parameters
        ----------
        function : casadi.Function
            Its inputs carry names of the model's symbols and have their shapes, vectors as columns or rows. An MX
            function is expanded to scalars.

        Returns
        -------
        array of Expression, or a dict of them where there are several outputs
            Matrices keep their shape, columns become vectors, 1 x 1 becomes a scalar.

        Raises
        ------
        UnknownNameError
            An input that is no symbol of the model, or a free variable.
        ModelError
            A shape that does not fit, or an operation that recordings do not have.
        """
        return casadi_bridge.from_casadi(self, function)
