"""A difference beside its standard error."""

ERRORS = 2.0  # standard errors from which a difference is called larger


def exceeds_error(difference: float, error: float) -> bool:
    """Return whether a difference is larger than twice its standard error.

    >>> exceeds_error(-0.05, 0.02), exceeds_error(0.03, 0.02)
    (True, False)
    """
    return abs(difference) > ERRORS * error


def beside_error(difference: float, error: float, shown: str) -> str:
    """Return a sentence, without its first word, on a difference; ``shown`` is how it is written with its error.

    >>> "The " + beside_error(0.013, 0.016, "1.3 ± 1.6 points")
    'The difference of 1.3 ± 1.6 points is not more than twice its standard error.'
    """
    size = "more" if exceeds_error(difference, error) else "not more"
    return f"difference of {shown} is {size} than twice its standard error."
