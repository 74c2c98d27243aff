"""Tables of refused calls: one test checks all messages of a class or package."""

import re
from collections.abc import Callable
from typing import Any


def assert_refused(*cases: tuple, call: Callable[..., Any] | None = None, error: Any = ValueError) -> None:
    """Check that every call raises ``error`` with exactly its message, and name every case that does not.

    A case is ``(call, message)`` or ``(call, message, error)``; ``...`` in a message stands for any text. With
    ``call=``, cases are ``(arguments, message)``: a dictionary or a tuple of arguments, or a single one. Use it as the
    body of one test, with fixtures and set-ups as usual::

        def test_refusals():
            robot = th.Robot.load("elbow")
            assert_refused(
                (lambda: robot.mass_matrix([0.0]), "q must have shape (..., 2), got (1,)"),
                (lambda: robot.replace(rotors=[3]), "rotors must be a sequence of Rotor, got ..."),
            )
            assert_refused(({"limits": 3}, "limits must be ..."), ({"rotors": [3]}, "rotors ..."), call=robot.replace)
    """
    wrong = []
    for number, (arguments, message, *kind) in enumerate(cases):
        found = _outcome(arguments if call is None else call, arguments if call else ())
        pattern = ".*".join(map(re.escape, message.split("...")))
        if not isinstance(found, kind[0] if kind else error) or not re.fullmatch(pattern, str(found), re.DOTALL):
            wrong.append(f"case {number}: expected {message!r}\n    got {found!r}")
    assert not wrong, "\n".join(wrong)


def _outcome(call: Callable[..., Any], arguments: Any) -> Any:
    try:
        if isinstance(arguments, dict):
            return call(**arguments)
        return call(*arguments) if isinstance(arguments, tuple) else call(arguments)
    except Exception as error:
        return error
