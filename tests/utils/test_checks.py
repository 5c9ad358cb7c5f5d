import numpy as np
import pytest

from whynear.utils.checks import check_parameters, choice, generator, number, seed_of, whole


@pytest.mark.parametrize("seed", ["a", -1, 1.5, True])
def test_seeds_that_are_none_are_refused(seed):
    with pytest.raises(ValueError, match="random_state must be"):
        generator(seed)
    with pytest.raises(ValueError, match="random_state must be"):
        seed_of(seed)


def test_a_seed_is_the_integer_itself_or_a_draw():
    assert seed_of(3) == seed_of(np.int64(3)) == 3
    for kind in (np.random.RandomState, np.random.default_rng):
        assert seed_of(kind(3)) == seed_of(kind(3)) != seed_of(kind(4))
    assert seed_of(None) != seed_of(None)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: whole("n", 2.0), "n must be an integer >= 1, got 2.0 instead"),
        (lambda: whole("n", True, 0), "n must be an integer >= 0, got True instead"),
        (lambda: whole("n", 1, 2, "a pair"), r"n must be an integer >= 2 \(a pair\), got 1 instead"),
        (lambda: number("x", "1"), "x must be a finite number >= 0, got '1' instead"),
        (lambda: number("x", False), "x must be a finite number >= 0, got False instead"),
        (lambda: number("x", 10**400), "x must be a finite number >= 0"),
        (lambda: number("x", 0, above=0, below=1), "x must be a finite number > 0 and < 1, got 0 instead"),
        (lambda: number("x", 1.0, above=0, below=1), "x must be a finite number > 0 and < 1, got 1.0 instead"),
        (lambda: number("x", 2, most=1, why="a share"), r">= 0 and <= 1 \(a share\), got 2 instead"),
        (lambda: choice("way", "up", ("left", "right")), "way must be one of left, right, got 'up' instead"),
    ],
)
def test_a_refusal_names_parameter_limits_and_value_and_is_of_both_kinds(check, message):
    for kind in (ValueError, TypeError):
        with pytest.raises(kind, match=message):
            check()


def test_what_is_within_limits_is_returned_as_plain_numbers():
    found = [whole("n", np.int8(3)), number("x", np.float32(0.5), most=0.5), number("x", 2), choice("p", 2, (1, 2))]
    assert found == [3, 0.5, 2.0, 2]
    assert [type(value) for value in found] == [int, float, float, int]


def test_optional_parameters_of_an_estimator_may_be_none():
    class Estimator:
        n_rows, n_columns = None, 0

    check_parameters(Estimator, whole, "n_rows", optional=True)
    for name, optional in (("n_rows", False), ("n_columns", True)):
        with pytest.raises(ValueError, match=f"{name} must be an integer >= 1"):
            check_parameters(Estimator, whole, name, optional=optional)
