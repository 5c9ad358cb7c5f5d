import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from whynear.stream.state import guarded


def test_the_memory_with_the_best_faded_accuracy_answers():
    rng = np.random.default_rng(0)
    codes, fading = rng.integers(0, 3, 300), 0.5 ** (1 / 20)
    found = rng.integers(0, 3, (3, 300))
    found[1, :100], found[2, 150:] = codes[:100], codes[150:]
    answers, chosen = np.empty(300, dtype=np.intp), np.empty(300, dtype=np.intp)
    accuracies = np.zeros(3)
    guarded(found, codes, accuracies, fading, answers, chosen)
    expected = np.zeros(3)
    for i, code in enumerate(codes):
        assert chosen[i] == expected.argmax()
        assert answers[i] == found[chosen[i], i]
        expected = fading * expected + (1 - fading) * (found[:, i] == code)
    assert_allclose(accuracies, expected)
    assert (chosen[50:100] == 1).all()
    assert (chosen[250:] == 2).all()


def test_it_goes_on_where_a_part_ended():
    rng = np.random.default_rng(1)
    codes, found = rng.integers(0, 2, 80), rng.integers(0, 2, (2, 80))
    whole, parts = np.empty(80, dtype=np.intp), np.empty(80, dtype=np.intp)
    chosen, accuracies, again = np.empty(80, dtype=np.intp), np.zeros(2), np.zeros(2)
    guarded(found, codes, accuracies, 0.9, whole, chosen)
    for part in (slice(0, 33), slice(33, 80)):
        guarded(found[:, part], codes[part], again, 0.9, parts[part], chosen[part])
    assert_array_equal(parts, whole)
    assert_array_equal(again, accuracies)
