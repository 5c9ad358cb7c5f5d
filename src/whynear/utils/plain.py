"""Values of numpy as those of Python, and all values in types that JSON has."""

from typing import Any

import numpy as np


def python_value(value: Any) -> Any:
    """Return a number, text or label of numpy as a value of Python; others as they are.

    >>> python_value(np.int64(3)), python_value("a")
    (3, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def plain_values(value: Any) -> Any:
    """Return a value in types that JSON has: numpy's numbers as Python's, None for NaN and infinities."""
    match value:
        case dict():
            return {str(key): plain_values(item) for key, item in value.items()}
        case list() | tuple():
            return [plain_values(item) for item in value]
        case np.ndarray():
            return plain_values(value.tolist())
        case np.generic():
            return plain_values(value.item())
        case float():
            return value if np.isfinite(value) else None
        case None | bool() | int() | str():
            return value
    return str(value)
