"""Class `SymbolicModel`: quantities as expressions, with conversion to SymPy, LaTeX and CasADi."""

from __future__ import annotations

from typing import Any

from . import casadi_bridge, sympy_bridge
from .quantities import SymbolicQuantities
from .regressor_table import RegressorTable, regressor_table


class SymbolicModel(SymbolicQuantities):
    """Provide the quantities of a robot as expressions of its state and its run-time parameters.

    Every quantity of `Robot` is a method of the same name: ``model.mass_matrix()`` is an (n, n) array of
    expressions of ``model.q``; other expressions or numbers may replace the symbols, as in
    ``model.mass_matrix(0.5 * model.q)``. ``@``, slices and NumPy's functions work on the arrays.

    Parameters
    ----------
    robot : Robot
        The arm.
    inertial_as : {"REG", "DYN"}, optional
        Form of run-time inertial parameters: about the link frames (REG, as in regressors) or the centers of mass
        (DYN); default REG, or DYN where the robot's file masks a part of a link's entries.
    outline : bool or "uniform"
        Record code that repeats from joint to joint as functions, for long arms. With ``"uniform"`` only code that is
        the same function for all joints: in regressors, and in inverse dynamics with run-time inertial parameters.
        Derivatives inline these calls.
    **arguments
        For each parameter group, ``dh, inertial, friction, gravity, base, tool, rotor, armature, elastic_K, elastic_D,
        elastic_Dm, elastic_Mm``: True (run-time arguments), False (constants) or a mask of its entries. The default is
        the mask in the robot's file, otherwise False.

    Attributes
    ----------
    q, dq, ddq, d3q, d4q, dq_r, ddq_r, tau : (n,) array of Expression
        Symbols of the state.
    s : (n,) array of Expression
        Joint vector that multiplies transposed regressors.
    pi : (p,) array of Expression
        Parameters that multiply regressors; no argument of other quantities, which have their own in `parameters`.
    x, dx, ddx : (e,) array of Expression
        Symbols of the motors of elastic joints.
    parameters : dict of str to ParameterGroup
        Parameter groups of the robot.
    functions : dict of str to Function
        Functions from `add_function`.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> model = robot.symbolic(inertial=True)
    >>> M = model.function("M", model.mass_matrix())
    >>> M.argument_names, M.operation_count
    (('q', 'par_REG'), 450)
    >>> q = np.full(7, 0.5)
    >>> np.allclose(M(q, 2 * robot.inertial.ravel()), 2 * robot.mass_matrix(q))
    True
    """

    def to_sympy(self, expression: Any, *, simplify: bool = False) -> Any:
        """Convert expressions to SymPy.

        Parameters
        ----------
        expression : Expression, array of such, or Function
            What to convert.
        simplify : bool
            Search a shorter form of every entry: sines and cosines of sums of angles, common factors. For arms of a few
            joints.

        Returns
        -------
        sympy.Expr, sympy.Matrix (of one column for a vector), or sympy.ImmutableDenseNDimArray for more axes
            For a function of several results a dict of them. Symbols are real and have short names, counted from 1:
            ``q1, dq1, ddq_r1, m1, mc_x1, I_xx1, a1, alpha1, g_y``; see `thunder_py.symbolic.names`.

        Raises
        ------
        ModuleNotFoundError
            If SymPy is not installed.

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic(dh=[1, 0, 0, 0] * 2)
        >>> model.to_sympy(model.forward_kinematics()[0, 3], simplify=True)
        a1*cos(q1) + a2*cos(q1 + q2)
        """
        return sympy_bridge.to_sympy(self, expression, simplify=simplify)

    def latex(self, quantity: Any, *, simplify: bool = True) -> str:
        r"""Return LaTeX of a quantity or of expressions, with s_1, c_{12} for sin q_1, cos(q_1 + q_2).

        Parameters
        ----------
        quantity : str, Expression, array of such, or Function of one result
            Name in `quantities`, or expressions.
        simplify : bool
            See `to_sympy`.

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic(dh=[1, 0, 0, 0] * 2)
        >>> model.latex(model.forward_kinematics()[0, 3])
        'a_{1} c_{1} + a_{2} c_{12}'
        """
        return sympy_bridge.latex(self, quantity, simplify=simplify)

    def regressor_table(self, quantity: str = "slotine_li_regressor") -> RegressorTable:
        """List parameters without influence, linearly dependent parameters, and the reduced regressor.

        Parameters
        ----------
        quantity : {"slotine_li_regressor", "regressor"}
            Regressor whose columns are listed.

        Returns
        -------
        RegressorTable

        Examples
        --------
        >>> import thunder_py as th
        >>> table = th.Robot.load("elbow").symbolic().regressor_table()
        >>> table.reduced_names
        ('link1.m', 'link1.mcx', 'link1.mcy', 'link1.Izz', 'link2.m', 'link2.mcx', 'link2.mcy', 'link2.Izz')
        >>> table.reduced.shape
        (2, 8)
        """
        return regressor_table(self, quantity)

    def to_casadi(self, expression: Any, name: str | None = None) -> Any:
        """Convert expressions to a CasADi function of scalar operations.

        Parameters
        ----------
        expression : Expression, array of such, mapping of str to such, or Function
            One result or several. CasADi has only matrices: a vector becomes a column, and an array with more axes a
            matrix of its first axis by all others.
        name : str, optional
            Name of the function and, for expressions, of the result; default the function's name, or ``function`` and
            ``result``.

        Returns
        -------
        casadi.Function
            Function of the model's symbols on which the result depends, or of the function's arguments, by name.

        Raises
        ------
        ModuleNotFoundError
            If CasADi is not installed.

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> G = model.to_casadi(model.gravity_vector(), "G")
        >>> str(G)
        'G:(q[2])->(G[2]) SXFunction'
        """
        return casadi_bridge.to_casadi(self, expression, name)

    def from_casadi(self, function: Any) -> Any:
        """Record a CasADi function as a part of this model.

        Parameters
        ----------
        function : casadi.Function
            Function whose inputs have names and shapes of the model's symbols, vectors as columns or rows. MX functions
            are expanded to scalars.

        Returns
        -------
        array of Expression, or a dict of arrays for several outputs
            Matrices keep their shape, columns become vectors, 1 x 1 becomes a scalar.

        Raises
        ------
        UnknownNameError
            If an input is not a symbol of the model, or there is a free variable.
        ThunderError
            If a shape is wrong, or recordings do not support an operation.

        Examples
        --------
        >>> import casadi
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> dq = casadi.SX.sym("dq", 2)
        >>> norm = model.from_casadi(casadi.Function("norm", [dq], [casadi.norm_2(dq)], ["dq"], ["norm"]))
        >>> float(model.function("norm", norm)([3.0, 4.0]))
        5.0
        """
        return casadi_bridge.from_casadi(self, function)
